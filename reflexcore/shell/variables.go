package shell

import "approver.example/reflexcore/effect"

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
