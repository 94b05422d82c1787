// Package statusview has the command status.
package statusview

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"approver.example/audit"
	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/term"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/words"
	"approver.example/display"
	"approver.example/httpapi"
)

// Cmd is the command status.
type Cmd struct{ adminclient.Cmd }

// Run prints the status.
func (c Cmd) Run(ctx context.Context) error {
	var doc adminapi.Status
	var state string // of a daemon that did not answer
	c.Told = &adminclient.Told{Keep: c.JSON}
	err := c.Operate(ctx, adminapi.OpStatus, struct{}{}, &doc)
	if refused := errors.Is(err, httpapi.ErrRefused); refused || errors.Is(err, fs.ErrPermission) {
		up, socket, downErr := c.submitAnswers()
		doc = adminapi.Status{Up: up, Unseen: up, Submit: socket, Error: err.Error()}
		switch {
		case errors.Is(downErr, adminclient.ErrTurnedAway):
			doc.Up, doc.Unseen, doc.SubmitRefused = true, true, fmt.Sprintf("it does not admit uid %d", os.Geteuid())
		case refused && !up:
			return err
		case !up:
			state = notSeen(&doc, downErr)
		}
	} else if err != nil {
		doc = adminapi.Status{}
		state = notSeen(&doc, err)
	}
	if trouble := c.Told.Trouble; trouble != nil {
		doc.ConfigError = adminclient.Spoiled(trouble)
	}
	if c.JSON {
		if err := term.PrintJSON(doc); err != nil {
			return err
		}
	} else {
		Print(doc, state)
	}
	if !doc.Well() {
		return term.ErrSaid
	}
	return nil
}

// notSeen records why the daemon could not be asked, and returns a word for that state. It is
// "down" only if nobody listens.
func notSeen(s *adminapi.Status, err error) (state string) {
	s.Error, s.Silent = err.Error(), errors.Is(err, httpapi.ErrSilent)
	switch {
	case s.Silent:
		return "SILENT"
	case adminclient.IsDown(err) || errors.Is(err, fs.ErrNotExist):
		return "down"
	}
	return "NOT SEEN"
}

// submitAnswers reports whether a daemon answers on the socket where this user's agents ask. It
// returns that socket, and why if not.
func (c Cmd) submitAnswers() (up bool, socket string, why error) {
	config := c.Config
	if c.Socket != "" {
		config = ""
	}
	client, err := adminclient.SubmitPlace(config, "")
	if err != nil && c.Config != "" { // the configuration cannot be read, so use the machine's socket
		client, err = adminclient.SubmitPlace("", "")
	}
	if err == nil {
		err = adminclient.Answers(client.Socket)
	}
	switch {
	case err == nil:
		return true, client.Socket, nil
	case errors.Is(err, adminclient.ErrTurnedAway):
		return false, client.Socket, err
	case errors.Is(err, httpapi.ErrSilent):
		return false, client.Socket, &adminclient.SilentError{Socket: client.Socket}
	case client.Socket == "":
		return false, "", err
	}
	return false, client.Socket,
		&adminclient.DownError{Cure: c.Cure(),
			Err: fmt.Errorf("nobody answers on %s, where agents ask: %w", client.Socket, err)}
}

// Print prints the status for people. state is the word for a daemon that did not answer.
func Print(s adminapi.Status, state string) {
	line := func(name, format string, args ...any) {
		term.Print(10, "%-9s %s\n", name, display.OneLineAgain(fmt.Sprintf(format, args...)))
	}
	each := func(name string, texts ...string) {
		for _, text := range texts {
			if text != "" {
				line(name, "%s", text)
			}
		}
	}
	if s.SubmitRefused != "" {
		line("daemon", "REFUSES THIS USER: it answers on %s, where agents ask, and %s, so each call of an agent of theirs "+
			"is denied", s.Submit, s.SubmitRefused)
		line("", "to mend it: %s", adminclient.SubmitCure)
		line("", "how it does was not seen: %s", s.Error)
		return
	}
	if s.Unseen {
		line("daemon", "up: it answers on %s, where agents ask", s.Submit)
		line("", "how it does was not seen: %s", s.Error)
		return
	}
	if !s.Up {
		line("daemon", "%s: %s", state, s.Error)
		return
	}
	line("daemon", "up since %s, pid %d, version %s", s.Started.Format(time.DateTime+" UTC"), s.PID, s.Version)
	each("warning", s.Notice)
	for _, t := range s.TroublesOf(adminapi.PartSocket) {
		line("SOCKET", "LOST, so that nobody can connect: %s", t.Why)
	}
	line("store", "%s", s.Store)
	for _, t := range s.TroublesOf(adminapi.PartStore) {
		line("", "FAILS: %s", t.Why)
	}
	each("output", s.Output)
	for _, c := range s.Channels {
		line("channel", "%s", c.Receiving())
		each("", c.Contested())
		each("", c.Posting(), c.Queue(), c.Asked())
	}
	if len(s.Channels) == 0 {
		line("channel", "NONE: every call that needs people is denied")
	}
	each("NOBODY", s.Nobody)
	each("REMOVED", s.Removed...)
	each("REFUSED", s.Refused...)
	for _, u := range s.NotInForce {
		line("NOT USED", "%s", u)
	}
	for _, weak := range s.Hooks {
		said := "WEAKENED: "
		if strings.HasPrefix(weak, adminapi.CannotLook) {
			said = ""
		}
		line("HOOKS", "%s%s", said, weak)
	}
	for _, waits := range s.Waiting {
		line("WAITING", "%s", adminapi.WaitsLine(waits))
	}
	if s.Control != "" {
		line("CALLS", "%s", s.Control)
		if s.Freeze != nil {
			each("", s.Freeze.Reason)
		}
		for _, h := range s.Held {
			line("", "%s", adminapi.HeldLine(h))
		}
		if s.Observe != nil {
			line("", "since the daemon started: %d would have been asked, %d denied; approver report, approver enforce",
				s.Observe.WouldAsk, s.Observe.WouldDeny)
		}
	}
	line("open", "%d", s.Open)
	if n := s.Asks.Refused; n > 0 {
		line("TOO MANY", "%s denied because people were asked too often, see asks_per_minute",
			words.CountWere(uint64(n), "call"))
	}
	for _, part := range slices.Sorted(maps.Keys(s.OverBudget)) {
		if n := s.OverBudget[part]; n > 0 {
			line("slow", "%s judged in more than the budget %s", words.CountWere(uint64(n), "call"), part)
		}
	}
	if s.Shield != nil {
		s.Shield.Lines(line)
	}
	if s.Audit != nil {
		line("audit", "%s ends at %d %.12s", s.Audit.Log, s.Audit.Seq, s.Audit.Hash)
		if s.AuditSync == configs.SyncGroup {
			line("", "calls that nobody is asked about are recorded up to %v after the answer (audit.sync: group)",
				audit.MaxPassBehind)
		}
	}
	for _, t := range s.TroublesOf(adminapi.PartAudit) {
		line("", "FAILS, and every call is denied: %s", t.Why)
		line("", "to mend it: %s", t.Cure)
	}
}
