package shell

import (
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
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
	exportsAll   bool
	clobbered    bool         // a file may have set any variable, see [variables.clobber]
	unknownTaint effect.Taint // of what is not known in texts that are parsed once more
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
	in *interp
	positionals
	grown    [2][]data // long lists of parameters that may be added to, see [parameters.listOf]
	oldest   int       // of these
	zero     data      // $0
	named    bool      // the first word after a script is $0
	iterates bool      // the words are taken one after the other: their order does not matter
}

// positionals are $1, $2 …
type positionals struct {
	params []data
	others [][]data // more than one list of parameters is possible
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

// Traps are what the shell runs by itself: at its end, at signals, beside other commands.
type traps struct {
	in      *interp
	list    []data             // what is done when the script ends
	trapped int                // how many commands there were when they were walked last
	hooks   []func(std *input) // what shells run by themselves, see [traps.remember]
	late    bool               // they are walked
	repaid  bool               // a trap met a limit, and its steps were given back
	changes *trapChanges
}

// TrapChanges are what a trap may do to the shell before any command, or at any signal:
// trap 'x=/' DEBUG. What it sets is one more possibility from then on, whatever else is
// assigned.
type trapChanges struct {
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

// Readings are the ways in which one command is walked: for each combination of what its
// variables may be, and once more for what is not known of its words being nothing.
type readings struct {
	in          *interp
	omits       omission
	doubts      unsure
	start       start    // what the present command begins with
	below       []string // what stands below unknown folders that the environment names, see [markRooted]
	founded     []string // all that was in below, for [interp.withNothing]
	chose       bool     // and whether one of the folders was chosen by the call
	leanDiffers bool     // a lean walk may find what this one does not
	lean        bool     // all of the text is walked with what is not known taken for nothing
	forks       int      // commands that may print one thing or another
	first       bool     // the first of these counts, see [readings.fork]
	partings    int      // commands that may be others, or set other parameters
}

// start is what a command begins with: each of its readings does.
type start struct {
	workdir
	positionals
	files int
}

// candidates are what a word may be of which nothing is known.
type candidates struct {
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
	positionals
	mark, length   int
	out            connected
	funcs, aliases int
	zero           data
	apart          apart
	readonly       int
	hooks          int
	rewired        int
}

// An interp walks one text. It is kept for the next one.
type interp struct {
	*Analyzer

	ctx       Context
	builtinOf map[string]builtin // [builtinTable], which its own methods cannot name
	branches  int                // how many branches, which may not be taken, enclose this
	jumped    jump
	via       string // how the text that is walked is run, for people

	rep        report          // what was found, and what is left of the limits
	arena      arena           // the memory of texts
	cwd        workdir         // the working directory
	vars       variables       // what the shell's variables hold
	alt        alternatives    // which of several values the present command is walked with
	par        parameters      // $1, $name, ${name[i]}: what a word reads
	math       arithmetic      // $((…))
	assigner   assigner        // name=value, declare, export
	exp        expander        // words become fields
	fs         filesystem      // files as the text leaves them
	io         descriptorTable // redirections and pipes
	def        definitions     // functions and aliases
	traps      traps           // what the shell runs by itself
	hist       history         // the list of commands, $_, FUNCNAME
	lines      lineReader      // read and mapfile
	echoes     echoLog         // what echo printed with backslashes
	dirs       directories     // cd, pushd, popd
	readings   readings        // the ways to read one command
	candidates candidates      // what a word may be of which nothing is known
	src        sources         // the texts that are walked
	agents     agentReader     // commands that start agents
	env        exporter        // variables that programs inherit
	payloads   payloadRunner   // sh -c, eval, scripts, code
	programs   programRunner   // what the tables say of a program
}

// A plumbing is where the descriptors lead, for [descriptorTable.replumb].
type plumbing struct {
	fds  [descriptors]string
	outs [descriptors]*data
	err  *data
}

// wires is what is noted of a statement with redirections while its command is walked.
type wires struct {
	readings, stays int // how often its command was walked, and how often that was exec
	passes          int
	kept            []rewiring // what exec left, once for each time
	was             plumbing   // before the statement
	out             connected
	ends            plumbing // after its first walk
	own             input
	led             connected
	reads           bool   // an exec in it connected the standard input
	touched         uint32 // the descriptors that its redirections are for
	pending         int    // how many rewirings there were
	connections     int    // how often exec had connected the standard input
}

// A rewiring is what a command connected that may have been exec.
type rewiring struct {
	plumbing
	std    input
	reads  bool  // another standard input
	moves  bool  // another standard output
	stream *data // which leads there
}

// connected is where exec sends the output of the commands that follow.
type connected struct {
	sink  *data  // where it would go otherwise
	path  string // empty: exec sends it to no file
	to    *data  // nil: exec sends it into no other stream
	maybe bool   // exec may not have run: it goes to both
}

// A conduit is the memory for what flows between two commands, or into files.
type conduit struct {
	out data
	in  input
	// The rest is for redirections, and large: a pipe has nothing in it to clear.
	redirects bool
	to        redirected
	wires
}

// A descriptorTable says where the descriptors of the shell lead, and those of the statement
// that is walked.
type descriptorTable struct {
	in *interp

	fds      [descriptors]string // the paths of open descriptors
	outs     [descriptors]*data  // the streams of those that lead into one; those of 1 and 2 are kept elsewhere
	err      *data               // where the error output goes; nil: nowhere
	numbered int                 // how many descriptors have a variable for their number
	stdin    *input              // the standard input of the statement that is walked
	stdout   *data               // and its output
	out      connected           // where exec sends the output of what follows
	wires    *wires              // the statement with redirections whose command is walked
	aliased  *wires              // the same while an alias is taken for that command
	rewired  []rewiring          // what commands connected that may have been exec
	// connections is how often exec connected the standard input.
	connections int
	conduits    []*conduit
	xtrace      bool // set -x is on
}

// A descriptor leads to a path, or into a stream that something reads: a pipe, or the
// output of a substitution. Those below 10 have their numbers; [descriptorTable.redirect] gives the
// next ones to {name}; the last one stands for all others.
const (
	firstNamed  = 10
	descriptors = 16
	otherOnes   = descriptors - 1
)

// applied is one command while its uses become effects.
type applied struct {
	parsed grammar.Parsed // the memory of the command line
	notes  fileNotes
	lists  listRunner
	application
}

// FileNotes are what a program makes of files besides what its uses say: copies, links, backups,
// archives, downloads, and what it was built of.
type fileNotes struct {
	*application
	origins []origin // of the files that it copies or moves
}

// A listRunner runs the command of a program once for each list of words that it reads or finds:
// xargs, parallel, find -exec.
type listRunner struct{ *application }

// A commandLine is the words of one program, and what the tables say of them.
type commandLine struct {
	p    *grammar.Parsed
	argv []string
	by   string
}

// redirected is where the streams of a statement go.
type redirected struct {
	std     *input
	sink    *data
	targets [8]target
	n       int
}

type target struct {
	path string
	more bool
	fd   int
}

// An echoLog keeps what echo printed with backslashes in it: one shell writes them, another
// one what they stand for.
type echoLog struct {
	rep *report
	alt *alternatives

	list []string // what echo printed with backslashes in it, see [echoLog.echoed]
}

// An application is what a program is run with, and what it has read so far.
type application struct {
	in    *interp
	line  commandLine
	mark  int
	std   *input
	sink  *data
	bits  effect.Bits
	taint effect.Taint // of all that it read
	text  string       // of the only file that it read
	reads int
}
