package code

import "slices"

// A dialect is in which way a language differs from the others: how it is written, and
// what its expressions, calls and statements mean. What no field names is the same in all.
type dialect struct {
	name      string
	keywords  []string // those after which a value or a statement follows, sorted
	ownReader bool     // it has a reader of its own; the fields are for calls and values

	// Comments and the end of the code.
	lineComment           string
	hash                  bool // # begins a comment
	blockOpen, blockClose string
	longBrackets          bool // [[ … ]] is a text, --[[ … ]] a comment
	pod                   bool // =pod … =cut
	podBegin              bool // =begin … =end
	openTag               bool // <?php
	endMark, dataMark     bool // __END__, __DATA__

	// Names.
	sigils       string
	foldedNames  bool // taken in compatibility form
	nameEscapes  bool // \u0065val is eval
	dollarNames  bool // $ is a letter
	markedNames  bool // empty? and map!
	colonSigils  bool // $a::b
	bracedNames  bool // ${x} is $x
	doubleAt     bool // @@x
	lastIndex    bool // $#a
	specialVars  bool // $! and its like
	hashElements bool // $a[0] is an element of @a, $h{x} of %h
	anyCase      bool // names of functions do not depend on case

	// Texts.
	single, double, backtick quoting // of a backtick 0: no quote
	triple                   bool
	prefixes                 bool   // r"…", f"…"
	joinsTexts               bool   // "a" "b" is one text
	keepEscapes              bool   // \q in a string is \q, not q
	inner                    string // what begins an expression inside a string
	vars                     bool   // $x stands for its value inside a string
	atInTexts                bool   // so does @x
	braceVars                bool   // and {$x->y}
	templates                bool   // an expression stands in backticks only, before which a function may stand
	quoteLike                bool   // q(…), qw(…), s/…/…/
	percent                  bool   // %w[…], %x(…)
	symbols                  bool   // :name
	heredoc                  bool
	inlineHeredoc            bool // <<<EOT, behind whose end the line goes on
	upperHeredoc             bool // a tag without quotes is in upper case
	regex                    bool
	regexLine                bool // a pattern ends with its line
	regexClasses             bool // a / in a class does not end it
	patternCode              bool // (?{ code })

	// Expressions.
	binds           map[string]int // operators that other languages do not have, or have otherwise
	concat          string         // the operator that joins texts, besides +
	caretPower      bool           // ^ is no exclusive or
	commaOperator   bool           // (a, b) is b
	comprehensions  bool           // [f(x) for x in y]
	slices          bool           // v[a:b]
	oneBased        bool           // the first element has the index 1
	keyedLists      bool           // ["a" => b]
	colonPairs      bool           // {a: b} in lists as well
	arrows          bool           // x => y is a function
	member          []string       // the operators before a member
	dynamicMembers  bool           // ->$name
	braceMembers    bool           // ->{"name"}
	computedMembers bool           // an element that is not known may be a method
	defaultMember   bool           // .default is the module itself
	blocksOnly      bool           // no value ends with }
	blockValues     bool           // do {…} and eval {…}
	classValues     bool           // class {…} may be a value
	angleInput      bool           // <STDIN>

	// Calls.
	bareCalls        bool              // system "x" is a call
	selfCalls        bool              // so is a method without arguments
	commandsAlone    bool              // and system, on what a variable has
	bareTextOnly     bool              // only a text or a table is such an argument
	bareAcross       bool              // it may stand on the next line
	bareSigils       []string          // operators that begin such arguments
	bareOps          []string          // operators that do so, apart from what is before and not from what follows
	blockArgs        bool              // print {$fh} …
	blocks           bool              // f(x) {…}, f(x) do … end
	namedBy          []string          // what follows the name of an argument
	pairArgs         bool              // f(name => x)
	flattens         bool              // a list among the arguments is its elements
	argumentList     string            // the variable that has what a function is given
	sigilParams      bool              // parameters have sigils
	functionValues   bool              // the name of a function is its value
	callableTexts    bool              // a text that is called names a function
	textNames        bool              // &{"name"}
	argvOperands     bool              // argv is what the script is given
	separator        string            // between the elements that join puts together
	replacesOnce     string            // the method that replaces the first occurrence only
	appends          string            // the method that adds an element to a list
	appendsMany      bool              // it takes several
	concatCopies     bool              // concat changes nothing
	importsNothing   bool              // the result of an import is no module
	runners          map[string]string // modules with functions that run something, each with one of them
	printsAll        bool              // the first argument of print is printed too
	printSeparator   bool              // $, may stand between what is printed
	pipesChildren    bool              // a program that is started has a pipe as its input
	shellOption      bool              // an option names the shell
	runsInput        bool              // dofile() runs the standard input
	opensInput       bool              // open(0) is the standard input
	pipeOpens        bool              // open("|program")
	pipeReads        bool              // read("|program")
	expectURLs       bool              // open("expect://program")
	environmentDrive bool              // env: is a folder

	// Statements.
	lineEnds      bool     // a statement ends with its line
	braces        bool     // { begins a block where a statement may stand
	indented      bool     // bodies are indented
	openBodies    bool     // the body of a function has no brackets
	functionWords bool     // function f(a) {…}, fn, sub
	bareMethods   bool     // name(a) {…}
	classNames    bool     // class Name
	letDeclares   bool     // let a, b; and no other name is a function's own
	outerWords    []string // what declares a name that is not a function's own
	decorators    bool     // @decorator
	execWord      bool     // exec "code"
	throws        bool     // throw x, raise x
	withScopes    bool     // with (module) …
	loop          loopForm
	importForm    importForm
	uses          bool     // use Module
	includes      []string // words that run a file
	includesTexts bool     // only with a text or a variable behind them
	notebooks     bool     // IPython's lines for the shell
}

// A loopForm is how the head of a loop is written.
type loopForm uint8

const (
	loopNone     loopForm = iota
	loopOf                // for (const a of b)
	loopVariable          // foreach $x (…)
	loopIn                // for a, b in v
	loopAs                // foreach ($v as $a => $b)
)

// An importForm is how a module is imported.
type importForm uint8

const (
	importNone  importForm = iota
	importNames            // from module import a
	importFrom             // import {a} from "module"
)

func (d *dialect) isKeyword(word string) bool {
	_, found := slices.BinarySearch(d.keywords, word)
	return found
}
