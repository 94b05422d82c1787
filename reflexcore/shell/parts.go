package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// The parts of a walk, from below to above: each has its own state, and the methods that need
// it. Those that run commands in turn, as a substitution in a word does, lead back to the walk.

// A report collects what a walk finds, and counts what it uses of the limits. Beyond a limit
// nothing is added: [report.stopped].
type report struct {
	ctx      *Context
	lim      *Limits
	res      *Result
	step     int
	bits     effect.Bits // of the place: remote
	depth    int
	level    int
	steps    int
	expanded int
	typed    bool // something asked what is typed
}

// An arena keeps the texts that a walk makes in one piece of memory.
type arena struct {
	texts strings.Builder // what words are made of, in one piece of memory
}

// A workdir is the working directory of the shell, as far as it is known.
type workdir struct {
	dir    string
	may    string // what stands before the first slash of dir may be this folder, where that is not known
	before string // where it still is if the last cd failed; empty: it did not
	beside string // where it may still be if one of the last cd failed: a folder of settings
}

// Variables are those of the shell, in their scopes: the last one of a name counts.
type variables struct {
	rep *report
	ctx *Context
	cwd *workdir

	list     []variable // the last one of a name counts
	mark     int        // variables before it belong to an outer scope
	locals   []held     // what functions that are running restore
	frame    int        // how many of them the function that runs now found
	readonly []string   // the variables that may not be assigned to
	// exportsAll says that set -a is on, or was.
	exportsAll bool
	shaken     bool         // a file may have set any variable, see [variables.shake]
	murky      effect.Taint // of what is not known in texts that are parsed once more
}

// Alternatives are the values of which one is chosen for the command that is walked now. The
// command is walked once for each combination of them.
type alternatives struct {
	rep   *report
	vars  *variables
	arena *arena
	ctx   *Context

	selection
	snapshot []variable // the variables before the first of them was made
	began    int        // and when the present walk of a command began
}

// Parameters are the positional parameters of the shell, and how a word reads them and its
// variables.
type parameters struct {
	in       *interp
	params   []data
	others   [][]data  // more than one list of parameters is possible
	grown    [2][]data // long lists of parameters that may be added to, see [parameters.listOf]
	oldest   int       // of these
	zero     data      // $0
	named    bool      // the first word after a script is $0
	iterates bool      // the words are taken one after the other: their order does not matter
}

// Arithmetic evaluates the expressions of $((…)), ((…)), let and indexes.
type arithmetic struct {
	in    *interp
	vague bool // numbers that are assigned are not known
}

// An assigner gives variables and elements of arrays their values: by assignments, and by
// export, declare, local, readonly and typeset.
type assigner struct {
	in    *interp
	lists []string // arrays that are declared and were given nothing yet
}

// An expander makes fields of the words of a command.
type expander struct {
	in     *interp
	fields []field // a stack
	buf    []byte
}

// A filesystem is what the text wrote, copied, linked and connected, as far as later commands
// read or run it. What it does not know lies on the disk, and is not looked at.
type filesystem struct {
	in      *interp
	list    []virtual
	links   int // how many files are links
	procs   int
	written int // how often files were written
}

// Directories is how the working directory changes: by cd, by cd that may fail, by pushd.
type directories struct {
	in         *interp
	moves      int  // how often cd was walked
	configured bool // the settings of git may be others
}

// Definitions are the functions and aliases of the shell: what a name means that is no program.
type definitions struct {
	in       *interp
	funcs    []function
	aliases  []alias
	globals  []alias        // those of zsh that stand for any word
	active   []*syntax.Stmt // bodies of functions that are running
	apart    apart
	disabled []string // builtins that the shell may not have
}

// apart says what of a shell a process that it starts does not have: the functions and
// aliases before these indexes, and the functions that were running.
type apart struct{ funcs, aliases, active int }

// A history is what the shell remembers of its own commands: the list of them, $_ and FUNCNAME.
type history struct {
	in       *interp
	recorded []data // the history of the shell, as far as the text wrote it
	recalls  recalls
	lasts    []data // what $_ may be after the present command
}

// recalls says which values of the shell itself a text asks for. They are kept only
// then: each command changes them.
type recalls uint8

const (
	recallsLast recalls = 1 << iota // $_
	recallsName                     // FUNCNAME
)

// Traps are what the shell runs by itself: at its end, at signals, beside other commands.
type traps struct {
	in       *interp
	list     []data             // what is done when the script ends
	trapped  int                // how many commands there were when they were walked last
	hooks    []func(std *input) // what shells run by themselves, see [traps.remember]
	late     bool               // they are walked
	repaid   bool               // a trap met a limit, and its steps were given back
	intruder *intruder
}

// An intruder is what a trap may do to the shell before any command, or at any signal:
// trap 'x=/' DEBUG. What it sets is one more possibility from then on, whatever else is
// assigned.
type intruder struct {
	vars []variable
	dir  string     // empty: it stays where it is
	left []rewiring // what it connected to descriptors, for [traps.rewiredByTraps]
}

// An exporter hands variables to the programs that the text runs.
type exporter struct {
	in      *interp
	exports bool // set -a is on
	local   bool // the variables that are walked are those of a git that stays on this machine
	sourced bool // a file that is not known was read with set -a, and may have set any variable
}

// A builtinCall is one command of the shell itself. Its words are in.exp.fields[mark:].
type builtinCall struct {
	in   *interp
	mark int
	std  *input
	sink *data
}

// A lineReader takes lines from the standard input for read and mapfile.
type lineReader struct {
	in  *interp
	eof bool // read found nothing more
}

// An echoLog keeps what echo printed with backslashes in it: one shell writes them, another
// one what they stand for.
type echoLog struct {
	rep *report
	alt *alternatives

	list []string // what echo printed with backslashes in it, see [echoLog.echoed]
}

// Readings are the ways in which one command is walked: for each combination of what its
// variables may be, and once more for what is not known of its words being nothing.
type readings struct {
	in       *interp
	omits    omission
	saw      unsure
	start    start    // what the present command begins with
	below    []string // what stands below unknown folders that the environment names, see [markRooted]
	founded  []string // all that was in below, for [interp.withNothing]
	chose    bool     // and whether one of the folders was chosen by the call
	leaner   bool     // a lean walk may see what this one does not
	lean     bool     // all of the text is walked with what is not known taken for nothing
	forks    int      // commands that may print one thing or another
	first    bool     // the first of these counts, see [readings.fork]
	partings int      // commands that may be others, or set other parameters, see [readings.parted]
}

// start is what a command begins with: each of its readings does.
type start struct {
	workdir
	files  int
	params []data
	others [][]data
}

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

// stands is what a word may be of which nothing is known.
type stands struct {
	in    *interp
	files []*syntax.File // that were walked
	read  int            // how many of them the words below are from
	words []heldWord
	text  []heldWord // what stands at present
	walks int        // that were made for it
}

// Sources are the texts of a walk as they were parsed.
type sources struct {
	rep        *report
	ctx        *Context
	trees      []*syntax.File // the texts that were walked, for [sources.mayRoot]
	searched   int            // how many of them it has looked through
	rooted     bool           // and what it found
	plainTrees int            // how many of them are plain, see [sources.isPlainCall]
	outermost  read           // the text that is walked, as it was read
}

// A read is what a text was read as.
type read struct {
	src     string
	file    *syntax.File
	how     How
	strange bool
}

// A payloadRunner walks what commands run in turn: texts for a shell, scripts, and code of other
// languages.
type payloadRunner struct {
	in       *interp
	given    map[string]string // the variables that awk's command line sets
	inserted string            // what a stream editor put into its stream
	opens    []string          // files that code opened to write
	unpassed bool              // the program that starts a script may keep variables from it
}

// A programRunner walks a command that is no function and no builtin, by what the tables say
// of its program.
type programRunner struct {
	in    *interp
	spare []*applied
	words []string
}

// An agentReader finds the commands that start agents, and what they tell these.
type agentReader struct {
	in        *interp
	installed string   // the agent that was installed in a version that the text names
	homeless  bool     // env takes HOME away from what runs
	argv      []string // the words of the commands that are looked at: a stack
}

// A scope is what a subshell or a branch has for itself.
type scope struct {
	workdir
	mark, length   int
	out            connected
	params         []data
	others         [][]data
	funcs, aliases int
	zero           data
	apart          apart
	readonly       int
	hooks          int
	rewired        int
}
