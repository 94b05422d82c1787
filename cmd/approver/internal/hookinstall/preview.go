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

// preview prints what edit would change, as a diff.
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
	if changes := diff.Diff(path, old, path+" with approver", text); len(changes) > 0 {
		term.Print(0, "%s", term.Visibly(string(changes)))
		return nil
	}
	term.Print(0, "%s is as it should be\n", path)
	return nil
}
