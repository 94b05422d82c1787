package configs_test

import (
	"strings"
	"testing"
)

// A program that runs another one hid it: gcc runs what -wrapper says, capsh and
// start-stop-daemon run what stands behind --, just has --command. No table knew them, so
// that a push by force through them was silent. Each is judged by what it runs now.
func TestWhatHostsRunIsJudged(t *testing.T) {
	judge := verdicts(t)
	hosts := `
		gcc -wrapper CMD,x -x c a.c
		capsh -- -c 'CMD'
		capsh --user=bob -- -c 'CMD'
		capsh -c 'CMD'
		start-stop-daemon --start --exec /bin/sh -- -c 'CMD'
		start-stop-daemon -S -a /bin/sh -- -c 'CMD'
		just --command CMD
		just -c CMD
		lldb -o 'platform shell CMD'
		lldb --batch -o 'shell CMD'
		gnuplot -e '!CMD'
		gnuplot -e 'system("CMD")'
		expect -c 'system CMD'
		ipython -c '!CMD'
		proot CMD
		proot -r d CMD
		mise x -c 'CMD'
		flatpak run --command=sh a.b -c 'CMD'
		snap run --shell x -c 'CMD'
		hg --config alias.x='!CMD' x
		multilog t '!CMD' ./d
		pm2 start 'CMD'
		pm2 start sh -- -c 'CMD'
		i3-msg exec 'CMD'
		swaymsg exec CMD
		hyprctl dispatch exec 'CMD'
		nu -c '^CMD'
		fzf --bind 'start:execute(CMD)'
		fzf --bind 'enter:become(CMD)'
		cargo --config 'build.rustc-wrapper=CMD' build
		cargo run --config 'target.x86_64-unknown-linux-gnu.runner="CMD"'
		cargo-watch -s 'CMD'
		opam exec -- CMD
		mix cmd CMD
		bear -- CMD
		checkinstall CMD
		summon CMD
		envconsul CMD
		dbus-launch CMD
		with-contenv CMD
		softlimit CMD
		guix shell x -- CMD
		guix environment x -- CMD
		npm run --script-shell='CMD' x
		ghc -e 'System.Process.callCommand "CMD"'
		runghc <<< 'main = callCommand "CMD"'
		ocaml <<< 'Sys.command "CMD";;'
		bb -e '(shell "CMD")'`
	asks(t, judge, true,
		strings.ReplaceAll(strings.ReplaceAll(hosts, "CMD,x", "git,push,--force"), "CMD", "git push --force"))
	asks(t, judge, false, strings.ReplaceAll(strings.ReplaceAll(hosts, "CMD,x", "ls,-l"), "CMD", "ls -l"))
}

// What an agent only says, lists or stores is no session that runs tools, and was a question
// for want of the word in the table. Its link, followed by readlink, is the agent all the same.
func TestWordsOfAgentsThatStartNothing(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, false, `
		gemini --version
		gemini -l
		codex login
		codex --help
		codex mcp list
		codex cloud list
		codex cloud status t1
		codex cloud diff t1
		opencode models
		opencode providers list
		opencode db path
		crush update-providers
		goose recipe validate x.yaml
		goose recipe deeplink x
		goose schedule remove x
		aider --shell-completions bash
		kiro-cli diagnostic
		kiro-cli translate "list files"
		kiro-cli init zsh
		kiro-cli chat --list-models
		cursor-agent about
		cursor-agent --list-models
		auggie tools list
		auggie command list
		claude --help
		npm install -g @openai/codex`)
	asks(t, judge, true, `
		amp tools use Bash --cmd ls
		amp review
		goose mcp developer
		goose projects
		opencode debug agent build --tool bash --params '{}'
		codex debug landlock -- codex exec x
		codex list
		codex status
		gemini list
		codex cloud exec x
		codex cloud apply t1
		codex exec list
		opencode run x
		goose recipe run x
		goose run --recipe x.yaml
		goose schedule run-now x
		kiro-cli chat "do x"
		kiro-cli chat
		auggie tools
		auggie "list files"
		cursor-agent -p x
		cp "$(readlink -f "$(which codex)")" c; ./c exec x
		cp $(realpath $(which codex)) c; ./c exec x
		ln -s $(readlink -f $(which codex)) c; ./c exec x
		ln $(realpath "$(command -v codex)") c; ./c exec x
		install -m755 "$(readlink -f "$(command -v codex)")" c; ./c exec x
		cat $(readlink -f $(which codex)) > c; chmod +x c; ./c exec x
		x=$(readlink -f $(which codex)); $x exec y`)
}

// A pattern that finds every process stops approver with the rest, and was silent because
// it does not have its name: pkill ” takes all that the user has.
func TestPatternsThatFindEveryProcess(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, true, `
		pkill ''
		pkill .
		pkill -f ''
		pkill -f '.*'
		pkill '^'
		pkill '$'
		pkill '.?'
		pkill '()'
		pkill '[a-z]*'
		pkill -9 'x*'
		pkill -v zzz
		pkill -v -f zzz
		pkill --inverse zzz
		killall -r '.*'
		killall -r ''
		killall -9 -r '.?'
		docker pause approver
		docker container pause approver
		podman pause approver
		redis-cli set 'ap:{00}:x' y
		redis-cli -n 1 del 'ap:{00}:x'
		redis-cli eval 'redis.call("del","ap:{00}:x")' 0`)
	asks(t, judge, false, `
		pkill node
		pkill -f "vite --port 3000"
		pkill -9 -f 'npm run dev'
		killall -9 node
		killall -v node
		killall node
		docker pause web
		docker unpause web
		redis-cli set app:1 y
		redis-cli get map:1`)
}
