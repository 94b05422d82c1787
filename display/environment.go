package display

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"approver.example/display/shape"
)

// This file shows people the environment of a call: what is dangerous or says where
// it acts, whenever it is set, and all else that is not as it was when the session
// began.

// maxShown bounds one value on a card, in bytes.
const maxShown = 1000

// A Setting is one variable as it is remembered: as a keyed hash, because the value may be a
// secret that has no known form, and as people see it.
type Setting struct {
	Hash  string `json:"hash"`
	Shown string `json:"shown"`
	Dirs  string `json:"dirs,omitempty"` // of PATH: the whole, to tell which folders are new
}

// ComparedEnv begins the names of variables in a call's environment that are only compared:
// people are told of a change, and the value is neither shown nor stored. It stands twice
// before a name whose last word does not say that the variable chooses a place or a program.
// The files that the value of such a variable may name are ignored.
const ComparedEnv = "#"

// maxEnvironment bounds what a card shows of the environment, in bytes: nobody reads more.
const maxEnvironment = 4 << 10

// NewSetting returns the setting of a variable. hash is the keyed hash of its value.
func NewSetting(name, value, hash string) Setting {
	s := Setting{Hash: hash}
	if !strings.HasPrefix(name, ComparedEnv) {
		s.Shown = shownSetting(name, value)
	}
	if name == "PATH" {
		s.Dirs = value
	}
	return s
}

// An Environment is that of a call, and what it is compared with.
type Environment struct {
	Values  map[string]string
	Now     map[string]Setting // of Values
	Session map[string]Setting // what the session began with
	User    map[string]Setting // what the first of its user's sessions began with
	Unknown bool               // it is not known what they began with
}

// Lines are the lines that people see, one for each variable.
func (e Environment) Lines() []string {
	var lines []string
	if e.Unknown {
		lines = append(lines, "it is not known what the session began with")
		e.Session, e.User = e.Now, e.Now
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(e.Now)), maps.Keys(e.Session))
	names = slices.AppendSeq(names, maps.Keys(e.User))
	slices.SortFunc(names, func(a, b string) int { // what is cut is the least dangerous
		if x, y := shape.AlwaysShown(a, e.Values[a]), shape.AlwaysShown(b, e.Values[b]); x != y {
			return cmp.Compare(shape.Count(y), shape.Count(x))
		}
		return cmp.Compare(a, b)
	})
	for _, name := range slices.Compact(names) {
		was, had := e.Session[name]
		is, has := e.Now[name]
		if had == has && was.Hash == is.Hash { // the session began so; did its user's others?
			was, had = e.User[name]
		}
		if had || has { // else only the session's first call had it, and so had this one
			lines = append(lines, changeLines(name, e.Values[name], was, had, is, has)...)
		}
	}
	return bounded(lines)
}

// bounded leaves out lines that nobody would read, and says how many.
func bounded(lines []string) []string {
	size := 0
	for i, l := range lines {
		if size += len(l); size > maxEnvironment {
			return append(lines[:i:i], fmt.Sprintf("%s%d more are not shown: there is too much to read", cutEnvironment,
				len(lines)-i))
		}
	}
	return lines
}

// cutEnvironment begins the line that stands for what a card leaves out.
const cutEnvironment = "CUT: "

// changeLines are the lines about one variable: its value, and the one before.
func changeLines(name, value string, was Setting, had bool, is Setting, has bool) []string {
	label := OneLine(name)
	if plain, compared := strings.CutPrefix(name, ComparedEnv); compared {
		label = showValue(strings.TrimPrefix(plain, ComparedEnv)) // anybody's name
	}
	known := (!has || is.Shown != "") && (!had || was.Shown != "") // not only its hash
	switch {
	case name == "PATH":
		return pathLines(was.Dirs, is.Dirs, had)
	case has && had && was.Hash == is.Hash:
		if shape.AlwaysShown(name, value) {
			return []string{label + "=" + is.Shown}
		}
		return nil
	case !known && has && had:
		return []string{label + " has another value (neither is shown)"}
	case !known && has:
		return []string{label + " is set (was unset; its value is not shown)"}
	case !known:
		return []string{label + " is unset (was set)"}
	case has && !had:
		return []string{label + "=" + is.Shown + " (was unset)"}
	case has:
		return []string{label + "=" + is.Shown + " (was " + was.Shown + ")"}
	}
	return []string{label + " is unset (was " + was.Shown + ")"}
}

// shownSetting is the value of a variable as people see it. Perhaps only its name says that it
// is a secret.
func shownSetting(name, value string) string {
	if whole := Mask(name + "=" + value); strings.HasPrefix(whole, name+"=") {
		return showText(whole[len(name)+1:])
	}
	return showValue(value)
}

// showValue makes a value safe to see: on one line, secrets masked, in quotes where
// it could pass for more than a value.
func showValue(value string) string { return showText(Mask(value)) }

// showText is showValue for a text that is masked already.
func showText(text string) string {
	text = OneLine(text)
	if len(text) > maxShown {
		head, tail := RuneBoundary(text, maxShown*2/3), RuneBoundary(text, len(text)-maxShown/4)
		text = fmt.Sprintf("%s… %d bytes hidden …%s", text[:head], tail-head, text[tail:])
	}
	if text == "" || strings.ContainsAny(text, " ()\"·") {
		text = `"` + strings.ReplaceAll(text, `"`, `\"`) + `"`
	}
	return text
}

// HidesEnvironment reports whether a line does not show all of what runs: because a value was
// cut, or because something that looks like a secret is in the place of a path or a program.
func HidesEnvironment(lines []string) bool {
	return slices.ContainsFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, cutEnvironment) || strings.Contains(l, " bytes hidden …") ||
			strings.Contains(urlPassword.ReplaceAllString(l, ""), hiddenWords) && !strings.HasPrefix(l, "AWS_ACCESS_KEY_ID")
	})
}

// urlPassword finds a hidden password in an address. The host after it is shown.
var urlPassword = regexp.MustCompile(`://[^\s/‹›]*:‹[^›]*›@`)

// pathLines says which folders of PATH are new, and which of those that come before
// the system's others can write to.
func pathLines(was, is string, had bool) []string {
	var lines []string
	for dir := range strings.SplitSeq(is, ":") {
		if slices.Contains(securePath, dir) {
			break
		}
		if why := writableByOthers(dir); why != "" && is != "" {
			lines = append(lines, "PATH begins with "+showValue(dir)+", "+why)
		}
	}
	if !had || was == is {
		return lines
	}
	old := strings.Split(was, ":")
	var added []string
	for dir := range strings.SplitSeq(is, ":") {
		if !slices.Contains(old, dir) {
			added = append(added, showValue(dir))
		}
	}
	if len(added) > 0 {
		return append(lines, "PATH has new folders: "+strings.Join(added, ", "))
	}
	first, _, _ := strings.Cut(is, ":")
	return append(lines, "PATH has another order, or fewer folders: it begins with "+showValue(first))
}

// writableByOthers says why others may put programs into a folder, or "".
func writableByOthers(dir string) string {
	if !path.IsAbs(dir) {
		return "a relative folder"
	}
	for _, tmp := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		if clean := path.Clean(dir); clean == tmp || strings.HasPrefix(clean, tmp+"/") {
			return "a folder for temporary files"
		}
	}
	if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
		return "which everybody can write to"
	}
	return ""
}
