// Package hookfiles knows which hooks install wrote into agents' settings, and which must be
// there. The daemon, doctor, install and uninstall share it.
//
// Read installed.go first, the record of what was installed. wanted.go is what must be in
// the settings, look.go what is in them.
package hookfiles

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"approver.example/agents"
	"approver.example/agents/facts"
	"approver.example/agents/settings"
	"approver.example/daemon/safefile"
)

// An Installed is what install wrote into one settings file. The daemon watches that file.
type Installed struct {
	// Agent is empty for the agent that was once the only one.
	Agent   string         `json:"agent,omitempty"`
	Path    string         `json:"path"`
	Program string         `json:"program"`
	SHA256  string         `json:"sha256"` // of the program
	Hooks   settings.Hooks `json:"hooks"`
}

// Installs is the record of what was installed, a file in the daemon's data folder.
type Installs struct {
	Installs []Installed `json:"installs"`
}

// Of returns the agent whose settings the hooks were installed into; nil if this version does
// not know it.
func (in Installed) Of() agents.Installer {
	agent, _ := agents.For(cmp.Or(in.Agent, facts.Example()))
	i, _ := agent.(agents.Installer)
	return i
}

// InstallsFile returns the path of the record in a data folder.
func InstallsFile(dir string) string { return filepath.Join(dir, "installed.json") }

// ReadInstalls reads the record. A missing file is an empty record.
func ReadInstalls(dir string) (all Installs, err error) {
	text, err := os.ReadFile(InstallsFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		err = fmt.Errorf("%s, the record of what was installed: %w: remove it and run approver install %s again",
			InstallsFile(dir), err, facts.Example())
	}
	return all, err
}

// Of returns the entry for a settings file.
func (all Installs) Of(path string) (Installed, bool) {
	i := slices.IndexFunc(all.Installs, func(in Installed) bool { return in.Path == path })
	if i < 0 {
		return Installed{}, false
	}
	return all.Installs[i], true
}

// agentOf names the agent that a program was installed for.
func (all Installs) agentOf(program string) string {
	for _, in := range all.Installs {
		if in.Program == program && in.Agent != "" {
			return in.Agent
		}
	}
	return facts.Example()
}

// ChangeInstalls replaces the entry for a settings file with in. If in has no hooks, it only
// removes the entry.
func ChangeInstalls(dir string, in Installed) error {
	all, err := ReadInstalls(dir)
	if err != nil {
		return err
	}
	if _, there := all.Of(in.Path); !there && len(in.Hooks) == 0 {
		return nil
	}
	all.Installs = slices.DeleteFunc(all.Installs, func(old Installed) bool { return old.Path == in.Path })
	if len(in.Hooks) > 0 {
		all.Installs = append(all.Installs, in)
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	folder, err := os.Stat(dir)
	if err != nil {
		return err
	}
	path := InstallsFile(dir)
	next := path + ".new"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// The file belongs to the daemon's user, even if root installs.
	if err := errors.Join(safefile.WriteNew(next, append(text, '\n'), 0o600), safefile.OwnedAs(folder)(next)); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// HashOf returns the SHA-256 hash of a file in hex.
func HashOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Sibling returns the path of the approver-hook beside this program, or "".
func Sibling() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	path := filepath.Join(filepath.Dir(self), "approver-hook")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// Genuine checks that a program is the courier of this approver: the unchanged program that
// was installed, or one with the same content as the courier beside this program. sure is
// false if there is nothing to compare it with.
func Genuine(program string, all Installs) (sure bool, err error) {
	info, err := os.Stat(program)
	switch {
	case err != nil:
		return true, fmt.Errorf("the hook program: %w", err)
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
		return true, fmt.Errorf("the hook program %s cannot be run", program)
	}
	sum, err := HashOf(program)
	if errors.Is(err, fs.ErrPermission) {
		return true, fmt.Errorf("the hook program: %w: give it to the daemon's group, with mode 0751, so that the daemon "+
			"may compare it with what was installed", err)
	}
	if err != nil {
		return true, fmt.Errorf("the hook program: %w", err)
	}
	// The record of install has priority: the program beside this one could have been
	// replaced like any other.
	recorded := false
	for _, in := range all.Installs {
		recorded = recorded || in.Program == program
		if in.Program == program && in.SHA256 == sum {
			return true, nil
		}
	}
	beside := Sibling()
	switch own, err := HashOf(beside); {
	case recorded:
		return true, fmt.Errorf("the hook program %s is not what it was when it was installed: after an update, approver "+
			"install %s records the new one", program, all.agentOf(program))
	case beside != "" && err == nil && own == sum:
		return true, nil
	case beside != "":
		return true, fmt.Errorf("the hook program %s is another program than %s, which belongs to this approver", program,
			beside)
	}
	return false, nil
}
