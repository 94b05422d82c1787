package reflexcore_test

import (
	"testing"
)

// An agent gave the program of Claude Code another name, and started it under that name with
// flags that turn all hooks off. The name was not known, so the start passed. A link is
// followed now, and making another name for the program is a question.
func TestClaudeCodeUnderAnotherName(t *testing.T) {
	e := agentMachine(t)
	stops(t, e,
		"./run3 --bare -p x", "./run3 -p x", "../shop/run3 --exec x", "~/.local/share/claude/versions/2.1.0 --bare -p x",
		"cd ~/.local/share/claude/versions && ./2.1.0 --bare -p x", "ln -s ~/.local/share/claude/versions/2.1.0 x",
		"ln ~/.local/share/claude/versions/2.1.0 x", "cp ~/.local/share/claude/versions/2.1.0 x", "cp -L run3 x",
		"cat run3 > x", "install ~/.local/share/claude/versions/2.1.0 x", "mv ~/.local/share/claude/versions/2.1.0 x",
		"cp /home/ada/.local/bin/claude x", "ln -s ~/.local/bin/claude x", "cat ~/.local/bin/claude > x",
		"rsync ~/.local/bin/claude x", "ln -s run3 x",
	)
	silent(t, e,
		"~/.local/share/claude/versions/2.1.0 -p x", "ls -l ~/.local/share/claude/versions",
		"sha256sum ~/.local/share/claude/versions/2.1.0",
		"file ~/.local/bin/claude", "cp ~/.local/bin/claude ~/backup/claude", "./plain -p x",
	)
}
