package hookinstall

import (
	"approver.example/agents"
	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/safefile"
)

// edit brings the settings to these hooks, and reports whether they were not so. whole is
// the text of a new file; without one there are no hooks to be had.
func edit(
	agent agents.Installer, path string, want settings.Hooks, whole []byte,
) (changed bool, err error) {
	fresh := false
	backup, changed, err := safefile.ChangeFile(path, func(old []byte) ([]byte, error) {
		if fresh = old == nil; fresh {
			return whole, nil
		}
		return agent.WithHooks(path, old, want)
	})
	switch {
	case err != nil:
		return false, err
	case !changed && whole == nil:
		term.Print(0, "%s has no hook of approver\n", path)
	case !changed:
		term.Print(0, "%s is as it should be\n", path)
	case fresh:
		term.Print(0, "wrote %s\n", path)
	default:
		term.Print(0, "changed %s\n", path)
	}
	if backup != "" {
		term.Print(0, "what it was is in %s\n", backup)
	}
	return changed, nil
}
