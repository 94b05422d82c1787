package broadcaster

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"approver.example"
)

// senders know which processes have something to send. While a process has, it says so in one record for all, every
// few seconds. So a card that waits for long costs one note, and not one every few seconds; a card whose process has
// died is found; and processes that share a bot share what its platform takes.
type senders struct {
	*Options
	tasks    *tasks
	uptime   *uptime
	outbox   *outbox
	requests *Requests
	wake     chan struct{} // to say so at once
	digests  *digests

	mu     sync.Mutex
	of     map[string][]*delivery // what this process posts, by request
	untold map[string][]report    // what came of cards and could not be stored, by request
	sent   time.Time              // when this process last sent something to a platform that limits it
	said   bool                   // the record has this process
	all    []sender               // the processes that it has
}

// How often a process says that it is there, and for how long that counts. It is then there for as long as a note
// with a time is, see sendingFor.
const (
	sayEvery = 3 * time.Second
	saidFor  = sendingFor
	// sharesFor is how long a process counts after it has sent something.
	sharesFor = time.Minute
	// sendersKeep is how long the record is kept.
	sendersKeep = time.Hour
	// notedFor is how long the note that a process posts a card counts at least, if nothing says that the process has
	// died. It is noted anew in time. Of many cards, each counts longer: noting it is a write.
	notedFor  = time.Minute
	notedEach = 20 * time.Millisecond
	// lateNote is how long a process whose store was away has to note anew what it posts.
	lateNote = 3 * sayEvery
)

// A sender is one process in the record.
type sender struct {
	Process string    `json:"process"`
	At      time.Time `json:"at"` // when it last said that it is there, by the store's clock
	// Waits is what waits in it, and Told are its messages that say so in chats.
	Waits []waits        `json:"waits,omitempty"`
	Told  []approver.Ref `json:"told,omitempty"`
}

// waits are how many cards wait for room in a place.
type waits struct {
	To    approver.Destination `json:"to"`
	Cards int                  `json:"cards"`
}

// waiting is how many cards wait for room in a place.
func (s sender) waiting(to approver.Destination) (cards int) {
	for _, w := range s.Waits {
		if w.To == to {
			cards += w.Cards
		}
	}
	return cards
}

// lapsed reports that a process is not there any more.
func (s sender) lapsed(now time.Time) bool { return now.Sub(s.At) >= saidFor }

func sendersKey() string { return approver.Key("senders", "all") }

// begin notes that this process posts some cards.
func (s *senders) begin(v *delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string][]*delivery{}
	}
	s.of[v.id] = append(s.of[v.id], v)
}

// end notes that all is known of them.
func (s *senders) end(v *delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := slices.DeleteFunc(s.of[v.id], func(other *delivery) bool { return other == v })
	if s.of[v.id] = rest; len(rest) == 0 {
		delete(s.of, v.id)
	}
}

// lost keeps what came of cards and could not be stored. It is stored when the store is back: a card that is there
// has no other trace.
func (s *senders) lost(id string, batch []report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.untold == nil {
		s.untold = map[string][]report{}
	}
	s.untold[id] = append(s.untold[id], batch...)
}

// takeLost returns what could not be stored of the cards of a request. The caller stores it.
func (s *senders) takeLost(id string) []report {
	s.mu.Lock()
	defer s.mu.Unlock()
	batch := s.untold[id]
	delete(s.untold, id)
	return batch
}

// carries reports whether this process still posts a card.
func (s *senders) carries(id string, i int) bool {
	s.mu.Lock()
	all := slices.Clone(s.of[id])
	s.mu.Unlock()
	return slices.ContainsFunc(all, func(v *delivery) bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		return slices.Contains(v.under, i)
	})
}

// sends notes that this process sends something to a platform that limits it.
func (s *senders) sends() {
	s.mu.Lock()
	first := s.Shared && time.Since(s.sent) > sharesFor
	s.sent = time.Now()
	s.mu.Unlock()
	if first {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// replicas is how many processes share the limits of platforms.
func (s *senders) replicas() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(len(s.all), 1)
}

// others are the other processes that have something to send.
func (s *senders) others() []sender {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.all), func(o sender) bool { return o.Process == s.process })
}

// A storing is the key of the task that stores what came of the cards of a request.
type storing string

// run says that this process is there for as long as it has something to send, until ctx ends. store is called with
// requests that takeLost has something of.
func (s *senders) run(ctx context.Context, store func(context.Context, string)) {
	tick := time.NewTicker(sayEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.wake:
		}
		s.look(ctx)
		s.mu.Lock()
		lost := slices.Collect(maps.Keys(s.untold))
		s.mu.Unlock()
		for _, id := range lost {
			s.tasks.startSingle(storing(id), false, func(ctx context.Context) { store(ctx, id) })
		}
	}
}

// look says that this process is there, or is not any more, and notes the cards that it has had for a while.
func (s *senders) look(ctx context.Context) {
	s.mu.Lock()
	var waiting []*delivery
	for _, all := range s.of {
		for _, v := range all {
			if time.Since(v.began) >= sayEvery {
				waiting = append(waiting, v)
			}
		}
	}
	said, shares := s.said, s.Shared && time.Since(s.sent) < sharesFor
	s.mu.Unlock()
	there := len(waiting) > 0 || shares || len(s.digests.told()) > 0
	if !there && !said {
		return
	}
	again, until := max(notedFor, time.Duration(len(waiting))*notedEach), time.Duration(0)
	until = again + lateNote
	err := s.say(ctx, there)
	if err != nil { // its shard may be away: then each card says itself that somebody posts it
		s.Log.Debug("could not say that this process has something to send", "error", err)
		again, until = 0, sendingFor
	}
	_ = spread(len(waiting), func(n int) error {
		if v := waiting[n]; v.unnoted() {
			s.note(ctx, v, again, until, err == nil)
		}
		return nil
	})
}

// say has the record say whether this process is there.
func (s *senders) say(ctx context.Context, there bool) error {
	ctx, stop := context.WithTimeout(ctx, sayEvery) // a store that is away must not delay the next try
	defer stop()
	return s.change(ctx, func(all []sender, now time.Time) []sender {
		all = slices.DeleteFunc(all, func(o sender) bool { return o.Process == s.process })
		if there {
			all = append(all, s.self(now))
		}
		return all
	}, func(all []sender, now time.Time) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.said = there
		s.all = slices.DeleteFunc(all, func(o sender) bool { return o.lapsed(now) })
	})
}

// self is what this process says of itself.
func (s *senders) self(now time.Time) sender {
	me := sender{Process: s.process, At: now, Told: s.digests.told()}
	for _, c := range s.Channels {
		for _, crowd := range s.outbox.crowds(c.Name()) {
			me.Waits = append(me.Waits, waits{crowd.To, crowd.Cards})
		}
	}
	return me
}

// change changes the record, and then tells of it.
func (s *senders) change(
	ctx context.Context, step func([]sender, time.Time) []sender, then func([]sender, time.Time),
) error {
	for {
		value, rev, now, err := approver.GetNow(ctx, s.Store, sendersKey())
		if err != nil && !errors.Is(err, approver.ErrNotFound) {
			return err
		}
		var all []sender
		if len(value) > 0 && json.Unmarshal(value, &all) != nil {
			all = nil // of another version, whose processes say anew that they are there
		}
		all = step(all, now)
		var due time.Time // when the first of them lapses
		for _, o := range all {
			if at := o.At.Add(saidFor); due.IsZero() || at.Before(due) {
				due = at
			}
		}
		if value, err = json.Marshal(all); err != nil {
			return err
		}
		err = s.Store.Put(ctx, sendersKey(), value, rev, approver.NewRev(), due, now.Add(sendersKeep))
		if err == nil {
			then(all, now)
		}
		if !errors.Is(err, approver.ErrConflict) {
			return err
		}
	}
}

// unnoted reports that it is time to note who posts the cards of a delivery.
func (v *delivery) unnoted() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !time.Now().Before(v.noteAt) && len(v.under) > 0
}

// note stores that this process still posts some cards, so that no other process does before until. It is to be noted
// again after some time. said reports that this process has said that it is there, so that its death would be seen.
func (s *senders) note(ctx context.Context, v *delivery, again, until time.Duration, said bool) {
	ctx, cancel := context.WithTimeout(ctx, sendingFor/4)
	defer cancel()
	_, err := s.requests.change(ctx, v.id, func(r Request, now time.Time) (Request, error) {
		if r.State != approver.Pending {
			return r, ErrSettled
		}
		v.mu.Lock()
		under := slices.Clone(v.under)
		v.mu.Unlock()
		changed := false
		r.Postings = slices.Clone(r.Postings)
		for _, i := range under {
			if i < len(r.Postings) && r.Postings[i].Phase == Sending && !s.leaves(r.Postings[i]) {
				p := &r.Postings[i]
				if p.Until, changed = later(p.Until, now.Add(until)), true; said {
					p.Sender = s.process
				}
				p.Full = p.Error == "" && s.outbox.waits(r.ID, p.To)
			}
		}
		if !changed {
			return r, errNoChange
		}
		return r, nil
	})
	switch {
	case err == nil, errors.Is(err, ErrSettled), errors.Is(err, errNoChange):
		v.mu.Lock()
		v.noteAt = time.Now().Add(again)
		v.mu.Unlock()
	default:
		s.Log.Debug("could not note that a card is still on its way", "request", v.id, "error", err)
	}
}

// leaves reports that this process has just given a card to the others.
func (s *senders) leaves(p Posting) bool { return p.Left != "" || p.refusedTo(s.process) }

// A burying is the key of the task that looks for processes that have died.
type burying struct{}

// bury gives the cards of processes that are not there any more to whoever finds them first. It speeds up what the
// times in the postings do as well.
func (s *senders) bury(ctx context.Context) {
	value, _, now, err := approver.GetNow(ctx, s.Store, sendersKey())
	var all []sender
	if err != nil || json.Unmarshal(value, &all) != nil {
		return
	}
	// Where the store was away, nobody could say anything.
	if now.Sub(s.uptime.backSince(now)) < sayEvery+time.Second {
		return
	}
	var dead []string
	for _, o := range all {
		if o.lapsed(now) && o.Process != s.process {
			dead = append(dead, o.Process)
		}
	}
	open, err := []Request(nil), error(nil)
	if len(dead) > 0 {
		open, err = s.requests.Open(ctx)
	}
	if err != nil && !errors.Is(err, ErrIncomplete) {
		return
	}
	err = spread(len(open), func(n int) error { return s.release(ctx, open[n], dead) })
	if err != nil {
		s.Log.Warn("cards of a process that has ended could not be taken over yet", "error", err)
		return
	}
	var told []approver.Ref
	err = s.change(ctx, func(all []sender, now time.Time) []sender {
		told = nil
		for _, o := range all {
			if slices.Contains(dead, o.Process) && o.lapsed(now) {
				told = append(told, o.Told...)
			}
		}
		all = slices.DeleteFunc(all, func(o sender) bool { return slices.Contains(dead, o.Process) && o.lapsed(now) })
		for n, o := range all {
			if o.Process == s.process && o.lapsed(now) { // it was slow
				all[n].At = now
			}
		}
		return all
	}, func([]sender, time.Time) { s.digests.inherit(told) })
	if err != nil {
		s.Log.Debug("could not note that a process has ended", "error", err)
	}
}

// release lets others post the cards of a request that some processes wanted to post.
func (s *senders) release(ctx context.Context, r Request, dead []string) error {
	theirs := func(p Posting) bool { return p.Phase == Sending && slices.Contains(dead, p.Sender) }
	if !slices.ContainsFunc(r.Postings, theirs) {
		return nil
	}
	_, err := s.requests.change(ctx, r.ID, func(r Request, now time.Time) (Request, error) {
		if r.State != approver.Pending {
			return r, ErrSettled
		}
		r.Postings = slices.Clone(r.Postings)
		for i := range r.Postings {
			if p := &r.Postings[i]; theirs(*p) {
				p.Sender, p.Until, p.Full = "", now, false
			}
		}
		return r, nil
	})
	if isAny(err, ErrSettled, approver.ErrNotFound) {
		return nil
	}
	return err
}
