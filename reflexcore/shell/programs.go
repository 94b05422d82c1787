package shell

// A programRunner walks a command that is no function and no builtin, by what the tables say
// of its program.
type programRunner struct {
	in *interp

	spare []*applied
	words []string
}
