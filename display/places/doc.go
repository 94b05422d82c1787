// Package places finds where in a command a credential stands: a flag means something only
// to its program, so that -u is a login for curl and a remote for git.
//
// Read it from [Of] down. lexer.go takes a text apart as a shell would, roughly, and goes
// through its commands; values.go finds the part of a program's words that is the
// credential; stdin.go and files.go follow what a program reads and writes, follow.go the
// variables. The tables are in flags.go and launch.go.
package places
