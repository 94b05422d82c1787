// Package settings knows the settings files of agents: where they are, which of them apply
// together, and which command lines of approver are in them. The daemon, doctor, install and
// uninstall use it. What the settings of an agent mean is in its Installer, see package agents.
//
// Read settings.go first, then target.go, which says which file is meant, and places.go, which says
// which files are read.
package settings

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"approver.example/internal/lazyregexp"
)

// Files says where an agent has its settings.
type Files struct {
	Agent string // its name, as for --agent
	Title string // what people call it

	// Programs are its programs, by which it is found on a machine, separated by spaces; empty: one with
	// its name.
	Programs string

	Folder string // in a home, such as .agent
	File   string // in that folder, such as settings.json or hooks/ours.json
	Local  string // beside a project's file: one person's own; empty: there is none
	Home   string // the variable that names another folder than that in the home; empty: there is none
	// Config is the variable of the folder in which Folder is, if that is set; empty: it is in the home.
	Config string

	// Project is the folder in a project, and ProjectFile the file in it, if they have other names than
	// in a home. Unread says why hooks in a project may be skipped without a message; install then
	// refuses a project. Empty: they are not.
	Project, ProjectFile, Unread string

	// Managed is the folder of the machine's settings, with the file ManagedFile and more
	// files in the folder ManagedMore. Empty: there are none.
	Managed, ManagedFile, ManagedMore string

	// Noted returns the files in which the agent itself notes what it knows about a user, for a folder
	// of settings. Their variables count. Nil: there are none.
	Noted func(folder string) []string
}

// UserFolder returns the folder of the user's own settings. Agents do not agree on what a relative path in a
// variable is: below the folder of a start, below the home for one with ~, or none. It is refused.
func (f Files) UserFolder() (string, error) {
	for _, name := range []string{f.Home, f.Config} {
		switch dir := os.Getenv(name); {
		case name == "" || dir == "":
		case !filepath.IsAbs(dir):
			return "", Refuse("set it to an absolute path, or unset it", "%s is %q, so where %s has its settings depends on "+
				"where it is started", name, dir, f.Title)
		case name == f.Home:
			return filepath.Clean(dir), nil
		default:
			return filepath.Join(dir, filepath.Base(f.Folder)), nil
		}
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, f.Folder), err
}

// InProject returns the path of the settings in a project, from the project's folder.
func (f Files) InProject() string {
	return filepath.Join(cmp.Or(f.Project, f.Folder), cmp.Or(f.ProjectFile, f.File))
}

// ProjectOf returns the project whose settings a path is, or one person's own settings in it; ok is
// false if the path is neither. A home has the form of a project.
func (f Files) ProjectOf(path string) (project string, ok bool) {
	files := []string{f.InProject()}
	if f.Local != "" {
		files = append(files, filepath.Join(filepath.Dir(files[0]), f.Local))
	}
	for _, file := range files {
		if project, ok = strings.CutSuffix(path, string(filepath.Separator)+file); ok {
			return cmp.Or(project, string(filepath.Separator)), true
		}
	}
	return "", false
}

// Found returns where the agent is on this machine: its program in PATH, or else the folder of its
// user's settings; empty if there is neither.
func (f Files) Found() string {
	for program := range strings.FieldsSeq(cmp.Or(f.Programs, f.Agent)) {
		if path, err := exec.LookPath(program); err == nil {
			return path
		}
	}
	folder, err := f.UserFolder()
	if info, statErr := os.Stat(folder); err == nil && statErr == nil && info.IsDir() {
		return folder
	}
	return ""
}

// Install returns the command that installs, without flags.
func (f Files) Install() string { return "approver install " + f.Agent }

// Hooks are the hooks in a file, by event.
type Hooks = map[string][]Matcher

// A Matcher has the hooks of an event for some tools.
type Matcher struct {
	Matcher string            `json:"matcher"`
	Hooks   []json.RawMessage `json:"hooks"`
}

// A Place is one of those that an agent merges its settings from.
type Place uint8

// The places. Nothing overrides the managed one; each of the others overrides those before it.
const (
	Managed Place = iota // of the machine
	User
	Project
	Local  // one person's own, beside a project's
	Global // what the agent notes of a user by itself; its "env" alone counts, below User
)

// A Source is one file that was read.
type Source struct {
	Place   Place
	Path    string
	Text    []byte
	Missing bool  // there is no such file
	Err     error // why it could not be read
}

// A Want says what has to be in the settings.
type Want struct {
	// Hooks are those that install writes. Without any, the settings can never be right.
	Hooks Hooks
	// In is the path of the file that has to have them; empty: the user's or a managed one.
	In string
	// Anywhere says that any file may have them, because only one session matters.
	Anywhere bool
	// TTL is how long people have to answer, and Before is the time before they are asked.
	TTL, Before time.Duration
}

// A Finding is something about the settings. One without Harmless weakens the hooks.
type Finding struct {
	Harmless bool // worth reporting; calls are asked about all the same
	Fine     bool // nothing is wrong; people should know
	Path     string
	Text     string
	// Fix says how to repair it, as a sentence or a command line; empty: install into Path.
	Fix string
}

// String returns the finding on one line.
func (f Finding) String() string {
	if f.Path == "" || strings.Contains(f.Text, f.Path) {
		return f.Text
	}
	return f.Path + ": " + f.Text
}

// Weak returns those that weaken the hooks, as lines.
func Weak(found []Finding) (lines []string) {
	for _, f := range found {
		if !f.Harmless {
			lines = append(lines, f.String())
		}
	}
	return lines
}

// A Command is the command line of a hook.
type Command string

// CommandOf returns the command line of a hook, a JSON object; empty if it has none. Some agents have
// one for each kind of shell; then it is the one for a POSIX shell.
func CommandOf(hook json.RawMessage) Command {
	var h struct{ Command, Bash Command }
	if json.Unmarshal(hook, &h) != nil {
		return ""
	}
	return cmp.Or(h.Command, h.Bash)
}

// Program returns the program that the command line of a hook of approver runs.
func (c Command) Program() string {
	program, _, _ := strings.Cut(string(c), " --agent")
	if inner, ok := strings.CutPrefix(program, "'"); ok {
		return strings.ReplaceAll(strings.TrimSuffix(inner, "'"), `'\''`, "'")
	}
	return program
}

// Ours reports whether a hook is approver's for an agent, or was meant to be. It compares the name
// of the program, so it also finds hooks of an older version or from another folder.
func (c Command) Ours(agent string) bool {
	program, rest, _ := strings.Cut(string(c), " --agent "+agent)
	program = filepath.Base(strings.Trim(program, "'"))
	return rest != string(c) && (program == "approver-hook" || program == "approver hook")
}

var socketAt = lazyregexp.New(` --socket ('[^']*'|\S+)`)

// Socket returns the socket that the hook uses; empty: the default.
func (c Command) Socket() string {
	if m := socketAt().FindStringSubmatch(string(c)); m != nil {
		return strings.Trim(m[1], "'")
	}
	return ""
}

var deadlineAt = lazyregexp.New(` --deadline (\S+)`)

// Deadline splits the deadline from the command line.
func (c Command) Deadline() (stem string, d time.Duration) {
	line := string(c)
	m := deadlineAt().FindStringSubmatchIndex(line)
	if m == nil {
		return line, 0
	}
	d, _ = time.ParseDuration(strings.TrimRight(line[m[2]:m[3]], ";&|")) // zero is too short
	return line[:m[0]] + strings.TrimLeft(line[m[2]:m[3]], "0123456789smh.") + line[m[1]:], d
}

// Parks reports whether the hook tells the agent to make the call again later if people have not
// answered in time.
func (c Command) Parks() bool {
	_, flags, _ := strings.Cut(string(c), " --agent ")
	return strings.Contains(flags+" ", " --park ") || strings.Contains(flags, " --park-after")
}

// Short says that a hook before tools gives up before the time for people ends, or returns "".
func (want Want) Short(waits time.Duration) string {
	switch {
	case waits < want.TTL:
		return "the hook gives people " + waits.String() + ", less than the ttl of " + want.TTL.String()
	case waits < want.TTL+want.Before:
		return "the hook waits for " + waits.String() + ", less than the ttl of " + want.TTL.String() +
			" and the " + want.Before.String() + " that the evaluator may take before"
	}
	return ""
}
