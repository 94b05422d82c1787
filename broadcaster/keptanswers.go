package broadcaster

import (
	"context"
	"sync"
	"time"

	"approver.example"
)

// keptAnswers are answers that are being entered, and those that are kept because the store did not take them
// within StorePatience, or not before their channel gave up. A platform brings an answer once, and its person
// has put the phone away. So it is entered when the store is back, and counts as it would have then: before the
// deadline, by a person on the list. This process alone keeps it, and the person is told to look at the card.
type keptAnswers struct {
	mu   sync.Mutex
	of   map[*keptAnswer]bool
	kept int
}

// A keptAnswer is one answer.
type keptAnswer struct {
	rep      approver.Reply
	replaced bool
	drop     context.CancelFunc // of one that is kept
}

// maxKeptAnswers bounds those that are kept. Whoever comes after that is told to try again.
const maxKeptAnswers = 256

// begin notes an answer. What the same person answered before is not kept any more, if the new answer is
// about the same: the last word is the one that they mean. A code does not say which request it is for, so a no
// replaces whatever it may be about.
func (k *keptAnswers) begin(rep approver.Reply) *keptAnswer {
	k.mu.Lock()
	defer k.mu.Unlock()
	for one := range k.of {
		was := one.rep
		unknown := was.Request == "" || rep.Request == ""
		same := !unknown && was.Request == rep.Request || !rep.Code.IsZero() && was.Code == rep.Code
		if was.Channel != rep.Channel || was.Sender != rep.Sender || !same && (!unknown || rep.Approve) {
			continue
		}
		if one.replaced = true; one.drop != nil {
			one.drop()
		}
	}
	if k.of == nil {
		k.of = map[*keptAnswer]bool{}
	}
	one := &keptAnswer{rep: rep}
	k.of[one] = true
	return one
}

// keep keeps an answer until the context ends that it returns. It returns false if it was replaced, or if there
// are too many.
func (k *keptAnswers) keep(ctx context.Context, one *keptAnswer) (kept context.Context, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if one.replaced || k.kept >= maxKeptAnswers {
		return nil, false
	}
	kept, one.drop = context.WithCancel(ctx)
	k.kept++
	return kept, true
}

// entered forgets an answer that is not kept.
func (k *keptAnswers) entered(one *keptAnswer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if one.drop == nil {
		delete(k.of, one)
	}
}

// done forgets an answer that was kept.
func (k *keptAnswers) done(one *keptAnswer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	one.drop()
	k.kept--
	delete(k.of, one)
}

// keptPoll is how often it is looked whether the store is back.
const keptPoll = time.Second

// keepOnly is what keep returns, if the store is away.
func keepOnly(away bool, keep func() (told, bool)) (out told, ok bool) {
	if !away {
		return told{}, false
	}
	return keep()
}

// keep keeps an answer that was given at began until the store judges it. It returns what its person is told
// meanwhile, or false if it cannot be kept.
func (a *Answers) keep(one *keptAnswer, began time.Time) (out told, ok bool) {
	work := a.tasks.running()
	if work == nil || work.Err() != nil {
		return told{}, false
	}
	ctx, ok := a.kept.keep(work, one)
	if !ok {
		return told{}, false
	}
	a.Log.Warn("an answer is kept until the store is back", "request", one.rep.Request, "channel", one.rep.Channel)
	a.tasks.start(func(context.Context) {
		defer a.kept.done(one)
		for away := true; away && sleep(ctx, jittered(keptPoll)); {
			if _, err := a.Store.Now(ctx); err != nil {
				continue // many may be kept
			}
			away = false
			a.replyOnce(ctx, one.rep, began, func() (told, bool) { away = true; return told{}, true })
		}
	})
	return newOutcome(approver.OutcomeRefused, "The store does not answer, so this answer does not count yet. It is "+
		"entered once the store is back, if that is before the deadline: look at the card, or try again."), true
}
