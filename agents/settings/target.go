package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A Target says which settings are meant: the user's own, unless a flag says otherwise.
type Target struct {
	Project string `help:"The settings of a project, by its folder." placeholder:"DIR" type:"given"`
	User    bool   `help:"The user's own settings, which are meant without a flag, too."`
	System  bool   `help:"The managed settings of the machine, which no user and no project overrides; --managed is the same." aliases:"managed"`
	File    string `help:"A settings file by its path." placeholder:"FILE" type:"given"`
	// Managed is the folder of managed settings; empty: the machine's.
	Managed    string `kong:"-"`
	ConfigFile string `kong:"-"` // the configuration that was named, for the cures that are told
}

// ManagedDir returns the folder of the managed settings; empty: the agent has none.
func (c Target) ManagedDir(f Files) string {
	if c.Managed != "" && f.Managed != "" {
		return c.Managed
	}
	return f.Managed
}

// Path returns the file that is meant.
func (c Target) Path(f Files) (string, error) {
	named := 0
	for _, is := range []bool{c.File != "", c.Project != "", c.System, c.User} {
		if is {
			named++
		}
	}
	switch {
	case named > 1:
		return "", errors.New("--project, --user, --system and --file exclude each other: keep one")
	case c.File != "":
		return filepath.Abs(c.File)
	case c.Project != "" && f.Unread != "":
		return "", errors.New(f.Title + " can skip hooks of a project without a message: " + f.Unread +
			"; leave out --project")
	case c.Project != "":
		return filepath.Abs(filepath.Join(c.Project, f.InProject()))
	case c.System && f.Managed == "":
		return "", errors.New(f.Title + " has no managed settings: leave out --system")
	case c.System:
		return filepath.Join(c.ManagedDir(f), f.ManagedFile), nil
	}
	folder, err := f.UserFolder()
	return filepath.Join(folder, f.File), err
}

// Exists returns an error if the project is no folder.
func (c Target) Exists() error {
	if c.Project == "" {
		return nil
	}
	info, err := os.Stat(c.Project)
	if err == nil && !info.IsDir() {
		err = errors.New("it is a file")
	}
	if err != nil {
		return fmt.Errorf("--project %q is no folder: name the folder of a project that is there: %w", c.Project, err)
	}
	return nil
}

// OfMachine reports whether a file has managed settings, which every user must be able to read.
func (c Target) OfMachine(f Files, path string) bool {
	managed, dir := c.ManagedDir(f), filepath.Dir(path)
	return managed != "" && (dir == managed || dir == filepath.Join(managed, f.ManagedMore))
}

// Names reports whether the file itself must have the hooks.
func (c Target) Names(f Files, path string) bool {
	named, err := c.Path(f)
	return c.File != "" || c.System || c.Project != "" && (err != nil || path == named)
}
