package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"mvdan.cc/sh/v3/syntax"
)

// A Program is a program that is named by its path. Only the disk can tell what it is: it
// may be a link to an agent, or to approver's own program.
type Program struct {
	Path  string
	Words [][]string // the lists of words that it is started with, each once
	More  bool       // it is started with others too, of which nothing is known here
	Named bool       // its name is that of another program, which it is unless it is a link
}

// A Mention is a file that a command names, where nothing says that it only reads it.
type Mention struct {
	Path string
	By   string // the program
}

// An Oddity is a way of writing a command that hides what it is from whoever
// reads it, or that runs what nobody wrote down. What the command does is in its
// effects; this is how it is said.
type Oddity uint16

// The oddities. They add up.
const (
	// Of the name of a command, or of its flags: it is only there after expansion.
	SplitName    Oddity = 1 << iota // quotes or backslashes inside it: r""m
	GluedName                       // letters of variables side by side: $a$b
	CutName                         // a part of a value, or a value changed: ${x:0:1}
	ComputedName                    // what a command prints: $(echo rm)
	EscapedName                     // its letters as numbers: $'\x72m'
	BracedName                      // one word in braces is name and arguments: {rm,-rf,/}
	GuessedName                     // a pattern of the system's programs: /bin/r?
	// Of any word.
	EmptyQuotes // quotes around nothing between two letters: /et''c
	Separator   // the separator of words written as a variable: rm${IFS}x
	// Of what runs.
	EvalUnknown   // eval of a text that is not known
	SourceProcess // the output of a process is sourced
	InputAsCode   // each line of an input becomes shell code: xargs sh -c
	NameUnknown   // a variable whose value is not known is the command
)

// Limits bound an analysis. A zero value stops everything; begin with
// [DefaultLimits].
type Limits struct {
	Bytes        int `yaml:"bytes"`        // of one text
	Nesting      int `yaml:"nesting"`      // of brackets in one text
	Depth        int `yaml:"depth"`        // of payloads in payloads, and of functions
	Steps        int `yaml:"steps"`        // simple commands and loop rounds
	Expanded     int `yaml:"expanded"`     // bytes that expansions make, in all
	Fields       int `yaml:"words"`        // words of one command
	Rounds       int `yaml:"rounds"`       // of one loop
	Alternatives int `yaml:"alternatives"` // combinations of values that are tried for one command
	Effects      int `yaml:"effects"`
}

// An Analyzer analyses command lines. It can be shared.
type Analyzer struct {
	Table  *grammar.Table
	Limits Limits
	// Secret reports whether a path names credentials. Nil: none does.
	Secret func(path string) bool
	// Code analyses code that is not shell, such as python's, and yields what it
	// does. Nil: such code is opaque.
	Code func(lang, src string, args []string, ctx Context, yield func(Found) bool)
	// SQL is the same for databases. Nil: nothing is said of it.
	SQL func(dialect, src string, yield func(Found) bool)
	// Decode decodes a constant by the name of an encoding. Nil: nothing is known.
	Decode func(name, text string) (string, bool)
	// Top is the root of the working tree of git in which a folder lies, the folder
	// itself if it is in none, or empty if that cannot be told. Nil: it never can.
	Top func(dir string) string
}

// A Found is one thing that code in another language does: an effect, or a
// payload for a shell (Shell), an argument vector (Argv) or code once more (Lang).
type Found struct {
	effect.Effect
	Content string // of a Write
	Shell   string
	Argv    []string
	Lang    string
	Code    string
	Dir     string // where the payload runs; empty: where the code does
	Insert  string // what is put into the files that the command edits in place
}

// A Context is what is known of the place where a command runs.
type Context struct {
	Dir string            // the working directory; empty: not known
	Env map[string]string // the environment, as far as it is known
	// Value returns a variable as the code would find it in its environment. Vars
	// are those that its command line sets. Both are set for code only.
	Value func(name string) (text string, from effect.Taint, ok bool)
	Vars  map[string]string
	// Input is the standard input of the code, InputTaint where it came from. It is
	// known only if HasInput.
	Input      string
	InputTaint effect.Taint
	HasInput   bool
	// Unset says that Env is all of the environment: what is not in it is not set.
	Unset bool
	// Known is what is known of a file, or of those that a pattern names, from
	// before: where its content came from. Nil: nothing.
	Known func(path string) effect.Taint
	// Label is the label of a file's content, as bits of a taint. It is told whether
	// the file is one of credentials. Nil: no file has one.
	Label func(path string, secret bool) effect.Taint
	// Written says that the text is written to a file, and does not run now.
	Written bool
	// Explain asks for the trace.
	Explain bool
	// Trees are the texts that were parsed for this call before. Nil: none are kept.
	Trees *Trees
}

// A File is what a text leaves in a file that is not to be taken for just any
// file: from the network, decoded, or a secret.
type File struct {
	Path  string
	Taint effect.Taint
	Tree  bool // it is a folder, and all below it has the taint
}

// A Text is what a text leaves in a file, as far as it is known: the parts that
// are not known are [effect.Unknown]. Part says that it is put into what is there.
type Text struct {
	Path, Text string
	Part       bool
}

// A Dotted is a folder that is written with "..". Path is what that is by the letters;
// on a disk it goes up from where a link before it leads.
type Dotted struct{ Written, Path string }

// A Step is one simple command that was walked, for people.
type Step struct {
	Parent  int    `json:"parent"` // the step that led here; -1: the text itself
	Depth   int    `json:"depth"`
	Via     string `json:"via,omitempty"` // how, such as "sh -c" or "pipe"
	Command string `json:"command"`       // as it would run, … for what is not known
	// Argv are its words, with [effect.Unknown] for what is not known.
	Argv []string `json:"-"`
	// Dir is the folder in which it runs, and May the one that a folder of which only
	// a pattern is known may be; see [Context].
	Dir string `json:"-"`
	May string `json:"-"`
	// Path is where it looks for its program.
	Path string `json:"-"`
	// Program is the block of the tables that says what it does, such as "docker
	// compose up"; empty: none does.
	Program string `json:"-"`
	// Shell says that the shell does it: a builtin or a function.
	Shell bool `json:"-"`
	// Remote says that it runs on another host, or inside a container.
	Remote bool `json:"-"`
	// Fed says that something is connected to its standard input, and Input what that is.
	Fed   bool   `json:"-"`
	Input string `json:"-"`
}

// A Result is what an analysis found. It may be used again, which saves memory.
type Result struct {
	Effects []effect.Effect
	Files   []File
	Texts   []Text // that were written and not run
	Dotted  []Dotted
	// Mentions are files that commands name, of which no effect tells anything.
	Mentions []Mention
	Programs []Program
	Steps    []Step // with Explain
	How      How
	// Commands counts simple commands, Partial those with a word that is not
	// known, Opaque those of which nothing can be said.
	Commands, Partial, Opaque int
	// Unlisted counts commands of programs that no table has.
	Unlisted int
	// Over names the limit that ended the analysis, if one did.
	Over string
	// Odd says in which ways the commands are written that hide what they are, and
	// OddName what the first of them turned out to be.
	Odd     Oddity
	OddName string
	// Layers is how many payloads lie in one another: 1 for sh -c.
	Layers int
}

// oddities are the words for them.
var oddities = [...]string{
	"split name", "glued name", "cut name", "computed name", "escaped name", "braced name", "guessed name", "empty quotes",
	"separator", "eval of unknown text", "source of a process", "input as code", "unknown name",
}

// DefaultLimits are what the engine uses.
var DefaultLimits = Limits{
	Bytes: 128 << 10, Nesting: 64, Depth: 8, Steps: 10_000, Expanded: 1 << 20, Fields: 8192, Rounds: 64, Alternatives: 16,
	Effects: 4096,
}

// String lists the words, separated by +.
func (o Oddity) String() string {
	var words []string
	for i, name := range oddities {
		if o&(1<<i) != 0 {
			words = append(words, name)
		}
	}
	return strings.Join(words, "+")
}

// fed is the further taint of a line for a shell that code made of what it read, or of
// what is not known: of its input, and in awk, of which nearly all programs are one loop,
// of what commands in it printed before.
func (f *Found) fed(lang string, std, before effect.Taint) effect.Taint {
	const counts = effect.Network | effect.Decoded
	switch {
	case f.Shell != effect.Unknown && (f.Taint&effect.File == 0 || effect.IsKnown(f.Shell)):
		return 0
	case lang == "awk":
		return before & counts
	}
	return std & counts
}

// A read is what a text was read as.
type read struct {
	src     string
	file    *syntax.File
	how     How
	strange bool
}

// Trees are short texts that were parsed while one call is judged. The same payload often
// stands in a call several times, and what was found encoded is analyzed by itself once
// more. The zero value is empty. It must not be shared, and nil keeps nothing.
type Trees struct{ reads []read }

// Forget drops the texts, and keeps the memory.
func (t *Trees) Forget() {
	clear(t.reads)
	t.reads = t.reads[:0]
}

// of returns what a text was read as, if that is known.
func (t *Trees) of(src string) (read, bool) {
	if t != nil && len(src) <= maxKeptText {
		for i := range t.reads {
			if t.reads[i].src == src {
				return t.reads[i], true
			}
		}
	}
	return read{}, false
}

// keep notes what a text was read as, while there is room.
func (t *Trees) keep(r read) {
	if t != nil && len(t.reads) < maxKept && len(r.src) <= maxKeptText && !mayDefine(r.src) {
		t.reads = append(t.reads, r)
	}
}

const (
	maxKept     = 8       // texts
	maxKeptText = 4 << 10 // bytes of one
)

// mayDefine reports whether a text may define a function. Each definition has to be one of
// its own: how often a body calls itself is counted by the place where it stands in a tree.
func mayDefine(src string) bool {
	return strings.IndexByte(src, '(') >= 0 || strings.Contains(src, "function") ||
		strings.IndexByte(src, '\\') >= 0 && (strings.Contains(src, "\\\n") || strings.Contains(src, "\\\r"))
}

// How says how a text was read.
type How uint8

// The ways, from the best.
const (
	Parsed    How = iota // as bash, or zsh
	Recovered            // as bash, with what was missing put in
	Tokens               // not at all: split at quotes and operators
	Refused              // beyond a limit
)

// String returns the word.
func (h How) String() string {
	return [...]string{"parsed", "recovered", "tokens", "refused"}[min(h, Refused)]
}
