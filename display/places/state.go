package places

import "slices"

// A lexer splits a text roughly as a shell does. Text inside quotes is read once more as commands,
// because it may contain some.
type lexer struct {
	text     string
	left     int // bytes that may still be read
	segments []Segment
	spans    []Span

	variables   Variables         // assignments in the text
	wants       []want            // variables in places for credentials
	bound       map[string][]Span // the values that builtins give to variables
	assignments [][]int           // where variables get their values
	holder      string            // the variable whose value is being added
	prints      bool              // out collects what the commands write
	out         []Span
	nested      int
	files       writtenFiles
	spreads     []spread
	unread      []string // variables that read fills from the input after the loop
	again       Span     // the words that a second shell reads
	inside      bool     // in a launched program, where an assignment may be for another shell
}

// maxNested limits the depth of quotes in quotes, launchers and substitutions that are read.
const maxNested = 3

// A pipeline is the state for a command that may read the output of the commands before it.
type pipeline struct {
	to, depth int
	open      int    // open groups, whose commands write to the same reader
	piped     bool   // the next command reads what those before it write
	writes    []Span // what they write
	words     []word // of the current command
	sudo      string // the kind of value that sudo reads from it for the current command; empty: none
}

// after updates the state with the operator after a command.
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

// A spread is a variable that is a whole word, and may become several flags and operands.
type spread struct {
	flags map[string]string
	name  string
	depth int
}

// A want is a variable in a place for a credential.
type want struct {
	name  string // of the variable, or the number of a positional parameter
	part  string // which part of its value the place takes; empty: all
	depth int
	base  int    // index of the place in the lexer's spans; -1: none
	field string // of a place without a span
	names bool   // its value is the name of another variable
}

// MaxWants limits the number of variables that are followed, directly and through others. In a
// text with more, the values of all variables are hidden, as Unclear.
const MaxWants = 64

// writtenFiles are the texts that commands write into files, by file name.
type writtenFiles map[string][]Span

// write records what a command writes into files.
func (w writtenFiles) write(files []string, spans []Span) {
	for _, f := range files {
		w[f] = append(w[f], likely(spans)...)
	}
}

// read returns what commands in the text have written into files.
func (w writtenFiles) read(files []string) (out []Span) {
	for _, f := range files {
		out = append(out, w[f]...)
	}
	return out
}

// likely returns the spans marked as hidden only if they look like a secret.
func likely(spans []Span) []Span {
	out := slices.Clone(spans)
	for i := range out {
		out[i].Kind, out[i].field = Unclear, "password"
	}
	return out
}

// A Segment is one simple command of a text.
type Segment struct {
	From, To int
	Program  string
	Operands int // the place after the program's name
}
