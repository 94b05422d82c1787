package settings

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"approver.example/internal/regular"
)

// MaxFile limits what is read of a file, in bytes. A file in which an agent notes things grows.
const MaxFile = 32 << 20

// Places are the folders that an agent merges its settings from.
type Places struct {
	Managed  string
	Home     string // of the user's own; empty: not known
	Config   string // the same folder, where only what the agent notes is looked at
	Projects []string
	Users    []string // homes of which only the variables count that are set there
}

// Sources reads all files of an agent in the order in which it merges them.
func (p Places) Sources(f Files) []Source {
	seen := map[string]bool{}
	var all []Source
	add := func(place Place, path string) {
		if !seen[path] {
			seen[path] = true
			all = append(all, ReadSource(place, path))
		}
	}
	if p.Managed != "" && f.Managed != "" {
		add(Managed, filepath.Join(p.Managed, f.ManagedFile))
		dir := filepath.Join(p.Managed, f.ManagedMore)
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = append(all, Source{Place: Managed, Path: dir, Err: err})
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".json") && !strings.HasPrefix(e.Name(), ".") {
				add(Managed, filepath.Join(dir, e.Name()))
			}
		}
	}
	if p.Home != "" {
		add(User, filepath.Join(p.Home, f.File))
	}
	for _, path := range f.noted(cmp.Or(p.Home, p.Config)) {
		add(Global, path)
	}
	for _, home := range p.Users {
		for _, path := range append(f.noted(home), filepath.Join(home, f.File)) {
			add(Global, path)
		}
	}
	for _, project := range p.Projects {
		add(Project, filepath.Join(project, f.InProject()))
		if f.Local == "" {
			continue
		}
		add(Local, filepath.Join(project, f.Folder, f.Local))
		roots, err := localRoots(project)
		if err != nil {
			all = append(all, Source{Place: Local, Path: filepath.Join(project, ".git"), Err: err})
		}
		for _, root := range roots {
			add(Local, filepath.Join(root, f.Folder, f.Local))
		}
	}
	return all
}

// noted returns the files in which the agent notes what it knows about a user.
func (f Files) noted(folder string) []string {
	if folder == "" || f.Noted == nil {
		return nil
	}
	return f.Noted(folder)
}

// UserFolders returns the folders of an agent's settings for the users that may submit; without
// uids, for this user. The members of groups are not known here.
func UserFolders(f Files, uids []uint32) (homes []string) {
	if len(uids) == 0 {
		uids = []uint32{uint32(os.Geteuid())}
	}
	for _, uid := range uids {
		if u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10)); err == nil && filepath.IsAbs(u.HomeDir) {
			homes = append(homes, filepath.Join(u.HomeDir, f.Folder))
		}
	}
	return homes
}

// ReadSource reads one settings file, with a byte order mark if it has one: some agents do not read such a
// file. The result has the error if it cannot be read. The text of a missing file is nil, and that of an
// empty one is not.
func ReadSource(place Place, path string) Source {
	s := Source{Place: place, Path: path}
	text, err := regular.Read(path, MaxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		s.Missing = true
	case err != nil:
		s.Err = err
	}
	s.Text = text
	return s
}
