package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/term"
	"approver.example/daemon/adminapi"
	"approver.example/display"
)

type pendingCmd struct{ adminclient.Cmd }

// Run prints the list.
func (c pendingCmd) Run(ctx context.Context) error {
	var doc adminapi.Pending
	if err := c.Operate(ctx, adminapi.OpPending, struct{}{}, &doc); err != nil {
		return err
	}
	if c.JSON {
		return errors.Join(term.PrintJSON(doc), missing(doc.Trouble))
	}
	if len(doc.Requests) == 0 && doc.Trouble == "" {
		term.Print(0, "nothing waits for people\n")
	}
	for _, r := range doc.Requests {
		term.Say(fmt.Sprintf("%s  %s\n    %s\n    %s · asked %s ago · %s", r.ID, r.Push, display.OneLineAgain(r.Call),
			whose(r), briefly(doc.Now.Sub(r.Created)), left(r.Due, doc.Now)))
	}
	return missing(doc.Trouble)
}

// missing returns an error if the list may be incomplete, and otherwise nil.
func missing(trouble string) error {
	if trouble == "" {
		return nil
	}
	return errors.New(display.OneLine(trouble))
}

// whose says which agent and session wants to run a call, and where.
func whose(r adminapi.OpenRequest) string {
	text := display.OneLine(r.Agent)
	if r.Session != "" {
		text += " · session " + display.OneLine(r.Session)
	}
	if r.Dir != "" {
		text += " · " + display.OneLine(r.Dir)
	}
	return text
}

func briefly(d time.Duration) string { return max(d, 0).Round(time.Second).String() }

// left says until when something lasts, and how long that is.
func left(until, now time.Time) string {
	return fmt.Sprintf("until %s UTC (%s left)", until.UTC().Format("15:04:05"), briefly(until.Sub(now)))
}
