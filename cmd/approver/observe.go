package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alecthomas/kong"

	"approver.example"
)

// A span is a time that may be written in days: 7d, 36h, 90m.
type span time.Duration

// Decode reads a flag.
func (s *span) Decode(ctx *kong.DecodeContext) error {
	word := ctx.Scan.Pop().String()
	d, err := time.ParseDuration(word)
	if days, in := strings.CutSuffix(word, "d"); in {
		var n int
		n, err = strconv.Atoi(days)
		d = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || d <= 0 || d > 10*365*24*time.Hour {
		return fmt.Errorf("%q is no length of time: write 7d, 36h or 90m", word)
	}
	*s = span(d)
	return nil
}

// String writes whole days as days.
func (s span) String() string { return days(time.Duration(s)) }

type observeCmd struct {
	operatorCmd
	For    span   `help:"How long, 1m to 30d; then rules are enforced by themselves." default:"7d" placeholder:"7d"`
	Reason string `help:"Why; the people who are asked see it as claimed." placeholder:"TEXT"`
}

// Help is the long text.
func (observeCmd) Help() string {
	return `For some days every call is judged and recorded as ever, and what would be asked or denied goes on to the agent's own permission flow.
approver report shows what it would have been, approver enforce ends it. This is itself put before people as CATASTROPHIC; a new
installation begins with it by approver init --observe. What is not understood or cannot be recorded is blocked as ever, and a
freeze stops everything and ends it.
` + exitCodes + `
Example:
  approver observe --for 7d --reason first-week`
}

// Run asks for it.
func (c observeCmd) Run(ctx context.Context) error {
	return c.control(ctx, opObserve, controlRequest{Reason: c.Reason, For: time.Duration(c.For)})
}

type enforceCmd struct{ operatorCmd }

// Help is the long text.
func (enforceCmd) Help() string {
	return `Ends observe mode at once: what a rule asks about is asked, what it denies is denied, on every daemon that shares the store. Nobody is
asked first. It says in a line what that would have meant for the calls that were observed here, and warns if nobody could approve
what is asked from now on: that is denied then. It enforces all the same, because it tightens.
` + exitCodes + `
Example:
  approver enforce`
}

// Run enforces.
func (c enforceCmd) Run(ctx context.Context) error {
	var doc controlDoc
	if err := c.operate(ctx, opEnforce, controlRequest{}, &doc); err != nil {
		return err
	}
	if doc.Ended && !doc.Since.IsZero() {
		// The mode has changed, whatever becomes of this line.
		if line, err := observedInALine(ctx, c.Config, doc.Since); err == nil {
			doc.Text += "\n" + line
		} else {
			printedOn(os.Stderr, 10, "approver: what was observed cannot be read here: %s\n", visibly(err.Error()))
		}
	}
	if c.JSON {
		return printJSON(doc)
	}
	say(doc.Text)
	return nil
}

// observe puts observe mode before people, and begins it.
func (d *desk) observe(ctx context.Context, peer approver.Peer, req controlRequest, by string) (controlDoc, error) {
	if req.For < approver.MinObserve || req.For > approver.MaxObserve {
		return controlDoc{}, fmt.Errorf("observing lasts %v to %v", approver.MinObserve, days(approver.MaxObserve))
	}
	c, _, err := d.people.Controls(ctx)
	switch {
	case err != nil:
		return controlDoc{}, err
	case c.Frozen():
		return controlDoc{}, approver.ErrFrozen
	}
	who, err := d.ask(ctx, peer, opObserve, req.args("EVERY call, also what a rule denies"), req.Reason, fmt.Sprintf("for %v NOTHING is asked or denied: every call goes on, and is only recorded", days(req.For)))
	if err != nil {
		return controlDoc{}, err
	}
	if err := d.stillAs(ctx, c); err != nil {
		return controlDoc{}, err
	}
	o, err := d.people.ObserveAs(context.WithoutCancel(ctx), c, req.For, who+", for "+by)
	return controlDoc{Done: true, Until: o.Until.UTC(), Text: "observing until " + minute(o.Until) + ", approved by " + who + ": nothing is asked or denied"}, err
}

// enforce ends observe mode.
func (d *desk) enforce(ctx context.Context, by string) (controlDoc, error) {
	last, ended, err := d.people.Enforce(context.WithoutCancel(ctx), by)
	doc := controlDoc{Done: true, Since: last.Since, Text: "rules were enforced already, and nothing was changed"}
	if ended {
		doc.Text, doc.Ended = "observe mode is over: rules are enforced", true
	}
	if nobody := d.nobody(ctx); nobody != "" {
		doc.Text += "\nWARNING: " + nobody
	}
	return doc, err
}

// An observer keeps observe mode from being forgotten: it counts what was let go
// and says so, at the start, each hour and at the end.
type observer struct {
	people *approver.Broadcaster
	log    *slog.Logger
	counts [approver.Allow + 1]atomic.Int64 // by decision, since the daemon started
}

// What the observer's times are.
const (
	observerLook  = time.Minute
	observerWarns = time.Hour
)

// observe is Gate.Observe.
func (o *observer) observe(ctx context.Context, found approver.Verdict) (string, bool) {
	notice, ok := o.people.Observing(ctx, found)
	if ok {
		o.counts[found.Decision].Add(1)
	}
	return notice, ok
}

// note is what the audit says of it at each start.
func (o *observer) note(ctx context.Context) string {
	if notice, on := o.people.Observing(ctx, approver.Verdict{}); on {
		return "; " + notice
	}
	return ""
}

// run watches the mode until ctx ends.
func (o *observer) run(ctx context.Context) error {
	tick := time.NewTicker(observerLook)
	defer tick.Stop()
	var said time.Time // when it last warned; zero while rules are enforced
	for {
		switch notice, on := o.people.Observing(ctx, approver.Verdict{}); {
		case on && time.Since(said) >= observerWarns:
			said = time.Now()
			o.log.Warn(notice, "would_have_asked", o.counts[approver.Ask].Load(), "would_have_denied", o.counts[approver.Deny].Load(), "end_it_with", "approver enforce")
		case !on && !said.IsZero() && ctx.Err() == nil:
			said = time.Time{}
			o.log.Warn("observe mode is over, or cannot be read: rules are enforced")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// An observeStatus is what status tells of observe mode.
type observeStatus struct {
	approver.Observe
	WouldAsk  int64 `json:"would_have_asked"` // since this daemon started
	WouldDeny int64 `json:"would_have_denied"`
}

func (o *observer) status(c approver.Controls, now time.Time) *observeStatus {
	if !c.Observing(now) {
		return nil
	}
	return &observeStatus{Observe: c.Observe, WouldAsk: o.counts[approver.Ask].Load(), WouldDeny: o.counts[approver.Deny].Load()}
}

// mode asks the daemon for what holds besides the rules, in a sentence; empty if
// nothing does, or no daemon answers.
func (c operatorCmd) mode(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var doc statusDoc
	if c.operate(ctx, opStatus, struct{}{}, &doc) != nil {
		return ""
	}
	return approver.OneLine(doc.Control)
}
