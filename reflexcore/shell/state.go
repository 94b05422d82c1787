package shell

import (
	"strings"
	"sync"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
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

// An interp walks one text. It is kept for the next one.
type interp struct {
	*Analyzer

	ctx Context

	branches int // how many branches, which may not be taken, enclose this
	jumped   jump

	via string

	stands stands // what a word may be of which nothing is known

	rep      report // what was found, and what is left of the limits
	arena    arena
	cwd      workdir         // the working directory
	vars     variables       // what the shell's variables hold
	alt      alternatives    // which of several values the present command is walked with
	par      parameters      // $1, $name, ${name[i]}: what a word reads
	math     arithmetic      // $((…))
	assigner assigner        // name=value, declare, export
	exp      expander        // words become fields
	fs       filesystem      // files as the text leaves them
	io       descriptorTable // redirections and pipes
	def      definitions     // functions and aliases
	traps    traps           // what the shell runs by itself
	hist     history         // the list of commands, $_, FUNCNAME
	lines    lineReader      // read and mapfile
	echoes   echoLog         // what echo printed with backslashes
	dirs     directories     // cd, pushd, popd
	readings readings        // the ways to read one command
	src      sources         // the texts that are walked
	agents   agentReader     // commands that start agents
	env      exporter        // variables that programs inherit
	payloads payloadRunner   // sh -c, eval, scripts, code
	programs programRunner   // what the tables say of a program
}

// A jump leaves a loop or a function: what stands after it may not run.
type jump uint8

const (
	leavesLoop jump = 1 << iota
	leavesFunction
)

var interps = sync.Pool{New: func() any { return &interp{} }}

func (in *interp) reset(a *Analyzer, ctx Context, out *Result) {
	*out = Result{Effects: out.Effects[:0], Files: out.Files[:0], Texts: out.Texts[:0], Steps: out.Steps[:0], Dotted: out.Dotted[:0], Mentions: out.Mentions[:0], Programs: out.Programs[:0]}
	*in = interp{
		Analyzer: a, ctx: ctx,
		rep:      report{res: out, lim: &a.Limits, step: -1},
		cwd:      workdir{dir: ctx.Dir},
		vars:     variables{list: in.vars.list[:0], locals: in.vars.locals[:0]},
		alt:      alternatives{selection: selection{choices: in.alt.choices[:0]}},
		par:      parameters{zero: data{text: "bash"}},
		def:      definitions{funcs: in.def.funcs[:0], aliases: in.def.aliases[:0]},
		fs:       filesystem{list: in.fs.list[:0]},
		exp:      expander{fields: in.exp.fields[:0], buf: in.exp.buf[:0]},
		io:       descriptorTable{conduits: in.io.conduits},
		readings: readings{below: in.readings.below[:0]},
		stands:   stands{files: in.stands.files[:0], words: in.stands.words[:0]},
		src:      sources{trees: in.src.trees[:0]},
		programs: programRunner{words: in.programs.words[:0], spare: in.programs.spare},
	}
	in.assemble()
	if in.cwd.dir == "" {
		in.cwd.dir = effect.Unknown
	}
}

// assemble lets the parts of a walk find those that they need.
func (in *interp) assemble() {
	in.rep.ctx = &in.ctx
	in.vars.rep, in.vars.ctx, in.vars.cwd = &in.rep, &in.ctx, &in.cwd
	in.alt.rep, in.alt.vars, in.alt.arena, in.alt.ctx = &in.rep, &in.vars, &in.arena, &in.ctx
	in.echoes.rep, in.echoes.alt = &in.rep, &in.alt
	in.src.rep, in.src.ctx = &in.rep, &in.ctx
	in.par.in, in.math.in, in.assigner.in, in.exp.in, in.fs.in, in.io.in = in, in, in, in, in, in
	in.def.in, in.traps.in, in.hist.in, in.lines.in, in.dirs.in, in.readings.in = in, in, in, in, in, in
	in.stands.in, in.agents.in, in.env.in, in.payloads.in, in.programs.in = in, in, in, in, in
}

// wiped returns the memory of a list for the next text, or none if it is large.
func wiped[T any](list []T) []T {
	if cap(list) > 256 {
		return nil
	}
	clear(list[:cap(list)])
	return list[:0]
}

// release forgets what the text was, so that nothing of it is kept.
func (in *interp) release() {
	in.vars.list, in.def.funcs, in.def.aliases = wiped(in.vars.list), wiped(in.def.funcs), wiped(in.def.aliases)
	in.fs.list, in.exp.fields, in.programs.words = wiped(in.fs.list), wiped(in.exp.fields), wiped(in.programs.words)
	in.arena.texts.Reset()
	in.stands = stands{files: wiped(in.stands.files), words: wiped(in.stands.words)}
	in.vars.locals, in.src.trees = wiped(in.vars.locals), wiped(in.src.trees)
	in.io.outs, in.io.err, in.io.out, in.io.stdin, in.io.stdout = [descriptors]*data{}, nil, connected{}, nil, nil
	in.io.wires, in.io.aliased, in.io.rewired, in.alt.snapshot = nil, nil, nil, nil
	in.src.outermost = read{}
	in.Analyzer, in.rep.res, in.ctx, in.par.params, in.par.others, in.traps.list, in.traps.hooks = nil, nil, Context{}, nil, nil, nil, nil
	in.par.grown = [2][]data{}
}

// An agentReader finds the commands that start agents, and what they tell these.
type agentReader struct {
	in *interp

	installed string // the agent that was installed in a version that the text names
	homeless  bool   // env takes HOME away from what runs
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

// A selection is what a command has chosen.
type selection struct {
	choices []choice
	choose  bool // choices are open: the command is tried for each
	shared  bool // a command chooses for the one that it is part of
}

// apart says what of a shell a process that it starts does not have: the functions and
// aliases before these indexes, and the functions that were running.
type apart struct{ funcs, aliases, active int }

// An arena keeps the texts that a walk makes in one piece of memory.
type arena struct {
	texts strings.Builder // what words are made of, in one piece of memory
}

// Arithmetic evaluates the expressions of $((…)), ((…)), let and indexes.
type arithmetic struct {
	in *interp

	vague bool // numbers that are assigned are not known
}

// An assigner gives variables and elements of arrays their values: by assignments, and by
// export, declare, local, readonly and typeset.
type assigner struct {
	in *interp

	lists []string // arrays that are declared and were given nothing yet
}

// A builtinCall is one command of the shell itself. Its words are in.exp.fields[mark:].
type builtinCall struct {
	in   *interp
	mark int
	std  *input
	sink *data
}

// Directories is how the working directory changes: by cd, by cd that may fail, by pushd.
type directories struct {
	in *interp

	moves      int  // how often cd was walked
	configured bool // the settings of git may be others
}

// An askedFolder is one that a script enters without knowing its name.
type askedFolder uint8

// A choice is a value that may be one of several.
type choice struct {
	key  string
	n    int
	at   int
	held []version // of a file: what the command found in it, see [alternatives.version]
}

// Definitions are the functions and aliases of the shell: what a name means that is no program.
type definitions struct {
	in *interp

	funcs    []function
	aliases  []alias
	globals  []alias        // those of zsh that stand for any word
	active   []*syntax.Stmt // bodies of functions that are running
	apart    apart
	disabled []string // builtins that the shell may not have
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

// A plumbing is where the descriptors lead, for [descriptorTable.replumb].
type plumbing struct {
	fds  [descriptors]string
	outs [descriptors]*data
	err  *data
}

// An echoLog keeps what echo printed with backslashes in it: one shell writes them, another
// one what they stand for.
type echoLog struct {
	rep *report
	alt *alternatives

	list []string // what echo printed with backslashes in it, see [echoLog.echoed]
}

// An exporter hands variables to the programs that the text runs.
type exporter struct {
	in *interp

	exports bool // set -a is on
	local   bool // the variables that are walked are those of a git that stays on this machine
	sourced bool // a file that is not known was read with set -a, and may have set any variable
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

// An expander makes fields of the words of a command.
type expander struct {
	in *interp

	fields []field // a stack
	buf    []byte
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

// A filesystem is what the text wrote, copied, linked and connected, as far as later commands
// read or run it. What it does not know lies on the disk, and is not looked at.
type filesystem struct {
	in *interp

	list    []virtual
	links   int // how many files are links
	procs   int
	written int // how often files were written
}

// A history is what the shell remembers of its own commands: the list of them, $_ and FUNCNAME.
type history struct {
	in *interp

	recorded []data // the history of the shell, as far as the text wrote it
	recalls  recalls
	lasts    []data // what $_ may be after the present command
}

// An omission says which unknown parts of words are taken for nothing.
type omission uint8

// unsure says which words a command has of which not all is known.
type unsure uint8

// start is what a command begins with: each of its readings does.
type start struct {
	workdir
	files  int
	params []data
	others [][]data
}

// An intruder is what a trap may do to the shell before any command, or at any signal:
// trap 'x=/' DEBUG. What it sets is one more possibility from then on, whatever else is
// assigned.
type intruder struct {
	vars []variable
	dir  string     // empty: it stays where it is
	left []rewiring // what it connected to descriptors, for [traps.rewiredByTraps]
}

// A read is what a text was read as.
type read struct {
	src     string
	file    *syntax.File
	how     How
	strange bool
}

// Parameters are the positional parameters of the shell, and how a word reads them and its
// variables.
type parameters struct {
	in *interp

	params   []data
	others   [][]data  // more than one list of parameters is possible
	grown    [2][]data // long lists of parameters that may be added to, see [parameters.listOf]
	oldest   int       // of these
	zero     data      // $0
	named    bool      // the first word after a script is $0
	iterates bool      // the words are taken one after the other: their order does not matter
}

// A programRunner walks a command that is no function and no builtin, by what the tables say
// of its program.
type programRunner struct {
	in *interp

	spare []*applied
	words []string
}

// A lineReader takes lines from the standard input for read and mapfile.
type lineReader struct {
	in *interp

	eof bool // read found nothing more
}

// Readings are the ways in which one command is walked: for each combination of what its
// variables may be, and once more for what is not known of its words being nothing.
type readings struct {
	in *interp

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

// recalls says which values of the shell itself a text asks for. They are kept only
// then: each command changes them.
type recalls uint8

// A conduit is the memory for what flows between two commands, or into files.
type conduit struct {
	out data
	in  input
	// The rest is for redirections, and large: a pipe has nothing in it to clear.
	redirects bool
	to        redirected
	wires
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

// A report collects what a walk finds, and counts what it uses of the limits. Beyond a limit
// nothing is added: [report.stopped].
type report struct {
	ctx *Context

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

// A variable has one value, or one of several.
type variable struct {
	name string
	data
	alts    []data   // more than one value is possible
	list    []data   // an array
	keys    []string // of its elements, where they are not 0, 1, 2 …; numbers in their order
	array   bool
	assoc   bool // its keys are any text
	unset   bool
	forms   []variable // more than one array is possible
	settled int        // how many alts it had after a loop's first round
	ref     string     // it stands for the variable of this name, or for an element
	refs    []string   // for one of these, ref is the first
	integer bool       // what is assigned is reckoned
	letters byte       // what is assigned becomes lower (l) or upper case (u)
	refers  bool       // what is assigned is the name that it stands for from then on
	passed  bool       // programs inherit it
	place   bool       // its value is where something is, as [definitions.asksPlace] says
	shaken  bool       // a file may have set it to something else, see [variables.shake]
	branch  bool       // its value is the name of a branch, as [definitions.asksBranch] says
}

// A held variable is restored when a function or a command ends.
type held struct {
	variable
	was  bool // there was one
	gone bool // unset uncovered it: it is restored already
	mark int  // the scope in which it was held
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

// A payloadRunner walks what commands run in turn: texts for a shell, scripts, and code of other
// languages.
type payloadRunner struct {
	in *interp

	given    map[string]string // the variables that awk's command line sets
	inserted string            // what a stream editor put into its stream
	opens    []string          // files that code opened to write
	unpassed bool              // the program that starts a script may keep variables from it
}

// Sources are the texts of a walk as they were parsed.
type sources struct {
	rep *report
	ctx *Context

	trees      []*syntax.File // the texts that were walked, for [sources.mayRoot]
	searched   int            // how many of them it has looked through
	rooted     bool           // and what it found
	plainTrees int            // how many of them are plain, see [sources.isPlainCall]
	outermost  read           // the text that is walked, as it was read
}

// stands is what a word may be of which nothing is known.
type stands struct {
	in *interp

	files []*syntax.File // that were walked
	read  int            // how many of them the words below are from
	words []heldWord
	text  []heldWord // what stands at present
	walks int        // that were made for it
}

// A heldWord is a word that the call holds. File says that a file may have that name.
type heldWord struct {
	text string
	file bool
}

// Traps are what the shell runs by itself: at its end, at signals, beside other commands.
type traps struct {
	in *interp

	list     []data             // what is done when the script ends
	trapped  int                // how many commands there were when they were walked last
	hooks    []func(std *input) // what shells run by themselves, see [traps.remember]
	late     bool               // they are walked
	repaid   bool               // a trap met a limit, and its steps were given back
	intruder *intruder
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

// A version is what a file may hold.
type version struct {
	data
	alias string // it is this file
	built bool
	from  []string
}

// A workdir is the working directory of the shell, as far as it is known.
type workdir struct {
	dir    string
	may    string // what stands before the first slash of dir may be this folder, where that is not known
	before string // where it still is if the last cd failed; empty: it did not
	beside string // where it may still be if one of the last cd failed: a folder of settings
}

const (
	omitsNothing omission = iota
	omitsAll              // every one; a word that is nothing else is no word
	omitsFor              // none: a word of which nothing is known is one that the call holds, see [readings.standing]
	omitsSpread           // none: arrays are all of their elements
	omitsParts            // those in words of which something is known; a whole word stays what it is
)

const (
	partly       unsure = 1 << iota // a word has a known part and an unknown one
	wholly                          // a word that may be no word
	wholeUnknown                    // a word of which nothing is known, or a pattern of names
	spread                          // an array without an index
	named                           // one of these is the command's name
	chosen                          // the call chose the unknown folder that a folder of the system stands below
)
