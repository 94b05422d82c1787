# The shortest way to each task; the work itself is in the go command and .ci.
.PHONY: build classifier test race lint ci crash rolling demo measure pictures e2e-agents e2e-chats

build: ## build both programs into bin/
	CGO_ENABLED=0 go build -trimpath -o bin/ ./cmd/...

classifier: ## build the optional classifier program into bin/; needs a C compiler
	cd cmd/approver-classifier && CGO_ENABLED=1 go build -trimpath -o ../../bin/ .

test: ## install what the tests need, then run them
	bash .ci/test

race:
	bash .ci/test -race

lint:
	golangci-lint run ./...

ci: ## everything that a change must pass
	bash .ci/run

crash: ## kill daemons 200 times on each store, and Redis under them; takes 45 minutes
	APPROVER_CRASHES=200 go test -v -timeout 90m -run 'TestKill|TestRedis|TestTheReceiver' ./cmd/approver/demo
	APPROVER_KILLS=200 go test -v -timeout 30m -run 'TestAKill|TestThreeReplicas|TestReplicas' ./daemon

rolling: ## kill replicas in turn for ten minutes on each kind of Redis; takes 45 minutes
	APPROVER_ROLLING=10m go test -v -timeout 90m -run TestRollingKills ./cmd/approver/demo

e2e-agents: ## play every agent's real program against a model on loopback; takes twenty minutes
	bash .ci/agents

e2e-chats: ## faults of the network between the daemon and chat platforms; APPROVER_E2E=200 for the whole table
	bash .ci/chats

demo: ## one approval, end to end, on fakes
	go run ./cmd/approver demo

measure: build ## what is interrupted of a corpus of commands: make measure CORPUS=FOLDER
	go run ./internal/measure -program bin/approver $(CORPUS)

pictures: ## draw docs/img anew from what the programs print
	APPROVER_PICTURES=write go test -count=1 -run 'TestPictures|TestCardPictures|TestReadmeSession|TestHouse' . ./cmd/approver
