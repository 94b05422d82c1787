package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/google/uuid"

	"approver.example"
	"approver.example/channels/terminal"
	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/adminapi"
	"approver.example/display"
	"approver.example/tokens"
)

type approveCmd struct {
	adminclient.Cmd
	Which  string `arg:"" name:"id-or-code" help:"The request's id from approver pending, or the code from approver watch."`
	Term   string `arg:"" optional:"" help:"How long the yes lasts for the very same call: once, session, 1m to 60m, or always, which only shows the rule to write. With a code, of a HIGH request."`
	Choice int    `help:"The number of a choice on the card of an agent's own question; without it, the yes is for this one call." placeholder:"N"`
	Yes    bool   `help:"Do not ask once more after the request was shown." short:"y"`
}

// Validate rejects a mistyped id or code before the daemon is asked.
func (c approveCmd) Validate() error {
	if _, err := tokens.Parse(c.Which); err != nil && uuid.Validate(c.Which) != nil {
		return fmt.Errorf("%q is neither a request's id nor a code: approver pending lists the ids", c.Which)
	}
	if c.Choice != 0 && uuid.Validate(c.Which) != nil {
		return errors.New("a choice needs the request's id: approver pending lists the ids")
	}
	term, ok := approver.ParseTerm(c.Term)
	switch {
	case c.Term == "":
	case !ok:
		return fmt.Errorf("%q is not how long a yes can last: once, session, always, or 1m to 60m", c.Term)
	case c.Choice != 0:
		return errors.New("a choice and how long a yes lasts exclude each other")
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
	return c.Answer(ctx, terminal.Answer{Request: c.Which, Approve: true, Shown: shown.Upto, Choice: c.Choice},
		"approved", "recorded")
}

// notByID returns why a request cannot be approved by its id, and what to do instead; nil if it
// can. Root gets here only if somebody on an approver list can answer, and then has no more
// rights than they have.
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

// Validate rejects a mistyped id before the daemon is asked.
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

// asOwner approves, as root, a request that nobody else can approve. It shows the whole card
// and a one-time code on the terminal that root types into, never on an output that a program
// may read. If done is false, root answers like everybody else.
func (c approveCmd) asOwner(ctx context.Context) (done bool, err error) {
	if os.Geteuid() != 0 {
		return false, nil
	}
	tty, ttyErr := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if ttyErr == nil {
		defer tty.Close()
	}
	var doc adminapi.OwnerAnswer
	switch err := c.Operate(ctx, adminapi.OpOwnerShow, adminapi.OwnerRequest{Request: c.Which}, &doc); {
	case err != nil:
		return true, err
	case doc.Code == "":
		return false, nil
	case ttyErr != nil:
		return true, fmt.Errorf("root approves with a typed code only, and there is no terminal to type it into: %w", ttyErr)
	case c.Yes:
		return true, errors.New("root approves with a typed code only: leave out --yes")
	}
	adminclient.PrintRequest(tty, term.Width(tty), doc.Shown)
	term.PrintOn(tty, 0, "\nNobody on an approver list can approve this, so root may. Read all of it. To approve it "+
		"once, type %s: ", term.Visibly(doc.Code))
	line, _ := bufio.NewReader(tty).ReadString('\n') // no answer means no
	if strings.TrimSpace(line) == "" {
		return true, errors.New("nothing was approved")
	}
	if err := c.Operate(ctx, adminapi.OpOwnerApprove,
		adminapi.OwnerRequest{Request: c.Which, Code: strings.TrimSpace(line)}, &doc); err != nil {
		return true, err
	}
	if c.JSON {
		err = term.PrintJSON(map[string]any{"done": doc.Done, "text": doc.Text})
	} else if doc.Done {
		term.Say(doc.Text)
	} else {
		return true, errors.New(doc.Text)
	}
	if !doc.Done && err == nil {
		err = term.ErrSaid
	}
	return true, err
}
