// Package receiving is what channels share in taking answers: a memory of what came before,
// a log of when nothing arrives, and a guard against panics.
package receiving

import (
	"context"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"approver.example"
	"approver.example/channels/internal/calls"
)

// What people are told where an answer cannot be taken.
//
//approver:texts
const (
	NobodyText = "Nobody takes answers here: your answer did not count."
	SilentText = "approver has nothing to say to that: look at the card to see whether your answer counted."
	BrokenText = "Something broke while your answer was taken: look at the card to see whether it counted."
)

// Replies wraps reply, which may be nil, for use in a channel. A reply that panics is a refusal, and so is
// each one without a reply. Nobody is met with silence. what names a panic in the log.
func Replies(reply approver.ReplyFunc, log *slog.Logger, what string, speech *Speech) approver.ReplyFunc {
	return func(ctx context.Context, r approver.Reply) (out approver.Outcome) {
		t := speech.To(r.Sender, r.Conversation)
		if reply == nil {
			return approver.Outcome{Kind: approver.OutcomeRefused, Text: t.Text(NobodyText)}
		}
		defer func() {
			if p := recover(); p != nil {
				log.Error(what, "panic", p, "stack", string(debug.Stack()))
				out = approver.Outcome{Kind: approver.OutcomeRefused, Text: t.Text(BrokenText)}
			}
		}()
		out = reply(ctx, r)
		if out.Text == "" && out.Details == "" {
			out.Text = t.Text(SilentText)
		}
		return out
	}
}

// Recovered is to be deferred: it keeps a panic while one event is handled from ending the
// process, and logs it as what. Such an event approves nothing: only the core approves.
func Recovered(log *slog.Logger, what string) {
	if p := recover(); p != nil {
		log.Error(what, "panic", p, "stack", string(debug.Stack()))
	}
}

// Seen remembers a limited number of ids, so that an event that is delivered twice counts once.
type Seen[K comparable] struct {
	mu   sync.Mutex
	ids  map[K]bool
	ring []K
	next int
}

// NewSeen returns a Seen that remembers size ids.
func NewSeen[K comparable](size int) *Seen[K] {
	return &Seen[K]{ids: make(map[K]bool, size), ring: make([]K, 0, size)}
}

// Has reports whether an id is remembered.
func (s *Seen[K]) Has(id K) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ids[id]
}

// First reports whether none of the ids is remembered. It then remembers them all, and forgets
// the oldest ids.
func (s *Seen[K]) First(ids ...K) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := true
	for _, id := range ids {
		switch {
		case s.ids[id]:
			fresh = false
			continue
		case len(s.ring) < cap(s.ring):
			s.ring = append(s.ring, id)
		default:
			delete(s.ids, s.ring[s.next])
			s.ring[s.next] = id
			s.next = (s.next + 1) % len(s.ring)
		}
		s.ids[id] = true
	}
	return fresh
}

// An Outage knows whether answers arrive, and logs each cause of trouble once.
type Outage struct {
	approver.ReceptionMeter
	Log      *slog.Logger
	Platform string // in the log, such as "Slack"

	mu     sync.Mutex
	causes []string // what was logged and is not over yet
	since  time.Time
}

// maxCauses bounds how many causes of one outage are logged.
const maxCauses = 16

// Up notes that answers arrive. It logs that if trouble was logged before.
func (o *Outage) Up() {
	o.Succeeded()
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.causes) > 0 {
		o.Log.Info(o.Platform+" brings answers again", "after", time.Since(o.since).Round(time.Second))
	}
	o.causes = nil
}

// Down notes that no connection is open, and why. again is how long it is until the next try.
func (o *Outage) Down(err error, again time.Duration) {
	o.Failed(err)
	o.Lost("not connected to "+o.Platform, err, again)
}

// Lost logs that a connection failed. A cause that was logged already is logged at debug level
// only.
func (o *Outage) Lost(text string, err error, again time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	with := []any{"error", err, "again_in", again.Round(time.Millisecond)}
	cause := calls.CauseOf(err)
	if slices.Contains(o.causes, cause) || len(o.causes) >= maxCauses {
		o.Log.Debug(text+", still", with...)
		return
	}
	if len(o.causes) == 0 {
		o.since = time.Now()
	}
	o.causes = append(o.causes, cause)
	o.Log.Warn(text, with...)
}
