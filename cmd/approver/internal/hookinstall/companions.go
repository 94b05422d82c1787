package hookinstall

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"approver.example/agents"
	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/safefile"
)

// This file changes the companions of settings: other files that an agent needs, so that it runs the
// hooks.

// companionsOf returns the companions of settings whose text changes.
func companionsOf(agent agents.Installer, path string, was, becomes []byte) []agents.Companion {
	if a, ok := agent.(agents.Accompanied); ok {
		return a.Companions(path, was, becomes)
	}
	return nil
}

// textOf returns the text of a file that may be a link; nil if there is none.
func textOf(path string) ([]byte, error) {
	real, err := safefile.RealFile(path)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(real)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return append([]byte{}, text...), err
}

// A companionEdit is what becomes of a companion. A nil text means that there is no file.
type companionEdit struct {
	agents.Companion
	old, text []byte
}

// companionEdits returns the companions that have to change for settings whose text changes.
func companionEdits(agent agents.Installer, path string, was, becomes []byte) (all []companionEdit, err error) {
	for _, c := range companionsOf(agent, path, was, becomes) {
		e := companionEdit{Companion: c}
		if e.old, err = textOf(c.Path); err == nil {
			e.text, err = c.Change(e.old)
		}
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(e.old, e.text) || (e.old == nil) != (e.text == nil) {
			all = append(all, e)
		}
	}
	return all, nil
}

// accompany writes the companions for settings that are about to get these hooks. Nothing is written
// if one of them, or the settings, cannot be changed: hooks that are there and do not run would look
// as if they did.
func accompany(agent agents.Installer, path string, want settings.Hooks, whole []byte) error {
	was, err := textOf(path)
	if err != nil {
		return err
	}
	becomes := whole
	if was != nil {
		if becomes, err = agent.WithHooks(path, was, want); err != nil {
			return err
		}
	}
	edits, err := companionEdits(agent, path, was, becomes)
	if err != nil {
		return err
	}
	for _, e := range edits {
		if err := e.write(); err != nil {
			return err
		}
	}
	return nil
}

// write makes a companion what it has to be.
func (e companionEdit) write() error {
	if e.text == nil {
		return removeCompanion(e.Path)
	}
	backup, changed, err := safefile.ChangeFile(e.Path, func([]byte) ([]byte, error) { return e.text, nil })
	switch {
	case err != nil || !changed:
		return err
	case e.old != nil:
		term.Print(0, "changed %s\n", e.Path)
	default:
		if e.Mode != 0 {
			err = os.Chmod(e.Path, e.Mode)
		}
		term.Print(0, "wrote %s\n", e.Path)
	}
	if backup != "" {
		term.Print(0, "what it was is in %s\n", backup)
	}
	return err
}

// removeCompanion removes a file that has nothing but what approver wrote. A link into a repository
// of dotfiles stays, with an empty file.
func removeCompanion(path string) error {
	real, err := safefile.RealFile(path)
	if err != nil {
		return err
	}
	if real != path {
		_, _, err = safefile.ChangeFile(path, func([]byte) ([]byte, error) { return []byte{}, nil })
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	term.Print(0, "removed %s: it held what approver wrote and nothing else\n", path)
	return nil
}

// leave changes the companions back after the hooks were taken out of settings that had this text. A
// companion in which nothing else has changed becomes exactly what it was before.
func leave(agent agents.Installer, path string, was []byte) error {
	becomes, err := textOf(path)
	if err != nil {
		return err
	}
	after := companionsOf(agent, path, was, becomes)
	for i, c := range companionsOf(agent, path, nil, was) {
		former, found, err := beforeInstall(c, after[i])
		if err == nil && found {
			err = restore(c.Path, former)
		}
		if err != nil {
			return err
		}
	}
	edits, err := companionEdits(agent, path, was, becomes)
	if err != nil {
		return err
	}
	for _, e := range edits {
		if err := e.write(); err != nil {
			return err
		}
	}
	return nil
}

// beforeInstall returns the backup of a companion that has nothing of approver, and out of which
// install makes the text of now.
func beforeInstall(installs, removes agents.Companion) (former safefile.Backup, found bool, err error) {
	real, err := filepath.EvalSymlinks(installs.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return former, false, nil
	}
	text, readErr := textOf(installs.Path)
	if err := errors.Join(err, readErr); err != nil {
		return former, false, err
	}
	for _, b := range safefile.BackupsOf(real) {
		bare, errBare := removes.Change(b.Text)
		made, errMade := installs.Change(b.Text)
		none := bytes.Equal(bare, b.Text) || bare == nil && len(bytes.TrimSpace(b.Text)) == 0
		if errors.Join(errBare, errMade) == nil && none && bytes.Equal(made, text) && !bytes.Equal(b.Text, text) {
			return b, true, nil
		}
	}
	return former, false, nil
}
