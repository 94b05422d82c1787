package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"approver.example"
	"approver.example/httpapi"
)

type statusCmd struct{ operatorCmd }

// Help is the long text.
func (statusCmd) Help() string {
	return `Says whether the daemon is up, its version and store, whether each channel receives, how many requests are open, whether calls are
frozen, observed or not asked, whether installed hooks hold, where the audit ends, and whether agents are isolated from the daemon.

Exit codes: 0 the daemon is up, 1 it is not, or its store, its audit or a channel has failed, or
installed hooks were weakened, or approver itself has frozen everything, 2 the command line is not understood.

Example:
  approver status
  approver status --json | jq .open_requests`
}

// Run prints the status.
func (c statusCmd) Run(ctx context.Context) error {
	var doc statusDoc
	err := c.operate(ctx, opStatus, struct{}{}, &doc)
	if errors.Is(err, httpapi.ErrRefused) {
		return err
	}
	if err != nil {
		doc = statusDoc{Error: err.Error()}
	}
	if c.JSON {
		if err := printJSON(doc); err != nil {
			return err
		}
	} else {
		doc.print()
	}
	if !doc.well() {
		return errSaid
	}
	return nil
}

// well reports that the daemon works, as far as it can tell.
func (s statusDoc) well() bool {
	for _, c := range s.Channels {
		if !c.Receives {
			return false
		}
	}
	alarmed := s.Freeze != nil && s.Freeze.By == "approver" // until people look into it
	return s.Up && s.Trouble == "" && s.AuditErr == "" && len(s.Hooks) == 0 && !alarmed
}

func (s statusDoc) print() {
	line := func(name, format string, args ...any) {
		fmt.Printf("%-9s %s\n", name, approver.OneLine(fmt.Sprintf(format, args...)))
	}
	if !s.Up {
		line("daemon", "down: %s", s.Error)
		return
	}
	line("daemon", "up since %s, pid %d, version %s", s.Started.Format(time.DateTime+" UTC"), s.PID, s.Version)
	if s.Notice != "" {
		line("warning", "%s", s.Notice)
	}
	line("store", "%s", s.Store)
	if s.Trouble != "" {
		line("", "FAILS: %s", s.Trouble)
	}
	if s.Output != "" {
		line("output", "%s", s.Output)
	}
	for _, c := range s.Channels {
		if c.Receives {
			line("channel", "%s receives", c.Name)
		} else {
			line("channel", "%s DOES NOT RECEIVE: %s", c.Name, c.Error)
		}
	}
	if len(s.Channels) == 0 {
		line("channel", "NONE: every call that needs people is denied")
	}
	for _, weak := range s.Hooks {
		line("HOOKS", "WEAKENED: %s", weak)
	}
	for _, waits := range s.Waiting {
		line("WAITING", "does not count until people approve it: %s", waits)
	}
	if s.Control != "" {
		line("CALLS", "%s", s.Control)
		if s.Freeze != nil && s.Freeze.Reason != "" {
			line("", "%s", s.Freeze.Reason)
		}
		if s.Observe != nil {
			line("", "since the daemon started: %d would have been asked, %d denied; approver report, approver enforce", s.Observe.WouldAsk, s.Observe.WouldDeny)
		}
	}
	line("open", "%d", s.Open)
	for _, part := range slices.Sorted(maps.Keys(s.OverBudget)) {
		if n := s.OverBudget[part]; n > 0 {
			line("slow", "%d calls took more than the budget %s, and were asked about", n, part)
		}
	}
	if s.Shield != nil {
		s.Shield.print(line)
	}
	if s.Audit != nil {
		line("audit", "%s ends at %d %.12s", s.Audit.Log, s.Audit.Seq, s.Audit.Hash)
	}
	if s.AuditErr != "" {
		line("", "FAILS, and every call is denied: %s", s.AuditErr)
	}
}
