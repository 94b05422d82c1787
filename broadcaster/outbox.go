package broadcaster

import (
	"container/heap"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"approver.example"
)

// An outbox has what waits to be sent. Each message to a platform that limits them waits for its turn there, so
// that what is urgent is not refused because of what is not.
//
// # Whose turn it is
//
// New cards come by severity, then the one that would be too late first, then the oldest. A reminder comes after the
// cards of its severity. Where more is asked than
// a chat takes, that alone would show each card at the very end of its time, when nobody can answer it any more. So
// a card that has hardly any time left lets the others of its severity go first.
//
// Edits come by age; one that only brings the number of calls up to date, or the time left, counts as younger than
// it is. Edits let new cards go first for a while, because a question is more urgent than what became of another
// one. An edit that has waited for editPatience takes turns with the new cards that count against the same limits,
// be they of its chat, of another topic of it, or of another chat of the bot. So neither starves: cards that nobody
// can answer any more lose their buttons at half of the pace at least, and new ones appear at the other half.
//
// Where places share a limit, they take turns too, each with the most urgent that it has: a crowd in one of them
// holds up no other one.
//
// CATASTROPHIC cards go before HIGH ones as long as there are any. What a HIGH card loses by that is not silent:
// its chat is told how many wait, and a request whose card never came is denied for that reason. Such news, and
// alerts, come after the CATASTROPHIC cards and before all others. They get nothing of what is kept for those.
type outbox struct {
	queues map[string]*queue // by channel
}

// newOutbox makes an outbox. replicas says how many daemons share the limits.
func newOutbox(o *Options, replicas func() int, sends func()) *outbox {
	b := &outbox{queues: map[string]*queue{}}
	for _, c := range o.Channels {
		if pacer, is := c.(approver.Pacer); is && !o.Unlimited {
			b.queues[c.Name()] = &queue{
				pacer: pacer, sends: sends, replicas: replicas, windows: map[string]*window{},
				lanes: map[approver.Destination]*lane{}, of: map[string][]*send{},
			}
		}
	}
	return b
}

// A waiter is told, once, what becomes of its send. It must not block.
type waiter interface {
	begin(turn) // the turn has come
	drop()      // it is not needed any more
}

// A turn is the permission to make one call. Whoever has it ends it, with the call's error. It ends once; to end it
// again does nothing.
type turn func(err error)

// turnLife is after what time a turn that nobody has ended does not count as under way any more: who had it has
// panicked, or waits for the store. No call takes that long.
const turnLife = 2 * time.Minute

// guessedHold is how long the whole bot is held at most because the platform wants a pause in two places.
const guessedHold = 10 * time.Second

// errUnused ends a turn in which the platform was not called.
var errUnused = errors.New("the platform was not called")

// errNeedless is the error of a send that is not needed any more, such as one whose request has ended.
var errNeedless = errors.New("it is not needed any more")

// add returns the turn of a send if it has come already. Otherwise the send waits.
func (b *outbox) add(s *send) turn {
	q := b.queues[s.to.Channel]
	if q == nil {
		return func(error) {}
	}
	return q.add(s)
}

// waitFor returns the turn of a send when it has come. It fails if that comes to nothing: the patience or ctx ends,
// or the request.
func (b *outbox) waitFor(ctx context.Context, s *send, patience time.Duration) (turn, error) {
	q := b.queues[s.to.Channel]
	if q == nil {
		return func(error) {}, nil
	}
	w := make(blocked, 1)
	s.waits = w
	if t := q.add(s); t != nil {
		return t, nil
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	select {
	case t := <-w:
		if t == nil {
			return nil, errNeedless
		}
		return t, nil
	case <-ctx.Done():
	}
	if !q.remove(s) {
		if t := <-w; t != nil {
			t(errUnused)
		}
	}
	return nil, ctx.Err()
}

// blocked is a goroutine that waits; it gets nil if the send is needless.
type blocked chan turn

func (w blocked) begin(t turn) { w <- t }
func (w blocked) drop()        { w <- nil }

// drop takes out what waits for a request that has ended.
func (b *outbox) drop(request string) {
	for _, q := range b.queues {
		q.drop(request)
	}
}

// busy reports that a send to a place would have to wait.
func (b *outbox) busy(to approver.Destination, edit bool) bool {
	q := b.queues[to.Channel]
	return q != nil && q.busy(to, edit)
}

// A queue is what waits for one channel.
type queue struct {
	pacer    approver.Pacer
	sends    func()
	replicas func() int

	mu      sync.Mutex
	windows map[string]*window // by what they count
	lanes   map[approver.Destination]*lane
	of      map[string][]*send // by request
	numbers uint64
	turns   uint64  // how many have begun
	running []*send // whose turns have not ended, the oldest first
	timer   *time.Timer
	wakes   time.Time // when the timer does
}

func (q *queue) add(s *send) (now turn) {
	q.sends()
	for _, other := range q.enqueue(s) {
		if other == s {
			now = q.turnOf(s)
			continue
		}
		other.waits.begin(q.turnOf(other))
	}
	return now
}

func (q *queue) enqueue(s *send) (begun []*send) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lane(s.to)
	q.numbers++
	s.lane, s.number = l, q.numbers
	heap.Push(l.heapOf(s), s)
	if s.request != "" {
		q.of[s.request] = append(q.of[s.request], s)
	}
	return q.next(time.Now())
}

func (q *queue) lane(to approver.Destination) *lane {
	l := q.lanes[to]
	if l == nil {
		l = &lane{posting: q.windowsOf(to, false), editing: q.windowsOf(to, true)}
		q.lanes[to] = l
	}
	return l
}

func (q *queue) windowsOf(to approver.Destination, edit bool) (all []*window) {
	for _, limit := range q.pacer.Pace(to, edit) {
		w := q.windows[limit.What]
		if w == nil {
			w = &window{Limit: limit}
			q.windows[limit.What] = w
		}
		all = append(all, w)
	}
	return all
}

// next begins the turns that have come, and sees to it that somebody looks again in time. The caller holds mu, and
// tells the waiters after it has let go of it.
func (q *queue) next(now time.Time) (begun []*send) {
	q.reap(now)
	replicas := q.replicas()
	var ready []*send
	for {
		ready = ready[:0]
		wake, waits := time.Time{}, false
		for _, l := range q.lanes {
			card, edit, from := l.ready(now, replicas)
			for _, s := range []*send{card, edit} {
				if s != nil {
					ready = append(ready, s)
				}
			}
			wake, waits = earlier(wake, from), waits || len(l.cards)+len(l.edits) > 0
		}
		first := choose(ready, now)
		if first != nil {
			q.begin(first, now)
			begun = append(begun, first)
			continue
		}
		if waits && len(q.running) > 0 {
			wake = earlier(wake, q.running[0].begun.Add(turnLife))
		}
		q.wakeAt(wake, now)
		return begun
	}
}

// earlier is the earlier of two times, of which a zero one is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// begin begins a turn. The caller holds mu.
func (q *queue) begin(s *send, now time.Time) {
	for _, w := range s.lane.windowsFor(s.edit) {
		w.begun++
		w.edited = s.edit
	}
	q.turns++
	*s.lane.last(s.edit) = q.turns
	s.begun = now
	q.running = append(q.running, s)
	q.takeOut(s)
}

// reap gives up turns that nobody has ended. The caller holds mu.
func (q *queue) reap(now time.Time) {
	for len(q.running) > 0 && !q.running[0].begun.Add(turnLife).After(now) {
		q.release(q.running[0])
	}
}

// release has a turn not count as begun any more. The caller holds mu.
func (q *queue) release(s *send) {
	s.over = true
	q.running = slices.DeleteFunc(q.running, func(other *send) bool { return other == s })
	for _, w := range s.lane.windowsFor(s.edit) {
		w.begun--
	}
}

func (q *queue) wakeAt(at, now time.Time) {
	if at.IsZero() || at.Equal(q.wakes) {
		return
	}
	q.wakes = at
	if q.timer != nil {
		q.timer.Stop()
	}
	q.timer = time.AfterFunc(at.Sub(now), q.wake)
}

func (q *queue) wake() {
	q.tell(q.woken())
}

func (q *queue) woken() (begun []*send) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wakes = time.Time{}
	return q.next(time.Now())
}

func (q *queue) tell(begun []*send) {
	for _, s := range begun {
		s.waits.begin(q.turnOf(s))
	}
}

// turnOf is the turn of a send that has begun. What the platform says of its pace holds for all sends.
func (q *queue) turnOf(s *send) turn {
	var once sync.Once
	return func(err error) {
		once.Do(func() { q.tell(q.end(s, err)) })
	}
}

// end ends a turn. One in which the platform was not called does not count.
func (q *queue) end(s *send, err error) (begun []*send) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	if !s.over {
		q.release(s)
	}
	all := s.lane.windowsFor(s.edit)
	if !errors.Is(err, errUnused) {
		for _, w := range all {
			w.ended = append(w.ended, now)
		}
	}
	if p, ok := errors.AsType[approver.Patience](err); ok {
		q.hold(s, now, p.RetryAfter())
	} else if err == nil || errors.Is(err, approver.ErrFinal) { // it was taken, or read
		for _, w := range all {
			w.probes = false
		}
	}
	return q.next(now)
}

// hold keeps the pause that a platform asks for. It does not say whether the pause is for the place or for the
// whole bot. If another place that shares the bot's limit has one too, it may be the bot's: then all wait for a
// moment, and one call finds out.
func (q *queue) hold(s *send, now time.Time, pause time.Duration) {
	all := s.lane.windowsFor(s.edit)
	if len(all) == 0 || pause <= 0 {
		return
	}
	wide := all[len(all)-1]
	for _, l := range q.lanes {
		if l.held(l.posting, wide, s.lane, now) || l.held(l.editing, wide, s.lane, now) {
			wide.hold(now.Add(min(pause, guessedHold)), true)
			break
		}
	}
	all[0].hold(now.Add(pause), false)
}

// takeOut removes a send from the queue. The caller holds mu.
func (q *queue) takeOut(s *send) {
	heap.Remove(s.lane.heapOf(s), s.at)
	if s.request == "" {
		return
	}
	rest := slices.DeleteFunc(q.of[s.request], func(other *send) bool { return other == s })
	if q.of[s.request] = rest; len(rest) == 0 {
		delete(q.of, s.request)
	}
}

// remove takes a send out, and reports whether it still waited.
func (q *queue) remove(s *send) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s.at < 0 {
		return false
	}
	q.takeOut(s)
	return true
}

func (q *queue) drop(request string) {
	for _, s := range q.dropped(request) {
		s.waits.drop()
	}
}

func (q *queue) dropped(request string) []*send {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := slices.Clone(q.of[request])
	for _, s := range all {
		q.takeOut(s)
	}
	return all
}

func (q *queue) busy(to approver.Destination, edit bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lane(to)
	return len(l.cards)+len(l.edits) > 0 || !l.open(edit, false, time.Now(), q.replicas())
}

// A Crowd is what waits for room in one place.
type Crowd struct {
	To    approver.Destination
	Cards int       // of requests
	Other int       // edits, and what is no card of a request
	Since time.Time // when the oldest of the cards began to wait, or else of the others
}

// crowds are what waits in each place, in no order.
func (b *outbox) crowds(channel string) (all []Crowd) {
	q := b.queues[channel]
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for to, l := range q.lanes {
		if c := l.crowd(to); c.Cards+c.Other > 0 {
			all = append(all, c)
		}
	}
	return all
}

// crowd is what waits in one place.
func (b *outbox) crowd(to approver.Destination) Crowd {
	for _, c := range b.crowds(to.Channel) {
		if c.To == to {
			return c
		}
	}
	return Crowd{To: to}
}

// waits reports whether a card of a request waits for its turn in a place.
func (b *outbox) waits(request string, to approver.Destination) bool {
	q := b.queues[to.Channel]
	if q == nil {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.of[request], func(s *send) bool { return s.to == to && s.card() })
}
