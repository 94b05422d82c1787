// Package places finds where in a command a credential stands: a flag means something only
// to its program, so that -u is a login for curl and a remote for git.
//
// Read it from [Of] down. lexer.go takes a text apart as a shell would, roughly, and goes
// through its commands; values.go finds the part of a program's words that is the
// credential; stdin.go follows what a program reads and writes, sudo.go what sudo leaves of it, and follow.go,
// resolve.go and variables.go the variables. The tables are in flags.go and launch.go.
package places
