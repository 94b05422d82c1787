package shell

import (
	"path"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// data is a value, the content of a file or a stream, with its taint.
type data struct {
	text  string // [effect.Unknown] stands for each unknown part
	taint effect.Taint
}

// input is the standard input of a command.
type input struct {
	data
	present bool // something is connected
}

// A field is one word after expansion.
type field struct {
	data
	branch    bool // it is the name of the branch that is checked out, which git printed
	box       bool // it is the id of a container that the text itself made
	splits    bool // it may be any number of words, as it was not quoted
	glob      bool // it is a pattern of file names
	quoted    bool // some of it was quoted
	hollow    bool // its unknown part may be empty
	filled    bool // it begins with an unknown part that is not empty: "${X:?}/x"
	strange   bool // its unknown part may be several words, from anyone: $(cat f)
	based     bool // it begins with a variable whose value only the environment knows: "$DESTDIR/usr"
	inherits  bool // its unknown part comes only from variables of the environment
	folder    askedFolder
	clobbered bool // it is a variable that a file may have set, see [variables.clobber]
	setup     bool // it is only what a program prints for a shell to run
	odd       Oddity
}

// An origin is what was known of a file when a program read it.
type origin struct {
	path   string
	built  bool
	from   []string
	alone  bool // from is only itself; the list is made when needed
	itself string
}

// An askedFolder is one that a script enters without knowing its name.
type askedFolder uint8

const (
	topFolder askedFolder = iota + 1 // of the working tree of git
	ownFolder                        // of the script itself
)

type function struct {
	name  string
	body  *syntax.Stmt // nil: it was unset
	maybe bool         // defined in a branch: an earlier one may apply
	// It is exported: a child shell may have it.
	passed bool
}

type alias struct {
	name, text string
	maybe      bool
}

// A selection is what a command has chosen.
type selection struct {
	choices []choice
	choose  bool // choices are open: the command is tried for each
	shared  bool // choices made in a part belong to the whole command
}

// A choice is a value that may be one of several.
type choice struct {
	key  string
	n    int
	at   int
	held []version // of a file: what the command found in it, see [alternatives.version]
}

// A virtual file is a file that this text wrote, copied, linked or connected.
type virtual struct {
	path string
	data
	older   []version         // what else it may hold, see [alternatives.version]
	alias   string            // it is another file
	link    bool              // it is a link to alias, as are the paths below it
	ran     bool              // it was walked as a program
	written int               // when it was written: the number of the write
	built   bool              // a compiler made it from existing files
	from    []string          // it was made from these, see [filesystem.printed]
	pieces  bool              // each path that begins with its path is a piece of it
	tree    bool              // a folder that was filled: paths below it have its taint
	cloned  bool              // a tree that git cloned from a forge, as it is there
	sink    []*syntax.Stmt    // what is written there is read by these
	to      *data             // where the output of sink goes
	src     *syntax.ProcSubst // the process substitution that it stands for
}

// A variable has one value, or one of several.
type variable struct {
	name string
	data
	alts      []data   // more than one value is possible
	list      []data   // an array
	keys      []string // of its elements, where they are not 0, 1, 2 …; numbers in their order
	array     bool
	assoc     bool // its keys are any text
	unset     bool
	forms     []variable // more than one array is possible
	settled   int        // how many alts it had after a loop's first round
	ref       string     // it refers to the variable of this name, or to an element
	refs      []string   // it refers to one of these; ref is the first
	integer   bool       // assigned values are evaluated as numbers
	letters   byte       // what is assigned becomes lower (l) or upper case (u)
	refers    bool       // the next value assigned is the name that it refers to
	passed    bool       // programs inherit it
	place     bool       // its value is the place of something, as [definitions.asksPlace] says
	clobbered bool       // a file may have set it to something else, see [variables.clobber]
	branch    bool       // its value is the name of a branch, as [definitions.asksBranch] says
	box       bool       // its value is the id of a container, as [definitions.makesBox] says
}

// A held variable is restored when a function or a command ends.
type held struct {
	variable
	was  bool // there was one
	gone bool // unset uncovered it: it is restored already
	mark int  // the scope in which it was held
}

// A heldWord is a word that the call contains. The field file says that a file may have that name.
type heldWord struct {
	text string
	file bool
}

// A version is what a file may hold.
type version struct {
	data
	alias string // it is a copy of this file, or a link to it
	built bool
	from  []string
}

var unknown = data{text: effect.Unknown}

// vanishes reports whether an entirely unknown word may expand to no word.
func (f *field) vanishes() bool { return f.splits && f.isWhole() }

// belowUnknown is the path that a word has below the unknown folder with which it begins.
func (f *field) belowUnknown() (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(f.text, effect.Unknown+"/"); ok {
		rest = path.Clean("/" + strings.ReplaceAll(rest, effect.Unknown, ""))
	}
	return rest, ok
}

// inPath reports whether the unknown part of a word seems to be inside a path: after a slash,
// unless the word is a flag, or after a dot.
func (f *field) inPath() bool {
	known, _, _ := strings.Cut(f.text, effect.Unknown)
	return strings.Contains(known, "/") && known[0] != '-' || strings.Contains(known, ".")
}

// isUnnamed reports whether a word does not tell which program or script it names.
func (f *field) isUnnamed() bool {
	return !f.known() && !f.isKind() && !f.isVersioned() &&
		(f.strange || !effect.IsKnown(f.text[strings.LastIndexByte(f.text, '/')+1:]) || strings.HasSuffix(f.text, "/"))
}

// isVersioned reports whether a word names a package of which only the environment knows the version: prettier@$V,
// and not prettier@${V:-https://a.example/b.tgz}.
func (f *field) isVersioned() bool {
	name, ok := strings.CutSuffix(f.text, "@"+effect.Unknown)
	if scope, rest, scoped := strings.Cut(name, "/"); scoped && strings.HasPrefix(scope, "@") && isPlainWord(scope[1:]) {
		name = rest
	}
	return ok && f.inherits && f.hollow && f.taint == 0 && isPlainWord(name)
}

// isKind reports whether a word names a file with a known extension in a known relative folder:
// "./scripts/$NAME.sh" is one script of several, as in "bash scripts/$NAME.sh".
func (f *field) isKind() bool {
	if f.strange || strings.Count(f.text, effect.Unknown) != 1 {
		return false
	}
	folder, rest, _ := strings.Cut(f.text, effect.Unknown)
	folder, in := strings.CutPrefix(folder, "./")
	dot := strings.LastIndexByte(rest, '.')
	return (in || folder != "") && strings.Contains(strings.TrimLeft(folder, "./"), "/") && folder[0] != '/' &&
		!strings.Contains(folder, "..") && !strings.Contains(rest, "/") &&
		dot >= 0 && len(rest)-dot > 2 && strings.Trim(rest[dot+1:], "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// columns splits a word at a separator.
func (f *field) columns(separator string) []field {
	if separator == `\t` {
		separator = "\t"
	}
	if separator == `\s+` || separator == " +" {
		separator = " "
	}
	if !f.known() || !literal().MatchString(separator) {
		return []field{{data: data{effect.Unknown, f.taint}}}
	}
	var out []field
	for cell := range strings.SplitSeq(f.text, separator) {
		out = append(out, field{data: data{cell, f.taint}})
	}
	return out
}

func join(list []data, sep string) data {
	if len(list) == 1 {
		return list[0]
	}
	size := 0
	for i := range list {
		size += len(list[i].text) + len(sep)
	}
	var b strings.Builder
	b.Grow(size)
	for i := range list {
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(list[i].text)
	}
	return data{b.String(), taintOf(list)}
}

// anyOf is the value that one of a list has.
func anyOf(list []data) data { return data{effect.Unknown, taintOf(list)} }

// taintOf is the taint of all values of a list.
func taintOf(list []data) (t effect.Taint) {
	for i := range list {
		t |= list[i].taint
	}
	return t
}

// isWhole reports whether a word is entirely unknown and may be empty.
func (f *field) isWhole() bool {
	return f.hollow && f.text != "" && strings.Trim(f.text, effect.Unknown) == ""
}

// isPattern reports whether a word is a pattern of names in the current folder.
func (f *field) isPattern() bool { return f.glob && f.known() && strings.IndexByte(f.text, '/') < 0 }

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

// dataOf returns the data of words.
func dataOf(words []field) []data {
	list := make([]data, len(words))
	for i := range list {
		list[i] = words[i].data
	}
	return list
}

// words joins words with spaces.
func words(list []field) data { return join(dataOf(list), " ") }

// An omission says which unknown parts of words are treated as empty.
type omission uint8

const (
	omitsNothing omission = iota
	omitsAll              // all; an entirely unknown word is dropped
	omitsFor              // none: an entirely unknown word is one that the call contains, see [readings.standing]
	omitsSpread           // none: an array without an index is all of its elements
	omitsParts            // those in partly known words; entirely unknown words stay
)

// unsure says what kinds of partly or entirely unknown words a command has.
type unsure uint8

const (
	partly       unsure = 1 << iota // a word has a known part and an unknown one
	wholly                          // a word that may expand to no word
	wholeUnknown                    // an entirely unknown word, or a pattern of names
	spread                          // an array without an index
	named                           // one of these is the command's name
	chosen                          // the call chose the unknown folder above a system folder
)

// An arena keeps the texts that a walk makes in one piece of memory.
type arena struct {
	texts strings.Builder // the texts of words
}

// recalls says which values of the shell itself a text uses. Only those are tracked, because each
// command changes them.
type recalls uint8

const (
	recallsLast recalls = 1 << iota // $_
	recallsName                     // FUNCNAME
)

// A jump leaves a loop or a function: what comes after it may not run.
type jump uint8

const (
	leavesLoop jump = 1 << iota
	leavesFunction
)
