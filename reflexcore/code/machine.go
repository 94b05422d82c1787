package code

// A machine evaluates tokens from left to right and yields what it finds. It takes every branch:
// everything in the source is assumed to run.
type machine struct {
	d   *dialect
	api *table
	lim Limits

	budget    budget
	in        cursor    // the tokens
	scope     scope     // the variables
	cwd       workdir   // the folder
	out       report    // the findings
	inputs    inputs    // operands, environment, standard input
	programs  programs  // those that are started
	resources resources // files and hosts
	escapes   escapes   // the functions that are not followed

	funcs  []*function
	passed []value // what is left of the arguments of Perl's function
	within int     // the functions that are being evaluated
	result *value  // what the function that is being evaluated returns

	trailing bool     // the last list ended with a comma
	keys     []string // those of the last list of PHP, if all its elements have one
	last     string   // the name that the last primary was, for an assignment
	base     string   // the name of which the last value is an element or a member
}

// set binds a variable. A value that is not followed escapes.
func (m *machine) set(name string, v value) {
	if !m.scope.set(name, v) {
		m.escapes.value(v)
		m.escapes.lastAt = -1
	}
}
