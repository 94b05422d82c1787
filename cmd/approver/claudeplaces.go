package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"approver.example/agents/claudesettings"
)

// claudeFile is which settings are meant: the user's own unless a flag says
// otherwise.
type claudeFile struct {
	Project string `help:"The settings of a project, by its folder." placeholder:"DIR"`
	System  bool   `help:"The managed settings of the machine, which no user and no project overrides."`
	File    string `help:"A settings file by its path." placeholder:"FILE"`
	// Managed is the folder of managed settings; empty: the machine's.
	Managed string `kong:"-"`
	config  string `kong:"-"` // the configuration that was named, for the cures that are told
}

func (c claudeFile) managed() string {
	switch {
	case c.Managed != "":
		return c.Managed
	case runtime.GOOS == "darwin":
		return "/Library/Application Support/ClaudeCode"
	}
	return "/etc/claude-code"
}

func (c claudeFile) path() (string, error) {
	switch {
	case c.File != "" && c.Project != "", c.File != "" && c.System, c.Project != "" && c.System:
		return "", errors.New("--project, --system and --file exclude each other: keep one")
	case c.File != "":
		return filepath.Abs(c.File)
	case c.Project != "":
		return filepath.Abs(filepath.Join(c.Project, ".claude", "settings.json"))
	case c.System:
		return filepath.Join(c.managed(), "managed-settings.json"), nil
	}
	home, err := claudeHome()
	return filepath.Join(home, "settings.json"), err
}

// claudeHome is where Claude Code has the user's own settings.
func claudeHome() (string, error) {
	if dir := os.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".claude"), err
}

// ofMachine reports whether a file is one of the managed settings, which every user
// has to be able to read.
func (c claudeFile) ofMachine(path string) bool {
	dir := filepath.Dir(path)
	return dir == c.managed() || dir == filepath.Join(c.managed(), "managed-settings.d")
}

// claudePlaces are the folders that Claude Code merges its settings from.
type claudePlaces struct {
	managed  string
	home     string // of the user's own; empty: not known
	config   string // the same folder, where only what Claude Code notes is looked at
	projects []string
	users    []string // homes of which only the variables count that are set there
}

// sources reads all files in the order in which Claude Code merges them.
func (p claudePlaces) sources() []claudesettings.Source {
	seen := map[string]bool{}
	var all []claudesettings.Source
	add := func(place claudesettings.Place, path string) {
		if !seen[path] {
			seen[path] = true
			all = append(all, readSource(place, path))
		}
	}
	add(claudesettings.Managed, filepath.Join(p.managed, "managed-settings.json"))
	dir := filepath.Join(p.managed, "managed-settings.d")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		all = append(all, claudesettings.Source{Place: claudesettings.Managed, Path: dir, Err: err})
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") && !strings.HasPrefix(e.Name(), ".") {
			add(claudesettings.Managed, filepath.Join(dir, e.Name()))
		}
	}
	if p.home != "" {
		add(claudesettings.User, filepath.Join(p.home, "settings.json"))
	}
	for _, path := range globalFiles(cmp.Or(p.home, p.config)) {
		add(claudesettings.Global, path)
	}
	for _, home := range p.users {
		for _, path := range append(globalFiles(home), filepath.Join(home, "settings.json")) {
			add(claudesettings.Global, path)
		}
	}
	for _, project := range p.projects {
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

// agentHomes are the folders in which Claude Code has the settings of those who may
// submit; without any named, of this user. Of a group, nobody knows the members here.
func agentHomes(uids []uint32) (homes []string) {
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

// maxSettings bounds what is read of a file, in bytes. What Claude Code notes grows.
const maxSettings = 32 << 20

func readSource(place claudesettings.Place, path string) claudesettings.Source {
	s := claudesettings.Source{Place: place, Path: path}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not hold us
	if err == nil {
		defer f.Close()
		s.Text, err = io.ReadAll(io.LimitReader(f, maxSettings+1))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		s.Missing = true
	case err != nil:
		s.Err = err
	case len(s.Text) > maxSettings:
		s.Err = fmt.Errorf("it has more than %d bytes", maxSettings)
	}
	// Claude Code reads a file with a byte order mark.
	s.Text = bytes.TrimPrefix(s.Text, []byte("\ufeff"))
	return s
}

// nobody is the user who is asked in place of one whose number is not known.
const nobody = 65534

// readableBy checks that a user can read a file: as root by doing it, otherwise by
// the modes of the file and of every folder above it.
func readableBy(path string, uid uint32) error {
	why := readableByMode(path, uid)
	if os.Geteuid() != 0 || runtime.GOOS == "windows" {
		return why
	}
	cmd := exec.Command("/bin/cat", path)
	cmd.Dir, cmd.Env = "/", []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: nobody, Groups: []uint32{}}}
	var out, told bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &told, 5*time.Second
	err := cmd.Run()
	if err == nil {
		var own []byte
		if own, err = os.ReadFile(path); err == nil && bytes.Equal(own, out.Bytes()) {
			return nil
		}
		return fmt.Errorf("uid %d reads something else in %s than root: %w", uid, path, errors.Join(err, errors.New("look at what is mounted there")))
	}
	if why != nil {
		return why
	}
	return fmt.Errorf("uid %d cannot read %s: %s: Claude Code runs without the hook there", uid, path, cmp.Or(strings.TrimSpace(told.String()), err.Error()))
}

// readableByMode names the first place on the way that keeps a user out. It knows no
// groups and no ACLs.
func readableByMode(path string, uid uint32) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	for at := real; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return err
		}
		need, how := fs.FileMode(0o001), "a+x"
		if at == real {
			need, how = 0o004, "a+r"
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid == uid {
			need <<= 6
		}
		if info.Mode().Perm()&need != need {
			return fmt.Errorf("uid %d cannot read %s: Claude Code runs without the hook there: chmod %s %s", uid, path, how, strconv.Quote(at))
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// missingFolders returns the folders above a path that are not there.
func missingFolders(path string) (missing []string) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return missing
		}
		missing = append(missing, dir)
	}
}

// publish makes managed settings readable for everybody, whatever the umask is, and
// looks whether another user can read them.
func publish(path string, made []string, agent uint32) error {
	for _, dir := range made {
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o444 != 0o444 {
		if err := os.Chmod(path, mode|0o444); err != nil {
			return err
		}
		printed(0, "made %s readable for everybody: managed settings hold only for those who can read them\n", path)
	}
	return readableBy(path, agent)
}
