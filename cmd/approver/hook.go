package main

import (
	"errors"

	"approver.example/agents/facts"
	"approver.example/cmd/approver-hook/courier"
)

// hookCmd documents `approver hook`. The command itself is dispatched before
// the command line is parsed.
type hookCmd struct{}

// Help returns the long help.
func (hookCmd) Help() string { return courier.Usage() }

// Run is never called for a real hook call.
func (hookCmd) Run() error {
	return errors.New("hook takes its flags directly: approver hook --agent " + facts.Example())
}
