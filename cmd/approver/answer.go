package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/google/uuid"

	"approver.example"
	"approver.example/channels/terminal"
	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/adminapi"
	"approver.example/display"
	"approver.example/tokens"
)

// localRules is what both commands say of who may answer.
const localRules = `Your uid, as the kernel names it, must be on the terminal's approver list, and channels.terminal.allow_answers must be on.
`

type approveCmd struct {
	adminclient.Cmd
	Which string `arg:"" name:"id-or-code" help:"The request's id from approver pending, or the code from approver watch."`
	Term  string `arg:"" optional:"" help:"How long the yes lasts for the very same call: once, session, 1m to 60m, or always, which only shows the rule to write. With a code, of a HIGH request."`
	Yes   bool   `help:"Do not ask once more after the request was shown." short:"y"`
}

// Help is the long text.
func (approveCmd) Help() string {
	return localRules +
		`By its id, the request is shown whole and you are asked once more; of several identical calls, a yes is for those that it shows
(with --yes, or by a code, which show none, for the first). A CATASTROPHIC request takes the typed code only, and while agents
run under the daemon's own user it is never approved on this machine: answer in a chat. Where nobody can, as without a chat, root may:
sudo approver approve ID shows the whole request and a code to type, unless the daemon, or the agent that asks, is root as well.
` + term.ExitCodes + `
Example:
  approver approve 0192f3a1-7c1e-7b50-8f0e-3c8a3f6a2b11
  approver approve CONFIRM-7KQ4MX
  approver approve CONFIRM-7KQ4MX 15m`
}

// Validate tells a mistyped id or code before the daemon is asked.
func (c approveCmd) Validate() error {
	if _, err := tokens.Parse(c.Which); err != nil && uuid.Validate(c.Which) != nil {
		return fmt.Errorf("%q is neither a request's id nor a code: approver pending lists the ids", c.Which)
	}
	term, ok := approver.ParseTerm(c.Term)
	switch {
	case c.Term == "":
	case !ok:
		return fmt.Errorf("%q is not how long a yes can last: once, session, always, or 1m to 60m", c.Term)
	case term != approver.Term{} && uuid.Validate(c.Which) == nil:
		return errors.New("a yes that lasts needs the code, which approver watch shows")
	}
	return nil
}

// Run approves.
func (c approveCmd) Run(ctx context.Context) error {
	c.Told = new(adminclient.Told)
	if uuid.Validate(c.Which) != nil {
		code, err := tokens.Parse(c.Which)
		if err != nil {
			return err
		}
		return c.Answer(ctx, terminal.Answer{Code: code.Reveal(), Approve: true, Command: true, Term: c.Term}, "approved",
			"recorded")
	}
	if done, err := c.asOwner(ctx); done {
		return err
	}
	var shown adminapi.Shown
	if !c.Yes {
		if err := c.Operate(ctx, adminapi.OpShow, adminapi.RequestID{Request: c.Which}, &shown); err != nil {
			return err
		}
		adminclient.PrintRequest(os.Stderr, term.Width(os.Stderr), shown)
		if err := notByID(shown, c.Which, os.Geteuid() == 0); err != nil {
			return err
		}
		if !term.TypedYes(os.Stdin, os.Stderr, "Approve this?") {
			return errors.New("nothing was approved")
		}
	}
	return c.Answer(ctx, terminal.Answer{Request: c.Which, Approve: true, Shown: shown.Upto}, "approved", "recorded")
}

// notByID says why a request is not approved by its id, and what does it instead. Root gets
// here only where somebody on a list can answer: then it answers as they do.
func notByID(s adminapi.Shown, which string, root bool) error {
	switch {
	case s.Severity != approver.High && root:
		return errors.New("a CATASTROPHIC request that people on a list can answer is not approved by its id, nor by root: " +
			"type the code of its card, " +
			"in the chat that shows it, or from approver watch: approver approve CODE")
	case s.Severity != approver.High:
		return errors.New("a CATASTROPHIC request is not approved by its id: type /approve and the code of its card in the " +
			"chat that shows it; " +
			"without a chat: " + display.AsRoot("approve "+which))
	case s.NotTaken != "":
		return errors.New(s.NotTaken)
	}
	return nil
}

type denyCmd struct {
	adminclient.Cmd
	ID string `arg:"" help:"The request's id, from approver pending."`
}

// Help is the long text.
func (denyCmd) Help() string {
	return localRules + term.ExitCodes + `
Example:
  approver deny 0192f3a1-7c1e-7b50-8f0e-3c8a3f6a2b11`
}

// Validate tells a mistyped id before the daemon is asked.
func (c denyCmd) Validate() error {
	if uuid.Validate(c.ID) != nil {
		return fmt.Errorf("%q is no request's id: approver pending lists them", c.ID)
	}
	return nil
}

// Run denies.
func (c denyCmd) Run(ctx context.Context) error {
	return c.Answer(ctx, terminal.Answer{Request: c.ID}, "denied")
}
