package main

import "errors"

// hookCmd documents `approver hook`. The command itself is dispatched before
// the command line is parsed.
type hookCmd struct{}

// Help is the long text.
func (hookCmd) Help() string {
	return `Reads the agent's hook payload on standard input and leaves the agent's own answer: standard output, standard error, exit code. On any
failure that is the agent's blocking answer.

  --agent NAME           the agent's dialect, such as claude (required)
  --deadline 290s        answer before this; keep it under the hook's own time-out
  --socket PATH          the daemon's submit socket
  --connect-timeout 5s   how long to look for a daemon that was never reached

Example:
  approver hook --agent claude --deadline 290s < payload.json`
}

// Run is never reached with a payload to carry.
func (hookCmd) Run() error {
	return errors.New("hook takes its flags directly: approver hook --agent claude")
}
