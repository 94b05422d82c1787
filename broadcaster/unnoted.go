package broadcaster

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"approver.example"
)

// This file keeps what couriers told of calls that were released while the store did not
// take it, so that nobody is told that nothing was heard.

// maxUnnoted is how many such notes are kept.
const maxUnnoted = 4096

// A note is one of them.
type note struct {
	call string
	do   func(context.Context) error
}

// unnoted are notes that are still to be stored, oldest first.
type unnoted struct {
	mu   sync.Mutex
	of   []note
	at   string // the call of the note that is being stored
	busy bool
}

// has reports whether something is still to be noted of a call.
func (u *unnoted) has(call string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.at != "" && call == u.at || slices.ContainsFunc(u.of, func(n note) bool { return n.call == call })
}

// keep adds a note; false if there are too many.
func (u *unnoted) keep(n note) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.of) >= maxUnnoted {
		return false
	}
	u.of = append(u.of, n)
	return true
}

// next takes the oldest note out.
func (u *unnoted) next() (note, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.of) == 0 {
		return note{}, false
	}
	n := u.of[0]
	u.at, u.of = n.call, u.of[1:]
	return n, true
}

// done ends the work on the note that next gave: kept puts it behind the others, so that
// one that cannot be stored yet holds up none.
func (u *unnoted) done(n note, kept bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.at = ""; kept {
		u.of = append(u.of, n)
	}
}

// begin reports whether there is something to note that nobody is at; end is to follow.
func (u *unnoted) begin() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.busy || len(u.of) == 0 {
		return false
	}
	u.busy = true
	return true
}

func (u *unnoted) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.busy, u.at = false, ""
}

// Reports takes what couriers tell of calls that were released.
type Reports struct {
	requests *Requests
	editor   *editor
	tasks    *tasks
	uptime   *uptime
	audit    approver.Recorder
	log      *slog.Logger
	process  string

	unnoted unnoted
}

// noteOrKeep notes what was told of a call, now or once the store takes it.
func (p *Reports) noteOrKeep(ctx context.Context, call string, do func(context.Context) error) error {
	err := do(ctx)
	if err == nil || !comesBack(err) {
		return err
	}
	if !p.unnoted.keep(note{call, do}) {
		p.uptime.missed()
		return err
	}
	p.log.Warn("what was told of a released call is kept until the store takes it", "call", call, "error", err)
	return nil
}

// catchUp stores in the background what is still to be noted.
func (p *Reports) catchUp() {
	if !p.unnoted.begin() {
		return
	}
	p.tasks.start(func(ctx context.Context) {
		defer p.unnoted.end()
		for n, ok := p.unnoted.next(); ok; n, ok = p.unnoted.next() {
			step, cancel := context.WithTimeout(ctx, PostTimeout)
			err := n.do(step)
			cancel()
			later := err != nil && comesBack(err)
			p.unnoted.done(n, later)
			if later {
				return // the next look comes soon, and begins with another
			}
			if err != nil {
				p.log.Warn("what was told of a released call was not taken", "call", n.call, "error", err)
			}
		}
	})
}

// lapse ends the time in which the yes to r may be taken. Whoever released it says so, as
// it heard the couriers; after a moment others do, and claim nothing.
func (p *Reports) lapse(ctx context.Context, r Request) error {
	unread, sure := r.Acked.IsZero(), false
	r, err := p.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) {
		ours, back := r.ReleasedBy == p.process, p.uptime.backSince(now)
		if p.unnoted.has(r.CallID) || !ours && now.Before(r.givenUntil(back).Add(settleGrace)) {
			return r, ErrTooSoon
		}
		sure = ours && p.uptime.heardSince(r.ReleasedAt)
		return r.lapse(sure, back, now)
	})
	if err != nil || !unread {
		return err
	}
	why := "the time in which a courier may take the answer is over; whether one has it is not known"
	if sure {
		why = "the time to take this yes is over, so nobody is given it again"
	}
	return p.noteOrKeep(ctx, r.CallID, func(ctx context.Context) error { return p.acked(ctx, r, why) })
}
