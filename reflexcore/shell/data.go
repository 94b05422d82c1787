package shell

import (
	"path"
	"strings"

	"approver.example/reflexcore/effect"
)

// vanishes reports whether a word of which nothing is known may be none.
func (f *field) vanishes() bool { return f.splits && f.isWhole() }

// below is what a word has below an unknown folder that it begins with.
func (f *field) below() (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(f.text, effect.Unknown+"/"); ok {
		rest = path.Clean("/" + strings.ReplaceAll(rest, effect.Unknown, ""))
	}
	return rest, ok
}

// inPath reports whether what is not known of a word stands in a path, behind a folder
// of it.
func (f *field) inPath() bool {
	known, _, _ := strings.Cut(f.text, effect.Unknown)
	return strings.Contains(known, "/") && known[0] != '-' || strings.Contains(known, ".")
}

// isUnnamed reports whether a word says nothing of the program, or the script, that
// it stands for.
func (f *field) isUnnamed() bool {
	return !f.known() && !f.isKind() && (f.strange || !effect.IsKnown(f.text[strings.LastIndexByte(f.text, '/')+1:]) || strings.HasSuffix(f.text, "/"))
}

// isKind reports whether a word is a file of a known kind in a folder that is known:
// "./scripts/$NAME.sh" is one script of several, as it is for "bash scripts/$NAME.sh".
func (f *field) isKind() bool {
	if f.strange || strings.Count(f.text, effect.Unknown) != 1 {
		return false
	}
	folder, rest, _ := strings.Cut(f.text, effect.Unknown)
	folder, in := strings.CutPrefix(folder, "./")
	dot := strings.LastIndexByte(rest, '.')
	return (in || folder != "") && strings.Contains(strings.TrimLeft(folder, "./"), "/") && folder[0] != '/' && !strings.Contains(folder, "..") && !strings.Contains(rest, "/") &&
		dot >= 0 && len(rest)-dot > 2 && strings.Trim(rest[dot+1:], "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// columns takes a word apart at a separator.
func (f *field) columns(separator string) []field {
	if separator == `\t` {
		separator = "\t"
	}
	if separator == `\s+` || separator == " +" {
		separator = " "
	}
	if !f.known() || !literal.MatchString(separator) {
		return []field{{data: data{effect.Unknown, f.taint}}}
	}
	var out []field
	for cell := range strings.SplitSeq(f.text, separator) {
		out = append(out, field{data: data{cell, f.taint}})
	}
	return out
}

func join(list []data, sep string) data {
	var out data
	for i, d := range list {
		if i > 0 {
			out.text += sep
		}
		out.text += d.text
		out.taint |= d.taint
	}
	return out
}

// isWhole reports whether nothing is known of a word.
func (f *field) isWhole() bool {
	return f.hollow && f.text != "" && strings.Trim(f.text, effect.Unknown) == ""
}

// isPattern reports whether a word is a pattern of names in the present folder.
func (f *field) isPattern() bool {
	return f.glob && f.known() && strings.IndexByte(f.text, '/') < 0
}

// data is what flows: a value, a file's content, a stream.
type data struct {
	text  string // with [effect.Unknown] for what is not known
	taint effect.Taint
}

var unknown = data{text: effect.Unknown}

func (d data) known() bool { return effect.IsKnown(d.text) }

// add adds more to a stream.
func (d *data) add(more data) {
	if d == nil {
		return
	}
	if d.text == "" {
		d.text = more.text
	} else if more.text != "" && (more.text != effect.Unknown || !strings.HasSuffix(d.text, effect.Unknown)) {
		d.text += more.text
	}
	d.taint |= more.taint
}

// input is the standard input of a command.
type input struct {
	data
	present bool // something is connected
}

// A field is one word after expansion.
type field struct {
	data
	branch   bool // it is the name of the branch that is checked out, which git printed
	splits   bool // it may be any number of words, as it was not quoted
	glob     bool // it is a pattern of file names
	quoted   bool // some of it was quoted
	hollow   bool // what is not known of it may be nothing
	filled   bool // it begins with what is not known, which is something: "${X:?}/x"
	strange  bool // what is not known of it may be several words, and anybody's: $(cat f)
	based    bool // it begins with a variable of which only the environment knows the value: "$DESTDIR/usr"
	inherits bool // what is not known of it is in variables of the environment, all of it
	folder   askedFolder
	shaken   bool // it is a variable that a file may have set, see [variables.shake]
	setup    bool // it is what a program prints for a shell to run, and that alone
	odd      Oddity
}
