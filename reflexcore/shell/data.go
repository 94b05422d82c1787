package shell

import (
	"path"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// data is what flows: a value, a file's content, a stream.
type data struct {
	text  string // with [effect.Unknown] for what is not known
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
	splits    bool // it may be any number of words, as it was not quoted
	glob      bool // it is a pattern of file names
	quoted    bool // some of it was quoted
	hollow    bool // what is not known of it may be nothing
	filled    bool // it begins with what is not known, which is something: "${X:?}/x"
	strange   bool // what is not known of it may be several words, and anybody's: $(cat f)
	based     bool // it begins with a variable of which only the environment knows the value: "$DESTDIR/usr"
	inherits  bool // what is not known of it is in variables of the environment, all of it
	folder    askedFolder
	clobbered bool // it is a variable that a file may have set, see [variables.clobber]
	setup     bool // it is what a program prints for a shell to run, and that alone
	odd       Oddity
}

// An origin is what was known of a file when a program read it.
type origin struct {
	path   string
	built  bool
	from   []string
	alone  bool // from is itself, which is made a list where that is needed
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
	body  *syntax.Stmt // nil: it was taken back
	maybe bool         // in a branch: an earlier one may count
	// It is exported: a shell that is started may have it.
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
	shared  bool // a command chooses for the one that it is part of
}

// A choice is a value that may be one of several.
type choice struct {
	key  string
	n    int
	at   int
	held []version // of a file: what the command found in it, see [alternatives.version]
}

// A virtual file is a file that this text wrote, copied, or connected.
type virtual struct {
	path string
	data
	older   []version         // what it may hold besides, see [alternatives.version]
	alias   string            // it is another file
	link    bool              // and a link to it: what lies below it lies there
	ran     bool              // it was walked as a program
	written int               // when it was written: the number of the write
	built   bool              // a compiler made it, of what was there
	from    []string          // it was made of these, see [filesystem.printed]
	pieces  bool              // what begins with the path is a part of it
	tree    bool              // a folder that was filled: what lies below it is like it
	sink    []*syntax.Stmt    // what is written there is read by these
	to      *data             // where the output of those goes
	src     *syntax.ProcSubst // for which they were made
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
	ref       string     // it stands for the variable of this name, or for an element
	refs      []string   // for one of these, ref is the first
	integer   bool       // what is assigned is reckoned
	letters   byte       // what is assigned becomes lower (l) or upper case (u)
	refers    bool       // what is assigned is the name that it stands for from then on
	passed    bool       // programs inherit it
	place     bool       // its value is where something is, as [definitions.asksPlace] says
	clobbered bool       // a file may have set it to something else, see [variables.clobber]
	branch    bool       // its value is the name of a branch, as [definitions.asksBranch] says
}

// A held variable is restored when a function or a command ends.
type held struct {
	variable
	was  bool // there was one
	gone bool // unset uncovered it: it is restored already
	mark int  // the scope in which it was held
}

// A heldWord is a word that the call holds. File says that a file may have that name.
type heldWord struct {
	text string
	file bool
}

// A version is what a file may hold.
type version struct {
	data
	alias string // it is this file
	built bool
	from  []string
}

var unknown = data{text: effect.Unknown}

// vanishes reports whether a word of which nothing is known may be none.
func (f *field) vanishes() bool { return f.splits && f.isWhole() }

// belowUnknown is what a word has below an unknown folder that it begins with.
func (f *field) belowUnknown() (rest string, ok bool) {
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
	return !f.known() && !f.isKind() &&
		(f.strange || !effect.IsKnown(f.text[strings.LastIndexByte(f.text, '/')+1:]) || strings.HasSuffix(f.text, "/"))
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
	return (in || folder != "") && strings.Contains(strings.TrimLeft(folder, "./"), "/") && folder[0] != '/' &&
		!strings.Contains(folder, "..") && !strings.Contains(rest, "/") &&
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

// dataOf is what words hold.
func dataOf(words []field) []data {
	list := make([]data, len(words))
	for i := range list {
		list[i] = words[i].data
	}
	return list
}

// words is a list of words as one text.
func words(list []field) data { return join(dataOf(list), " ") }

// An omission says which unknown parts of words are taken for nothing.
type omission uint8

const (
	omitsNothing omission = iota
	omitsAll              // every one; a word that is nothing else is no word
	omitsFor              // none: a word of which nothing is known is one that the call holds, see [readings.standing]
	omitsSpread           // none: arrays are all of their elements
	omitsParts            // those in words of which something is known; a whole word stays what it is
)

// unsure says which words a command has of which not all is known.
type unsure uint8

const (
	partly       unsure = 1 << iota // a word has a known part and an unknown one
	wholly                          // a word that may be no word
	wholeUnknown                    // a word of which nothing is known, or a pattern of names
	spread                          // an array without an index
	named                           // one of these is the command's name
	chosen                          // the call chose the unknown folder that a folder of the system stands below
)

// An arena keeps the texts that a walk makes in one piece of memory.
type arena struct {
	texts strings.Builder // what words are made of, in one piece of memory
}

// recalls says which values of the shell itself a text asks for. They are kept only
// then: each command changes them.
type recalls uint8

const (
	recallsLast recalls = 1 << iota // $_
	recallsName                     // FUNCNAME
)

// A jump leaves a loop or a function: what stands after it may not run.
type jump uint8

const (
	leavesLoop jump = 1 << iota
	leavesFunction
)
