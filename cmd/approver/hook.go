package main

import (
	"errors"

	"approver.example/agents/facts"
	"approver.example/cmd/approver-hook/courier"
)

// hookCmd documents `approver hook`. The command itself is dispatched before
// the command line is parsed.
type hookCmd struct{}

// Help is the long text.
func (hookCmd) Help() string { return courier.Usage() }

// Run is never reached with a payload to carry.
func (hookCmd) Run() error {
	return errors.New("hook takes its flags directly: approver hook --agent " + facts.Example())
}
