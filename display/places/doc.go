// Package places finds the places for credentials in a command. The meaning of a flag depends on
// the program: -u is a login for curl and a remote for git.
//
// Read it from [Of] down. lexer.go splits a text roughly as a shell does, and goes through its
// commands. values.go finds the part of a program's words that is the credential. stdin.go
// follows what a program reads and writes, sudo.go the part of its input that sudo leaves, and
// follow.go, resolve.go and variables.go the variables. The tables are in flags.go and launch.go.
package places
