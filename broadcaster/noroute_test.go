package broadcaster

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// fragile is a chat whose platform shuts its bot out, and may let it in again.
type fragile struct {
	*scripted
	mu  sync.Mutex
	out bool
}

func (f *fragile) shut(out bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.out = out
}

func (f *fragile) shutOut() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out
}

func (f *fragile) Run(ctx context.Context, _ approver.ReplyFunc) error {
	for {
		if f.shutOut() {
			return errors.New("https://platform/bot12345/me: 401: make a new token and put it into token_file")
		}
		if !sleep(ctx, 100*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// routed is a daemon with two chats that may be shut out, and a terminal.
type routed struct {
	*bench
	one, two *fragile
	term     *screens
}

func newRouted(t *testing.T, kv *memKV, script []step, change func(o *Options)) *routed {
	t.Helper()
	x := newBench(t, kv)
	x.stop()
	r := &routed{
		bench: x, one: &fragile{scripted: &scripted{chat: newChat("telegram")}},
		two:  &fragile{scripted: &scripted{chat: newChat("discord"), script: script}},
		term: &screens{chat: newChat("terminal")},
	}
	o := x.Options
	o.Channels = []approver.Channel{r.one, r.two, r.term}
	o.Destinations = append(o.Destinations, approver.Destination{Channel: "terminal", Conversation: "here"})
	o.People[approver.Identity{Channel: "terminal", ID: "1"}] = approver.Person{ID: "alice", Name: "Alice"}
	if change != nil {
		change(&o)
	}
	b, err := NewBroadcaster(o)
	if err != nil {
		t.Fatal(err)
	}
	x.Broadcaster, x.tg, x.dc = b, r.one.chat, r.two.chat
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = b.Run(ctx) }()
	x.stop = func() { cancel(); <-ended }
	t.Cleanup(x.stop)
	time.Sleep(time.Second)
	return r
}

// comesBack lets the bot in again, and has Alice say yes once there is a card.
func (x *routed) comesBack() {
	x.one.shut(false)
	for end := time.Now().Add(9 * time.Minute); x.one.count() == 0 && time.Now().Before(end); {
		time.Sleep(time.Second)
	}
	x.tap(x.one.chat, 0, "1", true)
}

// The story: the tokens of all chats had been revoked, so nobody could be asked. Each call hung for its two
// minutes and was then denied, "see approver's log". Once the channels have ended for a minute, and do so
// again when they are run once more, it is denied, and the agent and its user hear which they are and what to do.
// What is only away may come back in time, and whoever watches a terminal can answer.
func TestACallThatCanReachNobodyIsDeniedAtOnce(t *testing.T) {
	bad := always(step{err: errBad})
	for name, c := range map[string]struct {
		script   []step // of the second chat
		begin    func(x *routed)
		then     func(x *routed)
		ttl      time.Duration
		from, to time.Duration // when the agent has its answer
		allow    bool
		ended    bool // it is told which channels have ended
	}{
		"both, for long": {
			begin: func(x *routed) { x.one.shut(true); x.two.shut(true); time.Sleep(2 * time.Minute) },
			to:    runsApart + time.Second, ended: true,
		},
		"both, since a moment": {
			begin: func(x *routed) { x.one.shut(true); x.two.shut(true); time.Sleep(10 * time.Second) },
			from:  40 * time.Second, to: 70 * time.Second, ended: true,
		},
		"both, while the call waits": {
			script: bad, begin: func(x *routed) { x.one.shut(true); time.Sleep(2 * time.Minute) },
			then: func(x *routed) { time.Sleep(5 * time.Second); x.two.shut(true) },
			from: DefaultTTL, to: DefaultTTL, ended: true,
		},
		"one, and the other is down": {
			script: bad, begin: func(x *routed) { x.one.shut(true); time.Sleep(2 * time.Minute) },
			from: DefaultTTL, to: DefaultTTL,
		},
		"one, and the other asks for patience": {
			script: always(step{err: busy(5 * time.Second)}),
			begin:  func(x *routed) { x.one.shut(true); time.Sleep(2 * time.Minute) },
			then:   func(x *routed) { time.Sleep(90 * time.Second); x.two.plays(nil) },
			from:   DefaultTTL, to: DefaultTTL,
		},
		"both, and a card may be there": {
			script: []step{{err: errBad, taken: true}}, begin: func(*routed) {},
			then: func(x *routed) {
				x.one.onPost(func(context.Context) error { return errBad })
				time.Sleep(10 * time.Millisecond)
				x.one.shut(true)
				x.two.shut(true)
				time.Sleep(80 * time.Second)
				x.two.shut(false)
				for end := time.Now().Add(4 * time.Minute); x.two.count() < 2 && time.Now().Before(end); {
					time.Sleep(time.Second)
				}
				x.tap(x.two.chat, 1, "d1", true)
			}, from: 80 * time.Second, to: 5 * time.Minute, allow: true, ttl: 5 * time.Minute,
		},
		"one, and the other refuses": {
			script: always(step{err: errRefusedForGood}),
			begin:  func(x *routed) { x.one.shut(true); time.Sleep(2 * time.Minute) },
			to:     runsApart + time.Second, ended: true,
		},
		"one, and the other works": {
			begin: func(x *routed) { x.one.shut(true); time.Sleep(2 * time.Minute) },
			then:  func(x *routed) { time.Sleep(90 * time.Second); x.tap(x.two.chat, 0, "d1", true) }, from: 90 * time.Second,
			to: 92 * time.Second, allow: true,
		},
		"both, and one is back in time": {
			begin: func(x *routed) { x.one.shut(true); x.two.shut(true); time.Sleep(5 * time.Second) },
			then: func(x *routed) {
				x.one.shut(false)
				time.Sleep(60 * time.Second)
				x.tap(x.one.chat, 0, "1", true)
			}, from: 60 * time.Second, to: 62 * time.Second, allow: true,
		},
		"both, and a terminal is watched": {
			begin: func(x *routed) { x.term.come(); x.one.shut(true); x.two.shut(true); time.Sleep(2 * time.Minute) },
			then: func(x *routed) {
				time.Sleep(90 * time.Second)
				message, card := x.term.card(0)
				x.Answers.Reply(x.t.Context(), approver.Reply{Channel: "terminal", Conversation: "here", Sender: "1",
					Approve: true, Method: approver.ByTyped, Request: card.Request, Message: message})
			}, from: 90 * time.Second, to: 92 * time.Second, allow: true,
		},
		"one that comes back, and the other asks for patience": {
			script: always(step{err: busy(5 * time.Second)}),
			begin:  func(x *routed) { x.one.shut(true); time.Sleep(2 * time.Minute) },
			then:   func(x *routed) { time.Sleep(30 * time.Second); x.comesBack() },
			from:   30 * time.Second, to: 10 * time.Minute, allow: true, ttl: 10 * time.Minute,
		},
		"one that comes back, and the other ended after its card": {
			begin: func(x *routed) { x.one.shut(true); time.Sleep(2 * time.Minute) },
			then: func(x *routed) {
				time.Sleep(time.Second)
				x.two.shut(true)
				time.Sleep(90 * time.Second)
				x.comesBack()
			},
			from: 90 * time.Second, to: 10 * time.Minute, allow: true, ttl: 10 * time.Minute,
		},
		"one that comes back, and a terminal is watched": {
			begin: func(x *routed) { x.term.come(); x.one.shut(true); x.two.shut(true); time.Sleep(2 * time.Minute) },
			then:  func(x *routed) { time.Sleep(30 * time.Second); x.comesBack() },
			from:  30 * time.Second, to: 10 * time.Minute, allow: true, ttl: 10 * time.Minute,
		},
		"both, after the cards were shown": {
			begin: func(*routed) {}, then: func(x *routed) {
				time.Sleep(5 * time.Second)
				x.one.shut(true)
				x.two.shut(true)
			}, from: DefaultTTL, to: DefaultTTL,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newRouted(t, newMemKV(), c.script, func(o *Options) { o.TTL = cmp.Or(c.ttl, o.TTL) })
				c.begin(x)
				began := time.Now()
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				if c.then != nil {
					c.then(x)
				}
				v := <-answer
				if took := time.Since(began); took < c.from || took > c.to || (v.Decision == approver.Allow) != c.allow {
					t.Errorf("after %v: %v %s", took, v.Decision, v.Reason)
				}
				told := strings.Contains(v.Reason, "ended, which only people can mend") &&
					strings.Contains(v.Reason, "telegram (since 00:0") && strings.Contains(v.Reason, "approver status")
				if told != c.ended || strings.Contains(v.Reason, "bot12345") || strings.Contains(v.Reason, "see approver's log") {
					t.Errorf("the agent is told %q", v.Reason)
				}
				if c.ended && !strings.Contains(v.Detail, "put it into token_file") {
					t.Errorf("people are told %q", v.Detail)
				}
			})
		})
	}
}
