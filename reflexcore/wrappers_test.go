package reflexcore_test

import "testing"

// prlimit ran a command that nobody looked at, and so did a compressor of sort, words that
// a wrapper hands to a shell, and the second command of tmux.
func TestWhatWrappersRunIsJudged(t *testing.T) {
	asksAll(t, `
prlimit --nofile=10 rm -rf ~/Documents
prlimit codex exec x
prlimit --core=0:0 --cpu=5 codex exec x
prlimit -n=10 sh -c 'rm -rf ~/Documents'
prlimit sh -c 'codex exec x'
sort -S1k --compress-program=codex big
pnpm exec 'rm -rf ~/Documents'
pnpm -c exec 'rm -rf ~/Documents'
yarn exec 'rm -rf ~/Documents'
watchexec 'rm -rf ~/Documents'
foreman run 'rm -rf ~/Documents'
xterm -e 'rm -rf ~/Documents'
nix develop -c sh -c 'rm -rf ~/Documents'
tmux start \; run-shell 'codex exec x'
tmux start ';' run-shell 'rm -rf ~/Documents'
tmux 'start;' run-shell 'rm -rf ~/Documents'
tmux new -d \; run-shell 'rm -rf ~/Documents'
tmux ls \; new -d 'codex exec x'
tmux ls \; split-window 'codex exec x'
tmux if-shell true 'run-shell "rm -rf ~/Documents"'
tmux bind x run-shell 'rm -rf ~/Documents'
tmux set-hook -g after-new-window 'run-shell "codex exec x"'
tmux display-message -p '#(codex exec x)'
tmux list-sessions -F '#(rm -rf ~/Documents)'
tmux set -g status-right '#(codex exec x)'
`)
	passesAll(t, `
prlimit --nofile=1024 make test
prlimit --pid 4242
prlimit
sort --compress-program=gzip big
sort -u a
pnpm exec eslint .
yarn exec tsc
watchexec make test
tmux ls
tmux new -d -s dev 'make watch'
tmux start \; set -g mouse on
tmux display-message -p '#S'
tmux ls -F '#{session_name}'
tmux new -d \; rename-session dev
`)
}
