package broadcaster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/gate"
	"approver.example/tokens"
)

// Each test here tells of a way that a hostile review found, and holds it shut.

// A daemon that starts opens its socket a moment before it can ask people. A
// courier that comes back in that moment must wait, not be denied: its request
// is open, and a person may be about to say yes.
func TestCourierFasterThanTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		opts := x.Options
		tg := newChat("telegram")
		opts.Channels, opts.Destinations = []approver.Channel{tg}, opts.Destinations[:1]
		b, err := NewBroadcaster(opts)
		if err != nil {
			t.Fatal(err)
		}
		answer := make(chan approver.Verdict, 1)
		go func() {
			answer <- b.Ask(t.Context(), testCall("early"), approver.Verdict{
				Decision: approver.Ask, Severity: approver.High, TTL: 30 * time.Second,
			})
		}()
		time.Sleep(time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = b.Run(ctx) }()
		synctest.Wait()
		if _, card := tg.card(0); card.Request == "" {
			select {
			case v := <-answer:
				t.Fatalf("denied before the start: %s", v.Reason)
			default:
				t.Fatal("no card after the start")
			}
		}
		if v := <-answer; !strings.Contains(v.Reason, "nobody answered") {
			t.Errorf("verdict %+v", v)
		}
	})
}

// One node of a cluster is down. The clock must go on for the requests on all
// others, or their deadlines never come.
func TestOneBadShardDoesNotStopTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newBenchOn(t, kv, badShard{kv})
		ctx, cancel := context.WithCancel(t.Context())
		answer := x.askAsync(ctx, testCall("c1"), approver.High)
		synctest.Wait()
		cancel()
		<-answer
		time.Sleep(DefaultTTL)
		if _, card := x.tg.card(0); card.State == approver.Pending {
			t.Error("the card is still open, minutes after its agent left")
		}
	})
}

type badShard struct{ *memKV }

func (b badShard) Due(ctx context.Context, shard, limit int) ([]string, error) {
	keys, err := b.memKV.Due(ctx, shard, limit)
	if shard == 0 && len(keys) == 0 { // one that has none of the test's requests
		return nil, errors.New("node down")
	}
	return keys, err
}

func (b badShard) DueAll(context.Context, int) ([]string, error) { return nil, errors.ErrUnsupported }

// An odd update makes a channel's receiver panic. That must end this channel,
// not the daemon with all others.
func TestPanicInAChannelUnderALease(t *testing.T) {
	l := newLease(soloChat{}, newMemKV(), slog.New(slog.DiscardHandler))
	err := l.with(t.Context(), func(context.Context) error { panic("odd update") })
	if err == nil || !strings.Contains(err.Error(), "odd update") {
		t.Errorf("error %v", err)
	}
}

// The audit cannot take the question, and the store blinks while the request is
// denied for it. Nobody may be asked: what nobody can prove was asked must not be
// approved.
func TestUnrecordedQuestionIsNeverShown(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.audit.failing(approver.EventAsked)
		n := 0
		x.kv.failing(func(op, key string) error {
			if op == "get" && strings.Contains(key, ":req:") {
				if n++; n < 4 {
					return errors.New("blip")
				}
			}
			return nil
		})
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		time.Sleep(40 * time.Second)
		if x.tg.count()+x.dc.count() != 0 {
			t.Error("a card went out that the audit does not know of")
		}
		if v := <-answer; v.Decision != approver.Deny {
			t.Errorf("verdict %+v", v)
		}
	})
}

// The store is down until the courier gives up: there is no request whose end
// would be recorded, so the denial itself must be.
func TestDenialWithoutARequestIsRecorded(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.kv.failing(func(op, _ string) error { return errors.New("down") })
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if v := <-x.askAsync(ctx, testCall("c1"), approver.High); v.Decision != approver.Deny {
			t.Errorf("verdict %+v", v)
		}
		if got := x.audit.events(""); len(got) != 1 || got[0] != approver.EventVerdict {
			t.Errorf("the audit has %v", got)
		}
	})
}

// slowKV gives every other goroutine the time to come between two operations.
type slowKV struct{ *memKV }

func (s slowKV) Get(ctx context.Context, key string) ([]byte, approver.Rev, error) {
	time.Sleep(2 * time.Millisecond)
	return s.memKV.Get(ctx, key)
}

// An approver's account sends many guesses at once, so that none is counted
// when the next is looked up. Only as many as may be wrong are looked up at all.
func TestParallelGuessesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newBenchOn(t, kv, slowKV{kv})
		answer := x.askAsync(t.Context(), testCall("c1"), approver.Catastrophic)
		time.Sleep(time.Second)
		var guesses sync.WaitGroup
		var mu sync.Mutex
		told := map[approver.OutcomeKind]int{}
		for range 64 {
			code, err := tokens.Mint(6)
			if err != nil {
				t.Fatal(err)
			}
			guesses.Go(func() {
				out := x.Answers.Reply(t.Context(), approver.Reply{
					Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: approver.ByCode, Code: code,
				})
				mu.Lock()
				defer mu.Unlock()
				told[out.Kind]++
			})
		}
		guesses.Wait()
		if told[approver.OutcomeUnknown] > MaxWrongCodes || told[approver.OutcomeLocked] != 64-told[approver.OutcomeUnknown] {
			t.Errorf("told %v", told)
		}
		_, card := x.tg.card(0)
		if out := x.Answers.Reply(t.Context(), typed(approver.ByCode, card)); out.Kind != approver.OutcomeLocked {
			t.Errorf("the right code after that: %+v", out)
		}
		x.tap(x.tg, 0, "2", false)
		<-answer
	})
}

// Right codes are no strikes, however many there are.
func TestRightCodesDoNotLock(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		for i := range 3 * MaxWrongCodes {
			answer := x.askAsync(t.Context(), testCall(fmt.Sprintf("c%d", i)), approver.Catastrophic)
			synctest.Wait()
			_, card := x.tg.card(-1)
			if out := x.Answers.Reply(t.Context(), typed(approver.ByCode, card)); out.Kind != approver.OutcomeApproved {
				t.Fatalf("code %d: %+v", i, out)
			}
			<-answer
		}
	})
}

// The answer to a lost connection is for the courier that asked, for the seconds
// in which it comes back; it is not a permission that lies about for a day.
func TestAnOldAnswerIsGivenToNobody(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		ctx, cancel := context.WithTimeout(t.Context(), 290*time.Second)
		defer cancel()
		first := x.askAsync(ctx, testCall("c1"), approver.High)
		synctest.Wait()
		x.tap(x.tg, 0, "1", true)
		if v := <-first; v.Decision != approver.Allow {
			t.Fatalf("verdict %+v", v)
		}
		time.Sleep(10 * time.Second)
		if v := <-x.askAsync(t.Context(), testCall("c1"), approver.High); v.Decision != approver.Allow {
			t.Errorf("within some seconds: %+v", v)
		}
		time.Sleep(200 * time.Second)
		if v := <-x.askAsync(t.Context(), testCall("c1"), approver.High); v.Decision != approver.Deny {
			t.Errorf("within the deadline: %+v", v)
		}
		time.Sleep(100 * time.Second)
		if v := <-x.askAsync(t.Context(), testCall("c1"), approver.High); v.Decision != approver.Deny {
			t.Errorf("after the deadline: %+v", v)
		}
	})
}

// volatile is a chat whose messages can vanish, as a terminal's do.
type volatile struct {
	*chat
	mu sync.Mutex
	up bool
}

func (v *volatile) Watches() (now, ever int) {
	if v.Shows(approver.Ref{}) {
		return 1, 1
	}
	return 0, 0
}

func (v *volatile) Shows(approver.Ref) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.up
}

// While a lost card is being replaced, another card of the same request arrives
// and is noted. Replacing must not undo that note, or a live card is orphaned.
func TestReplacingACardKeepsTheNotesOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		arrive := make(chan struct{})
		x.tg.onPost(func(context.Context) error { <-arrive; return nil })
		term := &volatile{chat: x.dc, up: true}
		synctest.Wait()
		x.Channels.byName["discord"] = term
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		_, card := x.dc.card(0)
		term.mu.Lock()
		term.up = false
		term.mu.Unlock()
		hit := false
		x.kv.failing(func(op, key string) error {
			if op == "put" && strings.Contains(key, ":code:") && !hit {
				hit = true
				return errors.New("blip") // the replacement takes a moment longer
			}
			return nil
		})
		replaced := make(chan struct{})
		go func() { defer close(replaced); x.poster.repost(t.Context(), card.Request) }()
		time.Sleep(retryEvery / 5)
		close(arrive)
		<-replaced
		if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeApproved {
			t.Errorf("a tap on the card that arrived meanwhile: %+v", out)
		}
		<-answer
		synctest.Wait()
		if _, c := x.tg.card(0); c.Result == "" || x.tg.count() != 1 {
			t.Errorf("%d cards, the first shows %+v", x.tg.count(), c)
		}
	})
}

// A rule changes a call, and the changed call is worse than the first looked:
// people must be asked with the greater severity.
func TestModifiedCallKeepsTheGreaterSeverity(t *testing.T) {
	judge := stage(func(c approver.ToolCall) (approver.Verdict, error) {
		if string(c.Args) == `"changed"` {
			return approver.Verdict{Decision: approver.Ask, Severity: approver.Catastrophic}, nil
		}
		return approver.Verdict{Decision: approver.Ask, Severity: approver.High}, nil
	})
	change := stage(func(c approver.ToolCall) (approver.Verdict, error) {
		if string(c.Args) == `"changed"` {
			return approver.Verdict{Decision: approver.Pass}, nil
		}
		return approver.Verdict{Decision: approver.Modify, Severity: approver.High, Args: json.RawMessage(`"changed"`)}, nil
	})
	asked := false
	g := &gate.Gate{
		Stages: []approver.Stage{judge, change}, Audit: &memAudit{}, Log: slog.New(slog.DiscardHandler),
		Rewrite: func(c approver.ToolCall, args json.RawMessage) (approver.ToolCall, error) {
			c.Args = args
			return c, nil
		},
		Ask: func(_ context.Context, c approver.ToolCall, v approver.Verdict) approver.Verdict {
			asked = true
			if v.Severity != approver.Catastrophic || string(c.Args) != `"changed"` {
				t.Errorf("asked with %v about %s", v.Severity, c.Args)
			}
			return approver.Verdict{}
		},
	}
	g.Decide(t.Context(), approver.ToolCall{ID: "c", Args: json.RawMessage(`"first"`)})
	if !asked {
		t.Error("nobody was asked")
	}
}

// A crash between the platform's word that it took a card and the note of where
// the card is leaves one on the phones that no record knows. Whoever presses it
// is told so, and it loses its buttons then.
func TestAnOrphanedCardRetiresWhenPressed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		synctest.Wait()
		_, card := x.tg.card(0)
		x.tg.put("orphan", card)
		press := func(sender string) approver.Outcome {
			out := x.Answers.Reply(t.Context(), approver.Reply{
				Channel: "telegram", Conversation: "T", Sender: sender, Approve: true, Method: approver.ByTap,
				Request: card.Request, Message: "orphan",
			})
			synctest.Wait()
			return out
		}
		if out := press("99"); out.Kind != approver.OutcomeRefused || x.tg.at("orphan").Result != "" {
			t.Errorf("a stranger: %+v, the card shows %+v", out, x.tg.at("orphan"))
		}
		out := press("1")
		if c := x.tg.at("orphan"); out.Kind != approver.OutcomeUnknown || c.OneTap || !c.Code.IsZero() ||
			!strings.Contains(c.Result, "Replaced") {
			t.Errorf("%+v, the card shows %+v", out, c)
		}
		if _, c := x.tg.card(0); c.Result != "" {
			t.Errorf("the card of the request shows %+v", c)
		}
		if out := x.tap(x.tg, 0, "2", false); out.Kind != approver.OutcomeDenied {
			t.Errorf("the card of the request does not answer: %+v", out)
		}
		<-answer
		if press("1"); !strings.Contains(x.tg.at("orphan").Result, "Denied by Bob") {
			t.Errorf("after the end the orphan shows %+v", x.tg.at("orphan"))
		}
	})
}

// The story: a card's attachment cannot be sent, so the post has failed; taking
// the card back fails too, and it hangs in the chat, cut. Nobody may approve by
// the code on it what it does not show.
func TestTheCodeOfAFailedCardIsVoid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		var card approver.Card
		synctest.Wait()
		x.Channels.byName["telegram"] = failing{x.tg, &card}
		answer := x.askAsync(t.Context(), testCall("c1"), approver.Catastrophic)
		synctest.Wait()
		out := x.Answers.Reply(t.Context(), typed(approver.ByCode, card))
		if out.Kind != approver.OutcomeUnknown {
			t.Errorf("the code of a card that was not shown whole: %+v", out)
		}
		x.tap(x.dc, 0, "d1", false)
		<-answer
	})
}

// failing is a chat that fails after it has shown a card.
type failing struct {
	*chat
	got *approver.Card
}

func (f failing) Post(_ context.Context, _ approver.Destination, c approver.Card) (approver.Ref, error) {
	*f.got = c
	return approver.Ref{}, errors.New("the file with the whole command could not be sent")
}

// The story: the bot's token was revoked, so nobody hears the buttons any more,
// but messages still go out. No card is posted there. The channel may come back, so
// the call waits for that for a minute, and the agent is then told the truth: not
// that nobody answered, but that nobody could be asked.
func TestADeafChannelIsUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newBench(t, newMemKV()).Options
		kv, chat := newMemKV(), newChat("telegram")
		if err := BeginControls(t.Context(), kv); err != nil {
			t.Fatal(err)
		}
		o.Store, o.Channels, o.Destinations = kv, []approver.Channel{deaf{chat}}, o.Destinations[:1]
		b, err := NewBroadcaster(o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- b.Run(ctx) }()
		synctest.Wait()
		began := time.Now()
		v := b.Ask(t.Context(), testCall("c1"), approver.Verdict{Decision: approver.Ask, Severity: approver.High})
		if v.Decision != approver.Deny || time.Since(began) < endedFor || time.Since(began) > endedFor+2*maxPause ||
			!strings.Contains(v.Reason, "no approval channel could be reached") || chat.count() != 0 {
			t.Errorf("after %v and %d cards: %v %s", time.Since(began), chat.count(), v.Decision, v.Reason)
		}
		cancel()
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "revoked") {
			t.Errorf("Run returned %v", err)
		}
	})
}

type deaf struct{ *chat }

func (deaf) Run(context.Context, approver.ReplyFunc) error {
	return errors.New("the token was revoked")
}

// The story: a thumb is faster than the note of where the card is, because the
// store is away for a moment, and then the chat's connection ends under the
// answer. The card is alive all the same: it must keep its buttons, or nobody can
// answer any more.
func TestACardWhoseNoteIsLateKeepsItsButtons(t *testing.T) {
	for name, patience := range map[string]time.Duration{
		"the connection ends": 100 * time.Millisecond, "the person waits in vain": time.Minute,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				away := true
				x.kv.failing(func(op, key string) error {
					if op == "put" && strings.Contains(key, ":req:") && away && x.tg.count() > 0 {
						return errors.New("away")
					}
					return nil
				})
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				synctest.Wait()
				msg, card := x.tg.card(0)
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				out := x.Answers.Reply(ctx, approver.Reply{
					Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: approver.ByTap, Request: card.Request,
					Message: msg,
				})
				if out.Kind == approver.OutcomeApproved {
					t.Fatalf("%+v", out)
				}
				x.kv.mu.Lock()
				away = false
				x.kv.mu.Unlock()
				time.Sleep(2 * time.Second)
				if _, c := x.tg.card(0); c.Result != "" || !c.OneTap {
					t.Errorf("the live card shows %+v", c)
				}
				if out := x.tap(x.tg, 0, "1", true); out.Kind != approver.OutcomeApproved {
					t.Errorf("the next tap: %+v", out)
				}
				<-answer
			})
		})
	}
}
