package broadcaster

import (
	"context"
	"sync"
	"time"

	"approver.example"
	"approver.example/display"
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
	person   string
	began    time.Time // when it was given, or later
	kept     bool
	replaced bool
	yielded  bool // only its own goroutine uses it
}

// answerKey is the key of the answer that a context is for.
type answerKey struct{}

// person names who answers, the same on all channels.
func (a *Answers) person(rep approver.Reply) string {
	if who, ok := a.approvers.people.Load().Lookup(rep.Channel, rep.Sender); ok {
		return who.ID
	}
	return rep.Channel + "/" + rep.Sender
}

// aWord reports that a reply says what its person wants of a request, or of all, so that it stands for what they
// said before.
func aWord(rep approver.Reply) bool {
	return rep.Want == approver.WantAnswer || rep.Want == approver.WantDisown || rep.Want == approver.WantFreeze ||
		rep.Want == approver.WantEdit && rep.Command != ""
}

// maxKeptAnswers bounds those that are kept. Whoever comes after that is told to try again.
const maxKeptAnswers = 256

// begin notes an answer. What the same person answered before is not kept any more, if the new answer is
// about the same: the last word is the one that they mean. A code does not say which request it is for, so a no
// replaces whatever it may be about.
func (k *keptAnswers) begin(rep approver.Reply, person string) *keptAnswer {
	k.mu.Lock()
	defer k.mu.Unlock()
	yes := rep.Want == approver.WantAnswer && rep.Approve
	for one := range k.of {
		was := one.rep
		unknown := was.Request == "" || rep.Request == ""
		same := !unknown && was.Request == rep.Request || !rep.Code.IsZero() && was.Code == rep.Code
		opens := was.Approve || was.Want == approver.WantEdit // a no stands until its person answers that very request
		if one.person == person && (same && (opens || rep.Want == approver.WantAnswer) || opens && unknown && !yes) {
			one.replaced = true
		}
	}
	if k.of == nil {
		k.of = map[*keptAnswer]bool{}
	}
	one := &keptAnswer{rep: rep, person: person, began: time.Now()}
	k.of[one] = true
	return one
}

// waited is for how long the answer of a context has been on its way here.
func (k *keptAnswers) waited(ctx context.Context) time.Duration {
	if one, _ := ctx.Value(answerKey{}).(*keptAnswer); one != nil {
		return time.Since(one.began)
	}
	return 0
}

// keep keeps an answer. It returns false if it was replaced, or if there are too many.
func (k *keptAnswers) keep(one *keptAnswer) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if one.replaced || k.kept >= maxKeptAnswers {
		return false
	}
	one.kept = true
	k.kept++
	return true
}

// replaced reports whether the answer of a context must not be entered any more, because its person has
// answered again. again says that it could not be entered at once: else it is as if the other answer had come
// after it.
func (k *keptAnswers) replaced(ctx context.Context, again bool) bool {
	one, _ := ctx.Value(answerKey{}).(*keptAnswer)
	if one == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return one.replaced && (again || one.kept)
}

// entered forgets an answer that is not kept.
func (k *keptAnswers) entered(one *keptAnswer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !one.kept {
		delete(k.of, one)
	}
}

// done forgets an answer that was kept.
func (k *keptAnswers) done(one *keptAnswer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept--
	delete(k.of, one)
}

// An entryError is the error of a yes that must not be entered any more, with what its person is told.
type entryError struct{ says display.Message }

// Error returns the text.
func (e entryError) Error() string { return e.says.Format }

var (
	errReplaced = entryError{display.Msg("You have answered again since, so this answer does not count.")}
	errHeldHere = entryError{display.Msg("Everything was frozen before this answer could be entered: it does not " +
		"count.")}
	errRestored = entryError{display.Msg("You were removed from the approvers after this answer: it does not count.")}
)

// mayEnter says why an answer that was given at a time, by the store's clock, must not be entered now that it
// can be: the store was away, and something happened meanwhile that would have ended it.
func (a *Answers) mayEnter(
	ctx context.Context, r Request, res approver.Resolution, given time.Time, again bool,
) error {
	if again && res.Approve && a.Shared {
		if err := a.kept.yield(ctx); err != nil {
			return err
		}
	}
	if a.kept.replaced(ctx, again) {
		return errReplaced
	}
	if !res.Approve {
		return nil
	}
	if again { // what this process knows of removals may be of before
		if _, err := readStored(ctx, a.Store, a.Mark); err != nil {
			return err
		}
	}
	if r.Call.Control == "" && a.Mark.holding() != nil { // the store does not know of it yet, nor do other daemons
		return errHeldHere
	}
	if res.At = given; a.Mark.Removed().takesBack(res) {
		return errRestored
	}
	return nil
}

// atOnce is how long an answer is on its way to a store that is there.
const atOnce = time.Second

// keptPoll is how often it is looked whether the store is back.
const keptPoll = time.Second

// lateYesAfter is how long a yes that could not be entered at once waits when the store is back, if other daemons
// use it too: one of them may have a no that its person said later, which is entered at once.
const lateYesAfter = 3 * keptPoll

// yield waits once for lateYesAfter with the answer of a context.
func (k *keptAnswers) yield(ctx context.Context) error {
	one, _ := ctx.Value(answerKey{}).(*keptAnswer)
	if one == nil || one.yielded {
		return nil
	}
	if !sleep(ctx, lateYesAfter) {
		return ctx.Err()
	}
	one.yielded = true
	return nil
}

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
	if !a.kept.keep(one) {
		return told{}, false
	}
	a.Log.Warn("an answer is kept until the store is back", "request", one.rep.Request, "channel", one.rep.Channel)
	a.tasks.start(func(context.Context) {
		defer a.kept.done(one)
		ctx := context.WithValue(work, answerKey{}, one)
		for sleep(ctx, jittered(keptPoll)) && !a.kept.replaced(ctx, true) {
			if _, err := a.Store.Now(ctx); err != nil {
				continue // many may be kept
			}
			away := false
			a.replyOnce(ctx, one.rep, began, func() (told, bool) { away = true; return told{}, true })
			if !away {
				return // what became of it is in the audit
			}
		}
		out := outcomeOfMessage(approver.OutcomeRefused, errReplaced.says)
		if ctx.Err() != nil {
			out = newOutcome(approver.OutcomeRefused, "approver stopped before it could enter this answer.")
		}
		a.noteRefusal(ctx, one.rep, Request{}, out)
	})
	return newOutcome(approver.OutcomeRefused, "The store does not answer, so this answer may not count yet. It is "+
		"entered once the store is back, if that is before the deadline: look at the card, or try again."), true
}
