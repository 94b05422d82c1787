package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"mvdan.cc/sh/v3/syntax"
)

// A Program is a program that is named by its path. Only the disk can tell what it is: it may be
// a link to an agent, or to the approver program.
type Program struct {
	Path  string
	Words [][]string // the distinct argument lists that it is started with
	More  bool       // it is also started with others, which are not listed
	Named bool       // it is the program that its name says unless the file is a link
}

// A Mention is a file that a command names, without an effect that says what the command does
// with it.
type Mention struct {
	Path string
	By   string // the program
}

// An Oddity is a way of writing a command that hides from a reader what it is, or that runs code
// which is not in the text. The effects say what the command does; the oddity says how it is
// written.
type Oddity uint16

// The oddities. They can be combined.
const (
	// In the name of a command, or in its flags: the name exists only after expansion.
	SplitName    Oddity = 1 << iota // quotes or backslashes inside it: r""m
	GluedName                       // made of adjacent variables: $a$b
	CutName                         // part of a value, or a changed value: ${x:0:1}
	ComputedName                    // the output of a command: $(echo rm)
	EscapedName                     // letters as numeric escapes: $'\x72m'
	BracedName                      // one brace expansion is name and arguments: {rm,-rf,/}
	GuessedName                     // a pattern that matches programs of the system: /bin/r?
	// In any word.
	EmptyQuotes // empty quotes between two letters: /et''c
	Separator   // IFS in place of a blank: rm${IFS}x
	// In what runs.
	EvalUnknown   // eval of unknown text
	SourceProcess // source of the output of a process
	InputAsCode   // each line of an input becomes shell code: xargs sh -c
	NameUnknown   // the command name is unknown
)

// Limits bound an analysis. A zero limit ends the analysis at once; begin with [DefaultLimits].
type Limits struct {
	Bytes        int `yaml:"bytes"`        // size of one text
	Nesting      int `yaml:"nesting"`      // nesting of brackets in one text
	Depth        int `yaml:"depth"`        // nesting of payloads and of function calls
	Steps        int `yaml:"steps"`        // simple commands and loop rounds
	Expanded     int `yaml:"expanded"`     // total bytes that expansions produce
	Fields       int `yaml:"words"`        // words per command
	Rounds       int `yaml:"rounds"`       // walked per loop
	Alternatives int `yaml:"alternatives"` // combinations of values that are tried for one command
	Effects      int `yaml:"effects"`
}

// An Analyzer analyzes command lines. It is safe for concurrent use if it is not changed.
type Analyzer struct {
	Table  *grammar.Table
	Limits Limits
	// Secret reports whether a path names credentials. If it is nil, none does.
	Secret func(path string) bool
	// Code analyzes code in a language other than shell, such as Python, and yields what it does.
	// If it is nil, such code is opaque.
	Code func(lang, src string, args []string, ctx Context, yield func(Found) bool)
	// SQL does the same for SQL in a dialect. If it is nil, the effects of SQL are not examined.
	SQL func(dialect, src string, yield func(Found) bool)
	// Decode decodes a constant by the name of its encoding, and reports whether it could. If it
	// is nil, nothing is decoded.
	Decode func(name, text string) (string, bool)
	// Top returns the root of the git working tree that contains dir, or dir itself if there is
	// none. It returns an empty string if that cannot be determined. If it is nil, it never can.
	Top func(dir string) string
	// Real returns where the links of a path lead; nil if there is no disk.
	Real func(p string) (string, bool)
}

// A Found is one thing that code in another language does: an effect, a payload for a shell
// (Shell), an argument vector (Argv) or more code (Lang).
type Found struct {
	effect.Effect
	Content string // of a Write
	Shell   string
	Argv    []string
	Lang    string
	Code    string
	Dir     string // the directory in which the payload runs; empty: that of the code
	Insert  string // the text that is inserted into files that the command edits in place
}

// A Context is what is known about the environment in which a command runs.
type Context struct {
	Dir string            // the working directory; empty: not known
	Env map[string]string // the environment, as far as it is known
	// Value returns a variable as the code would find it in its environment. Vars are the
	// variables that the command line of the code sets. Both are set for code only.
	Value func(name string) (text string, from effect.Taint, ok bool)
	Vars  map[string]string
	// Input is the standard input of the code, if HasInput is true, and InputTaint its taint. That of an
	// input that is not known only says whether it is from the network or was encoded.
	Input      string
	InputTaint effect.Taint
	HasInput   bool
	// Unset says that Env is the whole environment: all other variables are unset.
	Unset bool
	// Known returns what earlier calls established about where the content of a file came from,
	// or of the files that a pattern matches. If it is nil, nothing is known.
	Known func(path string) effect.Taint
	// Label returns the label of the content of a file, as taint bits. secret says whether the
	// file holds credentials. If it is nil, no file has a label.
	Label func(path string, secret bool) effect.Taint
	// Written says that the text is written to a file, and does not run now.
	Written bool
	// Explain asks for the trace, [Result.Steps].
	Explain bool
	// Trees are the texts that were parsed earlier for this call. If it is nil, none are kept.
	Trees *Trees
}

// A File is a file that the text leaves behind and that needs caution: its content is from the
// network, decoded, or secret.
type File struct {
	Path  string
	Taint effect.Taint
	Tree  bool // a directory: everything below it has the taint
}

// A Text is the content that a text writes to a file. Unknown parts are [effect.Unknown]. Part
// says that Text is only part of the content: it is added to the existing file.
type Text struct {
	Path, Text string
	Part       bool
	Behind     bool // it is behind something that is not known, such as what the file has
}

// A Dotted is a directory that is written with "..". Path is Written with ".." resolved
// lexically. On a disk, ".." leads to the parent of the target if the name before it is a link.
type Dotted struct{ Written, Path string }

// A Step is one simple command that was walked. It is part of the trace for people.
type Step struct {
	Parent  int    `json:"parent"` // the step that led here; -1: the text itself
	Depth   int    `json:"depth"`
	Via     string `json:"via,omitempty"` // how, such as "sh -c" or "pipe"
	Command string `json:"command"`       // as it would run, with … for unknown parts
	// Argv are its words, with [effect.Unknown] for unknown parts.
	Argv []string `json:"-"`
	// Dir is the directory in which it runs. May is the directory that the unknown beginning of
	// Dir may stand for.
	Dir string `json:"-"`
	May string `json:"-"`
	// Path is the search path for its program.
	Path string `json:"-"`
	// Program is the entry of the tables that describes it, such as "docker compose up", or empty
	// if there is none.
	Program string `json:"-"`
	// Shell says that it is run by the shell itself: a builtin or a function.
	Shell bool `json:"-"`
	// Remote says that it runs on another host or in a container.
	Remote bool `json:"-"`
	// Fed says that its standard input is connected, and Input is the content.
	Fed   bool   `json:"-"`
	Input string `json:"-"`
}

// A Result is what an analysis found. It may be reused for another analysis, which saves memory.
type Result struct {
	Effects []effect.Effect
	Files   []File
	Texts   []Text // contents that were written and not run
	Dotted  []Dotted
	// Mentions are files that commands name and that no effect accounts for.
	Mentions []Mention
	Programs []Program
	Steps    []Step // with Explain
	How      How
	// Commands counts simple commands, Partial those with an unknown word, and Opaque those of
	// which nothing is known.
	Commands, Partial, Opaque int
	// Unlisted counts commands whose program is in no table, Trials those that only say what they would do:
	// --dry-run, --help.
	Unlisted, Trials int
	// Rerouted says that a host in an address may not be the one that is reached: a flag, a variable or a flag that
	// is not known may lead a command elsewhere.
	Rerouted bool
	// Shows counts commands that only show what another one prints.
	Shows int
	// Over names the limit that ended the analysis. It is empty if none did.
	Over string
	// Odd is the set of oddities of the commands. OddName is the actual name of the first command
	// that has one.
	Odd     Oddity
	OddName string
	// Layers is how deep payloads are nested: 1 for sh -c.
	Layers int
}

// oddities are the words for the bits of an [Oddity], in order.
var oddities = [...]string{
	"split name", "glued name", "cut name", "computed name", "escaped name", "braced name", "guessed name", "empty quotes",
	"separator", "eval of unknown text", "source of a process", "input as code", "unknown name",
}

// DefaultLimits are the limits that the engine uses.
var DefaultLimits = Limits{
	Bytes: 128 << 10, Nesting: 64, Depth: 8, Steps: 10_000, Expanded: 1 << 20, Fields: 8192, Rounds: 64, Alternatives: 16,
	Effects: 4096,
}

// String returns the words for the oddities, joined by "+".
func (o Oddity) String() string {
	var words []string
	for i, name := range oddities {
		if o&(1<<i) != 0 {
			words = append(words, name)
		}
	}
	return strings.Join(words, "+")
}

// fed returns the additional taint of a shell command that code builds from what it read or from
// unknown text. It is the taint of the input of the code. For awk, whose programs are mostly one
// loop, it is also that of what its commands printed before.
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

// A read is the result of parsing a text.
type read struct {
	src     string
	file    *syntax.File
	how     How
	strange bool // bash may read a part of it differently
	notBash bool // only zsh accepts it
}

// Trees caches short texts that were parsed while one call is judged. The same payload often
// occurs several times in a call, and decoded payloads are analyzed once more on their own. The
// zero value is empty. It is not safe for concurrent use. A nil *Trees keeps nothing when a walk
// uses it.
type Trees struct{ reads []read }

// Forget removes all texts and keeps the memory. t must not be nil.
func (t *Trees) Forget() {
	clear(t.reads)
	t.reads = t.reads[:0]
}

// of returns the result of parsing a text, if it is cached.
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

// keep caches the result of parsing a text, while there is room.
func (t *Trees) keep(r read) {
	if t != nil && len(t.reads) < maxKept && len(r.src) <= maxKeptText && !mayDefine(r.src) {
		t.reads = append(t.reads, r)
	}
}

const (
	maxKept     = 8       // texts
	maxKeptText = 4 << 10 // bytes per text
)

// mayDefine reports whether a text may define a function. Such texts are not cached, because the
// calls of a function body are counted by its position in the syntax tree, so each definition
// needs a tree of its own.
func mayDefine(src string) bool {
	return strings.IndexByte(src, '(') >= 0 || strings.Contains(src, "function") ||
		strings.IndexByte(src, '\\') >= 0 && (strings.Contains(src, "\\\n") || strings.Contains(src, "\\\r"))
}

// How says how a text was read.
type How uint8

// The ways to read a text, from best to worst.
const (
	Parsed    How = iota // as bash, or zsh
	Recovered            // as bash, after error recovery
	Tokens               // not parsed: split at blanks and operators
	Refused              // over a limit
)

// String returns the word for how a text was read, such as "parsed".
func (h How) String() string {
	return [...]string{"parsed", "recovered", "tokens", "refused"}[min(h, Refused)]
}
