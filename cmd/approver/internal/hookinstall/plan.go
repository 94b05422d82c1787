package hookinstall

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"approver.example/agents"
	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/safefile"
)

// This file finds out which files install has to change, and changes them: all or none.

// A report collects what is told at the end. Nothing is printed before the files are complete: a pipe
// that nobody reads any more would end the program half way.
type report struct{ text strings.Builder }

func (r *report) say(format string, args ...any) { fmt.Fprintf(&r.text, format, args...) }

// print prints what was said since it last printed.
func (r *report) print() {
	term.Print(0, "%s", r.text.String())
	r.text.Reset()
}

// An edit is what becomes of one file. A nil text means that there is no file.
type edit struct {
	path      string
	old, text []byte
	fresh     fs.FileMode // of a new file; zero means 0600
	backup    string      // the copy of the old text, when it was written
}

// planned returns what has to be written so that settings have these hooks: first the companions, and
// then the settings, whose text is whole if there is no file. Nothing is to be done if one of them
// cannot be changed: hooks that are there and do not run would look as if they did.
func planned(agent agents.Installer, path string, want settings.Hooks, whole []byte) (all []edit, err error) {
	e := edit{path: path, text: whole}
	if e.old, err = safefile.Read(path); err != nil {
		return nil, err
	}
	if e.old != nil {
		if e.text, err = agent.WithHooks(path, e.old, want); err != nil {
			return nil, err
		}
	}
	for _, c := range companionsOf(agent, path, e.old, e.text) {
		one := edit{path: c.Path, fresh: c.Mode}
		if one.old, err = safefile.Read(c.Path); err == nil {
			one.text, err = c.Change(one.old)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	all = append(all, e)
	return slices.DeleteFunc(all, edit.nothing), nil
}

// companionsOf returns the companions of settings whose text changes.
func companionsOf(agent agents.Installer, path string, was, becomes []byte) []agents.Companion {
	if a, ok := agent.(agents.Accompanied); ok {
		return a.Companions(path, was, becomes)
	}
	return nil
}

// nothing reports whether the file stays as it is.
func (e edit) nothing() bool { return bytes.Equal(e.old, e.text) && (e.old == nil) == (e.text == nil) }

// folders returns the folders that have to be made, the innermost first.
func folders(all []edit) (missing []string) {
	for _, e := range all {
		missing = append(missing, missingFolders(e.path)...)
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	slices.Reverse(missing)
	return missing
}

// apply makes all edits. If one fails, it takes back those before it, and the folders.
func apply(all []edit, made []string) error {
	for i := range all {
		if err := all[i].apply(); err != nil {
			for _, done := range slices.Backward(all[:i]) {
				err = errors.Join(err, done.undo())
			}
			removeEmpty(made)
			return err
		}
	}
	return nil
}

func (e *edit) apply() (err error) {
	mode := e.fresh
	if mode == 0 {
		mode = 0o600
	}
	if e.text == nil {
		return removeFile(e.path)
	}
	e.backup, _, err = safefile.ChangeOrMake(e.path, mode, func(now []byte) ([]byte, error) {
		if !bytes.Equal(now, e.old) {
			return nil, fmt.Errorf("%s was changed by somebody else at this moment: run this again; nothing was changed", e.path)
		}
		return e.text, nil
	})
	return err
}

// undo gives the file its old text back.
func (e edit) undo() error {
	if e.old == nil {
		return os.Remove(e.path)
	}
	err := safefile.Restore(e.path, e.old)
	if err == nil && e.backup != "" {
		err = os.Remove(e.backup)
	}
	return err
}

// tell says what was done.
func (e edit) tell(r *report) {
	verb := "changed"
	switch {
	case e.text == nil:
		verb = "removed"
	case e.old == nil:
		verb = "wrote"
	}
	r.say("%s %s\n", verb, e.path)
	if e.backup != "" {
		r.say("what it was is in %s\n", e.backup)
	}
}

// removeFile removes a file that has nothing but what approver wrote. A link into a repository of
// dotfiles stays, with an empty file.
func removeFile(path string) error {
	if safefile.IsLink(path) {
		return safefile.Restore(path, []byte{})
	}
	return os.Remove(path)
}

// missingFolders returns the parent folders of a path that do not exist.
func missingFolders(path string) (missing []string) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return missing
		}
		missing = append(missing, dir)
	}
}

// removeEmpty removes folders that install made, if nothing is in them.
func removeEmpty(made []string) {
	for _, dir := range made {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			_ = os.Remove(dir) // something else is in it
		}
	}
}
