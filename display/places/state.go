package places

import "slices"

// A lexer takes a text apart as a shell would, roughly: what stands inside quotes is
// read once more, as the text of a command, because it may be one.
type lexer struct {
	text     string
	left     int // bytes that may still be read
	segments []Segment
	spans    []Span

	variables   Variables         // that are set
	wants       []want            // variables in places for credentials
	bound       map[string][]Span // what builtins put into variables
	assignments [][]int           // where variables get their values
	holder      string            // of what is being added
	prints      bool              // out collects what the commands write
	out         []Span
	nested      int
	files       writtenFiles
	spreads     []spread
	unread      []string // variables that read fills with what stands behind the loop
	again       Span     // the words that a second shell reads
	inside      bool     // of what a launcher runs, in which an assignment may be another shell's
}

// maxNested bounds the quotes within quotes that are read.
const maxNested = 3

// A pipeline is what is known of the commands before one that reads from them.
type pipeline struct {
	to, depth int
	open      int    // groups that are open: their commands write to one reader
	piped     bool   // the command that comes reads what those before it write
	writes    []Span // what they write
	words     []word // of the command at hand
	sudo      string // how sudo reads a password from it, of the command at hand
}

// after says what stands behind a command.
func (p *pipeline) after(by string) {
	switch by {
	case "|", "|&":
		p.piped = true
		return
	case "(":
		p.open++
	case ")":
		p.open = max(p.open-1, 0)
		return
	}
	if p.piped = false; p.open <= 0 && by != "(" {
		p.writes = nil
	}
}

// A spread is a variable that is all of a word, and may be several flags and operands.
type spread struct {
	flags map[string]string
	name  string
	depth int
}

// A want is a variable in a place for a credential.
type want struct {
	name  string // of the variable, or the number of a positional parameter
	part  string // which part of its value the place takes; "" is all of it
	depth int
	base  int    // the place, in the lexer's spans; -1 if the whole flag's value is the variable
	field string // of a place that has no span
	names bool   // its value is the name of the variable
}

// MaxWants bounds the variables that are followed, and through which others. In a text
// with more, all that any variable is given is hidden, and unclear.
const MaxWants = 64

// writtenFiles are the texts that commands write into files, by the names of these.
type writtenFiles map[string][]Span

// write notes what a command writes into files.
func (w writtenFiles) write(files []string, spans []Span) {
	for _, f := range files {
		w[f] = append(w[f], likely(spans)...)
	}
}

// read is what a command reads from files that the text has written.
func (w writtenFiles) read(files []string) (out []Span) {
	for _, f := range files {
		out = append(out, w[f]...)
	}
	return out
}

// likely marks what is hidden only if it looks like a secret.
func likely(spans []Span) []Span {
	out := slices.Clone(spans)
	for i := range out {
		out[i].Kind, out[i].field = Unclear, "password"
	}
	return out
}

// A Segment is one simple command of a text, and what is known of its program.
type Segment struct {
	From, To int
	Program  string
	Operands int // where the words behind the program's name begin
}
