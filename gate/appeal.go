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
	"approver.example/display"
)

// This file implements appeals: people are asked about a call that a rule denied, if the
// rule allows that. Their approval waits for that very call, and is valid for one run.

// Limits of appeals.
const (
	// MaxAppealReason bounds the reason that the agent gives, in bytes.
	MaxAppealReason = 500
	MaxDenials      = 256      // denials that are remembered
	MaxDenialBytes  = 64 << 10 // bytes of a call that is remembered
	MaxAppeals      = 5        // by one user within AppealsWindow
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

// An Asker asks people about appeals.
type Asker interface {
	// Appeal asks about a call that was denied, and returns once people are asked. Their answer
	// is for the same call when it comes back.
	Appeal(ctx context.Context, call approver.ToolCall, why approver.Verdict) (approver.Appealed, error)
	// Appealed returns people's answer to an appeal of the same call; ok is false if there is
	// none. It asks nobody. The answer that it returns is recorded already.
	Appealed(ctx context.Context, call approver.ToolCall, why approver.Verdict) (v approver.Verdict, ok bool, err error)
}

// Appeals remembers the newest denials that may be appealed. They are forgotten when the
// process ends; then the call has to be run, and denied, once more. All methods are safe for
// concurrent use.
type Appeals struct {
	// People asks the approvers. It must not be nil.
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

// offer remembers a denial and returns the hint for the agent; empty if the call is not
// remembered, because it is too large or its id or user is not known.
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

// take finds a denial of a call by the same user, and marks it as appealed.
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

// count counts an appeal of a user. It reports false if there were too many.
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

// asked turns a denial into the question whether it should stand.
func asked(v approver.Verdict, appeal approver.Appeal) approver.Verdict {
	v.Decision, v.Args, v.Appeal = approver.Ask, nil, appeal
	why := cmp.Or(v.Says.Why.Plain(), display.OneLine(v.Reason))
	v.Says.Why = display.Phrase{Text: "A rule denies this call, and the agent appeals: %s", Args: []string{why}}
	v.Detail = "APPEAL: a rule denies this call: " + cmp.Or(v.Detail, v.Reason)
	return v
}

// Appeal asks people about a call that was denied, on behalf of the user whose call it was,
// and returns once they are asked. The call is first judged anew. claimed is shown to people
// as the agent's claim. The appeal itself runs nothing: an approval waits for the same call,
// once.
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
	why := g.summed(judged, asked(v, approver.Appeal{Of: call.ID, Claimed: claimed}))
	if _, err := g.Audit.Record(ctx,
		approver.Record{Event: approver.EventAppealed, At: time.Now(), Call: judged, Verdict: why,
			Note: "claimed: " + claimed}); err != nil {
		return approver.Appealed{}, err
	}
	return g.Appeals.People.Appeal(ctx, judged, why)
}

// denial handles a denial that may be appealed. It returns people's answer to an appeal of the
// same call, or else the denial with the offer to appeal.
func (g *Gate) denial(
	ctx context.Context, call approver.ToolCall, v approver.Verdict, took time.Duration,
) (out approver.Verdict) {
	defer func() {
		if p := recover(); p != nil {
			g.Log.Error("panic while an appeal was looked for", "call", call.ID, "panic", p)
			out = v.Blocked(v.Reason, "panic")
		}
	}()
	why := g.summed(call, asked(v, approver.Appeal{Of: call.ID}))
	answer, ok, err := g.Appeals.People.Appealed(ctx, call, why)
	if err != nil {
		g.Log.Warn("whether an appeal was granted is not known; the denial stands", "call", call.ID, "error", err)
	}
	if ok {
		return answer
	}
	v.Reason += g.Appeals.offer(call)
	return g.record(ctx, approver.Record{At: call.At, Call: call, Verdict: v, Took: took})
}
