package shell

import "approver.example/reflexcore/grammar"

// A commandLine is the words of one program, and what the tables say of them.
type commandLine struct {
	p    *grammar.Parsed
	argv []string
	by   string
}
