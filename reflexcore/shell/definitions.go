package shell

import "mvdan.cc/sh/v3/syntax"

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
