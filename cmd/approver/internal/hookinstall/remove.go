package hookinstall

import (
	"bytes"
	"errors"
	"io/fs"
	"os"

	"approver.example/agents"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/safefile"
)

// removeHooks takes approver's hooks out of settings. If nothing else was changed since
// they were installed, the file is what it was before, to the byte; a file that was not
// there before is removed. Otherwise all but the hooks stays as it is now. It reports
// whether there were any.
func removeHooks(agent agents.Installer, path string) (changed bool, err error) {
	real, err := safefile.RealFile(path)
	if err != nil {
		return false, err
	}
	text, err := os.ReadFile(real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		term.Print(0, "there is no %s, so nothing to take out\n", path)
		return false, nil
	case err != nil:
		return false, err
	}
	former := safefile.BackupsOf(real)
	for _, b := range former {
		if madeOf(agent, real, text, b.Text) {
			return true, restore(real, b)
		}
	}
	if real == path && nothingElse(agent, path, text) {
		if err := os.Remove(path); err != nil {
			return false, err
		}
		term.Print(0, "removed %s: it held approver's hooks and nothing else\n", path)
		return true, nil
	}
	if changed, err = edit(agent, path, nil, nil); err != nil || !changed {
		return false, err
	}
	now, err := os.ReadFile(real)
	if err == nil && !bytes.Equal(now, text) {
		term.Print(0, "it was changed since approver was installed, so all else in it was kept as it is now\n")
	}
	return true, err
}

// restore brings a file back to what it was before install. Its mode stays, unless it
// is the one that install gave to managed settings.
func restore(path string, was safefile.Backup) error {
	kept, _, err := safefile.ChangeFile(path, func([]byte) ([]byte, error) { return was.Text, nil })
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm() == was.Mode|0o444 {
		err = os.Chmod(path, was.Mode)
	}
	if err == nil {
		term.Print(0, "changed %s: it is what it was before approver was installed\nwhat it was is in %s\n", path, kept)
	}
	return err
}
