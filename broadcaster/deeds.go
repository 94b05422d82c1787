package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"approver.example"
)

// A Deed is what somebody did to a request beside answering it. It stays with the request until what
// follows from it is done and the audit has it, so that a crash or an audit that fails loses nothing.
type Deed struct {
	Event approver.Event `json:"event"` // extended or disowned
	Note  string         `json:"note"`
	At    time.Time      `json:"at"`
	// Who did it, with which button or text, and where.
	By           string            `json:"by"`
	As           approver.Identity `json:"as"`
	Name         string            `json:"name,omitempty"`
	Conversation string            `json:"conversation,omitempty"`
	Message      string            `json:"message,omitempty"`
	Method       approver.Method   `json:"method,omitempty"`
	// N makes it one of several of its kind, from 1; zero is the only one.
	N int `json:"n,omitempty"`
}

// deedOf is what a person does to a request.
func deedOf(e approver.Event, rep approver.Reply, who approver.Person, at time.Time, note string) Deed {
	return Deed{
		Event: e, Note: note, At: at, By: nameOf(who, rep), As: approver.Identity{Channel: rep.Channel, ID: rep.Sender},
		Name: rep.Name, Conversation: rep.Conversation, Message: rep.Message, Method: rep.Method,
	}
}

// with adds a deed to those of a request.
func (r Request) with(d Deed) Request {
	r.Deeds = append(slices.Clone(r.Deeds), d)
	return r
}

// record is a deed as the audit has it, once.
func (d Deed) record(r Request) approver.Record {
	rec := eventRecord(r, d.Event, d.Note)
	rec.At, rec.Once = d.At, fmt.Sprintf("%s:%s:%d", r.ID, d.Event, d.N)
	want := approver.WantTime
	if d.Event == approver.EventDisowned {
		want = approver.WantDisown
	}
	rec.Reply = approver.Reply{
		Want: want, Channel: d.As.Channel, Sender: d.As.ID, Name: d.Name, Conversation: d.Conversation, Message: d.Message,
		Method: d.Method, Request: r.ID,
	}
	return rec
}

// deeds carries out what people did to requests.
type deeds struct {
	*Options
	alerts   *alerts
	controls *Controller
	requests *Requests
}

// finish carries out all that people did to a request, and takes off what the audit has. What fails is
// tried again, because the request stays due.
func (d *deeds) finish(ctx context.Context, r Request) error {
	if len(r.Deeds) == 0 {
		return nil
	}
	var done []Deed
	var failed error
	for _, deed := range r.Deeds {
		if err := d.carryOut(ctx, r, deed); err != nil {
			d.Log.Error("what somebody did to a request is not finished; trying again", "request", r.ID, "what", deed.Event,
				"error", err)
			failed = errors.Join(failed, err)
			continue
		}
		done = append(done, deed)
	}
	_, err := d.requests.change(ctx, r.ID, func(r Request, _ time.Time) (Request, error) {
		left := slices.DeleteFunc(slices.Clone(r.Deeds), func(d Deed) bool { return slices.Contains(done, d) })
		if len(left) == len(r.Deeds) {
			return r, errNoChange
		}
		r.Deeds = left
		return r, nil
	})
	if err != nil && !errors.Is(err, errNoChange) {
		d.Log.Warn("what somebody did to a request is noted as unfinished", "request", r.ID, "error", err)
	}
	return failed
}

// carryOut does what follows from a deed, and records it.
func (d *deeds) carryOut(ctx context.Context, r Request, deed Deed) error {
	var heldErr error
	if deed.Event == approver.EventDisowned {
		heldErr = d.hold(ctx, r, deed)
	}
	_, err := d.Audit.Record(ctx, deed.record(r))
	return errors.Join(heldErr, err)
}

// hold freezes the agent of a request that nobody asked for, and tells everybody.
func (d *deeds) hold(ctx context.Context, r Request, deed Deed) error {
	agent, why := d.whoOf(r.Call), "a person did not ask for request "+r.ID
	if held, frozen := d.controls.held(ctx, r.Call); frozen && held.Reason == why {
		return nil // an earlier try did it
	}
	_, err := d.controls.Hold(ctx, agent, deed.By, why)
	if err != nil && !errors.Is(err, ErrFrozen) {
		return fmt.Errorf("the freeze of an agent had a problem: %w", err)
	}
	d.alerts.tell(r, agent, deed.By)
	return nil
}
