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
	"strings"

	"approver.example/agents"
	"approver.example/agents/facts"
	"approver.example/agents/settings"
	"approver.example/daemon/safefile"
	"approver.example/internal/regular"
)

// An Installed is what install wrote into one settings file. The daemon watches that file.
type Installed struct {
	// Agent is empty for the agent that was once the only one.
	Agent   string         `json:"agent,omitempty"`
	Path    string         `json:"path"`
	Program string         `json:"program"`
	SHA256  string         `json:"sha256"` // of the program
	Hooks   settings.Hooks `json:"hooks"`
	// Changing says that an install or uninstall has begun and not ended. The daemon does not watch the
	// file then, and uninstall knows what may be there.
	Changing bool `json:"changing,omitempty"`
	// Folders are those that install made, the innermost first.
	Folders []string `json:"folders,omitempty"`
}

// A Key names an entry of the record: two agents may have one file.
type Key struct{ Agent, Path string }

// Key returns the key of an entry.
func (in Installed) Key() Key { return Key{cmp.Or(in.Agent, facts.Example()), in.Path} }

// Installs is the record of what was installed, a file in the daemon's data folder.
type Installs struct {
	Installs []Installed `json:"installs"`
}

// Of returns the agent whose settings the hooks were installed into; nil if this version does
// not know it.
func (in Installed) Of() agents.Installer {
	agent, _ := agents.For(in.Key().Agent)
	i, _ := agent.(agents.Installer)
	return i
}

// maxRecord limits what is read of the record, in bytes.
const maxRecord = 16 << 20

// InstallsFile returns the path of the record in a data folder.
func InstallsFile(dir string) string { return filepath.Join(dir, "installed.json") }

// ReadInstalls reads the record. A missing file is an empty record.
func ReadInstalls(dir string) (all Installs, err error) {
	text, err := regular.Read(InstallsFile(dir), maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		if wrong := json.Unmarshal(text, &all); wrong != nil {
			err = errors.New(settings.Why(settings.InFile(InstallsFile(dir), text, wrong)))
		}
	}
	if err != nil {
		err = fmt.Errorf("the record of what was installed: %w: remove it and run approver install %s again",
			err, facts.Example())
	}
	return all, err
}

// Of returns the entry of an agent for a settings file, also if a folder above it is named otherwise
// by a link.
func (all Installs) Of(agent, path string) (Installed, bool) {
	i := slices.IndexFunc(all.Installs, func(in Installed) bool {
		return in.Key().Agent == agent && (in.Path == path || unlinked(in.Path) == unlinked(path))
	})
	if i < 0 {
		return Installed{}, false
	}
	return all.Installs[i], true
}

// unlinked returns a path whose folder is named without links.
func unlinked(path string) string {
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
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

// ChangeInstalls puts an entry into the record, in the place of the one for the same agent and file.
func ChangeInstalls(dir string, in Installed) error {
	all, err := ReadInstalls(dir)
	if err != nil {
		return err
	}
	all.drop(in)
	all.Installs = append(all.Installs, in)
	return all.write(dir)
}

// ForgetInstall takes an entry out of the record. Folders that its install made, and that are still
// there because other entries have files in them, are left to those.
func ForgetInstall(dir string, in Installed) error {
	all, err := ReadInstalls(dir)
	if err != nil {
		return err
	}
	all.drop(in)
	for _, folder := range in.Folders {
		within := func(other Installed) bool { return strings.HasPrefix(other.Path, folder+string(filepath.Separator)) }
		if i := slices.IndexFunc(all.Installs, within); i >= 0 {
			all.Installs[i].Folders = append(all.Installs[i].Folders, folder)
		}
	}
	return all.write(dir)
}

// drop removes the entry for the same agent and file.
func (all *Installs) drop(in Installed) {
	if old, there := all.Of(in.Key().Agent, in.Path); there {
		all.Installs = slices.DeleteFunc(all.Installs, func(one Installed) bool { return one.Key() == old.Key() })
	}
}

// write writes the record.
func (all Installs) write(dir string) error {
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
	// The file belongs to the daemon's user, even if root installs.
	next := InstallsFile(dir) + ".new"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = errors.Join(safefile.WriteNew(next, append(text, '\n'), 0o600), safefile.OwnedAs(folder)(next))
	if err == nil {
		err = os.Rename(next, InstallsFile(dir))
	}
	if err != nil {
		_ = os.Remove(next) // it is of no use to anybody
	}
	return err
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
