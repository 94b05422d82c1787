package broadcaster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/broadcaster/ladder"
)

// bell is a chat in which people can be reminded.
type bell struct {
	*chat
	mu     sync.Mutex
	rings  []string
	left   []string // the messages of reminders that people see
	taken  []string // and of those that were taken away
	when   []time.Time
	fail   error
	before func()       // a reminder is sent
	stays  func() error // why one cannot be taken away
}

func (b *bell) Remind(_ context.Context, card approver.Ref, text string) (approver.Ref, error) {
	b.mu.Lock()
	before := b.before
	b.mu.Unlock()
	if before != nil {
		before()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rings, b.when = append(b.rings, card.Message+" "+text), append(b.when, time.Now())
	if b.fail != nil {
		return approver.Ref{}, b.fail
	}
	message := fmt.Sprint("ring-", len(b.rings))
	b.left = append(b.left, message)
	return approver.Ref{Message: message}, nil
}

func (b *bell) Unremind(_ context.Context, reminder approver.Ref) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stays != nil {
		if err := b.stays(); err != nil {
			return err
		}
	}
	b.taken = append(b.taken, reminder.Message)
	b.left = slices.DeleteFunc(b.left, func(m string) bool { return m == reminder.Message })
	return nil
}

// seen are the reminders that people see.
func (b *bell) seen() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.left)
}

func (b *bell) rung() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.rings...)
}

// ringing has a reminder each 30 s, and a bell in Telegram.
func ringing(t *testing.T, kv *memKV, cfg ladder.Config, fail error) (*laddered, *bell) {
	t.Helper()
	cfg.Remind = 30 * time.Second
	b := &bell{fail: fail}
	return newLadderedAs(t, kv, cfg, func(x *laddered, o *Options) {
		b.chat = x.tg
		o.Channels[0] = b
	}), b
}

// The story: the card stood above thirty other messages, and nobody thought of it again. People are reminded in its
// chat, three times at most, without a code, and never once the question has ended.
func TestPeopleAreReminded(t *testing.T) {
	for name, c := range map[string]struct {
		fail  error
		end   time.Duration // after which somebody answers; 0 is never
		ttl   time.Duration
		rings int
	}{
		"until the deadline":          {ttl: 100 * time.Second, rings: 3},
		"three times at most":         {ttl: 10 * time.Minute, rings: 3},
		"not at the deadline":         {ttl: 60 * time.Second, rings: 1},
		"not after the answer":        {ttl: 10 * time.Minute, end: 45 * time.Second, rings: 1},
		"not again after it failed":   {ttl: 10 * time.Minute, rings: 3, fail: errors.New("502")},
		"not if they answer at once":  {ttl: 10 * time.Minute, end: time.Second},
		"not just before the first":   {ttl: 10 * time.Minute, end: 29 * time.Second},
		"not if nobody waits so long": {ttl: 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x, b := ringing(t, newMemKV(), ladder.Config{}, c.fail)
				x.tune(func(o *Options) { o.TTL = c.ttl })
				began := time.Now()
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				time.Sleep(time.Second)
				message, card := x.tg.card(0)
				if c.end > 0 {
					time.Sleep(time.Until(began.Add(c.end)))
					x.tap(x.tg, 0, "1", true)
				}
				<-answer
				time.Sleep(time.Hour)
				rings := b.rung()
				if left := b.seen(); len(left) != 0 {
					t.Errorf("long after its end, %q are still there", left)
				}
				if len(rings) != c.rings || x.tg.count() != 1 || x.dc.count() != 1 {
					t.Fatalf("%d reminders: %q", len(rings), rings)
				}
				for _, text := range rings {
					if !strings.HasPrefix(text, message+" ⏰") || strings.Contains(text, card.Code.Reveal()) ||
						strings.Contains(text, "CONFIRM") {
						t.Errorf("%q", text)
					}
				}
			})
		})
	}
}

// Two replicas remind people once.
func TestTwoReplicasRemindOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x, one := ringing(t, kv, ladder.Config{}, nil)
		_, two := ringing(t, kv, ladder.Config{}, nil)
		const n = 10
		var answers []<-chan approver.Verdict
		for i := range n {
			call := testCall(fmt.Sprint("c", i))
			call.Args = fmt.Appendf(nil, `{"command":"git push --force %d"}`, i)
			answers = append(answers, x.askAsync(t.Context(), call, approver.High))
		}
		time.Sleep(40 * time.Second)
		if all := len(one.rung()) + len(two.rung()); all != n {
			t.Errorf("%d reminders of %d questions", all, n)
		}
		for _, a := range answers {
			<-a
		}
	})
}

// A chat that is left alone is not reminded either.
func TestNobodyIsRemindedInQuietHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, b := ringing(t, newMemKV(), night(nil, "telegram"), nil)
		time.Sleep(22*time.Hour - 20*time.Second) // ten seconds before the first reminder, it becomes quiet
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		<-answer
		if rings := b.rung(); len(rings) != 0 || x.tg.count() != 1 {
			t.Errorf("%q, %d cards", rings, x.tg.count())
		}
	})
}

// pacedBell is a bell whose platform limits what it takes.
type pacedBell struct {
	*bell
	limit approver.Limit
}

func (p pacedBell) Pace(to approver.Destination, _ bool) []approver.Limit {
	limit := p.limit
	limit.What = to.Conversation
	return []approver.Limit{limit}
}

// posts are when the cards of a chat were posted.
func posts(c *chat) func() []time.Time {
	var mu sync.Mutex
	var when []time.Time
	c.onPost(func(context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		when = append(when, time.Now())
		return nil
	})
	return func() []time.Time {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(when)
	}
}

// queued is how many messages wait for their turn on Telegram that the end of a request makes needless.
func queued(x *laddered, request string) int {
	q := x.Channels.outbox.queues["telegram"]
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.of[request])
}

// The story: a chat was full of questions, and each reminder took the room of another card. Reminders wait for their
// turn behind the cards of their severity, do not count as questions that wait, and one whose question was answered
// meanwhile is not sent, nor one that waited until the next was due.
func TestRemindersWaitForRoom(t *testing.T) {
	for name, c := range map[string]struct {
		answer time.Duration // after which the first question is; zero is never
		cards  int           // that come just before the reminder
		ttl    time.Duration // less than what brings reminders of the other cards, if it is not set
		rings  int
		from   time.Duration // after which the reminder is there at the earliest
	}{
		"there is room":              {rings: 1, from: 30 * time.Second},
		"cards go first":             {cards: 3, rings: 1, from: 43 * time.Second},
		"answered meanwhile":         {cards: 3, answer: 40 * time.Second},
		"no room until the next one": {cards: 12, ttl: 100 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &bell{}
				cfg := ladder.Config{Remind: 30 * time.Second}
				x := newLadderedAs(t, newMemKV(), cfg, func(x *laddered, o *Options) {
					b.chat, o.TTL = x.tg, cmp.Or(c.ttl, 58*time.Second)
					o.Channels[0] = pacedBell{b, approver.Limit{Most: 1, Within: 5 * time.Second}}
				})
				posted := posts(x.tg)
				began := time.Now()
				first := x.askAsync(t.Context(), testCall("c0"), approver.High)
				time.Sleep(29 * time.Second)
				var answers []<-chan approver.Verdict
				ctx, leave := context.WithCancelCause(t.Context())
				for n := range c.cards {
					call := testCall(fmt.Sprint("c", n+1))
					call.Args = fmt.Appendf(nil, `{"command":"make %d"}`, n)
					answers = append(answers, x.askAsync(ctx, call, approver.High))
				}
				time.Sleep(2 * time.Second)
				waiting := 0
				for _, crowd := range x.Channels.State("telegram").Crowds {
					waiting += crowd.Cards
				}
				if want := max(c.cards-1, 0); waiting != want {
					t.Errorf("%d cards wait, want %d", waiting, want)
				}
				if c.answer > 0 {
					time.Sleep(time.Until(began.Add(c.answer)))
					_, card := x.tg.card(0)
					before := queued(x, card.Request)
					x.tap(x.tg, 0, "1", true)
					synctest.Wait()
					if after := queued(x, card.Request); before != 1 || after != 0 {
						t.Errorf("%d messages waited for the request, and %d do after its end", before, after)
					}
				}
				<-first
				b.mu.Lock()
				rung, when := slices.Clone(b.rings), slices.Clone(b.when)
				b.mu.Unlock()
				rung = slices.DeleteFunc(rung, func(r string) bool { return !strings.HasPrefix(r, "T-0 ") })
				if len(rung) != c.rings || c.rings > 0 && when[0].Sub(began) < c.from {
					t.Errorf("reminders %q after %v", rung, time.Since(began))
				}
				leave(approver.ErrGone)
				for _, a := range answers {
					<-a
				}
				all := append(posted(), when...)
				slices.SortFunc(all, time.Time.Compare)
				for i := 1; i < len(all); i++ {
					if gap := all[i].Sub(all[i-1]); gap < 5*time.Second {
						t.Errorf("two messages within %v", gap)
					}
				}
				time.Sleep(10 * time.Minute)
				if left := b.seen(); len(left) > 0 {
					t.Errorf("%q are still there", left)
				}
			})
		})
	}
}

// The story: somebody found a reminder, and looked for a question that had ended an hour before. Reminders are taken
// away at the end: also one that was on its way then, one that the platform kept at first, and those of a process that
// has died.
func TestRemindersAreTakenAway(t *testing.T) {
	for name, c := range map[string]struct {
		begin func(b *bell)
		dies  bool
		soon  bool // it is gone within two seconds
		stays bool
	}{
		"at the end": {begin: func(*bell) {}, soon: true},
		"it was on its way": {begin: func(b *bell) {
			b.before = func() { time.Sleep(3 * time.Second) }
		}},
		"the platform was away": {begin: func(b *bell) {
			tries := 0
			b.stays = func() error {
				if tries++; tries < 4 {
					return errors.New("502")
				}
				return nil
			}
		}},
		"the platform refuses": {begin: func(b *bell) {
			b.stays = func() error { return fmt.Errorf("too old: %w", approver.ErrFinal) }
		}, stays: true},
		"its process has died": {begin: func(*bell) {}, dies: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newMemKV()
				x, b := ringing(t, kv, ladder.Config{}, nil)
				c.begin(b)
				ctx, leave := context.WithCancelCause(t.Context())
				answer := x.askAsync(ctx, peerCall("c1", 1000), approver.High)
				time.Sleep(32 * time.Second)
				_, card := x.tg.card(0)
				if !c.dies {
					x.tap(x.tg, 0, "1", true)
					<-answer
				} else {
					leave(approver.ErrShuttingDown)
					x.stop()
					<-answer
					x, b = ringing(t, kv, ladder.Config{}, nil)
					time.Sleep(3 * time.Minute) // nobody comes back for it
				}
				time.Sleep(2 * time.Second)
				if c.soon && len(b.seen()) != 0 {
					t.Error("it is still there")
				}
				time.Sleep(10 * time.Minute)
				if left := b.seen(); (len(left) > 0) != c.stays {
					t.Errorf("%q are still there", left)
				}
				b.mu.Lock()
				taken := slices.Clone(b.taken)
				b.mu.Unlock()
				if len(taken) == 0 && !c.stays {
					t.Error("none was taken away")
				}
				if r := x.loaded(card.Request); len(r.Climb.Reminders) != 0 || !r.State.Settled() {
					t.Errorf("the record: %v %+v", r.State, r.Climb)
				}
				leave(nil)
			})
		})
	}
}

// Somebody gave a question more time: people are reminded again.
func TestRemindersGoOnWithMoreTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, b := ringing(t, newMemKV(), ladder.Config{}, nil)
		x.tune(func(o *Options) { o.TTL = 50 * time.Second })
		answer := x.askAsync(patient(t, time.Hour), hookCall("c1"), approver.High)
		time.Sleep(40 * time.Second)
		message, card := x.tg.card(0)
		x.Answers.Reply(t.Context(), approver.Reply{Channel: "telegram", Conversation: "T", Sender: "1",
			Want: approver.WantTime, Request: card.Request, Message: message})
		time.Sleep(30 * time.Second)
		if rings := b.rung(); len(rings) != 2 {
			t.Errorf("%d reminders", len(rings))
		}
		x.tap(x.tg, 0, "1", true)
		<-answer
	})
}

// Of what people are reminded: of a card that they see, while its request waits and somebody would hear an answer.
func TestOfWhatPeopleAreReminded(t *testing.T) {
	for name, c := range map[string]struct {
		change func(x *laddered, r *Request)
		after  time.Duration
		want   bool
	}{
		"a card that waits": {want: true, after: time.Minute},
		"at its deadline":   {after: DefaultTTL},
		"it has ended":      {change: func(_ *laddered, r *Request) { r.State = approver.Denied }},
		"it is on its way":  {change: func(_ *laddered, r *Request) { r.Postings[0].Phase = Sending }},
		"it failed":         {change: func(_ *laddered, r *Request) { r.Postings[0].Phase = Failed }},
		"it is gone":        {change: func(_ *laddered, r *Request) { r.Postings = nil }},
		"a page":            {change: func(_ *laddered, r *Request) { r.Postings[0].Page = true }},
		"elsewhere":         {change: func(_ *laddered, r *Request) { r.Postings[0].To.Channel = "discord" }},
		"nobody would hear an answer": {change: func(x *laddered, _ *Request) {
			x.Channels.states.ended("telegram", errors.New("revoked"))
		}},
		"at night": {after: 11 * time.Hour, change: func(_ *laddered, r *Request) { r.Due = r.Due.Add(48 * time.Hour) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x, _ := ringing(t, newMemKV(), night(nil, "telegram"), nil)
				now := time.Now().Add(12 * time.Hour)
				to := approver.Destination{Channel: "telegram", Conversation: "T"}
				r := Request{State: approver.Pending, Created: now, Due: now.Add(DefaultTTL),
					Verdict: approver.Verdict{Severity: approver.High}, Postings: Postings{{To: to, Phase: Posted}}}
				if c.change != nil {
					c.change(x, &r)
				}
				if got := x.escalator.reminds(r, 0, now.Add(c.after)); got != c.want {
					t.Errorf("reminded: %v", got)
				}
			})
		})
	}
}

// Quiet hours begin while a reminder waits for room: it is not sent any more.
func TestAReminderThatWaitsIntoQuietHours(t *testing.T) {
	for name, quiet := range map[string]bool{"into quiet hours": true, "by day": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &bell{}
				cfg := ladder.Config{Remind: 30 * time.Second, Quiet: night(nil, "telegram").Quiet}
				x := newLadderedAs(t, newMemKV(), cfg, func(x *laddered, o *Options) {
					b.chat, o.TTL = x.tg, 59*time.Second
					o.Channels[0] = pacedBell{b, approver.Limit{Most: 1, Within: 5 * time.Second}}
				})
				begin := 22*time.Hour - 40*time.Second
				if !quiet {
					begin -= 6 * time.Hour
				}
				time.Sleep(begin)
				answers := []<-chan approver.Verdict{x.askAsync(t.Context(), testCall("c0"), approver.High)}
				time.Sleep(29 * time.Second) // the reminder is due ten seconds before they begin
				for n := range 3 {
					call := testCall(fmt.Sprint("c", n+1))
					call.Args = fmt.Appendf(nil, `{"command":"make %d"}`, n)
					answers = append(answers, x.askAsync(t.Context(), call, approver.High))
				}
				for _, a := range answers {
					<-a
				}
				if rung := b.rung(); quiet && len(rung) > 0 || !quiet && len(rung) == 0 {
					t.Errorf("reminders: %q", rung)
				}
			})
		})
	}
}
