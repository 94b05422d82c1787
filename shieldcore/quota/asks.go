package quota

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"approver.example"
)

// MaxAsks bounds the settings of AskLimits.
const MaxAsks = 1000

// askWindow is the sliding window in which questions are counted.
const askWindow = time.Minute

// AskLimits bound the questions to people within a minute. The zero value is refused;
// start from [DefaultAskLimits]. Replicas that share a store should have the same limits,
// because each applies its own.
type AskLimits struct {
	User  int `yaml:"user"`  // about calls of one uid, 1 to MaxAsks
	Agent int `yaml:"agent"` // about calls of one agent of it in one project, 1 to MaxAsks
}

// OwnAsks bounds the questions about approver itself (a pause, the end of a freeze, who
// may approve) that one uid can put before people within a minute. They have a count of
// their own, separate from questions about calls: neither can use up the other's. Each
// needs a typed code, so people could not answer more.
const OwnAsks = 6

// DefaultAskLimits returns limits above what a person can read.
func DefaultAskLimits() AskLimits { return AskLimits{User: 120, Agent: 30} }

// Validate returns every mistake.
func (l AskLimits) Validate() error {
	var errs []error
	for _, of := range []struct {
		name string
		n    int
	}{{"user", l.User}, {"agent", l.Agent}} {
		if of.n < 1 || of.n > MaxAsks {
			errs = append(errs, fmt.Errorf("%s: %d questions a minute: must be 1 to %d", of.name, of.n, MaxAsks))
		}
	}
	return errors.Join(errs...)
}

// An Asker identifies whose call a question is about.
type Asker struct {
	Who
	Project string // the folder of the project, as far as that is known
}

// Asks counts the questions to people. Make one with NewAsks. All methods are safe
// for concurrent use. The zero value and nil refuse everything.
type Asks struct {
	// Fresh is how long this process relies on the count that it knows, so that a question need
	// not wait for the store: the store follows. A process that is alone with its store may
	// rely on it for ever. Where others count too, they may go over a limit together by what
	// they count in that time. Zero always asks the store. A refusal is always the store's.
	Fresh time.Duration

	c       AskLimits
	updater *updater[askedRecord]
	counted atomic.Int64
	refused atomic.Int64
	lost    atomic.Int64

	mu      sync.Mutex
	known   map[string]*knownAsks // by key
	storing sync.WaitGroup
	closing chan struct{} // closed by Close
	close   sync.Once
}

// knownAsks are the questions that this process knows of.
type knownAsks struct {
	askedRecord
	at     time.Time           // when the store was last looked at
	behind []step[askedRecord] // what the store does not have yet
}

// maxKnown bounds the counts that are remembered.
const maxKnown = 1024

// NewAsks returns a count on a store. Close it after use.
func NewAsks(kv approver.KV, c AskLimits) (*Asks, error) {
	if kv == nil {
		return nil, errors.New("to count questions needs a store")
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Asks{c: c, updater: newUpdater[askedRecord](kv), closing: make(chan struct{})}, nil
}

// Take counts one question. A second Take of the same question does not count. It
// returns an [approver.TooManyError] if there were too many within the last minute; a
// refused question is not counted. Any other error means that the count is unknown, so
// the question must not be asked.
func (a *Asks) Take(ctx context.Context, who Asker, question string) error {
	return a.take(ctx, callQuestions, who, question, "let the agent call through approver's socket, with its name")
}

// TakeOwn is Take for a question about approver itself, requested by a process of a user.
func (a *Asks) TakeOwn(ctx context.Context, peer approver.Peer, question string) error {
	who := Asker{Who: Who{Peer: peer, Agent: "approver"}}
	err := a.take(ctx, ownQuestions, who, question, "use approver's resolve socket")
	var many *approver.TooManyError
	if errors.As(err, &many) {
		many.Limit, many.Whose = approver.OwnLimit, fmt.Sprintf("approver itself by uid %d", peer.UID)
	}
	return err
}

// What questions are about, in the keys of their records.
const (
	callQuestions = "uid"
	ownQuestions  = "own" // about approver itself
)

// take counts a question. cure is what helps if it is not known who asks.
func (a *Asks) take(ctx context.Context, about string, who Asker, question, cure string) error {
	switch {
	case a == nil || a.updater == nil:
		return errors.New("the count of questions was not made by NewAsks")
	case !who.Peer.Known || who.Agent == "" || question == "":
		a.lost.Add(1)
		return errors.New("who asks is not known, so people are not asked: " + cure)
	}
	c := a.c
	if about == ownQuestions {
		c = AskLimits{User: OwnAsks, Agent: OwnAsks}
	}
	of := nameOf(fmt.Sprintf("%q %q", who.Agent, who.Project))
	name := nameOf(of + " " + question)
	b := askedSchema(about, who.Peer.UID)
	step := func(s *askedRecord, now time.Time, _ approver.Rev) (bool, error) {
		return s.take(c, who, of, name, now)
	}
	if a.takeKnown(ctx, b, step) {
		a.counted.Add(1)
		return nil
	}
	o, err := a.updater.change(ctx, b, a.afterTheOthers(b.name, step))
	switch {
	case err != nil:
		a.lost.Add(1)
		return fmt.Errorf("how often people were asked is not known: %w", err)
	case o.result != nil:
		a.refused.Add(1)
	default:
		a.counted.Add(1)
		a.learn(b.name, o.state)
	}
	return o.result
}

// takeKnown counts a question by what this process knows, and has the store follow. It reports
// false if the store has to be asked.
func (a *Asks) takeKnown(ctx context.Context, b schema[askedRecord], step step[askedRecord]) bool {
	if a.Fresh == 0 {
		return false
	}
	now, err := a.updater.store.Now(ctx)
	if err != nil {
		return false
	}
	a.mu.Lock()
	k := a.known[b.name]
	if k == nil || time.Since(k.at) > a.Fresh {
		a.mu.Unlock()
		return false
	}
	changed, err := step(&k.askedRecord, now, "")
	if err == nil && changed {
		if k.behind = append(k.behind, step); len(k.behind) == 1 {
			a.storing.Go(func() { a.store(b) })
		}
	}
	a.mu.Unlock()
	return err == nil
}

// storeEvery is how long the questions of one uid are collected before the store has them. A crash
// forgets that many.
const storeEvery = 100 * time.Millisecond

// store stores the questions that were counted without it.
func (a *Asks) store(b schema[askedRecord]) {
	for {
		select {
		case <-time.After(storeEvery):
		case <-a.closing:
		}
		stored := len(a.behind(b.name))
		nothing := func(*askedRecord, time.Time, approver.Rev) (bool, error) { return false, nil }
		// which recovers from a panic
		_, err := a.updater.change(context.Background(), b, a.afterTheOthers(b.name, nothing))
		a.mu.Lock()
		k := a.known[b.name]
		switch {
		case k == nil:
		case err != nil: // the store has to say
			delete(a.known, b.name)
		default:
			k.behind = k.behind[min(stored, len(k.behind)):]
		}
		again := k != nil && err == nil && len(k.behind) > 0
		a.mu.Unlock()
		if !again {
			return
		}
	}
}

// behind returns the questions that the store may not have yet.
func (a *Asks) behind(name string) []step[askedRecord] {
	a.mu.Lock()
	defer a.mu.Unlock()
	if k := a.known[name]; k != nil {
		return slices.Clone(k.behind)
	}
	return nil
}

// afterTheOthers is a step that comes after those that the store may not have yet, so that it is
// not counted on a record without them. Counting one twice changes nothing.
func (a *Asks) afterTheOthers(name string, step step[askedRecord]) step[askedRecord] {
	return func(s *askedRecord, now time.Time, id approver.Rev) (bool, error) {
		changed := false
		for _, other := range a.behind(name) {
			did, _ := other(s, now, id) // what others counted since may be too many: it was asked
			changed = changed || did
		}
		did, err := step(s, now, id)
		return changed || did, err
	}
}

// learn remembers what the store has.
func (a *Asks) learn(name string, s askedRecord) {
	if a.Fresh == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil || len(a.known) >= maxKnown {
		a.known = map[string]*knownAsks{} // what the store does not have of them is lost
	}
	s.Last = slices.Clone(s.Last)
	var behind []step[askedRecord]
	if was := a.known[name]; was != nil { // the store may not have all of it yet
		behind = was.behind
		for _, q := range was.Last {
			if !slices.ContainsFunc(s.Last, func(has askedOnce) bool { return has.Name == q.Name }) {
				s.Last = append(s.Last, q)
			}
		}
		slices.SortFunc(s.Last, func(a, b askedOnce) int { return cmp.Compare(a.At, b.At) })
	}
	a.known[name] = &knownAsks{s, time.Now(), behind}
}

// AsksSnapshot is what this process has counted since its start.
type AsksSnapshot struct {
	Counted int64 `json:"counted"`
	Refused int64 `json:"refused"` // too many
	Unknown int64 `json:"unknown"` // the store did not say
}

// Snapshot returns the counts. Those of nil are zero.
func (a *Asks) Snapshot() AsksSnapshot {
	if a == nil {
		return AsksSnapshot{}
	}
	return AsksSnapshot{a.counted.Load(), a.refused.Load(), a.lost.Load()}
}

// Close refuses all later calls and waits for those that are under way, at most about
// 2 s.
func (a *Asks) Close() {
	if a == nil || a.updater == nil {
		return
	}
	a.close.Do(func() { close(a.closing) })
	a.storing.Wait()
	a.updater.close()
}

// askedRecord are the questions about one uid's calls within the last minute, oldest first.
type askedRecord struct {
	Version int         `json:"v"`
	Last    []askedOnce `json:"last"`
}

// An askedOnce is one question. Names are by nameOf.
type askedOnce struct {
	At   int64  `json:"at"` // Unix nanoseconds, by the store's clock
	Of   string `json:"of"` // agent and project
	Name string `json:"call"`
}

// take counts a question, or says why it may not be asked.
func (s *askedRecord) take(c AskLimits, who Asker, of, name string, now time.Time) (changed bool, err error) {
	at, since := now.UnixNano(), now.Add(-askWindow).UnixNano()
	s.Version = recordVersion
	s.Last = slices.DeleteFunc(s.Last, func(q askedOnce) bool { return q.At <= since })
	for i := range s.Last {
		q := &s.Last[i]
		if q.At > at { // a clock that was ahead must not close it for longer
			q.At, changed = at, true
		}
		if q.Name == name {
			return changed, nil
		}
	}
	if err := tooMany(s.Last, "", c.User, "user", now); err != nil {
		err.Whose = fmt.Sprintf("the agents of uid %d", who.Peer.UID)
		return changed, err
	}
	if err := tooMany(s.Last, of, c.Agent, "agent", now); err != nil {
		err.Whose = fmt.Sprintf("%s in %s of uid %d", who.Agent, who.Project, who.Peer.UID)
		return changed, err
	}
	s.Last = append(s.Last, askedOnce{At: at, Of: of, Name: name})
	return true, nil
}

// tooMany says when there may be one more than last, oldest first, of an agent and project, or of all
// if of is empty; nil is now.
func tooMany(last []askedOnce, of string, most int, limit string, now time.Time) *approver.TooManyError {
	n := 0
	for i := len(last) - 1; i >= 0; i-- {
		if of != "" && last[i].Of != of {
			continue
		}
		if n++; n < most {
			continue
		}
		again := time.Unix(0, last[i].At).Add(askWindow)
		return &approver.TooManyError{Limit: limit, Most: most, Again: again, Wait: again.Sub(now)}
	}
	return nil
}

func checkAsked(s *askedRecord, _ string) error {
	switch {
	case s.Version != recordVersion:
		return fmt.Errorf("its version is %d, not %d", s.Version, recordVersion)
	case len(s.Last) > MaxAsks:
		return fmt.Errorf("it has %d questions, more than %d", len(s.Last), MaxAsks)
	case !slices.IsSortedFunc(s.Last, func(a, b askedOnce) int { return int(min(max(a.At-b.At, -1), 1)) }):
		return errors.New("its questions are not in their order")
	}
	for _, q := range s.Last {
		if q.At <= 0 || len(q.Of) != 16 || len(q.Name) != 16 || strings.ContainsFunc(q.Of+q.Name, notHex) {
			return fmt.Errorf("the question %.60q", fmt.Sprint(q))
		}
	}
	return nil
}

func notHex(c rune) bool { return !strings.ContainsRune("0123456789abcdef", c) }

func askedKey(what string, uid uint32) string {
	return approver.Key("quota", "asks/"+what+"/"+strconv.FormatUint(uint64(uid), 10))
}

// askedSchema is the schema of a uid's questions. A missing record means that there are none, so
// it is kept until its last question no longer counts.
func askedSchema(about string, uid uint32) schema[askedRecord] {
	key := askedKey(about, uid)
	return schema[askedRecord]{
		name:  key,
		key:   func(time.Time) string { return key },
		check: checkAsked,
		times: func(_ *askedRecord, now time.Time) times {
			return times{keep: now.Add(askWindow + keepBuckets)}
		},
	}
}
