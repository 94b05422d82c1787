package broadcaster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"log/slog"

	"approver.example"
)

// This file keeps grants that last: a yes that people gave for a session or for
// some minutes. Each is one record, found by what it is for.

// A keptGrant is the record of a grant that lasts.
type keptGrant struct {
	Request Request   `json:"request"` // what people said yes to
	Until   time.Time `json:"until"`
	Uses    int       `json:"uses"`
	Ended   string    `json:"ended,omitempty"` // expired or revoked
}

// storedGrant is a keptGrant whose request is sealed like every other.
type storedGrant struct {
	keptGrant
	Request json.RawMessage `json:"request"`
}

// holds reports that the grant is for this call.
func (g keptGrant) holds(call approver.ToolCall, why approver.Verdict, fp approver.Fingerprint, c Controls, now time.Time) bool {
	r, term := g.Request, g.Request.Resolution.Grant
	r.Parked = true // shares asks for no more than what must be the same
	switch {
	case g.Ended != "" || !now.Before(g.Until) || c.void(r, call) != nil || !r.Resolution.Approve:
		return false
	case call.Control != "" || r.Call.Control != "": // people are asked each time what approver asks about itself
		return false
	case !fp.Bound(): // what runs could be another thing than what people saw
		return false
	case r.Verdict.Severity != approver.High || why.Severity != approver.High || !covers(r.Verdict, why):
		return false
	case term.Session && (call.Session == "" || call.Session != r.Call.Session):
		return false
	case r.obscured(): // kept by an approver that did not know of it
		return false
	}
	return term.Lasts() && r.shares(call, fp)
}

// Grants are the yeses that last.
type Grants struct {
	cards    *Cards
	controls *Controller
	requests *Requests
	editor   *editor
	records  *records
	audit    approver.Recorder
	keepFor  time.Duration
	log      *slog.Logger
	mark     *ControlMark
	store    approver.KV
}

func (k *Grants) load(ctx context.Context, scope string) (g keptGrant, rev approver.Rev, err error) {
	value, rev, err := k.store.Get(ctx, approver.Key("grant", scope))
	if err != nil {
		return g, rev, err
	}
	var s storedGrant
	if err = json.Unmarshal(value, &s); err == nil {
		g = s.keptGrant
		g.Request, err = k.requests.codec.Decode(s.Request)
	}
	if errors.Is(err, ErrSealed) {
		err = errUnreadable
	}
	return g, rev, err
}

// errUnreadable is of a grant whose key was taken away. It does not hold, and
// another may take its place.
var errUnreadable = fmt.Errorf("it is sealed under a key that is not known here: %w", approver.ErrNotFound)

func (k *Grants) save(ctx context.Context, scope string, g keptGrant, rev approver.Rev, before time.Time) error {
	request, err := k.requests.codec.Encode(g.Request)
	if err != nil {
		return err
	}
	value, err := json.Marshal(storedGrant{g, request})
	if err != nil {
		return err
	}
	due := g.Until
	if g.Ended != "" {
		due = time.Time{}
	}
	return k.records.putBefore(ctx, before, approver.Key("grant", scope), value, rev, approver.NewRev(), due, g.Until.Add(k.keepFor))
}

// mayLast reports whether a yes to the request is one that is kept.
func (r Request) mayLast() bool {
	term := r.Resolution.Grant
	return term.Lasts() && r.Verdict.Appeal.Of == "" && r.Verdict.Severity == approver.High && r.Fingerprint.Bound() && !r.obscured() && (!term.Session || r.Call.Session != "")
}

// keep makes the grant that people gave with their yes, after the call that they
// saw was released. Without a session there is none for a session.
func (k *Grants) keep(ctx context.Context, r Request) error {
	term := r.Resolution.Grant
	if r.State != approver.Consumed || !r.mayLast() {
		return nil
	}
	until := r.Resolution.At.Add(term.For)
	if term.Session {
		until = r.Resolution.At.Add(approver.SessionTerm)
	}
	r.Postings, r.Call.Raw = nil, nil
	if _, err := k.audit.Record(ctx, approver.Record{
		Event: approver.EventGranted, Request: r.ID, Once: r.ID + ":kept", Fingerprint: r.Fingerprint, Call: r.Call, Verdict: r.Verdict, Resolution: r.Resolution,
		Note: fmt.Sprintf("for %s, until %s", term, until.UTC().Format(time.RFC3339)),
	}); err != nil {
		return err
	}
	scope := scopeOf(r.Call, r.Fingerprint)
	for {
		_, rev, err := k.load(ctx, scope)
		if err != nil && !errors.Is(err, approver.ErrNotFound) {
			return err
		}
		err = k.save(ctx, scope, keptGrant{Request: r, Until: until}, rev, time.Time{})
		if !errors.Is(err, approver.ErrConflict) {
			return err
		}
	}
}

// use releases a call that a grant is for, without asking anybody: one
// compare-and-set, which a revocation, the clock and a freeze can only lose or
// win, and then the record. ErrNotFound means that there is no such grant.
func (k *Grants) use(ctx context.Context, call approver.ToolCall, why approver.Verdict, fp approver.Fingerprint) (Request, error) {
	scope := scopeOf(call, fp)
	for {
		g, rev, err := k.load(ctx, scope)
		if err != nil {
			return Request{}, err
		}
		c, now, err := k.controls.Load(ctx)
		if err != nil {
			return Request{}, err
		}
		if !g.holds(call, why, fp, c, now) {
			return Request{}, approver.ErrNotFound
		}
		g.Uses++
		err = k.save(ctx, scope, g, rev, g.Until)
		switch {
		case errors.Is(err, approver.ErrConflict):
			continue
		case errors.Is(err, approver.ErrOverdue):
			return Request{}, approver.ErrNotFound
		case err != nil:
			return Request{}, err
		}
		// A freeze that came since the look above must not be passed by: what is
		// under way when people freeze does not run.
		r := g.Request
		if err = k.stillGood(ctx, r, call); isVoid(err) {
			return Request{}, approver.ErrNotFound
		} else if err != nil {
			return Request{}, err
		}
		r.CallID, r.Call, r.Closed = call.ID, call, true
		_, err = k.audit.Record(ctx, approver.Record{
			Event: approver.EventGrantUsed, At: now, Request: r.ID, Fingerprint: fp, Call: call, Verdict: r.Verdict, Resolution: r.Resolution,
			Note: fmt.Sprintf("use %d of a grant for %s", g.Uses, r.Resolution.Grant),
		})
		return r, err
	}
}

// end ends a grant: by its time, or by somebody's hand.
func (k *Grants) end(ctx context.Context, scope, how, note string) error {
	for {
		g, rev, err := k.load(ctx, scope)
		if err != nil {
			return err
		}
		now, err := k.store.Now(ctx)
		if err != nil {
			return err
		}
		if g.Ended != "" || how == "expired" && now.Before(g.Until) {
			return ErrNoGrant
		}
		g.Ended = how
		err = k.save(ctx, scope, g, rev, time.Time{})
		if errors.Is(err, approver.ErrConflict) {
			continue
		} else if err != nil {
			return err
		}
		event, r := approver.EventRevoked, g.Request
		if how == "expired" {
			event = approver.EventGrantExpired
		} else {
			k.spend(ctx, r.ID)
		}
		_, err = k.audit.Record(ctx, approver.Record{Event: event, At: now, Request: r.ID, Fingerprint: r.Fingerprint, Call: r.Call, Verdict: r.Verdict, Note: note})
		return err
	}
}

// spend has a yes that was taken back given to nobody again, and to none of the calls that
// it still waits for. Another yes may take the place of its grant: see stillGood.
func (k *Grants) spend(ctx context.Context, id string) {
	_, err := k.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) { return r.spend(approver.Revoked, now) })
	switch {
	case err == nil:
		k.editor.settle(id)
	case !errors.Is(err, errNoChange) && !errors.Is(err, approver.ErrNotFound) && !errors.Is(err, ErrTooSoon):
		k.log.Warn("a call that waits for a yes that was revoked may be told so late", "request", id, "error", err)
	}
}

// kept waits until the grant of a request can be used, while ctx lives.
func (k *Grants) kept(ctx context.Context, r Request) (until time.Time, ok bool) {
	for {
		g, _, err := k.load(ctx, scopeOf(r.Call, r.Fingerprint))
		if err == nil && g.Request.ID == r.ID && g.Ended == "" {
			return g.Until, true
		}
		if !sleep(ctx, retryEvery) {
			return time.Time{}, false
		}
	}
}

// proposed is what is told to somebody who said always: the rule to put into the
// policy. Nothing is loosened by it.
func (a *Answers) proposed(r Request) string {
	text := " approver never makes a yes last for ever by itself; "
	if a.rule == nil {
		return text + "write a rule of the policy for that."
	}
	rule, err := a.rule(r.Call)
	switch {
	case err != nil:
		return text + "no rule of the policy can be written of this call, because " + err.Error() + "."
	case len(rule) > maxProposed:
		return text + "approver grants propose " + r.ID + " shows the rule for the policy."
	}
	return text + "put this rule into the policy, first in rules, and people are asked once more whether that is meant:\n" + rule
}

// maxProposed bounds, in bytes, a rule that fits a message on every platform.
const maxProposed = 1000
