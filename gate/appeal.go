package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"approver.example"
)

// This file is the appeal: a call that a rule denied is put before people, when the
// rule says that it may be. A yes waits for that very call, and is good for one run.

// Limits of appeals.
const (
	// MaxAppealReason is the greatest length of what the agent says for it, in bytes.
	MaxAppealReason = 500
	MaxDenials      = 256      // that are remembered
	MaxDenialBytes  = 64 << 10 // of a call that is remembered
	MaxAppeals      = 5        // by one user …
	AppealsWindow   = 10 * time.Minute
)

// Errors of appeals; each says what to do.
var (
	ErrNoDenial = errors.New("there is no denial of that call that can be appealed now: run the call again, and " +
		"appeal at once, as the user who ran it")
	ErrAppeals   = fmt.Errorf("there were %d appeals in %v: wait, or ask the user", MaxAppeals, AppealsWindow)
	ErrNotDenied = errors.New("the rules do not deny this call any more: run it again")
	ErrNoAppeal  = errors.New("what denies this call now cannot be appealed")
)

// An Asker puts appeals before people.
type Asker interface {
	// Appeal asks about a call that was denied, and returns once people are asked. Nobody
	// waits for the answer but the same call, when it comes back.
	Appeal(ctx context.Context, call approver.ToolCall, why approver.Verdict) (approver.Appealed, error)
	// Appealed is the answer of people to an appeal of the same call; false if there is
	// none. It asks nobody. What it returns is recorded.
	Appealed(ctx context.Context, call approver.ToolCall, why approver.Verdict) (v approver.Verdict, ok bool, err error)
}

// Appeals remember the newest denials that may be appealed. They are forgotten
// when the process ends: then the call is run, and denied, once more. All methods
// are safe for concurrent use.
type Appeals struct {
	// People are asked. It must not be nil.
	People Asker
	// Within is how long a denial can be appealed; zero is approver.DefaultAppealWithin.
	Within time.Duration

	mu      sync.Mutex
	denials []denial // the newest last
	times   map[approver.Peer][]time.Time
}

type denial struct {
	call     approver.ToolCall
	at       time.Time
	appealed bool
}

// offer remembers a denial and returns what the agent is told of it; empty where
// the call is too large to keep.
func (a *Appeals) offer(call approver.ToolCall) string {
	if call.ID == "" || !call.Peer.Known || len(call.Args)+len(call.Command) > MaxDenialBytes {
		return ""
	}
	call.Raw, call.ParkAt = nil, time.Time{}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.denials) >= MaxDenials {
		a.denials = slices.Delete(a.denials, 0, 1)
	}
	a.denials = append(a.denials, denial{call: call, at: time.Now()})
	return fmt.Sprintf(". If it is needed, a person can be asked: approver appeal %s --reason WHY", call.ID)
}

// take finds a denial by the user whose call it was, and marks it.
func (a *Appeals) take(peer approver.Peer, id string) (approver.ToolCall, error) {
	within := a.Within
	if within <= 0 {
		within = approver.DefaultAppealWithin
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	for i := range a.denials {
		d := &a.denials[i]
		if id == "" || !peer.Known || d.call.ID != id || !d.call.Peer.SameUser(peer) || now.Sub(d.at) >= within {
			continue
		}
		if d.appealed {
			return approver.ToolCall{}, approver.ErrAppealed
		}
		if !a.count(peer, now) {
			return approver.ToolCall{}, ErrAppeals
		}
		d.appealed = true
		return d.call, nil
	}
	return approver.ToolCall{}, ErrNoDenial
}

// count notes an appeal of a user, unless there were too many.
func (a *Appeals) count(peer approver.Peer, now time.Time) bool {
	user := approver.Peer{Known: true, UID: peer.UID}
	if a.times == nil {
		a.times = map[approver.Peer][]time.Time{}
	}
	a.times[user] = slices.DeleteFunc(a.times[user], func(t time.Time) bool { return now.Sub(t) >= AppealsWindow })
	if len(a.times[user]) >= MaxAppeals {
		return false
	}
	a.times[user] = append(a.times[user], now)
	return true
}

// asked is a denial as the question whether it holds.
func asked(v approver.Verdict, appeal approver.Appeal) approver.Verdict {
	v.Decision, v.Args, v.Appeal = approver.Ask, nil, appeal
	v.Detail = "APPEAL: a rule denies this call: " + cmp.Or(v.Detail, v.Reason)
	return v
}

// Appeal puts a call that was denied before people, for the user whose call it
// was, and returns once they are asked. It is judged anew before. claimed is shown
// as claimed. Nothing runs by it: a yes waits for the same call, once.
func (g *Gate) Appeal(ctx context.Context, peer approver.Peer, id, claimed string) (approver.Appealed, error) {
	if g.Appeals == nil || g.Audit == nil {
		return approver.Appealed{}, ErrNoAppeal
	}
	if len(claimed) > MaxAppealReason {
		return approver.Appealed{}, fmt.Errorf("the reason has %d bytes: at most %d", len(claimed), MaxAppealReason)
	}
	call, err := g.Appeals.take(peer, id)
	if err != nil {
		return approver.Appealed{}, err
	}
	v, judged := g.judge(ctx, call)
	switch {
	case v.Decision != approver.Deny:
		return approver.Appealed{}, ErrNotDenied
	case !v.Appealable:
		return approver.Appealed{}, ErrNoAppeal
	}
	why := asked(v, approver.Appeal{Of: call.ID, Claimed: claimed})
	if _, err := g.Audit.Record(ctx,
		approver.Record{Event: approver.EventAppealed, At: time.Now(), Call: judged, Verdict: why,
			Note: "claimed: " + claimed}); err != nil {
		return approver.Appealed{}, err
	}
	return g.Appeals.People.Appeal(ctx, judged, why)
}

// denial is a denial that may be appealed: the answer that people gave to an
// appeal of the same call, or else the offer to appeal.
func (g *Gate) denial(
	ctx context.Context, call approver.ToolCall, v approver.Verdict, took time.Duration,
) (out approver.Verdict) {
	defer func() {
		if p := recover(); p != nil {
			g.Log.Error("panic while an appeal was looked for", "call", call.ID, "panic", p)
			out = v.Blocked(v.Reason, "panic")
		}
	}()
	answer, ok, err := g.Appeals.People.Appealed(ctx, call, asked(v, approver.Appeal{Of: call.ID}))
	if err != nil {
		g.Log.Warn("whether an appeal was granted is not known; the denial stands", "call", call.ID, "error", err)
	}
	if ok {
		return answer
	}
	v.Reason += g.Appeals.offer(call)
	return g.record(ctx, approver.Record{At: call.At, Call: call, Verdict: v, Took: took})
}
