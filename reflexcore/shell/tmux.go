package shell

import (
	"slices"
	"strings"
)

// terminals walks what the words of tmux run beside its first command: the commands that
// follow a semicolon or that are words themselves, and #(…) in formats.
func (pr *programRunner) terminals(mark int) {
	args := slices.Clone(pr.in.exp.fields[mark+1:])
	run := func(d data, via string) {
		if pr.in.rep.level < pr.in.rep.lim.Nesting && !pr.in.rep.stopped() {
			pr.in.rep.level++
			pr.in.separately(false, func() { pr.in.payloads.sub(d, via, &input{}, nil) })
			pr.in.rep.level--
		}
	}
	for i, f := range args {
		for rest := f.text; ; {
			_, after, ok := strings.Cut(rest, "#(")
			if !ok {
				break
			}
			text := after
			if end := strings.LastIndexByte(after, ')'); end >= 0 {
				text = after[:end]
			}
			run(data{text, f.taint}, "tmux #()")
			rest = after
		}
		if first, _, more := strings.Cut(strings.TrimSpace(f.text), " "); more && runsInTerminal(first) {
			run(data{"tmux " + f.text, f.taint}, "tmux")
		}
		if !strings.HasSuffix(f.text, ";") && (i == 0 || !runsInTerminal(f.text)) || i+1 == len(args) {
			continue
		}
		next, from := data{text: "tmux"}, i
		if strings.HasSuffix(f.text, ";") {
			from++
		}
		for _, g := range args[from:] {
			next.text += " " + quote(strings.TrimSuffix(g.text, ";"))
			next.taint |= g.taint
			if strings.HasSuffix(g.text, ";") {
				break
			}
		}
		run(next, "tmux")
	}
}

// runsInTerminal reports whether a command of tmux runs what it is given.
func runsInTerminal(command string) bool {
	switch command {
	case "run-shell", "run", "if-shell", "new-session", "new-window", "neww", "split-window", "splitw",
		"respawn-pane", "respawnp", "respawn-window", "respawnw", "display-popup", "popup", "pipe-pane", "pipep", "send-keys", "source-file":
		return true
	}
	return false
}
