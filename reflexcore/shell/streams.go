package shell

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
