package claudehooks

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"approver.example/agents/claudesettings"
	"approver.example/daemon/safefile"
)

// Places are the folders that Claude Code merges its settings from.
type Places struct {
	Managed  string
	Home     string // of the user's own; empty: not known
	Config   string // the same folder, where only what Claude Code notes is looked at
	Projects []string
	Users    []string // homes of which only the variables count that are set there
}

// Sources reads all files in the order in which Claude Code merges them.
func (p Places) Sources() []claudesettings.Source {
	seen := map[string]bool{}
	var all []claudesettings.Source
	add := func(place claudesettings.Place, path string) {
		if !seen[path] {
			seen[path] = true
			all = append(all, ReadSource(place, path))
		}
	}
	add(claudesettings.Managed, filepath.Join(p.Managed, "managed-settings.json"))
	dir := filepath.Join(p.Managed, "managed-settings.d")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		all = append(all, claudesettings.Source{Place: claudesettings.Managed, Path: dir, Err: err})
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") && !strings.HasPrefix(e.Name(), ".") {
			add(claudesettings.Managed, filepath.Join(dir, e.Name()))
		}
	}
	if p.Home != "" {
		add(claudesettings.User, filepath.Join(p.Home, "settings.json"))
	}
	for _, path := range globalFiles(cmp.Or(p.Home, p.Config)) {
		add(claudesettings.Global, path)
	}
	for _, home := range p.Users {
		for _, path := range append(globalFiles(home), filepath.Join(home, "settings.json")) {
			add(claudesettings.Global, path)
		}
	}
	for _, project := range p.Projects {
		add(claudesettings.Project, filepath.Join(project, ".claude", "settings.json"))
		add(claudesettings.Local, filepath.Join(project, ".claude", "settings.local.json"))
		roots, err := localRoots(project)
		if err != nil {
			all = append(all, claudesettings.Source{Place: claudesettings.Local, Path: filepath.Join(project, ".git"), Err: err})
		}
		for _, root := range roots {
			add(claudesettings.Local, filepath.Join(root, ".claude", "settings.local.json"))
		}
	}
	return all
}

// globalFiles are the files in which Claude Code may note what it knows of a user whose
// settings are in a folder: beside ~/.claude, or in the folder that CLAUDE_CONFIG_DIR
// names. Which of the two it is, the folder does not say.
func globalFiles(home string) (paths []string) {
	if home == "" {
		return nil
	}
	for _, name := range []string{".claude.json", ".claude-custom-oauth.json"} {
		paths = append(paths, filepath.Join(home, name))
		if filepath.Base(home) == ".claude" {
			paths = append(paths, filepath.Join(filepath.Dir(home), name))
		}
	}
	return append(paths, filepath.Join(home, ".config.json"))
}

// AgentHomes are the folders in which Claude Code has the settings of those who may
// submit; without any named, of this user. Of a group, nobody knows the members here.
func AgentHomes(uids []uint32) (homes []string) {
	if len(uids) == 0 {
		uids = []uint32{uint32(os.Geteuid())}
	}
	for _, uid := range uids {
		if u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10)); err == nil && filepath.IsAbs(u.HomeDir) {
			homes = append(homes, filepath.Join(u.HomeDir, ".claude"))
		}
	}
	return homes
}

// ReadSource reads one settings file. Why it cannot be read is part of what it returns.
func ReadSource(place claudesettings.Place, path string) claudesettings.Source {
	s := claudesettings.Source{Place: place, Path: path}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not hold us
	if err == nil {
		defer f.Close()
		s.Text, err = io.ReadAll(io.LimitReader(f, safefile.MaxSettings+1))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		s.Missing = true
	case err != nil:
		s.Err = err
	case len(s.Text) > safefile.MaxSettings:
		s.Err = fmt.Errorf("it has more than %d bytes", safefile.MaxSettings)
	}
	// Claude Code reads a file with a byte order mark.
	s.Text = bytes.TrimPrefix(s.Text, []byte("\ufeff"))
	return s
}
