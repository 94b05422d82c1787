// Package ladder says before whom a request is put, and when: the chats of the first step at once, and
// those of each further step when nobody has answered for a while or nothing could be delivered. It also
// knows quiet hours and who is on duty. It reads no clock and does no I/O but for the time zones that a
// configuration names.
//
// Read ladder.go first; config.go makes a [Plan] of a configuration, quiet.go and schedule.go know the
// clock on the wall.
package ladder

import (
	"slices"
	"time"

	"approver.example"
)

// A Plan is a ladder. The zero value is none: every chat at once, at any hour.
type Plan struct {
	steps []rung
	hours []hours
	// always are the chats that are no step's to name: a screen disturbs nobody.
	always []approver.Destination
	remind time.Duration
}

// A rung is a step with its chats looked up.
type rung struct {
	after time.Duration
	when  []approver.Severity
	to    []approver.Destination
	duty  []duty
}

// is reports whether a step is for requests of a severity.
func (s rung) is(severity approver.Severity) bool {
	return len(s.when) == 0 || slices.Contains(s.when, severity)
}

// chats are the chats of a step at a time.
func (s rung) chats(now time.Time) []approver.Destination {
	all := slices.Clone(s.to)
	for _, d := range s.duty {
		all = append(all, d.at(now)...)
	}
	return all
}

// IsZero reports that there is no ladder and that there are no quiet hours.
func (p Plan) IsZero() bool { return len(p.steps) == 0 }

// A Question is what a ladder has to know of a request.
type Question struct {
	Severity   approver.Severity
	Asked, Now time.Time // by one clock
	// Awake says that quiet hours do not count.
	Awake bool
	// May reports whether the request may be shown in a chat at all.
	May func(approver.Destination) bool
	// Useful reports whether somebody can see a card in a chat, and answer it. A nil function says no.
	Useful func(approver.Destination) bool
	// Pages reports a place where nobody can approve the request.
	Pages func(approver.Destination) bool
}

// A Taken is how far a request has come on a ladder.
type Taken struct {
	To   []approver.Destination // where it is to have a card by now
	Next time.Time              // when that has to be looked at again; zero is never
	// Reach reports that it can be answered in a chat of some step, taken or not. If it cannot, Quiet is
	// when the first of the quiet hours that keep it from a chat is over; zero without any.
	Reach bool
	Quiet time.Time
}

// Take says where a request is to have a card by now. A step is taken when its time has come, or at once
// if nothing of the steps before it is useful, or they have no chat for the request.
func (p Plan) Take(q Question) (t Taken) {
	add := func(to approver.Destination) {
		if !slices.Contains(t.To, to) {
			t.To = append(t.To, to)
		}
	}
	for _, to := range p.always {
		if q.May(to) {
			add(to)
		}
	}
	useful := false // something of the steps that are taken
	for _, s := range p.steps {
		if !s.is(q.Severity) {
			continue
		}
		due := !q.Now.Before(q.Asked.Add(s.after)) || !useful
		for _, to := range s.chats(q.Now) {
			if !q.May(to) {
				continue
			}
			if until := p.Quiet(to, q); !until.IsZero() {
				if t.Quiet.IsZero() || until.Before(t.Quiet) {
					t.Quiet = until
				}
				continue
			}
			t.Reach = t.Reach || !q.Pages(to)
			if due && t.Next.IsZero() {
				add(to)
				useful = useful || !q.Pages(to) && q.Useful != nil && q.Useful(to)
			}
		}
		if !due && t.Next.IsZero() {
			t.Next = q.Asked.Add(s.after)
		}
	}
	return t
}

// Remind is after how long without an answer people are reminded; zero is never.
func (p Plan) Remind() time.Duration { return p.remind }
