package hookinstall

import (
	"errors"
	"io/fs"
	"os"

	"github.com/rogpeppe/go-internal/diff"

	"approver.example/agents"
	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/safefile"
)

// preview prints what install would change, as a diff.
func preview(agent agents.Installer, path string, want settings.Hooks, whole []byte) error {
	real, err := safefile.RealFile(path)
	if err != nil {
		return err
	}
	old, err := os.ReadFile(real)
	var text []byte
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text = whole
	case err != nil:
		return err
	default:
		if text, err = agent.WithHooks(path, old, want); err != nil {
			return err
		}
	}
	edits, err := companionEdits(agent, path, old, text)
	if err != nil {
		return err
	}
	all := diff.Diff(path, old, path+" with approver", text)
	for _, e := range edits {
		all = append(all, diff.Diff(e.Path, e.old, e.Path+" with approver", e.text)...)
	}
	if len(all) > 0 {
		term.Print(0, "%s", term.Visibly(string(all)))
		return nil
	}
	term.Print(0, "%s is as it should be\n", path)
	return nil
}
