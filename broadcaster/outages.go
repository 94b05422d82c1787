package broadcaster

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"approver.example"
	"github.com/google/uuid"
)

// outages tell people on the other channels when a channel is of no use, and when it is back. They run beside
// everything else: no card of a request waits for them.
type outages struct {
	*Options
	alerts   *alerts
	cards    *Cards
	channels *Channels
}

// Times of telling people about a channel.
const (
	// tellAgain is the time between two new messages about a channel that comes and goes.
	tellAgain = 10 * time.Minute
	// outageLook is how often a process looks at a channel, and strayLook how often it looks for the record of
	// one that works: whoever told that it does not may have died.
	outageLook = 5 * time.Second
	strayLook  = 10 * time.Minute
	// outageSay is how often the process that tells of an outage says that it is there, and outageWord
	// for how long that counts.
	outageSay  = 20 * time.Second
	outageWord = time.Minute
	// outageTurn is how long it waits for its turn in a chat at most: it has to say in time that it is there.
	outageTurn = outageSay
	// otherReason is the time between two edits that say another reason: some reasons change all the time.
	otherReason = time.Minute
	// outageKeep is how long the record is kept after the last word.
	outageKeep = 30 * 24 * time.Hour
)

// watch looks after the channels of this process until ctx ends.
func (o *outages) watch(ctx context.Context) {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(o.channels.shownWhere())), func(name string) bool {
		return o.channels.screen(name) || len(o.others(name)) == 0 // nobody is there to be told
	})
	_ = inParallel(len(names), func(n int) error {
		o.follow(ctx, names[n])
		return nil
	})
}

// others are the chats of the other channels.
func (o *outages) others(name string) (to []approver.Destination) {
	for _, d := range o.Destinations {
		if d.Channel != name && !o.channels.pages(d.Channel) {
			to = append(to, d)
		}
	}
	return to
}

// follow looks after one channel.
func (o *outages) follow(ctx context.Context, name string) {
	var bad, looked time.Time // since when it is of no use, and when its record was last looked at
	mine, failed := false, pauses{}
	for sleep(ctx, outageLook) {
		t, now := o.channels.trouble(name), time.Now()
		switch {
		case t.none():
			bad = time.Time{}
		case bad.IsZero() && t.Chat != (approver.Destination{}):
			bad = t.Since // it has lasted already
		case bad.IsZero():
			bad = now
		}
		if t.Since.IsZero() {
			t.Since = bad
		}
		if now.Sub(bad) < o.OutageAfter { // it may be over in a moment
			t = trouble{}
		}
		if !t.none() || mine || looked.IsZero() || now.Sub(looked) >= strayLook {
			if still, err := o.look(ctx, name, t, failed); err == nil { // else the store is away for a moment
				looked, mine = now, still
			}
		}
	}
}

// look tells people of a trouble, or of its end, if that is to be told and no other process does. It reports
// whether this process has to look after the outage.
func (o *outages) look(ctx context.Context, name string, t trouble, failed pauses) (mine bool, err error) {
	key := approver.Key("outage", name)
	value, rev, now, err := approver.GetNow(ctx, o.Store, key)
	if err != nil && !errors.Is(err, approver.ErrNotFound) {
		return false, err
	}
	is := decodeOutage(value)
	mine = is.Process == o.process
	switch going := is.open() || is.unfinished(); {
	case going && !mine && now.Sub(is.At).Abs() < outageWord:
		return false, nil
	case is.open() && o.channels.over(name, is.trouble):
		is = is.ended(now)
		o.Log.Info("people are told that a channel is back", "channel", name)
	case is.open() && is.changed(t) && now.Sub(is.Said) >= otherReason:
		is.Why, is.Said = t.Why, now
	case going && mine && now.Sub(is.At) < outageSay && !is.unfinished():
		return true, nil
	case going:
	case t.none() || now.Sub(is.Told) < tellAgain:
		return false, nil
	default:
		is = outage{trouble: t, ID: uuid.NewString(), Told: now, Said: now, Owed: o.others(name)}
		o.Log.Warn("people are told on the other channels that a channel is of no use", "channel", name, "error", t.Why)
	}
	is.Process, is.At = o.process, now
	// What is to be told is stored first: then one process tells it, and another one goes on after a crash.
	next, err := o.save(ctx, key, is, rev, now)
	if err != nil {
		return false, err
	}
	if told := o.tell(ctx, name, is, failed); told.differs(is) {
		is = told
		if _, err = o.save(context.WithoutCancel(ctx), key, is, next, now); err != nil {
			o.Log.Warn("it could not be noted whom a channel's outage was told: some may be told twice", "channel", name,
				"error", err)
		}
	}
	return is.open() || is.unfinished(), nil
}

func (o *outages) save(
	ctx context.Context, key string, is outage, prev approver.Rev, now time.Time,
) (approver.Rev, error) {
	ctx, cancel := context.WithTimeout(ctx, PostTimeout)
	defer cancel()
	value, err := json.Marshal(is)
	if err != nil {
		return "", err
	}
	next := approver.NewRev()
	return next, o.Store.Put(ctx, key, value, prev, next, time.Time{}, now.Add(outageKeep))
}

// pauses are the chats where telling people failed, each with how often in a row and when it is tried again.
type pauses map[approver.Destination]pause

type pause struct {
	failures int
	until    time.Time
}

// tell tries once to tell each chat that waits for it, and to bring each card up to date. It returns the
// outage with what came of it.
func (o *outages) tell(ctx context.Context, name string, is outage, failed pauses) outage {
	back, now := !is.Over.IsZero(), time.Now()
	owed, cards := is.Owed, is.Cards
	is.Owed, is.Cards = nil, nil
	if back && now.Sub(is.Over) > alertFor {
		return is // nobody needs to know any more
	}
	since := now.Add(-max(is.At.Sub(later(is.Said, is.Over)), 0)) // it has waited since there is news
	was := maps.Clone(failed)
	due := func(to approver.Destination) bool { return !now.Before(was[to].until) }
	old := func(c notice) bool { return c.Says != is.says() }
	draw := func(to approver.Destination) approver.Card { return is.card(name, o.Host, o.cards.textsOf(to)) }
	refs, errs := make([]approver.Ref, len(owed)), make([]error, len(owed)+len(cards))
	_ = inParallel(len(errs), func(n int) error {
		if n < len(owed) && due(owed[n]) {
			refs[n], errs[n] = o.alerts.postOnce(ctx, owed[n], drawn(draw(owed[n])), outageTurn)
		} else if c := n - len(owed); c >= 0 && old(cards[c]) && due(cards[c].Ref.Destination) {
			errs[n] = o.channels.updateSoon(ctx, cards[c].Ref, draw(cards[c].Ref.Destination), since, outageTurn)
		}
		return nil
	})
	again := func(to approver.Destination, err error) bool {
		if errors.Is(err, errNoTurn) { // it waits on at the next look
			return true
		}
		if err != nil && !o.final(to, err) {
			failed.note(to, err)
			return true
		}
		delete(failed, to)
		return false
	}
	for n, to := range owed {
		switch {
		case !slices.Contains(o.Destinations, to): // another configuration
		case !due(to), again(to, errs[n]):
			is.Owed = append(is.Owed, to)
		case errs[n] == nil:
			is.Cards = append(is.Cards, notice{refs[n], is.says()})
		}
	}
	for n, c := range cards {
		switch to, err := c.Ref.Destination, errs[len(owed)+n]; {
		case !old(c) || !due(to), again(to, err):
			is.Cards = append(is.Cards, c)
		case err == nil, !back: // no message is worth it that only the reason is another one
			is.Cards = append(is.Cards, notice{c.Ref, is.says()})
		default: // it cannot be edited, so a message says it
			is.Owed = append(is.Owed, to)
		}
	}
	return is
}

// final reports that a chat is not tried again. A channel that has ended may come back.
func (o *outages) final(to approver.Destination, err error) bool {
	return o.channels.nobodyThere(to.Channel, err) || errors.Is(err, approver.ErrFinal) && !errors.Is(err, errEnded)
}

// note notes that telling a chat failed.
func (p pauses) note(to approver.Destination, err error) {
	was := p[to].failures
	p[to] = pause{was + 1, time.Now().Add(pauseAfter(err, was, time.Minute))}
}
