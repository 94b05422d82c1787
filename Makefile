# The shortest way to each task; the work itself is in the go command and .ci.
.PHONY: build test race lint fuzz ci demo

build: ## build both programs into bin/
	CGO_ENABLED=0 go build -trimpath -o bin/ ./cmd/...

test: ## install what the tests need, then run them
	bash .ci/test

race:
	bash .ci/test -race

lint:
	golangci-lint run ./...

ci: ## everything that a change must pass
	bash .ci/run

demo: ## one approval, end to end, on fakes
	go run ./cmd/approver demo
