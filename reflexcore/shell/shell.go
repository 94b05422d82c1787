// Package shell finds out what a command line would do, without running it.
//
// A text is read by one real parser ([mvdan.cc/sh/v3/syntax], bash, then zsh,
// then with errors mended; what no parser reads is split into words that can only
// make the verdict stricter). A bounded abstract interpreter then walks the tree
// as a shell would: it assigns and expands variables, arrays, positional
// parameters and defaults, splits at IFS, expands braces and ANSI-C quotes, folds
// echo, printf and read, follows aliases, functions, traps, cd, descriptors,
// pipes and process substitution, and remembers what was written to which file.
// What a simple command does is not known here but in the tables of package
// grammar; payloads (sh -c, eval, ssh, find -exec, python -c …) are walked in
// turn.
//
// Values are exact, or they contain [effect.Unknown]: nothing is guessed. Where a
// variable may have one of several values, each is tried. Taint (secret, network,
// decoded) travels with values, through pipes and files.
//
// Everything is bounded by [Limits]; beyond a limit the analysis ends with an
// opaque effect, which no rule may take for harmless.
package shell

import (
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
)

// Limits bound an analysis. A zero value stops everything; begin with
// [DefaultLimits].
type Limits struct {
	Bytes        int // of one text
	Nesting      int // of brackets in one text
	Depth        int // of payloads in payloads, and of functions
	Steps        int // simple commands and loop rounds
	Expanded     int // bytes that expansions make, in all
	Fields       int // words of one command
	Rounds       int // of one loop
	Alternatives int // combinations of values that are tried for one command
	Effects      int
}

// DefaultLimits are what the engine uses.
var DefaultLimits = Limits{
	Bytes: 128 << 10, Nesting: 64, Depth: 8, Steps: 10_000, Expanded: 1 << 20, Fields: 8192, Rounds: 64, Alternatives: 16, Effects: 4096,
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
	Value func(name string) (text string, from effect.Taint, known bool)
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

// Analyze says what the command line does.
func (a *Analyzer) Analyze(src string, ctx Context, out *Result) {
	a.analyze(ctx, out, func(in *interp) {
		in.arena.texts.Grow(len(src) + 256)
		in.source(src, "", &input{}, nil)
		in.io.onceMore(0, &input{}, nil, in.traps.ended)
		in.traps.ended()
		in.traps.runLate(0)
	})
}

// AnalyzeCode says what code in another language than shell does.
func (a *Analyzer) AnalyzeCode(lang, src string, ctx Context, out *Result) {
	a.analyze(ctx, out, func(in *interp) {
		in.payloads.code(lang, data{text: src}, nil, &input{}, nil, lang)
	})
}

// analyze walks something. Where a limit ended that, it is walked once more with what is
// not known taken for nothing, and with limits of its own.
func (a *Analyzer) analyze(ctx Context, out *Result, walk func(in *interp)) {
	in := interps.Get().(*interp)
	in.reset(a, ctx, out)
	walk(in)
	in.fs.reportLeft()
	over, parted := in.rep.stopped() && in.readings.hidesMore(), in.readings.parted()
	if parted {
		in.withNothing(ctx, out, walk)
	}
	if over {
		in.leanly(ctx, out, walk)
	}
	in.rep.tellsOver()
	in.release()
	interps.Put(in)
}

// source walks a text. Outermost it decides how the text was read.
func (in *interp) source(src, via string, std *input, sink *data) {
	if in.rep.stopped() {
		return
	}
	if in.rep.depth >= in.rep.lim.Depth {
		in.rep.over(overDepth)
		return
	}
	in.rep.steps += 8 + len(src)/256 // a parse costs more than a step
	in.hist.recalled(src)
	file, how, strange := in.src.parse(src)
	if how > in.rep.res.How {
		in.rep.res.How = how
	}
	in.rep.depth++
	in.rep.res.Layers = max(in.rep.res.Layers, in.rep.depth-1)
	outer := in.via
	if via != "" {
		in.via = via
	}
	switch how {
	case Refused:
		in.rep.over("size or nesting")
	case Tokens:
		in.tokens(src)
	default:
		if strange || how == Recovered && !in.inert(src) {
			in.add(effect.Effect{Kind: effect.Opaque, Target: "syntax error", Bits: effect.Partial})
		}
		if in.readings.omits == omitsNothing && len(in.stands.files) < 16 && mayHold(src) {
			in.stands.files = append(in.stands.files, file)
		}
		if len(in.src.trees) < maxTrees {
			in.src.trees = append(in.src.trees, file)
		}
		in.stmts(file.Stmts, std, sink)
	}
	in.rep.depth--
	in.via = outer
}
