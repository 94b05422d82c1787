package shell

// An expander makes fields of the words of a command.
type expander struct {
	in *interp

	fields []field // a stack
	buf    []byte
}
