package code

import "approver.example/reflexcore/code/lex"

// A dialect says how a language differs from the others: its syntax, and the meaning of its
// expressions, calls and statements. What has no field is the same in all languages.
type dialect struct {
	name        string
	ownReader   bool // it has its own reader; the fields are for calls and values
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
	binds          map[string]int // operators that other languages do not have, or that mean something else there
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
	operators     []string // the operators before a member
	dynamic       bool     // ->$name
	braced        bool     // ->{"name"}
	computed      bool     // an element that is not known may be a method
	defaultMember bool     // .default is the module itself
	hashElements  bool     // $a[0] is an element of @a, $h{x} of %h
}

// callRules are about calling functions. Whether a call needs brackets is a matter of syntax.
type callRules struct {
	self          bool     // a method without arguments is called
	anyCase       bool     // function names are case-insensitive
	commandsAlone bool     // system without arguments runs the content of a variable
	bareTextOnly  bool     // only a text or a table may be an argument without brackets
	bareAcross    bool     // the arguments may be on the next line
	bareSigils    []string // operators that begin such arguments
	bareOps       []string // operators that begin them if white space is only before the operator
	blockArgs     bool     // print {$fh} …
	blocks        bool     // f(x) {…}, f(x) do … end
	namedBy       []string // follows the name of an argument
	pairs         bool     // f(name => x)
	flattens      bool     // a list among the arguments is expanded
	argumentList  string   // the variable with the arguments of a function
	sigilParams   bool     // parameters have sigils
	callableTexts bool     // a text that is called is the name of a function
	textNames     bool     // &{"name"}
}

// libraryRules are about functions and modules that differ between languages.
type libraryRules struct {
	argvOperands     bool              // argv has the operands of the script
	separator        string            // the default separator of join
	replacesOnce     string            // the method that replaces the first occurrence only
	appends          string            // the method that adds an element to a list
	appendsMany      bool              // it takes several
	concatCopies     bool              // concat changes nothing
	importsNothing   bool              // an import returns no module
	runners          map[string]string // modules with functions that run something, each with one such function
	printsAll        bool              // print prints its first argument, too
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
	openBodies    bool     // a function's body has no brackets
	bareMethods   bool     // name(a) {…}
	letDeclares   bool     // let a, b; all other names are global
	outerWords    []string // words that declare a name as global
	decorators    bool     // @decorator
	includes      []string // words that run a file
	includesTexts bool     // only if a text or a variable follows
}
