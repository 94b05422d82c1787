package shell

import (
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"mvdan.cc/sh/v3/syntax"
)

// The parts of a walk, bottom up. Each has its own state and the methods that use it. Those that
// run commands themselves, such as substitutions in words, call back into the walk.

// A report collects what a walk finds, and counts how much of the limits it uses. Once a limit is
// exceeded, nothing more is added: [report.stopped].
type report struct {
	ctx  *Context
	lim  *Limits
	res  *Result
	step int
	bits effect.Bits // set on every effect, such as Remote
	acts bool        // something was changed, stopped or started since this was last reset
	down composeDown
	// what runs is in the container of a database of the project's own compose file
	ownDatabase bool
	remotes     []newRemote
	aways       []away
	depth       int
	level       int
	steps       int
	expanded    int
	typed       bool // the text read the terminal or $BASH_COMMAND, or is a preexec hook
}

// variables are the variables of the shell, with their scopes: the last entry of a name counts.
type variables struct {
	rep *report
	ctx *Context
	cwd *workdir

	list     []variable // the last entry of a name counts
	mark     int        // entries before this index belong to an outer scope
	locals   []held     // to be restored when running functions return
	frame    int        // len(locals) when the current function began
	readonly []string   // the variables that may not be assigned to
	// exportsAll says that set -a is on, or was.
	exportsAll   bool
	clobbered    bool         // a file may have set any variable, see [variables.clobber]
	unknownTaint effect.Taint // of the unknown parts of texts that are parsed again
	unknownPlace bool         // those parts are locations, see [variables.fixed]
}

// alternatives choose one of several possible values for the command that is walked now. The
// command is walked once for each combination of values.
type alternatives struct {
	rep   *report
	vars  *variables
	arena *arena
	ctx   *Context

	selection
	snapshot []variable // the variables before the first choice
	began    int        // filesystem.written when the current walk of a command began
}

// parameters are the positional parameters of the shell, and the way in which words read them and
// the variables.
type parameters struct {
	in *interp
	positionals
	grown    [2][]data // long lists that others may extend, see [parameters.listOf]
	oldest   int       // the index of the oldest list in grown
	zero     data      // $0
	named    bool      // the first argument of a script is $0
	iterates bool      // the words are items of a loop: their order does not matter
}

// positionals are $1, $2 …
type positionals struct {
	params []data
	others [][]data // all possible lists, if there are several
}

// arithmetic evaluates the expressions of $((…)), ((…)), let and indexes.
type arithmetic struct {
	in    *interp
	vague bool // assigned numbers are unknown
}

// An assigner assigns to variables and array elements: by plain assignments, and by export,
// declare, local, readonly and typeset.
type assigner struct {
	in    *interp
	lists []string                // arrays that are declared but not yet assigned to
	early map[*syntax.Word][]data // the values of the words of a declaration before it assigns anything
}

// An expander turns the words of a command into fields.
type expander struct {
	in     *interp
	fields []field // a stack
	buf    []byte
}

// A filesystem is what the text wrote, copied, linked and connected, as far as later commands
// read or run it. All other files are on the disk, which is not read.
type filesystem struct {
	in      *interp
	list    []virtual
	links   int // the number of files that are links
	procs   int
	written int // the number of writes
}

// directories tracks how the working directory changes by cd, which may fail, and by pushd.
type directories struct {
	in         *interp
	moves      int  // how often a cd was walked
	configured bool // the text may have changed the settings of git
}

// definitions are the functions and aliases of the shell: names that are not programs.
type definitions struct {
	in       *interp
	funcs    []function
	aliases  []alias
	globals  []alias        // global aliases of zsh, which apply to any word
	active   []*syntax.Stmt // bodies of functions that are running
	apart    apart
	disabled []string // builtins that may have been disabled
}

// apart describes what a new process does not have of the shell that starts it: the functions and
// aliases before these indexes, and the functions that were running.
type apart struct{ funcs, aliases, active int }

// A history is what the shell records about its own commands: the history list, $_ and FUNCNAME.
type history struct {
	in       *interp
	recorded []data // the history of the shell, as far as the text wrote it
	recalls  recalls
	lasts    []data // what $_ may be after the current command
}

// traps are what the shell runs by itself: at exit, at signals, and around other commands.
type traps struct {
	in      *interp
	list    []data             // the commands that run when the script ends
	trapped int                // Result.Commands when list was last walked
	hooks   []func(std *input) // walks of what shells run by themselves, see [traps.remember]
	late    bool               // the hooks are being walked
	repaid  bool               // a trap exceeded a limit, and its steps were refunded
	changes *trapChanges
}

// trapChanges are the changes that a trap may make to the shell before any command, or at any
// signal, such as trap 'x=/' DEBUG. From then on, each value that it sets remains possible,
// whatever else is assigned.
type trapChanges struct {
	vars []variable
	dir  string     // empty: the trap does not change the directory
	left []rewiring // the descriptors that it connected, for [traps.rewiredByTraps]
}

// An exporter passes variables to the programs that the text runs.
type exporter struct {
	in      *interp
	exports bool // set -a is on
	local   bool // the variables are for a git command that stays on this machine
	sourced bool // an unknown file was sourced under set -a, and may have exported any variable
}

// A builtinCall is one call of a shell builtin. Its words are in.exp.fields[mark:].
type builtinCall struct {
	in   *interp
	mark int
	std  *input
	sink *data
}

// A lineReader takes lines from the standard input for read and mapfile.
type lineReader struct {
	in  *interp
	eof bool // read found the end of the input
}

// readings are the ways in which one command is walked: once for each combination of the values
// of its variables, and once more with the unknown parts of its words empty.
type readings struct {
	in          *interp
	omits       omission
	doubts      unsure
	start       start    // the state at the start of the current command
	below       []string // paths below unknown directories of the environment, see [markRooted]
	founded     []string // all entries that below ever had, for [interp.withNothing]
	chose       bool     // one of those directories may have been chosen by the call
	leanDiffers bool     // a lean walk may find more than this one
	lean        bool     // this is a lean walk: all unknown text is taken to be empty
	forks       int      // how many commands have more than one possible output
	first       bool     // the first output counts, see [readings.fork]
	partings    int      // how many commands have an unknown name or leave several possible parameters
}

// start is the state at the start of a command. Each of its readings begins with it.
type start struct {
	workdir
	positionals
	files int
}

// candidates are the words that may replace a word of which nothing is known.
type candidates struct {
	in    *interp
	files []*syntax.File // the texts that were walked
	read  int            // how many of the files are already in words
	words []heldWord
	text  []heldWord // the words that are being tried
	walks int        // how many walks this took so far
}

// sources are the texts of a walk as they were parsed.
type sources struct {
	rep        *report
	ctx        *Context
	trees      []*syntax.File // the texts that were walked, for [sources.mayRoot]
	searched   int            // how many of the trees mayRoot has searched
	rooted     bool           // its result
	broken     bool           // one of the texts could not be parsed as a whole
	plainTrees int            // how many of the trees are plain, see [sources.isPlainCall]
	outermost  read           // the outermost text, as it was parsed
}

// A payloadRunner walks what commands run themselves: shell code, scripts, and code of other
// languages.
type payloadRunner struct {
	in       *interp
	given    map[string]string // the variables that awk's command line sets
	inserted string            // what a stream editor inserted into its stream
	opens    []string          // files that code opened to write
	unpassed bool              // the program that starts a script may drop variables from its environment
	inside   bool              // a program whose work is another one starts what is walked
}

// A programRunner walks a command that is neither a function nor a builtin, by what the tables
// say about its program.
type programRunner struct {
	in    *interp
	spare []*applied
	words []string
}

// An agentReader finds commands that start agents, and what they tell these agents.
type agentReader struct {
	in        *interp
	installed string   // an agent that was installed in a version that the text names
	homeless  bool     // the program runs without HOME, or isolated from the user
	argv      []string // the words of the commands that are examined: a stack
}

// A scope is the state to which a subshell or a branch returns when it ends.
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

// An interp walks one text. It is reused for the next one.
type interp struct {
	*Analyzer

	ctx       Context
	builtinOf map[string]builtin // [builtinTable], which methods cannot name: an initialization cycle
	branches  int                // how many enclosing branches may not be taken
	jumped    jump
	via       string // how the current text is run, for people

	rep        report          // what was found, and what is used of the limits
	arena      arena           // the memory for texts
	cwd        workdir         // the working directory
	vars       variables       // what the shell's variables hold
	alt        alternatives    // which of several values the current command is walked with
	par        parameters      // $1, $name, ${name[i]}: what a word reads
	math       arithmetic      // $((…))
	assigner   assigner        // name=value, declare, export
	exp        expander        // words become fields
	fs         filesystem      // the files that the text wrote
	io         descriptorTable // redirections and pipes
	def        definitions     // functions and aliases
	traps      traps           // what the shell runs by itself
	hist       history         // the list of commands, $_, FUNCNAME
	lines      lineReader      // read and mapfile
	echoes     echoLog         // texts with backslashes that echo printed
	dirs       directories     // cd, pushd, popd
	readings   readings        // the ways to read one command
	candidates candidates      // what an unknown word may be
	src        sources         // the texts that are walked
	agents     agentReader     // commands that start agents
	env        exporter        // variables that programs inherit
	payloads   payloadRunner   // sh -c, eval, scripts, code
	programs   programRunner   // programs, by the tables
}

// A plumbing is the state of the descriptors, for [descriptorTable.replumb].
type plumbing struct {
	fds  [descriptors]string
	outs [descriptors]*data
	err  *data
}

// wires is what is recorded for a statement with redirections while its command is walked.
type wires struct {
	readings, stays int // how often its command was walked, and how often it was exec
	passes          int
	kept            []rewiring // what each exec left
	was             plumbing   // before the statement
	out             connected
	ends            plumbing // after its first walk
	own             input
	led             connected
	reads           bool   // an exec in the statement connected the standard input
	touched         uint32 // a bit set of the descriptors that it redirects
	pending         int    // how many rewirings there were before
	connections     int    // descriptorTable.connections before
}

// A rewiring is what a command connected that may have been exec.
type rewiring struct {
	plumbing
	std    input
	reads  bool  // the standard input changed
	moves  bool  // the standard output changed
	stream *data // the new standard output
}

// connected is where exec sends the output of the following commands.
type connected struct {
	sink  *data  // where the output would go without exec
	path  string // empty: not to a file
	to    *data  // nil: not to another stream
	maybe bool   // exec may not have run: the output goes to both
}

// A conduit is the memory for what flows between two commands, or into files.
type conduit struct {
	out data
	in  input
	// The rest is only for redirections. It is large, so a plain pipe does not clear it.
	redirects bool
	to        redirected
	wires
}

// A descriptorTable records where the descriptors of the shell lead, and those of the current
// statement.
type descriptorTable struct {
	in *interp

	fds      [descriptors]string // the paths of open descriptors
	outs     [descriptors]*data  // their streams, except those of descriptors 1 and 2
	err      *data               // the stream of the error output; nil: not read
	numbered int                 // how many descriptors were opened as {name}
	stdin    *input              // the standard input of the current statement
	stdout   *data               // its standard output
	out      connected           // where exec sends the output of the following commands
	wires    *wires              // the current statement with redirections
	aliased  *wires              // the same while an alias stands for its command
	rewired  []rewiring          // what commands connected that may have been exec
	// connections is how often exec connected the standard input.
	connections int
	conduits    []*conduit
	xtrace      bool // set -x is on
}

// A descriptor leads to a path, or into a stream that something reads: a pipe, or the output of a
// substitution. Descriptors below 10 have their own index. [descriptorTable.redirect] assigns the
// next ones to {name}. The last index stands for all others.
const (
	firstNamed  = 10
	descriptors = 16
	otherOnes   = descriptors - 1
)

// applied is the state of one command while its uses are turned into effects.
type applied struct {
	parsed grammar.Parsed // the memory of the command line
	notes  fileNotes
	lists  listRunner
	application
}

// fileNotes record what a program does with files beyond its uses: copies, links, backups,
// archives, downloads, and the sources that it was built from.
type fileNotes struct {
	*application
	origins []origin // of the files that it copies or moves
}

// A listRunner runs the command of a program once for each list of words that the program reads
// or finds: xargs, parallel, find -exec.
type listRunner struct{ *application }

// A commandLine is the words of one program, and what the tables say about them.
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

// An echoLog keeps the texts with backslashes that echo printed. Some shells print backslash
// escapes as they are, others decode them.
type echoLog struct {
	rep *report
	alt *alternatives

	list []string // see [echoLog.echoed]
}

// An application is one run of a program: its command line and streams, and what it has read so
// far.
type application struct {
	in     *interp
	line   commandLine
	mark   int
	std    *input
	sink   *data
	bits   effect.Bits
	taint  effect.Taint // of everything that it read
	text   string       // the content of the only file that it read
	reads  int
	byHand bool // some of what it reads was not made by a build
}
