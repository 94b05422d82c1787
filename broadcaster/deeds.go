package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
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
	// Held says that the agent is frozen because of it, and chats are told: that is not done again.
	Held bool `json:"held,omitempty"`
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

	mu    sync.Mutex
	begun map[string]progress // by request
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
			if !errors.Is(err, errBegun) {
				d.Log.Error("what somebody did to a request is not finished; trying again", "request", r.ID, "what", deed.Event,
					"error", err)
			}
			failed = errors.Join(failed, err)
			continue
		}
		done = append(done, deed)
	}
	_, err := d.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) {
		return r.without(done, d.hasHeld(r.ID), d.Destinations, now)
	})
	if err != nil && !errors.Is(err, errNoChange) {
		d.Log.Warn("what somebody did to a request is noted as unfinished", "request", r.ID, "error", err)
	}
	if err == nil {
		d.alerts.tell(r.ID)
	}
	return failed
}

// without takes off deeds that are done. held says that the agent of the request has been frozen for one of
// them: then all chats are owed an alert, once.
func (r Request) without(done []Deed, held bool, chats []approver.Destination, now time.Time) (Request, error) {
	var left []Deed
	changed := false
	for _, d := range r.Deeds {
		first := held && d.Event == approver.EventDisowned && !d.Held
		if first {
			r.Untold = Untold{To: chats, Since: now, Next: now}
		}
		if slices.ContainsFunc(done, d.is) {
			changed = true
			continue
		}
		changed, d.Held = changed || first, d.Held || first
		left = append(left, d)
	}
	if !changed {
		return r, errNoChange
	}
	r.Deeds = left
	return r, nil
}

// is reports whether a deed is the same as one of before: another finish of it may have frozen the agent
// since.
func (d Deed) is(before Deed) bool {
	before.Held = d.Held
	return d == before
}

// carryOut does what follows from a deed, and records it.
func (d *deeds) carryOut(ctx context.Context, r Request, deed Deed) error {
	var heldErr error
	if deed.Event == approver.EventDisowned {
		if heldErr = d.hold(ctx, r, deed); errors.Is(heldErr, errBegun) {
			return heldErr
		}
	}
	_, err := d.Audit.Record(ctx, deed.record(r))
	return errors.Join(heldErr, err)
}

// errBegun means that this process is at it already.
var errBegun = errors.New("its agent is being frozen")

// A progress says how far this process is with freezing an agent.
type progress uint8

const (
	notBegun progress = iota
	begun
	frozen
)

// begin notes that this process freezes the agent of a request, and returns how far it was before.
func (d *deeds) begin(id string) progress {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.begun[id]
	if was == notBegun {
		d.begun[id] = begun
	}
	return was
}

func (d *deeds) end(id string, now progress) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun[id] = now
}

func (d *deeds) hasHeld(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.begun[id] == frozen
}

// hold freezes the agent of a request that nobody asked for, once: people may lift the freeze while the rest
// is tried again.
func (d *deeds) hold(ctx context.Context, r Request, deed Deed) error {
	if deed.Held {
		return nil
	}
	switch d.begin(r.ID) {
	case frozen:
		return nil
	case begun:
		return errBegun
	case notBegun:
	}
	now := notBegun
	defer func() { d.end(r.ID, now) }()
	agent, why := d.whoOf(r.Call), "a person did not ask for request "+r.ID
	held, stands := d.controls.held(ctx, r.Call)
	if !stands || held.Reason != why { // else the process before this one did it
		if _, err := d.controls.Hold(ctx, agent, deed.By, why); err != nil {
			if _, stands = d.controls.held(ctx, r.Call); !stands {
				return fmt.Errorf("the freeze of an agent had a problem: %w", err)
			}
			d.Log.Error("the freeze of an agent had a problem", "request", r.ID, "error", err)
		}
	}
	now = frozen
	return nil
}
