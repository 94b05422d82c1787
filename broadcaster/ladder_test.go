package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/broadcaster/ladder"
)

// pager is a paging service: nobody can answer there.
type pager struct {
	*chat
	where func(context.Context, string) []string
}

func (p *pager) Takes(approver.Severity) bool { return false }

func (p *pager) Where(shown func(context.Context, string) []string) { p.where = shown }

// laddered is a running broadcaster with two chats and a pager. A paging service takes an alert that it has
// for the same one.
type laddered struct {
	*bench
	pg *pager
}

// threeSteps is a ladder of telegram, discord after 30 s, and the pager after 60 s.
func threeSteps() ladder.Config {
	return ladder.Config{Steps: []ladder.Step{
		{To: []string{"telegram"}},
		{After: 30 * time.Second, To: []string{"discord"}},
		{After: time.Minute, To: []string{"oncall"}},
	}}
}

func newLaddered(t *testing.T, kv *memKV, cfg ladder.Config) *laddered {
	t.Helper()
	return newLadderedAs(t, kv, cfg, func(*laddered, *Options) {})
}

// newLadderedAs has other options, and other channels around those that it has.
func newLadderedAs(
	t *testing.T, kv *memKV, cfg ladder.Config, change func(x *laddered, o *Options),
) *laddered {
	t.Helper()
	x := &laddered{bench: newBench(t, kv), pg: &pager{chat: newChat("oncall")}}
	x.stop()
	o := x.Options
	o.Destinations = append(slices.Clone(o.Destinations), approver.Destination{Channel: "oncall",
		Conversation: "pagerduty"})
	var places []ladder.Place
	for _, d := range o.Destinations {
		places = append(places, ladder.Place{Destination: d, Pages: d.Channel == "oncall"})
	}
	plan, problems := cfg.Plan(places)
	if len(problems) > 0 {
		t.Fatalf("%v", problems)
	}
	x.tg.ready, x.dc.ready = make(chan struct{}), make(chan struct{})
	o.Ladder, o.Channels, o.process = plan, []approver.Channel{x.tg, x.dc, x.pg}, ""
	change(x, &o)
	b, err := NewBroadcaster(o)
	if err != nil {
		t.Fatal(err)
	}
	x.Broadcaster = b
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = b.Run(ctx) }()
	<-x.tg.ready
	<-x.dc.ready
	<-x.pg.ready
	x.stop = func() { cancel(); <-ended }
	t.Cleanup(x.stop)
	return x
}

// counts are the cards in telegram and discord, and the alerts.
func (x *laddered) counts() string {
	return fmt.Sprint(x.tg.count(), " ", x.dc.count(), " ", x.pg.count())
}

func ladderStory(t *testing.T, cfg ladder.Config, f func(t *testing.T, x *laddered)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		x := newLaddered(t, newMemKV(), cfg)
		f(t, x)
	})
}

// at waits until so long after the question, and checks the cards.
func (x *laddered) at(began time.Time, after time.Duration, want string) {
	x.t.Helper()
	time.Sleep(time.Until(began.Add(after)))
	synctest.Wait()
	if got := x.counts(); got != want {
		x.t.Errorf("after %v: %s cards, want %s", after, got, want)
	}
}

// The story: the question stood in a chat that nobody looked at, and the call was denied after two minutes. Now
// further chats get a card when nobody has answered, then on-call is called. Whoever answers first, wins, and every
// card and the alert show it.
func TestTheLadderIsTakenStepByStep(t *testing.T) {
	ladderStory(t, threeSteps(), func(t *testing.T, x *laddered) {
		began := time.Now()
		answer := x.askAsync(t.Context(), testCall("c1"), approver.Catastrophic)
		x.at(began, time.Second, "1 0 0")
		x.at(began, 29*time.Second, "1 0 0")
		x.at(began, 31*time.Second, "1 1 0")
		x.at(began, 59*time.Second, "1 1 0")
		x.at(began, 61*time.Second, "1 1 1")
		_, first := x.tg.card(0)
		_, second := x.dc.card(0)
		_, alert := x.pg.card(0)
		if !alert.Code.IsZero() || first.Code.IsZero() || first.Code.Equal(second.Code) {
			t.Error("a card has the code of another, or the alert has one")
		}
		if on := x.pg.where(t.Context(), alert.Request); !slices.Equal(on, []string{"telegram", "discord"}) {
			t.Errorf("the alert says that it is answered on %v", on)
		}
		out := x.Answers.Reply(t.Context(), approver.Reply{Channel: "discord", Conversation: "D", Sender: "d1",
			Approve: true,
			Method:  approver.ByCode, Code: second.Code})
		if v := <-answer; v.Decision != approver.Allow || out.Kind != approver.OutcomeApproved {
			t.Errorf("%v %+v", v, out)
		}
		x.at(began, 10*time.Minute, "1 1 1")
		for _, c := range []*chat{x.tg, x.dc, x.pg.chat} {
			if _, card := c.card(0); !card.State.Settled() {
				t.Errorf("%s shows %s", c.name, card.State)
			}
		}
	})
}

func TestNoStepIsTakenAfterTheEnd(t *testing.T) {
	for name, end := range map[string]func(x *laddered, leave context.CancelFunc){
		"yes":       func(x *laddered, _ context.CancelFunc) { x.tap(x.tg, 0, "1", true) },
		"no":        func(x *laddered, _ context.CancelFunc) { x.tap(x.tg, 0, "1", false) },
		"withdrawn": func(_ *laddered, leave context.CancelFunc) { leave() },
	} {
		t.Run(name, func(t *testing.T) {
			ladderStory(t, threeSteps(), func(t *testing.T, x *laddered) {
				began := time.Now()
				ctx, leave := context.WithCancel(t.Context())
				answer := x.askAsync(ctx, testCall("c1"), approver.High)
				time.Sleep(20 * time.Second)
				end(x, leave)
				<-answer
				x.at(began, 10*time.Minute, "1 0 0")
				leave()
			})
		})
	}
}

func TestWithoutALadderEverybodyIsAskedAtOnce(t *testing.T) {
	ladderStory(t, ladder.Config{}, func(t *testing.T, x *laddered) {
		began := time.Now()
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		x.at(began, time.Second, "1 1 1")
		_, card := x.tg.card(0)
		if r := x.loaded(card.Request); !reflect.ValueOf(r.Climb).IsZero() {
			t.Errorf("%+v", r.Climb)
		}
		x.tap(x.tg, 0, "1", true)
		<-answer
	})
}

// The story: Telegram was away, so for half a minute nobody saw the question, and then a quarter of the
// time was left. What cannot be delivered does not wait for its time; a hiccup does.
func TestAStepThatCannotBeDeliveredIsSkipped(t *testing.T) {
	refused := fmt.Errorf("the bot was removed: %w", approver.ErrFinal)
	away := errors.New("502")
	for name, c := range map[string]struct {
		telegram, discord func(try int) error // what posting says
		ended             bool                // telegram's channel has ended
		early, soon, then string              // cards after 1.5 s, 5 s and 31 s
	}{
		"all is well": {early: "1 0 0", soon: "1 0 0", then: "1 1 0"},
		"refused":     {telegram: everyTry(refused), early: "0 1 0", soon: "0 1 0", then: "0 1 0"},
		"away":        {telegram: everyTry(away), early: "0 0 0", soon: "0 1 0", then: "0 1 0"},
		"a hiccup":    {telegram: firstTry(away), early: "1 0 0", soon: "1 0 0", then: "1 1 0"},
		"both refused": {telegram: everyTry(refused), discord: everyTry(refused), early: "0 0 1", soon: "0 0 1",
			then: "0 0 1"},
		"one refused one ill": {telegram: everyTry(refused), discord: everyTry(away), early: "0 0 0", soon: "0 0 1",
			then: "0 0 1"},
		"the channel ended": {ended: true, early: "0 1 0", soon: "0 1 0"}, // it is back at some time
	} {
		t.Run(name, func(t *testing.T) {
			ladderStory(t, threeSteps(), func(t *testing.T, x *laddered) {
				for chat, says := range map[*chat]func(int) error{x.tg: c.telegram, x.dc: c.discord} {
					try := 0
					if says != nil {
						chat.onPost(func(context.Context) error { try++; return says(try) })
					}
				}
				if c.ended {
					x.Channels.states.ended("telegram", errors.New("revoked"))
				}
				began := time.Now()
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				x.at(began, 1500*time.Millisecond, c.early)
				x.at(began, 5*time.Second, c.soon)
				if c.then != "" {
					x.at(began, 31*time.Second, c.then)
				}
				<-answer
			})
		})
	}
}

func everyTry(err error) func(int) error { return func(int) error { return err } }

func firstTry(err error) func(int) error {
	return func(try int) error {
		if try == 1 {
			return err
		}
		return nil
	}
}

// A page is no card: whom it calls finds no question anywhere. Such a call is denied like every call that reached
// nobody, and the alert is closed.
func TestAPageAloneReachesNobody(t *testing.T) {
	ladderStory(t, threeSteps(), func(t *testing.T, x *laddered) {
		refused := func(context.Context) error { return fmt.Errorf("kicked: %w", approver.ErrFinal) }
		x.tg.onPost(refused)
		x.dc.onPost(refused)
		began := time.Now()
		v := <-x.askAsync(t.Context(), testCall("c1"), approver.High)
		if took := time.Since(began); v.Decision != approver.Deny || took > 5*time.Second {
			t.Errorf("after %v: %v", took, v)
		}
		time.Sleep(time.Minute)
		for n := range x.pg.count() {
			if _, card := x.pg.card(n); !card.State.Settled() || card.State == approver.Expired {
				t.Errorf("the alert says %s", card.State)
			}
		}
	})
}

// The story: the daemon died between two steps, or in the middle of one, and whoever was to be asked next never was.
// Another process, or the next one, goes on where it was, and nobody is asked twice.
func TestAStepSurvivesACrash(t *testing.T) {
	for name, c := range map[string]struct {
		dies   time.Duration
		hangs  bool // discord, so that it dies in the middle of its step
		within time.Duration
	}{
		"between two steps":   {dies: 20 * time.Second, within: 32 * time.Second},
		"when a step was due": {dies: 29900 * time.Millisecond, within: 41 * time.Second},
		"in a step":           {dies: 33 * time.Second, hangs: true, within: 58 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newMemKV()
				x := newLaddered(t, kv, threeSteps())
				if c.hangs {
					x.dc.onPost(func(ctx context.Context) error {
						<-ctx.Done()
						return ctx.Err()
					})
				}
				began := time.Now()
				ctx, leave := context.WithCancelCause(t.Context())
				first := x.askAsync(ctx, peerCall("c1", 1000), approver.High)
				time.Sleep(c.dies)
				leave(approver.ErrShuttingDown)
				x.stop()
				<-first
				y := newLaddered(t, kv, threeSteps())
				y.tg.takeOver(x.tg)
				answer := y.askAsync(t.Context(), peerCall("c1", 1000), approver.High)
				y.at(began, c.within, "1 1 0")
				y.at(began, 75*time.Second, "1 1 1")
				if out := y.tap(y.dc, 0, "d1", true); out.Kind != approver.OutcomeApproved {
					t.Errorf("%+v", out)
				}
				if v := <-answer; v.Decision != approver.Allow {
					t.Errorf("%v", v)
				}
			})
		})
	}
}

// Two replicas look after the same requests, and each chat gets one card of each.
func TestTwoReplicasTakeAStepOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x, y := newLaddered(t, kv, threeSteps()), newLaddered(t, kv, threeSteps())
		const n = 20
		var answers []<-chan approver.Verdict
		for i := range n {
			call := testCall(fmt.Sprint("c", i))
			call.Args = fmt.Appendf(nil, `{"command":"git push --force %d"}`, i)
			answers = append(answers, x.askAsync(t.Context(), call, approver.High))
		}
		time.Sleep(70 * time.Second)
		for _, c := range [][2]*chat{{x.tg, y.tg}, {x.dc, y.dc}, {x.pg.chat, y.pg.chat}} {
			if all := c[0].count() + c[1].count(); all != n {
				t.Errorf("%s: %d cards of %d questions", c[0].name, all, n)
			}
		}
		for _, a := range answers {
			<-a
		}
	})
}

// A rule that names its channels goes before the ladder: the first step that has one of them is taken at once.
func TestARuleThatNamesChannelsGoesFirst(t *testing.T) {
	ladderStory(t, threeSteps(), func(t *testing.T, x *laddered) {
		began := time.Now()
		answer := make(chan approver.Verdict, 1)
		go func() {
			answer <- x.Ask(t.Context(), testCall("c1"), approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r",
				Severity: approver.High, Channels: []string{"discord"}})
		}()
		x.at(began, time.Second, "0 1 0")
		x.at(began, 90*time.Second, "0 1 0")
		<-answer
	})
}

// A process whose configuration has no ladder any more asks everywhere when the next step is due.
func TestAProcessWithoutTheLadderAsksEverywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newLaddered(t, kv, threeSteps())
		began := time.Now()
		ctx, leave := context.WithCancelCause(t.Context())
		first := x.askAsync(ctx, peerCall("c1", 1000), approver.High)
		time.Sleep(10 * time.Second)
		leave(approver.ErrShuttingDown)
		x.stop()
		<-first
		y := newLaddered(t, kv, ladder.Config{})
		y.tg.takeOver(x.tg)
		answer := y.askAsync(t.Context(), peerCall("c1", 1000), approver.High)
		y.at(began, 28*time.Second, "1 0 0")
		y.at(began, 32*time.Second, "1 1 1")
		y.tap(y.dc, 0, "d1", true)
		<-answer
	})
}

// night is when the tests' clock begins, in UTC.
func night(except []approver.Severity, chats ...string) ladder.Config {
	var from, to ladder.Clock
	_ = from.UnmarshalText([]byte("22:00"))
	_ = to.UnmarshalText([]byte("07:00"))
	return ladder.Config{
		Steps: threeSteps().Steps,
		Quiet: []ladder.Quiet{{Chats: chats, From: from, To: to, Zone: "UTC", Except: except}},
	}
}

// The story: a phone rang at three for something that could wait. In quiet hours a question goes to the chats that
// have none; if there is none, the call is denied at once, and the agent hears until when. What is CATASTROPHIC, and
// what somebody at the machine asks, comes at any hour.
func TestQuietHours(t *testing.T) {
	all := []string{"telegram", "discord"}
	control := testCall("c1")
	control.Control = "pause"
	for name, c := range map[string]struct {
		cfg      ladder.Config
		call     approver.ToolCall
		severity approver.Severity
		cards    string // after a second; empty: it is denied at once
	}{
		"high, one chat awake":       {night(nil, "telegram"), testCall("c1"), approver.High, "0 1 0"},
		"high, nobody awake":         {night(nil, all...), testCall("c1"), approver.High, ""},
		"high, only the pager awake": {night(nil, all...), testCall("c1"), approver.High, ""},
		"catastrophic":               {night(nil, all...), testCall("c1"), approver.Catastrophic, "1 0 0"},
		"catastrophic, no exception": {night([]approver.Severity{}, all...), testCall("c1"), approver.Catastrophic, ""},
		"somebody at the machine":    {night(nil, all...), control, approver.High, "1 0 0"},
	} {
		t.Run(name, func(t *testing.T) {
			ladderStory(t, c.cfg, func(t *testing.T, x *laddered) { // the clock begins at midnight
				began := time.Now()
				answer := x.askAsync(t.Context(), c.call, c.severity)
				if c.cards != "" {
					x.at(began, time.Second, c.cards)
					<-answer
					return
				}
				v := <-answer
				if took := time.Since(began); v.Decision != approver.Deny || took > time.Second ||
					!strings.Contains(v.Reason, "quiet hours until 07:00 UTC") || !strings.Contains(v.Reason,
					"again after that") {
					t.Errorf("after %v: %v %q", took, v.Decision, v.Reason)
				}
				if !v.Unanswered {
					t.Error("it counts as answered")
				}
				x.at(began, 10*time.Minute, "0 0 0")
			})
		})
	}
}

// Quiet hours end while a question waits: the next step finds the chats of the steps before it awake.
func TestQuietHoursThatEnd(t *testing.T) {
	ladderStory(t, night(nil, "telegram"), func(t *testing.T, x *laddered) {
		time.Sleep(7*time.Hour - 20*time.Second)
		began := time.Now()
		answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
		x.at(began, 2*time.Second, "0 1 0")
		x.at(began, 61*time.Second, "1 1 1")
		<-answer
	})
}
