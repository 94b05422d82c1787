package configs_test

import "testing"

// The words of agents that start a session, run a command, or change what they may do
// without asking: each was silent, because the table took the word for one that only lists.
func TestAgentsChangedByTheirOwnWords(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		claude remote-control
		claude rc
		claude mcp add-from-claude-desktop
		claude agents --permission-mode bypassPermissions
		codex features enable skip_approvals
		codex features disable hooks
		codex debug landlock -- codex exec x
		codex plugin add x
		gemini hooks migrate
		gemini hook migrate
		gemini extension install x
		qwen hooks
		copilot plugin install x
		copilot plugin marketplace add x
		copilot mcp add x -- y
		copilot config trusted_folders /
		copilot config --rm x
		copilot workflow run x
		copilot --allow-tool 'shell(rm)'
		copilot --server
		auggie plugin install x
		auggie mcp add x
		auggie mcp add-json x '{}'
		auggie session continue
		auggie session resume
		amp permissions add allow Bash
		amp permission add allow Bash
		amp permissions edit
		amp config edit
		amp plugins add https://h/x
		amp mcp add x -- y
		amp mcp approve x
		amp tool use Bash --cmd ls
		amp last
		amp --no-tui
		opencode plugin evil
		opencode plug evil
		opencode mcp add x -- y
		goose plugin install x
		kiro-cli settings chat.defaultTrust all
		kiro-cli settings --delete x
		kiro-cli mcp import x
		kiro-cli agent set-default x
		q settings a b
		q agent set-default x
		cursor-agent mcp enable x
		cline mcp add x
		cline plugin install x`)
}

// An agent answered for a person with approver's own program, under a name that no text
// pattern finds: go run in a variable or a pipe, a build, a link, a pattern, a container.
func TestApproverUnderOtherNames(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		g=go; $g run approver.example/cmd/approver@latest approve X-1
		echo 'go run approver.example/cmd/approver@latest approve X-1' | sh
		bash <<< 'go run approver.example/cmd/approver@latest approve X-1'
		eval 'go run approver.example/cmd/approver@v1 approve X-1'
		c=./cmd/approver; go run $c approve X-1
		go run -race ./cmd/approver approve X-1
		go run -tags x ./cmd/approver approve X-1
		go -C ../approver run ./cmd/approver approve X-1
		cd cmd/approver && go run . approve X-1
		go run cmd/approver/main.go approve X-1
		go run cmd/approver/main.go cmd/approver/b.go approve X-1
		python3 -c "import subprocess;subprocess.run(['go','run','./cmd/approver','approve','X-1'])"
		xargs go run ./cmd/approver <<< 'approve X-1'
		go build -o a ./cmd/approver && ./a approve X-1
		go build -o /tmp/x approver.example/cmd/approver; /tmp/x approve X-1
		go tool approver approve X-1
		$(command -v approver) approve X-1
		env approver approve X-1
		ln -s $(which approver) a; ./a approve X-1
		cp "$(readlink -f "$(which approver)")" a; ./a approve X-1
		exec -a ls approver approve X-1
		/usr/local/bin/appr* approve X-1
		docker exec x approver approve X-1
		ssh h approver approve X-1`)
	asks(t, judge, false, `
		approver status
		go run ./cmd/approver --help
		go run ./cmd/migrate approve
		go build ./cmd/approver
		go build -o bin/approver ./cmd/approver && ./bin/approver status
		go test ./cmd/approver
		go vet ./cmd/approver ./cmd/approver-hook
		docker exec x approver status`)
}

// The settings of agents were changed by names that only a lookup prints, or that are made
// up when the command runs.
func TestSettingsThatAreLookedUp(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		sed -i 's/a/b/' $(git ls-files .claude)
		git ls-files .claude | xargs sed -i 's/a/b/'
		git ls-files -- .claude | xargs sed -i s/a/b/
		git ls-files | grep claude | xargs sed -i s/a/b/
		git ls-files | grep settings.json | xargs sed -i s/a/b/
		git ls-tree -r --name-only HEAD .claude | xargs sed -i s/a/b/
		git grep -l PreToolUse | xargs sed -i s/a/b/
		grep -rl hooks .claude | xargs sed -i s/a/b/
		rg -l hooks .claude | xargs sed -i s/a/b/
		rg --files .claude | xargs sed -i s/a/b/
		find .claude -type f | xargs sed -i s/a/b/
		find . -name settings.json -exec sed -i s/a/b/ {} \;
		find . -name settings.json -exec cp /tmp/e {} \;
		find . -path '*claude*' -type f -exec truncate -s0 {} \;
		for f in $(git ls-files .claude); do echo x > $f; done
		git ls-files .claude | while read f; do echo x > "$f"; done
		truncate -s0 $(find . -name settings.json)
		python3 -c 'import pathlib; [p.write_text("x") for p in pathlib.Path(".").rglob("settings.json")]'
		rename x settings .claude/x.json
		rename 's/x/settings/' .claude/x.json
		curl -o '.claude/#1.json' 'https://e/{settings}'
		curl -o '.#1/#2.json' 'https://e/{claude}/{settings}'
		nerdctl run -v ~/.claude:/c alpine sh
		finch run -v $PWD/.claude:/x alpine sh
		docker volume create --opt type=none --opt o=bind --opt device=$HOME/.claude x`)
	asks(t, judge, false, `
		git ls-files src | xargs sed -i s/a/b/
		git ls-files | grep -v '\.claude' | xargs sed -i s/a/b/
		find . -name '*.go' -not -path './.claude/*' | xargs gofmt -w
		find src -name '*.ts' -exec sed -i s/a/b/ {} +
		rg -l foo | xargs sed -i s/foo/bar/
		rg -l foo --glob '!.claude' | xargs sed -i s/foo/bar/
		for f in $(git ls-files '*.md'); do sed -i s/a/b/ "$f"; done
		ls ~/.claude
		git ls-files .claude
		grep -rl hooks .claude
		cp a.json "$OUT/data.json"
		rename 's/a/b/' src/*.ts
		curl -o 'out/#1.json' 'https://e/{a,b}'
		docker volume create data`)
}

// A lookup that finds every process stops approver with the rest, and so does what makes
// its store wait.
func TestProcessesThatAreLookedUp(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		kill $(pgrep .)
		kill -9 $(pgrep '')
		kill $(pgrep -f '.*')
		pgrep . | xargs kill
		pgrep -f . | while read p; do kill $p; done
		for p in $(pgrep .); do kill $p; done
		kill $(ps -eo pid)
		kill -9 $(ps -A -o pid=)
		kill $(ps aux | awk '{print $2}')
		ps -eo pid= | xargs kill
		ps -eo pid,comm | while read p c; do [ "$c" = approver ] && kill $p; done
		kill $(ps -eo pid,comm | awk '$2~/^appr/{print $1}')
		kill $(ls /proc | grep '[0-9]')
		kill -1 -1
		kill -9 -1
		pkill -P 1
		pkill -s 0
		pkill -t pts/0
		pkill -o .
		redis-cli client pause 100000
		redis-cli CLIENT PAUSE 100000 ALL
		echo 'client pause 100000' | redis-cli
		redis-cli -u redis://h client pause 10
		valkey-cli client pause 1000
		keydb-cli shutdown nosave
		redis-cli cluster reset
		redis-cli debug sleep 100`)
	asks(t, judge, false, `
		kill $(pgrep node)
		kill $(pgrep -f vite)
		pgrep -f 'npm run dev' | xargs kill
		kill $(lsof -ti:3000)
		kill $(ps aux | grep '[v]ite' | awk '{print $2}')
		ps aux | awk '/vite/{print $2}' | xargs kill
		kill $(jobs -p)
		kill $(cat app.pid)
		kill %1
		kill -HUP 123
		kill -1 123
		pkill -P $$
		pkill node
		docker stop $(docker ps -q)
		redis-cli client list
		redis-cli client unpause
		redis-cli cluster info`)
}
