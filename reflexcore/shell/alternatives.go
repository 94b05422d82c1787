package shell

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

// setAside begins a selection of its own for what runs inside a command, and returns that of
// the command, which the caller puts back.
func (al *alternatives) setAside() selection {
	outer := al.selection
	al.selection = selection{}
	return outer
}
