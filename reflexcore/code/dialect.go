package code

import "approver.example/reflexcore/code/lex"

// A dialect says how a language differs from the others: its syntax, and the meaning of its
// expressions, calls and statements. What has no field is the same in all languages.
type dialect struct {
	name        string
	ownReader   bool // it has a reader of its own; the fields are for calls and values
	syntax      lex.Syntax
	texts       textRules
	expressions expressionRules
	members     memberRules
	calls       callRules
	library     libraryRules
	statements  statementRules
}

// textRules say what is evaluated inside a text or pattern.
type textRules struct {
	joined      bool // "a" "b" is one text
	variables   bool // $x stands for its value
	arrays      bool // so does @x
	braced      bool // and {$x->y}
	patternCode bool // (?{ code }) in a pattern
}

// expressionRules are about operators and literals.
type expressionRules struct {
	binds          map[string]int // operators that other languages do not have, or have otherwise
	concat         string         // the operator that joins texts, besides +
	caretPower     bool           // ^ is no exclusive or
	commaOperator  bool           // (a, b) is b
	comprehensions bool           // [f(x) for x in y]
	slices         bool           // v[a:b]
	oneBased       bool           // the first element has the index 1
	keyedLists     bool           // ["a" => b]
	colonPairs     bool           // {a: b} in lists as well
	arrows         bool           // x => y is a function
	blockValues    bool           // do {…} and eval {…}
	classValues    bool           // class {…} may be a value
	angleInput     bool           // <STDIN>
	functionValues bool           // the name of a function is its value
}

// memberRules are about members and elements.
type memberRules struct {
	operators     []string // those before a member
	dynamic       bool     // ->$name
	braced        bool     // ->{"name"}
	computed      bool     // an element that is not known may be a method
	defaultMember bool     // .default is the module itself
	hashElements  bool     // $a[0] is an element of @a, $h{x} of %h
}

// callRules are about calling functions. Whether a call needs brackets is a matter of syntax.
type callRules struct {
	self          bool     // a method without arguments is called
	anyCase       bool     // names of functions do not depend on case
	commandsAlone bool     // system, on what a variable has
	bareTextOnly  bool     // only a text or a table may be an argument without brackets
	bareAcross    bool     // it may stand on the next line
	bareSigils    []string // operators that begin such arguments
	bareOps       []string // operators that do so, apart from what is before and not from what follows
	blockArgs     bool     // print {$fh} …
	blocks        bool     // f(x) {…}, f(x) do … end
	namedBy       []string // what follows the name of an argument
	pairs         bool     // f(name => x)
	flattens      bool     // a list among the arguments is its elements
	argumentList  string   // the variable that has what a function is given
	sigilParams   bool     // parameters have sigils
	callableTexts bool     // a text that is called names a function
	textNames     bool     // &{"name"}
}

// libraryRules are about functions and modules that differ between languages.
type libraryRules struct {
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
	notebooks        bool              // IPython's lines for the shell
}

// statementRules are about statements and the bodies of functions.
type statementRules struct {
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
