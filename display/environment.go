package display

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"approver.example/display/shape"
	"approver.example/internal/lazyregexp"
)

// This file shows people the environment of a call. Variables that are dangerous, or that say
// where the call acts, are always shown. Others are shown if they changed since the session began.

// maxShown bounds one value on a card, in bytes.
const maxShown = 1000

// A Setting is the stored form of one variable: a keyed hash of the value, because the value
// may be a secret without a known form, and the text that people see.
type Setting struct {
	Hash  string `json:"hash"`
	Shown string `json:"shown"`
	Dirs  string `json:"dirs,omitempty"` // for PATH: the whole value, to find new folders
}

// ComparedEnv is the prefix of the names of variables that are only compared: people are told
// of a change, but the value is neither shown nor stored. A name has the prefix twice if its
// last word does not say that the variable chooses a place or a program. Files that the value
// of such a variable may name are ignored.
const ComparedEnv = "#"

// maxEnvironment limits, in bytes, how much of the environment a card shows: nobody reads more.
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

// An Environment is the environment of a call, and the ones that it is compared with.
type Environment struct {
	Values  map[string]string
	Now     map[string]Setting // the settings of Values
	Session map[string]Setting // at the start of the session
	User    map[string]Setting // at the start of the user's first session
	Unknown bool               // Session and User are not known
}

// Lines returns the lines that people see. Most variables have one line or none; PATH can have
// several. The lines have at most maxEnvironment bytes, and then one that says how many are cut.
func (e Environment) Lines() []string {
	var lines []string
	if e.Unknown {
		lines = append(lines, "it is not known what the session began with")
		e.Session, e.User = e.Now, e.Now
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(e.Now)), maps.Keys(e.Session))
	names = slices.AppendSeq(names, maps.Keys(e.User))
	slices.SortFunc(names, func(a, b string) int { // the least dangerous ones come last, and may be cut
		if x, y := shape.AlwaysShown(a, e.Values[a]), shape.AlwaysShown(b, e.Values[b]); x != y {
			return cmp.Compare(shape.Count(y), shape.Count(x))
		}
		return cmp.Compare(a, b)
	})
	for _, name := range slices.Compact(names) {
		was, had := e.Session[name]
		is, has := e.Now[name]
		if had == has && was.Hash == is.Hash { // unchanged in this session: compare with the user's first
			was, had = e.User[name]
		}
		if had || has { // otherwise it is set nowhere
			lines = append(lines, changeLines(name, e.Values[name], was, had, is, has)...)
		}
	}
	return bounded(lines)
}

// bounded cuts the lines after maxEnvironment bytes, and says how many are left out.
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

// cutEnvironment is the prefix of the line that replaces the lines that a card leaves out.
const cutEnvironment = "CUT: "

// changeLines returns the lines about one variable: its value, and its earlier value.
func changeLines(name, value string, was Setting, had bool, is Setting, has bool) []string {
	label := OneLine(name)
	if plain, compared := strings.CutPrefix(name, ComparedEnv); compared {
		label = showValue(strings.TrimPrefix(plain, ComparedEnv)) // the agent may choose the name
	}
	known := (!has || is.Shown != "") && (!had || was.Shown != "") // more than the hash is known
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

// shownSetting returns the value of a variable as people see it. It is masked together with the
// name, because the name may be all that marks it as a secret.
func shownSetting(name, value string) string {
	if whole := Mask(name + "=" + value); strings.HasPrefix(whole, name+"=") {
		return showText(whole[len(name)+1:])
	}
	return showValue(value)
}

// showValue makes a value safe to show: on one line, with secrets masked, and in quotes if it
// could be mistaken for more than a value.
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

// HidesEnvironment reports whether a line may hide what runs: because a value or a line was cut,
// or because something that looks like a secret is masked. A password in an address and
// AWS_ACCESS_KEY_ID do not count.
func HidesEnvironment(lines []string) bool {
	return slices.ContainsFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, cutEnvironment) || strings.Contains(l, " bytes hidden …") ||
			strings.Contains(urlPassword().ReplaceAllString(l, ""), hiddenWords) && !strings.HasPrefix(l, "AWS_ACCESS_KEY_ID")
	})
}

// urlPassword matches a masked password in an address. The host after it is shown.
var urlPassword = lazyregexp.New(`://[^\s/‹›]*:‹[^›]*›@`)

// pathLines says which folders of PATH are new, and which folders before the system's own
// folders are writable by other users.
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

// writableByOthers says why other users can put programs into a folder, or returns "".
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
