package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"time"

	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/flags"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/adminapi"
	"approver.example/httpapi"
	"approver.example/httpapi/wire"
)

type askCmd struct {
	Config   string        `help:"Configuration file." short:"c" placeholder:"FILE"`
	JSON     bool          `help:"Print one JSON object."`
	Severity string        `help:"high or catastrophic." enum:"high,catastrophic" default:"catastrophic"`
	Reason   string        `help:"Why; people see it as claimed." placeholder:"TEXT"`
	Quiet    bool          `help:"Do not say that it waits." short:"q"`
	TTL      flags.HowLong `help:"How long people have, 5s to 1h; left out: the configured time." placeholder:"2m"`
	Socket   string        `help:"The daemon's submit socket; left out: the one that couriers are pinned to, or the configured one." placeholder:"PATH"`
	Words    []string      `arg:"" name:"cmd" help:"The command and its arguments, behind --."`
}

// Run asks and waits.
func (c askCmd) Run(ctx context.Context) error {
	client, err := adminclient.AskPlace(ctx, c.Config, c.Socket)
	if err != nil {
		return err
	}
	doc := adminapi.Ask{Argv: c.Words, Reason: c.Reason, TTL: time.Duration(c.TTL)}
	if err := doc.Severity.UnmarshalText([]byte(c.Severity)); err != nil {
		return err
	}
	var id [wire.CallLength / 2]byte
	if _, err := rand.Read(id[:]); err != nil {
		return err
	}
	doc.ID = hex.EncodeToString(id[:])
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	doc.Dir = dir
	said := adminclient.SayWaiting(ctx, c.JSON || c.Quiet, c.waits)
	var out adminapi.Asked
	err = askAgain(ctx, client, doc, &out)
	said()
	if err != nil && ctx.Err() != nil {
		return adminclient.ErrTakenBack
	}
	if err != nil {
		return adminclient.NotRunning(err)
	}
	switch {
	case c.JSON:
		err = term.PrintJSON(out)
	case out.Approved:
		term.Say(takenText(out.Reason))
	default:
		term.PrintOn(os.Stderr, 10, "approver: %s\n", term.Visibly(out.Reason))
	}
	if err == nil && !out.Approved {
		return exitError(exitDenied)
	}
	return err
}

// takenText says, for an approved command, what happened, who approved it, and what is left to
// do.
func takenText(reason string) string {
	return strings.ToUpper(reason[:min(1, len(reason))]) + reason[min(1, len(reason)):] +
		". approver ran nothing: the command is yours to run now, once"
}

// waits says that people are being asked, and for how long if that is known here. If nobody can
// answer and this user may know that, it says so instead.
func (c askCmd) waits(ctx context.Context) string {
	on := "people are asked on the channels of the daemon's configuration; this waits for their answer"
	if c.Socket == "" {
		now, err := adminclient.Cmd{At: adminclient.At{Config: c.Config}}.Status(ctx)
		if err == nil && c.futile(now) {
			on = now.Nobody + "\napprover: this waits all the same"
		}
	}
	if c.TTL > 0 {
		return on + ", until " + time.Now().Add(time.Duration(c.TTL)).Format("15:04:05") +
			" at most; Ctrl-C withdraws the question"
	}
	return on + ", for the configured time at most; Ctrl-C withdraws the question"
}

// futile reports whether nobody can approve what is asked.
func (c askCmd) futile(now adminapi.Status) bool {
	return now.Nobody != "" && (c.Severity != "high" ||
		strings.HasPrefix(now.Nobody, "nobody can approve "+adminapi.AnyRequest))
}

// askAgain asks, and asks the same question again if the daemon restarts while it waits.
func askAgain(ctx context.Context, client httpapi.SubmitClient, doc adminapi.Ask, out *adminapi.Asked) error {
	const patience = 15 * time.Second
	var lost time.Time
	for {
		started := time.Now()
		err := client.Ask(ctx, doc, out)
		held := time.Since(started) > time.Second
		switch {
		case err == nil, errors.Is(err, httpapi.ErrRefused), ctx.Err() != nil:
			return err
		case held:
			lost = time.Now()
		case lost.IsZero() || time.Since(lost) > patience:
			return err
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// exitDenied is the exit code of approver ask when the answer is no.
const exitDenied = 2

// An exitError is the error of a command that has printed everything and sets its own exit
// code.
type exitError int

func (exitError) Error() string { return "denied" }

type appealCmd struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE"`
	JSON   bool   `help:"Print one JSON object."`
	Reason string `help:"Why it is needed; people see it as claimed." placeholder:"WHY"`
	Socket string `help:"The daemon's submit socket; left out: the one that couriers are pinned to, or the configured one." placeholder:"PATH"`
	Call   string `arg:"" help:"The call, by the id that its denial names."`
}

// Run appeals.
func (c appealCmd) Run(ctx context.Context) error {
	client, err := adminclient.AskPlace(ctx, c.Config, c.Socket)
	if err != nil {
		return err
	}
	var out adminapi.Appealed
	if err := client.Appeal(ctx, adminapi.Appeal{Call: c.Call, Reason: c.Reason}, &out); err != nil {
		return adminclient.NotRunning(err)
	}
	if c.JSON {
		return term.PrintJSON(out)
	}
	term.Print(0, "People are asked (request %s). Make the very same call again later: if they say yes, it runs, once, "+
		"until %s.\n", term.Visibly(out.Request), out.Until.UTC().Format("15:04 UTC"))
	return nil
}
