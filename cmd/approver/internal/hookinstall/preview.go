package hookinstall

import (
	"github.com/rogpeppe/go-internal/diff"

	"approver.example/agents"
	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/term"
)

// preview prints what install would change, as a diff.
func preview(agent agents.Installer, path string, want settings.Hooks, whole []byte) error {
	edits, err := planned(agent, path, want, whole)
	if err != nil {
		return err
	}
	var all []byte
	for _, e := range edits {
		all = append(all, diff.Diff(e.path, e.old, e.path+" with approver", e.text)...)
	}
	if len(all) == 0 {
		term.Print(0, "%s is as it should be\n", path)
		return nil
	}
	term.Print(0, "%s", term.Visibly(string(all)))
	return nil
}
