package broadcaster

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"approver.example"
	"approver.example/display"
	"github.com/google/uuid"
)

// digests tell a chat how many requests wait for room in it. One message for each chat says so; it is edited now and
// then, and at last says that none waits any more.
type digests struct {
	*Options
	alerts   *alerts
	cards    *Cards
	channels *Channels
	senders  *senders
	tasks    *tasks

	mu sync.Mutex
	of map[approver.Destination]digest
}

// Times of telling a chat what waits for it.
const (
	digestLook  = 2 * time.Second
	digestAfter = 10 * time.Second // that the oldest has waited
	digestAgain = 15 * time.Second // from one edit to the next; then twice as long, up to digestSlow
	digestSlow  = time.Minute
)

// A digest is what a chat was told.
type digest struct {
	id    string
	ref   approver.Ref // empty while it is not posted
	count int          // of requests that wait
	next  time.Time    // before which it is not edited again
	pause time.Duration

	failures int       // in a row
	retry    time.Time // before which it is not tried again after a failure
}

// A digesting is the key of the task that tells a chat.
type digesting approver.Destination

// run looks at what waits until ctx ends.
func (g *digests) run(ctx context.Context) {
	for sleep(ctx, digestLook) {
		waiting := map[approver.Destination]Crowd{}
		for _, c := range g.Channels {
			if _, pages := c.(approver.Pager); pages { // nobody reads there
				continue
			}
			for _, crowd := range g.channels.outbox.crowds(c.Name()) {
				waiting[crowd.To] = crowd
			}
		}
		others := g.senders.others()
		all := map[approver.Destination]bool{}
		for to := range waiting {
			all[to] = true
		}
		for _, ref := range g.told() {
			all[ref.Destination] = true
		}
		for to := range all {
			g.look(to, waiting[to], others)
		}
	}
}

// look tells a chat what waits if that is to be told now. One of several processes does: the one that has told before,
// or else the first by name.
func (g *digests) look(to approver.Destination, mine Crowd, others []sender) {
	elsewhere := slices.ContainsFunc(others, func(o sender) bool {
		return o.waiting(to) > 0 && o.Process < g.process ||
			slices.ContainsFunc(o.Told, func(ref approver.Ref) bool { return ref.Destination == to })
	})
	count := waitingIn(to, mine, others)
	g.mu.Lock()
	defer g.mu.Unlock()
	d := g.of[to]
	told, now := d.ref.Message != "", time.Now()
	switch {
	case now.Before(d.retry):
		return
	case !told && (elsewhere || mine.Cards == 0 || now.Sub(mine.Since) < digestAfter):
		return
	case told && (count == d.count || count > 0 && now.Before(d.next)):
		return
	case d.id == "":
		d.id, d.pause = uuid.NewString(), digestAgain
	}
	g.tasks.startSingle(digesting(to), false, func(ctx context.Context) { g.tell(ctx, to, d) })
}

// waitingIn is how many cards wait for room in a place, in this process and in the others.
func waitingIn(to approver.Destination, mine Crowd, others []sender) (count int) {
	count = mine.Cards
	for _, o := range others {
		count += o.waiting(to)
	}
	return count
}

// tell posts the message of a chat, or edits it. It says what waits when its own turn has come.
func (g *digests) tell(ctx context.Context, to approver.Destination, d digest) {
	count := 0
	draw := func() approver.Card {
		count = waitingIn(to, g.channels.outbox.crowd(to), g.senders.others())
		return g.card(d.id, count, g.cards.textsOf(to))
	}
	told, err := d.ref.Message != "", error(nil)
	if told {
		err = g.channels.updateDrawn(ctx, d.ref, &send{to: to, edit: true, since: time.Now()},
			func() (approver.Card, error) { return draw(), nil }, turnFor)
	} else {
		d.ref, err = g.alerts.postOnce(ctx, to, func() (approver.Card, error) {
			if card := draw(); count > 0 {
				return card, nil
			}
			return approver.Card{}, errNeedless
		}, turnFor)
	}
	if err != nil {
		g.Log.Debug("a chat was not told how many requests wait for room in it", "channel", to.Channel, "error", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case errors.Is(err, errNoTurn): // it has waited long enough, and waits on at the next look
		return
	case err == nil && count == 0, errors.Is(err, errNeedless), told && errors.Is(err, approver.ErrFinal):
		delete(g.of, to) // nothing waits, or somebody has deleted the message
		return
	case err != nil:
		d.failures++
		d.retry = time.Now().Add(pauseAfter(err, d.failures, digestSlow))
	default:
		d.count, d.failures = count, 0
		d.next, d.pause = time.Now().Add(d.pause), min(2*d.pause, digestSlow)
	}
	if g.of == nil {
		g.of = map[approver.Destination]digest{}
	}
	g.of[to] = d
}

// told are the messages of this process that say that requests wait.
func (g *digests) told() (all []approver.Ref) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, d := range g.of {
		if d.ref.Message != "" {
			all = append(all, d.ref)
		}
	}
	return all
}

// inherit takes over messages of a process that has died.
func (g *digests) inherit(refs []approver.Ref) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, ref := range refs {
		d := digest{id: uuid.NewString(), ref: ref, count: -1, pause: digestAgain}
		if g.of[ref.Destination].ref.Message != "" { // there is another one
			g.tasks.start(func(ctx context.Context) {
				card := g.card(d.id, 0, g.cards.textsOf(ref.Destination))
				for failures := 1; ; failures++ {
					err := g.channels.updateOne(ctx, ref, card)
					if err == nil || errors.Is(err, approver.ErrFinal) ||
						!sleep(ctx, pauseAfter(err, failures, digestSlow)) {
						return
					}
				}
			})
			continue
		}
		if g.of == nil {
			g.of = map[approver.Destination]digest{}
		}
		g.of[ref.Destination] = d
	}
}

// card says how many requests wait for room.
func (g *digests) card(id string, count int, t display.Texts) approver.Card {
	c := approver.Card{Request: id, State: approver.Denied, Severity: approver.High, Texts: t, Created: time.Now()}
	if count > 0 {
		c.Push = t.Text("More requests wait for room in this chat: %d", count)
		c.Result = "⏳ " + t.Text("More requests wait for room in this chat: %d. The most urgent comes first. See them "+
			"with /pending.", count)
	} else {
		c.State, c.Push = approver.Consumed, t.Text("No request waits for room in this chat")
		c.Result = "✅ " + t.Text("No request waits for room in this chat any more: each has been shown, or has ended.")
	}
	if g.Host != "" {
		c.Context = "@ " + display.SafeLine(g.Host)
	}
	return c
}
