package code

// A machine evaluates tokens from left to right and yields what it finds. It takes every branch:
// everything in the source is assumed to run.
type machine struct {
	d     *dialect
	api   *table
	lim   Limits
	begin map[string]statementFunc // by keyword: what evaluates a statement that begins with it

	budget    budget
	in        cursor    // the tokens
	scope     scope     // the variables
	cwd       workdir   // the folder
	out       report    // the findings
	inputs    inputs    // operands, environment, standard input
	programs  programs  // the programs that the code starts
	resources resources // files and hosts
	escapes   escapes   // the functions that are not followed

	funcs  []*function
	passed []value // the remaining arguments of the current function of Perl
	within int     // the functions that are being evaluated
	result *value  // the result of the current function

	trailing   bool     // the last list ended with a comma
	keys       []string // the keys of PHP's last list, if all its elements have one
	last       string   // the name of the last primary, for an assignment
	base       string   // the variable that contains the last value
	baseMember string   // the member of it that does, if its name is written out
	version2   bool     // it is Python 2
}

// set binds a variable. A value that is not followed escapes.
func (m *machine) set(name string, v value) {
	if !m.scope.set(name, v) {
		m.escapes.value(v)
		m.escapes.lastAt = -1
	}
}

// A statementFunc evaluates a statement that begins with a certain keyword. It reads nothing if the
// keyword begins an expression there.
type statementFunc func(*machine)
