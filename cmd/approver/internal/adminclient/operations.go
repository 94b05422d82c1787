package adminclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"approver.example/channels/terminal"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/adminapi"
	"approver.example/display"
	"approver.example/httpapi"
)

// SayWaiting prints text on standard error if a command takes longer than a second. done
// cancels that.
func SayWaiting(ctx context.Context, quiet bool, text func(context.Context) string) (done func()) {
	if quiet {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	t := time.AfterFunc(time.Second, func() {
		if said := text(ctx); ctx.Err() == nil {
			term.PrintOn(os.Stderr, 10, "approver: %s\n", term.Visibly(said))
		}
	})
	return func() { t.Stop(); cancel() }
}

// ErrTakenBack is the error of a command that was interrupted while it waited for people.
var ErrTakenBack = errors.New("stopped: the daemon withdraws the question, and nothing was approved")

// askedAfter is how long an operation may take before it is assumed that people are being
// asked.
const askedAfter = 700 * time.Millisecond

// Answer sends an answer as the terminal channel does, and prints the outcome. It returns an
// error unless the outcome is one of good.
func (c Cmd) Answer(ctx context.Context, a terminal.Answer, good ...string) error {
	client, err := c.Client(ctx)
	if err != nil {
		return err
	}
	body, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if err := Hears(ctx, client); err != nil {
		return err
	}
	asks, cancel := context.WithTimeout(ctx, toChange)
	defer cancel()
	raw, err := client.Answer(asks, body)
	if errors.Is(err, httpapi.ErrRefused) && strings.Contains(err.Error(), "nothing is there") {
		return errors.New("answers are not taken on this machine: answer in a chat if there is one, or set " +
			"channels.terminal in the configuration")
	} else if err != nil && asks.Err() != nil && ctx.Err() == nil {
		return &SilentError{client.Socket, true}
	} else if err != nil {
		return NotRunning(err)
	}
	var out terminal.Answered
	if err := json.Unmarshal(raw, &out); err != nil {
		return err
	}
	counted := slices.Contains(good, out.Kind)
	switch {
	case c.JSON:
		if err := term.PrintJSON(out); err != nil {
			return err
		}
	case counted:
		term.Say(out.Text)
	default:
		return errors.New(out.Text)
	}
	if !counted {
		return term.ErrSaid
	}
	return nil
}

// Control runs one operation and prints the outcome.
func (c Cmd) Control(ctx context.Context, op string, req any) error {
	var doc adminapi.ControlAnswer
	if err := c.operateSaying(ctx, op, req, &doc); err != nil {
		return err
	}
	return c.Print(doc)
}

// Print prints an answer of the daemon, as JSON if the command line asks for that.
func (c Cmd) Print(doc adminapi.ControlAnswer) error {
	if c.JSON {
		return term.PrintJSON(doc)
	}
	term.Say(doc.Text)
	return nil
}

// operateSaying is Operate for operations that may wait for people. While it waits, it says so,
// and also says if nobody could approve.
func (c Cmd) operateSaying(ctx context.Context, op string, req, doc any) error {
	if c.Told == nil {
		c.Told = new(Told)
	}
	if c.JSON {
		return c.Operate(ctx, op, req, doc)
	}
	waits, done := context.WithCancel(ctx)
	said := make(chan bool, 1)
	go func() {
		select {
		case <-waits.Done():
			said <- false
		case <-time.After(askedAfter):
			said <- c.sayWaiting(waits)
		}
	}()
	err := c.Operate(ctx, op, req, doc)
	done()
	told := <-said
	switch {
	case err != nil && ctx.Err() != nil:
		return ErrTakenBack
	case errors.Is(err, httpapi.ErrRefused) && !told:
		// Refused at once: tell a user who is stuck what else can be done.
		if nobody := c.nobody(ctx); nobody != "" {
			return fmt.Errorf("%w\n%s", err, nobody)
		}
	}
	return err
}

// sayWaiting says what an operation waits for, unless it is over, and returns whether it said
// anything.
func (c Cmd) sayWaiting(ctx context.Context) (said bool) {
	text := "this waits for people to approve it; Ctrl-C withdraws it"
	if nobody := c.nobody(ctx); ctx.Err() != nil {
		return false
	} else if nobody != "" {
		text = nobody + "\napprover: approver pending has the ID; this waits until its time is over, and Ctrl-C withdraws it"
	}
	term.PrintOn(os.Stderr, 10, "approver: %s\n", term.Visibly(text))
	return true
}

// nobody returns why nobody can approve, according to the status, or the empty string.
func (c Cmd) nobody(ctx context.Context) string {
	now, _ := c.Status(ctx)
	return now.Nobody
}

// Status returns the daemon's status. It is zero if there is an error.
func (c Cmd) Status(ctx context.Context) (adminapi.Status, error) {
	var now adminapi.Status
	if err := c.Operate(ctx, adminapi.OpStatus, struct{}{}, &now); err != nil {
		return adminapi.Status{}, err
	}
	return now, nil
}

// Mode returns a sentence on what applies besides the rules, such as a pause. It is empty if
// nothing does, or if no daemon answers.
func (c Cmd) Mode(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	now, _ := c.Status(ctx)
	return display.OneLine(now.Control)
}

// AfterLook shows what an operation would put into effect, and runs it if the user confirms and
// nothing has changed since. If people are asked anyway, they are the ones to look.
func (c Cmd) AfterLook(ctx context.Context, op string, req adminapi.PersonRequest, unseen bool) error {
	c.Told = new(Told)
	if req.Unseen = unseen; unseen {
		return c.Control(ctx, op, req)
	}
	var doc adminapi.ControlAnswer
	look := req
	look.Show = true
	if err := c.Operate(ctx, op, look, &doc); err != nil {
		return err
	}
	if req.Seen = doc.Seen; doc.Seen != "" {
		term.PrintOn(os.Stderr, 2, "%s\n", term.Visibly(doc.Text))
		if !term.TypedYes(os.Stdin, os.Stderr, "Shall this count, by your word alone?") {
			return errors.New("not confirmed: nothing was changed")
		}
	}
	return c.Control(ctx, op, req)
}
