package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/fingerprint"
)

// scripted is a chat whose posts fail as its script says, one step for each try.
type scripted struct {
	*chat
	mu     sync.Mutex
	script []step
	forms  approver.Card // the last card of any try
	tries  []time.Time
	cut    bool // it would cut every card
}

// A step is what becomes of one try: the error, and whether the platform took the
// card all the same. If it hangs, its answer does not come; otherwise it may take a while.
type step struct {
	err          error
	taken, hangs bool
	takes        time.Duration
}

var (
	errBad            = errors.New("502 Bad Gateway")
	errRefusedForGood = fmt.Errorf("403 the bot was removed: %w", approver.ErrFinal)
)

// busy is an answer that asks for patience.
type busy time.Duration

func (b busy) Error() string             { return "429" }
func (b busy) RetryAfter() time.Duration { return time.Duration(b) }

func (s *scripted) Post(ctx context.Context, to approver.Destination, card approver.Card) (approver.Ref, error) {
	s.mu.Lock()
	var now step
	if len(s.script) > 0 {
		now, s.script = s.script[0], s.script[1:]
	}
	s.forms, s.tries = card, append(s.tries, time.Now())
	s.mu.Unlock()
	if now.err == nil {
		defer time.Sleep(now.takes)
		return s.chat.Post(ctx, to, card)
	}
	if now.taken {
		_, _ = s.chat.Post(ctx, to, card)
	}
	if now.hangs {
		<-ctx.Done()
	}
	return approver.Ref{}, fmt.Errorf("post: %w", now.err)
}

// plays makes the script another one.
func (s *scripted) plays(script []step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = script
}

// Fits is whether a card would be shown whole.
func (s *scripted) Fits(approver.Card) bool { return !s.cut }

func (s *scripted) times() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tries)
}

// always repeats a step for longer than any request lives.
func always(s step) []step { return slices.Repeat([]step{s}, 1000) }

// retried is a bench whose chats follow scripts.
type retried struct {
	*bench
	log    lines
	tg, dc *scripted
}

func newRetried(t *testing.T, kv *memKV, telegram, discord []step) *retried {
	t.Helper()
	return newRetriedIn(t, kv, telegram, discord, approver.Destination{Channel: "telegram", Conversation: "T"},
		approver.Destination{Channel: "discord", Conversation: "D"})
}

// newRetriedIn asks in some places only.
func newRetriedIn(t *testing.T, kv *memKV, telegram, discord []step, to ...approver.Destination) *retried {
	t.Helper()
	return newRetriedAs(t, kv, telegram, discord, func(s *scripted) approver.Channel { return s }, to...)
}

// newRetriedAs has other channels around the scripted ones.
func newRetriedAs(
	t *testing.T, kv *memKV, telegram, discord []step, as func(*scripted) approver.Channel, to ...approver.Destination,
) *retried {
	t.Helper()
	if err := BeginControls(t.Context(), kv); err != nil {
		t.Fatal(err)
	}
	x := &retried{
		tg: &scripted{chat: newChat("telegram"), script: telegram}, dc: &scripted{chat: newChat("discord"), script: discord},
	}
	x.bench = &bench{t: t, kv: kv, audit: &memAudit{}, tg: x.tg.chat, dc: x.dc.chat}
	people := approver.People{}
	people.Add("telegram", []approver.Approver{
		{ID: "1", Name: "Alice", Person: "alice"}, {ID: "2", Name: "Bob", Person: "bob"},
	})
	people.Add("discord", []approver.Approver{
		{ID: "d1", Name: "Alice", Person: "alice"}, {ID: "d2", Name: "Bob", Person: "bob"},
	})
	b, err := NewBroadcaster(Options{
		Store: kv, Audit: x.audit, People: people, Channels: []approver.Channel{as(x.tg), as(x.dc)},
		Destinations: to,
		Fingerprint: func(_ context.Context, c approver.ToolCall) (approver.Binding, error) {
			return fingerprint.Bind(c, "policy", nil, nil)
		},
		Limit:   func(context.Context, string, approver.ToolCall) error { return nil },
		CodeKey: make([]byte, 32), Log: x.log.log(), OutageAfter: quiet,
	})
	if err != nil {
		t.Fatal(err)
	}
	x.Broadcaster = b
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = b.Run(ctx) }()
	<-x.tg.ready
	<-x.dc.ready
	x.stop = func() { cancel(); <-ended }
	t.Cleanup(x.stop)
	return x
}

// code types the code of the last card that was tried to be posted on Telegram.
func (x *retried) code(approve bool) approver.Outcome {
	x.tg.mu.Lock()
	code := x.tg.forms.Code
	x.tg.mu.Unlock()
	return x.Answers.Reply(x.t.Context(), approver.Reply{
		Channel: "telegram", Conversation: "T", Sender: "1", Approve: approve, Method: approver.ByCode, Code: code,
	})
}

// settledAll fails unless every card that the platforms took shows the end.
func (x *retried) settledAll() {
	x.t.Helper()
	time.Sleep(time.Minute)
	for _, c := range []*chat{x.tg.chat, x.dc.chat} {
		for n := range c.count() {
			if id, card := c.card(n); !card.State.Settled() || card.OneTap || !card.Code.IsZero() || card.Result == "" {
				x.t.Errorf("%s: the card %s shows %v %q", c.name, id, card.State, card.Result)
			}
		}
	}
}

// The story: while a card was posted, the platform answered one 502, or cut one
// connection, or asked for twenty seconds of patience. The call was denied within 0.1 s,
// "no approval channel could be reached", and nobody ever saw a question. Now the post
// is tried again until the deadline, the card comes late, and the tap on it counts.
func TestOneHiccupLosesNoQuestion(t *testing.T) {
	for name, tt := range map[string]struct {
		script      []step
		from, until time.Duration // when the card is there
		tries       int
	}{
		"one 502": {[]step{{err: errBad}}, 200 * time.Millisecond, 400 * time.Millisecond, 2},
		"a cut connection": {
			[]step{{err: errors.New("unexpected EOF")}}, 200 * time.Millisecond, 400 * time.Millisecond, 2,
		},
		"a failed lookup": {
			[]step{{err: errors.New("conversations.info: timeout")}}, 200 * time.Millisecond, 400 * time.Millisecond, 2,
		},
		"a timeout": {
			[]step{{err: context.DeadlineExceeded}}, 200 * time.Millisecond, 400 * time.Millisecond, 2,
		},
		"a canceled call":  {[]step{{err: context.Canceled}}, 200 * time.Millisecond, 400 * time.Millisecond, 2},
		"two 503":          {[]step{{err: errBad}, {err: errBad}}, 600 * time.Millisecond, 1200 * time.Millisecond, 3},
		"retry after 20 s": {[]step{{err: busy(20 * time.Second)}}, 20 * time.Second, 22100 * time.Millisecond, 2},
		"retry after 60 s": {[]step{{err: busy(time.Minute)}}, time.Minute, 66100 * time.Millisecond, 2},
		"two rate limits": {
			[]step{{err: busy(5 * time.Second)}, {err: busy(7 * time.Second)}}, 12 * time.Second, 13300 * time.Millisecond, 3,
		},
		"retry after nothing": {[]step{{err: busy(0)}}, 0, 100 * time.Millisecond, 2},
		"retry after -5 s":    {[]step{{err: busy(-5 * time.Second)}}, 0, 100 * time.Millisecond, 2},
		"a 502 and a 429": {
			[]step{{err: errBad}, {err: busy(4 * time.Second)}}, 4200 * time.Millisecond, 5 * time.Second, 3,
		},
		"ten failures":           {slices.Repeat([]step{{err: errBad}}, 10), 40 * time.Second, 75 * time.Second, 11},
		"away for half a minute": {slices.Repeat([]step{{err: errBad}}, 7), 15 * time.Second, 35 * time.Second, 8},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newRetried(t, newMemKV(), tt.script, always(step{err: errRefusedForGood}))
				began := time.Now()
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				for x.tg.count() == 0 {
					select {
					case v := <-answer:
						t.Fatalf("after %v: %v %s", time.Since(began), v.Decision, v.Reason)
					case <-time.After(10 * time.Millisecond):
					}
				}
				if took := time.Since(began); took < tt.from || took > tt.until {
					t.Errorf("the card is there after %v, want %v to %v", took, tt.from, tt.until)
				}
				if out := x.tap(x.tg.chat, 0, "1", true); out.Kind != approver.OutcomeApproved {
					t.Errorf("the tap: %+v", out)
				}
				if v := <-answer; v.Decision != approver.Allow {
					t.Errorf("verdict %v %s", v.Decision, v.Reason)
				}
				x.settledAll()
				if n := len(x.tg.times()); n != tt.tries || x.tg.count() != 1 || len(x.dc.times()) != 1 {
					t.Errorf("%d tries, %d cards; %d tries of what was refused for good", n, x.tg.count(), len(x.dc.times()))
				}
				if x.log.count("trying again") != 1 || x.log.count("posted after all") != 1 || x.log.count("level=WARN") != 2 {
					t.Errorf("the log:\n%s", x.log.b.String())
				}
			})
		})
	}
}

// Where every platform refuses for good, waiting helps nobody: the agent hears at once. A
// card whose answer was lost before that is another story: it may be before people.
func TestWhatIsRefusedEverywhereIsDeniedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newRetried(t, newMemKV(), always(step{err: errRefusedForGood}), []step{
			{err: busy(time.Second)}, {err: errRefusedForGood},
		})
		began := time.Now()
		v := <-x.askAsync(t.Context(), testCall("c1"), approver.High)
		if took := time.Since(began); v.Decision != approver.Deny ||
			!strings.Contains(v.Reason, "no approval channel could be reached") || took < time.Second || took > 3*time.Second {
			t.Errorf("after %v: %v %s", took, v.Decision, v.Reason)
		}
		if len(x.tg.times()) != 1 || len(x.dc.times()) != 2 {
			t.Errorf("%d and %d tries", len(x.tg.times()), len(x.dc.times()))
		}
	})
}

// The story: no platform could be reached as long as the question lived. The agent was
// told that nobody answered, as if people had been asked. At the deadline it hears the
// truth now, and so does the audit. What was shown once and not answered is another case.
func TestWhatReachedNobodyEndsAsUnreachable(t *testing.T) {
	for name, tt := range map[string]struct {
		telegram, discord []step
		want              string
		cause             approver.Cause
	}{
		"both away": {
			always(step{err: errBad}), always(step{err: errBad}), "no approval channel could be reached", approver.Unreachable,
		},
		"one away, one gone": {
			always(step{err: errBad}), always(step{err: errRefusedForGood}), "no approval channel could be reached",
			approver.Unreachable,
		},
		"patience beyond all": {
			always(step{err: busy(time.Hour)}), always(step{err: busy(24 * time.Hour)}), "no approval channel could be reached",
			approver.Unreachable,
		},
		"one was shown": {always(step{err: errBad}), nil, "nobody answered within 2 min", approver.TimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newRetried(t, newMemKV(), tt.telegram, tt.discord)
				began := time.Now()
				v := <-x.askAsync(t.Context(), testCall("c1"), approver.High)
				if took := time.Since(began); v.Decision != approver.Deny || !strings.Contains(v.Reason, tt.want) ||
					took != DefaultTTL {
					t.Errorf("after %v: %v %s", took, v.Decision, v.Reason)
				}
				x.settledAll()
				if last := x.tg.times(); last[len(last)-1].Sub(began) >= DefaultTTL || len(last) > 25 {
					t.Errorf("%d tries, the last after %v", len(last), last[len(last)-1].Sub(began))
				}
				for _, r := range x.audit.recorded() {
					if r.Resolution.Cause != approver.NoCause && r.Resolution.Cause != tt.cause {
						t.Errorf("the audit says %v", r.Resolution.Cause)
					}
				}
				if n := x.log.count("level=WARN"); n > 4 {
					t.Errorf("%d warnings:\n%s", n, x.log.b.String())
				}
			})
		})
	}
}

// While one channel is tried again, the other's card works as usual. Once it has been
// answered no further card goes out, and nobody is warned of one that nobody needs.
func TestRetriesStopAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newRetried(t, newMemKV(), slices.Repeat([]step{{err: errBad}}, 8), nil)
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(10 * time.Second)
		if out := x.tap(x.dc.chat, 0, "d1", true); out.Kind != approver.OutcomeApproved {
			t.Errorf("the other card: %+v", out)
		}
		if v := <-answer; v.Decision != approver.Allow {
			t.Errorf("verdict %v", v.Decision)
		}
		tried := len(x.tg.times())
		x.settledAll()
		if n := len(x.tg.times()); n != tried || x.tg.count() != 0 {
			t.Errorf("%d tries before the end and %d after, %d cards", tried, n, x.tg.count())
		}
		if x.log.count("level=WARN") != 1 || x.log.count("no longer needed") != 1 {
			t.Errorf("the log:\n%s", x.log.b.String())
		}
	})
}

// The story: two daemons share a store. While one of them tries to post a card again and
// again, the other must not post one of its own; once the first has died, it must, soon,
// and the code of the first is void.
func TestAnotherDaemonTakesOverWhatIsTried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newRetried(t, kv, always(step{err: errBad}), always(step{err: errRefusedForGood}))
		y := newRetried(t, kv, nil, nil)
		ctx, leave := context.WithCancelCause(t.Context())
		first := x.askAsync(ctx, testCall("c1"), approver.High)
		time.Sleep(40 * time.Second)
		if n := y.tg.count() + y.dc.count(); n != 0 || len(x.tg.times()) < 6 {
			t.Errorf("while the first tries, the other has posted %d cards; the first has tried %d times", n, len(x.tg.times()))
		}
		leave(approver.ErrShuttingDown)
		<-first
		x.stop()
		second := y.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(sendingFor + 2*time.Second)
		if y.tg.count() != 1 {
			t.Fatalf("the other has posted %d cards", y.tg.count())
		}
		x.Broadcaster = y.Broadcaster
		if out := x.code(true); out.Kind != approver.OutcomeUnknown {
			t.Errorf("the code of the daemon that died: %+v", out)
		}
		if out := y.code(true); out.Kind != approver.OutcomeApproved {
			t.Errorf("the code of the new card: %+v", out)
		}
		if v := <-second; v.Decision != approver.Allow {
			t.Errorf("verdict %v %s", v.Decision, v.Reason)
		}
		y.settledAll()
		if n := y.tg.count(); n != 1 {
			t.Errorf("%d cards", n)
		}
	})
}

// The story: Telegram carried out a post, and its answer was lost on the way. The card
// was live on the phones: its button told people to use the newest card, of which there
// was none, and nothing ever took the button away. Now the tap makes the card known: it
// counts, if the card is sure to show everything, and the card is brought up to date.
func TestACardWhoseAnswerWasLostIsTakenUp(t *testing.T) {
	lost := step{err: errBad, taken: true}
	for name, tt := range map[string]struct {
		script  []step
		cut     bool
		wait    time.Duration
		tap     int // which of the cards
		approve bool
		sev     approver.Severity
		want    approver.OutcomeKind
		cards   int
	}{
		"a tap while it is tried again": {script: append([]step{lost}, always(step{err: errBad})...),
			wait: 5 * time.Second, approve: true, sev: approver.High, want: approver.OutcomeApproved, cards: 1},
		"a tap before the first pause ends": {script: append([]step{lost}, always(step{err: errBad})...),
			wait: time.Millisecond, approve: true, sev: approver.High, want: approver.OutcomeApproved, cards: 1},
		"a tap after it was refused": {script: []step{lost, {err: errRefusedForGood}}, wait: 5 * time.Second,
			approve: true, sev: approver.High, want: approver.OutcomeApproved, cards: 1},
		"a tap during a rate limit": {script: []step{lost, {err: busy(time.Hour)}}, wait: 5 * time.Second,
			approve: true, sev: approver.High, want: approver.OutcomeApproved, cards: 1},
		"a no": {
			script: append([]step{lost}, always(step{err: errBad})...), wait: 5 * time.Second, sev: approver.High,
			want: approver.OutcomeDenied, cards: 1,
		},
		"a no to a card that may be cut": {script: append([]step{lost}, always(step{err: errBad})...), cut: true,
			wait: 5 * time.Second, sev: approver.High, want: approver.OutcomeDenied, cards: 1},
		"a yes to a card that may be cut": {script: append([]step{lost}, always(step{err: errBad})...), cut: true,
			wait: 5 * time.Second, approve: true, sev: approver.High, want: approver.OutcomeNeedCode, cards: 1},
		"a yes to a catastrophic one": {script: append([]step{lost}, always(step{err: errBad})...),
			wait: 5 * time.Second, approve: true, sev: approver.Catastrophic, want: approver.OutcomeNeedCode, cards: 1},
		"two cards, a tap on the first": {
			script: []step{lost}, wait: 5 * time.Second, approve: true, sev: approver.High, want: approver.OutcomeApproved,
			cards: 2,
		},
		"two cards, a tap on the second": {
			script: []step{lost}, wait: 5 * time.Second, tap: 1, approve: true, sev: approver.High,
			want: approver.OutcomeApproved, cards: 2,
		},
		"two cards that may be cut": {
			script: []step{lost}, cut: true, wait: 5 * time.Second, approve: true, sev: approver.High,
			want: approver.OutcomeNeedCode, cards: 2,
		},
		"three cards, a tap on the second": {
			script: []step{lost, lost}, wait: 5 * time.Second, tap: 1, approve: true, sev: approver.High,
			want: approver.OutcomeApproved, cards: 3,
		},
		"three cards, a no on the first": {
			script: []step{lost, lost}, wait: 5 * time.Second, sev: approver.High, want: approver.OutcomeDenied, cards: 3,
		},
		"nothing was lost, and a stray tap": {script: []step{{err: busy(time.Second)}}, wait: 5 * time.Second, tap: -1,
			approve: true, sev: approver.High, want: approver.OutcomeUnknown, cards: 1},
		"refused, and a stray tap": {script: []step{{err: errRefusedForGood}}, wait: 5 * time.Second, tap: -1, approve: true,
			sev: approver.High, want: approver.OutcomeUnknown, cards: 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newRetried(t, newMemKV(), tt.script, nil)
				x.tg.cut = tt.cut
				answer := x.askAsync(t.Context(), testCall("c1"), tt.sev)
				time.Sleep(tt.wait)
				message, _ := x.tg.card(tt.tap)
				if tt.tap < 0 {
					message = "T-99"
				}
				out := x.press(message, tt.approve)
				if out.Kind != tt.want || x.tg.count() < tt.cards {
					t.Errorf("%+v with %d cards", out, x.tg.count())
				}
				switch tt.want {
				case approver.OutcomeApproved:
					if v := <-answer; v.Decision != approver.Allow {
						t.Errorf("verdict %v %s", v.Decision, v.Reason)
					}
				case approver.OutcomeDenied:
					<-answer
				default: // still open
					if out := x.tap(x.dc.chat, 0, "d2", false); out.Kind != approver.OutcomeDenied {
						t.Errorf("the other card: %+v", out)
					}
					<-answer
				}
				// Of cards that nobody pressed nobody knows; each is known from its tap on.
				for n := range x.tg.count() {
					id, _ := x.tg.card(n)
					if out := x.press(id, true); out.Kind == approver.OutcomeUnknown {
						t.Errorf("the card %d: %+v", n, out)
					}
				}
				x.settledAll()
			})
		})
	}
}

// press presses a button of a Telegram message as Alice.
func (x *retried) press(message string, approve bool) approver.Outcome {
	x.tg.mu.Lock()
	request := x.tg.forms.Request
	x.tg.mu.Unlock()
	return x.Answers.Reply(x.t.Context(), approver.Reply{
		Channel: "telegram", Conversation: "T", Sender: "1", Approve: approve, Method: approver.ByTap, Request: request,
		Message: message,
	})
}

// The code on a card whose answer was lost works, while the post is tried again and
// after it was given up, unless the card may not show everything.
func TestTheCodeOfACardWhoseAnswerWasLost(t *testing.T) {
	lost := step{err: errBad, taken: true}
	for name, tt := range map[string]struct {
		script []step
		cut    bool
		want   approver.OutcomeKind
	}{
		"tried again":             {append([]step{lost}, always(step{err: errBad})...), false, approver.OutcomeApproved},
		"given up":                {[]step{lost, {err: errRefusedForGood}}, false, approver.OutcomeApproved},
		"posted again":            {[]step{lost}, false, approver.OutcomeApproved},
		"tried again, may be cut": {append([]step{lost}, always(step{err: errBad})...), true, approver.OutcomeUnknown},
		"given up, may be cut":    {[]step{lost, {err: errRefusedForGood}}, true, approver.OutcomeUnknown},
		"posted again, attached":  {[]step{lost}, true, approver.OutcomeApproved},
		"refused, so never shown": {[]step{{err: errRefusedForGood}}, false, approver.OutcomeUnknown},
		"busy, and then refused": {
			[]step{{err: busy(time.Second)}, {err: errRefusedForGood}}, false, approver.OutcomeUnknown,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newRetried(t, newMemKV(), tt.script, nil)
				x.tg.cut = tt.cut
				answer := x.askAsync(t.Context(), testCall("c1"), approver.Catastrophic)
				time.Sleep(5 * time.Second)
				if out := x.code(true); out.Kind != tt.want {
					t.Errorf("%+v", out)
				}
				if tt.want == approver.OutcomeUnknown {
					x.tap(x.dc.chat, 0, "d2", false)
				}
				if v := <-answer; (v.Decision == approver.Allow) != (tt.want == approver.OutcomeApproved) {
					t.Errorf("verdict %v", v.Decision)
				}
			})
		})
	}
}

// A card that a person finds after the end is told what became of it, like any other.
func TestACardThatIsFoundAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newRetried(t, newMemKV(), append([]step{{err: errBad, taken: true}}, always(step{err: errBad})...), nil)
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(5 * time.Second)
		x.tap(x.dc.chat, 0, "d2", false)
		<-answer
		time.Sleep(time.Minute)
		if _, card := x.tg.card(0); card.State.Settled() {
			t.Fatal("nobody could know of this card")
		}
		message, _ := x.tg.card(0)
		fails := 2
		x.tg.onUpdate(func(approver.Card) error { // and its edit is tried again
			if fails--; fails >= 0 {
				return errBad
			}
			return nil
		})
		if out := x.press(message, true); out.Kind != approver.OutcomeTooLate {
			t.Errorf("%+v", out)
		}
		x.settledAll()
	})
}

// A message that was deleted is not edited ten times.
func TestAnEditThatIsRefusedIsNotTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newRetried(t, newMemKV(), nil, nil)
		var edits atomic.Int64
		x.tg.onUpdate(func(approver.Card) error { edits.Add(1); return errRefusedForGood })
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		x.tap(x.dc.chat, 0, "d1", true)
		<-answer
		time.Sleep(time.Hour)
		if edits.Load() != 1 || x.log.count("level=WARN") != 0 {
			t.Errorf("%d edits; the log:\n%s", edits.Load(), x.log.b.String())
		}
	})
}

// An edit that fails again and again is told of when it begins and when it is given up.
func TestAnEditThatFailsIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newRetried(t, newMemKV(), nil, nil)
		var edits atomic.Int64
		x.tg.onUpdate(func(approver.Card) error { edits.Add(1); return errBad })
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(time.Second)
		x.tap(x.dc.chat, 0, "d1", true)
		<-answer
		time.Sleep(45 * time.Minute)
		const half = int64(30 * time.Minute / lateEditPause)
		if n := edits.Load(); n < promptEdits+half-5 || n > promptEdits+half+5 || x.log.count("level=WARN") != 1 {
			t.Errorf("%d edits; the log:\n%s", n, x.log.b.String())
		}
		_, card := x.tg.card(0)
		if _, err := x.Requests.change(t.Context(), card.Request, func(r Request, now time.Time) (Request, error) {
			r.Due = now.Add(5*time.Minute - editsFor) // nearly a day has passed
			return r, nil
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		before := edits.Load()
		time.Sleep(10 * time.Minute)
		if edits.Load() != before || x.log.count("level=WARN") != 2 || x.log.count("is given up") != 1 {
			t.Errorf("%d edits, then %d; the log:\n%s", before, edits.Load(), x.log.b.String())
		}
	})
}

// A hundred questions while both platforms do what they like: refuse, time out, take
// cards and lose the answer, ask for patience. Whoever taps a card of an open request
// is heard, nothing is released without a yes, and each card that somebody touched
// shows the end.
func TestAnyOrderOfFaults(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			dice := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test
			script := func() (s []step) {
				for range dice.IntN(6) {
					s = append(s, []step{
						{err: errBad}, {err: errBad, taken: true}, {
							err: busy(time.Duration(dice.IntN(9)) * time.Second),
						}, {err: context.DeadlineExceeded, taken: true},
					}[dice.IntN(4)])
				}
				return s
			}
			x := newRetried(t, newMemKV(), script(), script())
			x.tg.cut = dice.IntN(4) == 0
			answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
			time.Sleep(time.Duration(dice.IntN(40_000)) * time.Millisecond)
			yes := false
			for range 3 {
				if n := x.tg.count(); n > 0 {
					message, _ := x.tg.card(dice.IntN(n))
					approve := dice.IntN(2) == 0
					out := x.press(message, approve)
					yes = yes || approve && out.Kind == approver.OutcomeApproved
					if out.Kind == approver.OutcomeUnknown || out.Kind == approver.OutcomeRefused {
						t.Errorf("seed %d: a tap on a card that is there: %+v", seed, out)
					}
				}
				time.Sleep(time.Duration(dice.IntN(3_000)) * time.Millisecond)
			}
			v := <-answer
			if (v.Decision == approver.Allow) != yes {
				t.Errorf("seed %d: yes %v, the agent hears %v %s", seed, yes, v.Decision, v.Reason)
			}
			for _, c := range []*scripted{x.tg, x.dc} {
				for n := range c.count() { // now they are touched
					message, card := c.card(n)
					conv, sender := "T", "1"
					if c == x.dc {
						conv, sender = "D", "d1"
					}
					x.Answers.Reply(t.Context(), approver.Reply{
						Channel: c.name, Conversation: conv, Sender: sender, Method: approver.ByTap, Request: card.Request,
						Message: message,
					})
				}
			}
			x.settledAll()
		})
	}
}

// A platform asked for patience until shortly before the deadline. What is added so that not
// all come at once went beyond it, and the card was never tried again.
func TestPatienceThatEndsInTimeIsObeyed(t *testing.T) {
	t.Parallel()
	for range 20 {
		for _, wait := range []time.Duration{10 * time.Second, 110 * time.Second, 115 * time.Second, 119 * time.Second} {
			story(t, func(t *testing.T, x *bench) {
				var asked, tried time.Time
				x.dc.onPost(func(context.Context) error { return errRefusedForGood })
				x.tg.onPost(func(context.Context) error {
					if asked.IsZero() {
						asked = time.Now()
						return busy(wait)
					}
					tried = time.Now()
					return nil
				})
				<-x.askAsync(t.Context(), testCall("c1"), approver.High)
				if took := tried.Sub(asked); tried.IsZero() || took < wait || took > wait+wait/10+time.Second {
					t.Errorf("asked for %v, tried after %v", wait, took)
				}
			})
		}
	}
}

// absent is a terminal that nobody watches.
type absent struct{ *chat }

func (absent) Shows(approver.Ref) bool { return false }

func (absent) Watches() (now, ever int) { return 0, 0 }

func (absent) Post(context.Context, approver.Destination, approver.Card) (approver.Ref, error) {
	return approver.Ref{}, fmt.Errorf("nobody watches: %w", approver.ErrFinal)
}

// That nobody watches a terminal is no fault: where another channel shows the card the
// log is silent about it, and the terminal's state says nothing of a failure. Alone it
// is told at once that nobody could be reached.
func TestATerminalThatNobodyWatches(t *testing.T) {
	for name, alone := range map[string]bool{"beside a chat": false, "alone": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newRetried(t, newMemKV(), nil, nil)
				synctest.Wait() // what started has looked at its parts
				synctest.Wait()
				x.Channels.byName["telegram"] = absent{x.tg.chat}
				if alone {
					x.tune(func(o *Options) { o.Destinations = o.Destinations[:1] })
				}
				began := time.Now()
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				time.Sleep(time.Second)
				if !alone {
					x.tap(x.dc.chat, 0, "d1", true)
				}
				v := <-answer
				if alone == (v.Decision == approver.Allow) || time.Since(began) > 2*time.Second {
					t.Errorf("after %v: %v %s", time.Since(began), v.Decision, v.Reason)
				}
				if x.log.count("level=WARN") != 0 || len(x.Channels.State("telegram").Cards) != 0 {
					t.Errorf("%+v; the log:\n%s", x.Channels.State("telegram"), x.log.b.String())
				}
			})
		})
	}
}
