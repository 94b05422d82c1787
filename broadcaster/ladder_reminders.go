package broadcaster

import (
	"context"
	"errors"
	"slices"
	"time"

	"approver.example"
	"approver.example/display"
)

// This file reminds people of requests that nobody answers, and takes the reminders away at the end.

// Bounds of reminders: how many of a request, how long one may take to be sent, and how long to wait before a
// process tries to take away what another one, or a try before, has not.
const (
	maxReminders = 3
	remindWithin = 5 * time.Second
	clearAgain   = time.Minute
)

// A reminding is what a request has of its reminders. It is zero without any.
type reminding struct {
	// Reminded is how often people were reminded, and RemindAt when they are the next time; zero is never.
	Reminded int       `json:"reminded,omitempty"`
	RemindAt time.Time `json:"remind_at,omitzero"`
	// Reminders are the messages that have to be taken away once the request has ended. ClearAt is before when no
	// other process does it.
	Reminders []approver.Ref `json:"reminders,omitempty"`
	ClearAt   time.Time      `json:"clear_at,omitzero"`
}

// reminded is what follows a reminder: the next one, after the same time.
func (m reminding) reminded(every time.Duration, now time.Time) reminding {
	m.Reminded++
	m.RemindAt = now.Add(every) // not from when it was due: after an outage, all would come at once
	if every <= 0 || m.Reminded >= maxReminders {
		m.RemindAt = time.Time{}
	}
	return m
}

// remind reminds people of a request, if that is due. That it is done is stored first: a crash loses a
// reminder, and nobody is reminded twice.
func (e *escalator) remind(ctx context.Context, id string) {
	every := e.Ladder.Remind()
	at := time.Time{}
	r, err := e.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
		if r.State != approver.Pending || r.Climb.RemindAt.IsZero() || now.Before(r.Climb.RemindAt) {
			return r, ErrTooSoon
		}
		r.Climb.reminding, at = r.Climb.reminded(every, now), now
		return r, nil
	})
	if err != nil || every <= 0 {
		return
	}
	for i := range r.Postings {
		if e.reminds(r, i, at) {
			e.tasks.start(func(ctx context.Context) { e.remindOf(ctx, r, i, every) })
		}
	}
}

// reminds reports that people are to be reminded of a card now.
func (e *escalator) reminds(r Request, i int, now time.Time) bool {
	if r.State != approver.Pending || !now.Before(r.Due) || i >= len(r.Postings) {
		return false
	}
	p := r.Postings[i]
	_, can := e.channels.byName[p.To.Channel].(approver.Reminder)
	return can && p.Phase == Posted && !p.Page && e.channels.Deaf(p.To.Channel) == nil &&
		e.Ladder.Quiet(p.To, e.question(r, nil, now)).IsZero()
}

// remindOf reminds people in one chat when it is its turn there. A reminder whose turn does not come before the next
// one is due is not sent: nor is one whose request has ended meanwhile.
func (e *escalator) remindOf(ctx context.Context, r Request, i int, patience time.Duration) {
	to := r.Postings[i].To
	s := &send{to: to, severity: r.Verdict.Severity, since: time.Now(), request: r.ID, aside: true}
	end, err := e.channels.outbox.waitFor(ctx, s, patience)
	if err != nil {
		e.Log.Debug("a reminder was not sent: its chat had no room", "request", r.ID, "channel", to.Channel, "error", err)
		return
	}
	r, _, now, err := e.requests.loadNow(ctx, r.ID)
	if err != nil || !e.reminds(r, i, now) {
		end(errUnused)
		return
	}
	ref, err := e.postReminder(ctx, r, i)
	if end(err); err != nil {
		e.Log.Warn("people could not be reminded", "request", r.ID, "channel", to.Channel, "error", err)
		return
	}
	e.noteReminder(ctx, r.ID, ref)
}

func (e *escalator) postReminder(ctx context.Context, r Request, i int) (ref approver.Ref, err error) {
	ctx, cancel := context.WithTimeout(ctx, remindWithin)
	defer cancel()
	p := r.Postings[i]
	text := e.poster.cards.textsOf(p.To).Message(display.Msg("⏰ Nobody has answered yet. The card waits until %s.",
		r.Due.UTC().Format("15:04:05 UTC")))
	err = unpanicked(func() (err error) {
		ref, err = e.channels.byName[p.To.Channel].(approver.Reminder).Remind(ctx, p.Ref, text)
		return err
	})
	ref.Destination = p.To
	return ref, err
}

// noteReminder notes a reminder that people can see, so that it is taken away at the end: also if that has come.
func (e *escalator) noteReminder(ctx context.Context, id string, ref approver.Ref) {
	noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*PostTimeout)
	defer cancel()
	note := func() error {
		_, err := e.requests.change(noting, id, func(r Request, _ time.Time) (Request, error) {
			r.Climb.Reminders = append(slices.Clone(r.Climb.Reminders), ref)
			return r, nil
		})
		return err
	}
	err := note()
	for err != nil && sleep(noting, pollEvery) { // the store may come back in time
		err = note()
	}
	if err != nil {
		e.Log.Warn("a reminder could not be noted, so it stays in its chat", "request", id, "channel", ref.Channel, "error",
			err)
	}
}

// clears reports that reminders are to be taken away.
func (r Request) clears() bool { return r.ended() && len(r.Climb.Reminders) > 0 }

// clear takes away the reminders of a request that has ended: whoever finds one would look for a question. One process
// does it at a time. What a platform does not take away is tried again, for as long as cards are.
func (e *escalator) clear(ctx context.Context, id string) {
	r, err := e.requests.change(ctx, id, func(r Request, now time.Time) (Request, error) {
		if !r.clears() || now.Before(r.Climb.ClearAt) {
			return r, ErrTooSoon
		}
		r.Climb.ClearAt = now.Add(clearAgain)
		return r, nil
	})
	if err != nil {
		return
	}
	e.tasks.start(func(ctx context.Context) { e.clearAll(ctx, r) })
}

func (e *escalator) clearAll(ctx context.Context, r Request) {
	within, cancel := context.WithTimeout(ctx, clearAgain-PostTimeout)
	defer cancel()
	all := r.Climb.Reminders
	gone := make([]bool, len(all))
	_ = inParallel(len(all), func(n int) error {
		gone[n] = e.clearOne(within, r, all[n])
		return nil
	})
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), PostTimeout)
	defer stop()
	_, err := e.requests.change(ctx, r.ID, func(fresh Request, now time.Time) (Request, error) {
		var left []approver.Ref
		for _, ref := range fresh.Climb.Reminders {
			if n := slices.Index(all, ref); n < 0 || !gone[n] {
				left = append(left, ref)
			}
		}
		if len(left) > 0 && !now.Before(fresh.Due.Add(editsFor)) {
			e.Log.Warn("reminders could not be taken away and stay in their chats", "request", r.ID, "count", len(left))
			left = nil
		}
		fresh.Climb.Reminders = left
		if !slices.Contains(gone, false) { // what is left was noted meanwhile
			fresh.Climb.ClearAt = time.Time{}
		}
		return fresh, nil
	})
	if err != nil {
		e.Log.Debug("it could not be noted which reminders were taken away", "request", r.ID, "error", err)
	}
}

// clearOne takes away one reminder when it is its turn, and reports that no further try is of use.
func (e *escalator) clearOne(ctx context.Context, r Request, ref approver.Ref) (done bool) {
	channel, can := e.channels.byName[ref.Channel].(approver.Reminder)
	if !can {
		return false // another process may have the channel
	}
	end, err := e.channels.outbox.waitFor(ctx, &send{to: ref.Destination, edit: true, since: time.Now()}, turnFor)
	if err != nil {
		return false
	}
	within, cancel := context.WithTimeout(ctx, remindWithin)
	defer cancel()
	err = unpanicked(func() error { return channel.Unremind(within, ref) })
	if end(err); err == nil {
		return true
	}
	e.Log.Debug("a reminder could not be taken away", "request", r.ID, "channel", ref.Channel, "error", err)
	return errors.Is(err, approver.ErrFinal) && !errors.Is(err, errEnded)
}
