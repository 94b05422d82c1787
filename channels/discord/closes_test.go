package discord

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/calls/callstest"
)

// Each close code after which Discord takes nobody back ends Run, after one more try, with what
// people can do. None of them is called a refused card: a card that cannot be posted meanwhile
// is kept.
func TestCloseCodesToTheEnd(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]struct {
		kind calls.Kind
		cure string
	}{
		4004: {calls.Revoked, "token_file"},
		4010: {calls.Fatal, "the shard is not valid"},
		4011: {calls.Fatal, "too many servers"},
		4012: {calls.Fatal, "update approver"},
		4013: {calls.Fatal, "does not know the intents"},
		4014: {calls.Fatal, "Message Content"},
	} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			b.s.RefuseSessions(code)
			b.run(nil)
			select {
			case <-b.ended:
			case <-time.After(30 * time.Second):
				t.Fatal("Run goes on")
			}
			if calls.KindOf(b.err) != want.kind || !strings.Contains(b.err.Error(), want.cure) ||
				!strings.Contains(b.err.Error(), strconv.Itoa(code)) {
				t.Errorf("Run gives %v", b.err)
			}
			if n := b.s.Identified(); n != 2 {
				t.Errorf("the bot introduced itself %d times, want twice", n)
			}
			if r := b.c.Reception(); r.Up || r.Problem != b.err.Error() {
				t.Errorf("%+v", r)
			}
			b.s.RefuseSessions(0)
			b.run(nil)
			b.until("the reception, once it is cured", func() bool { return b.c.Reception().Up })
		})
	}
}

// After any other code it goes on by itself.
func TestOtherCloseCodes(t *testing.T) {
	t.Parallel()
	for _, code := range []int{1000, 1001, 1006, 4000, 4001, 4002, 4003, 4005, 4007, 4008, 4009, 4015, 4099} {
		if err := closed("x", code); calls.KindOf(err) != calls.Transient || calls.Stops(err) {
			t.Errorf("%d: %v", code, err)
		}
	}
	b := newBench(t, nil)
	b.s.RefuseSessions(4008)
	b.run(nil)
	b.until("some tries", func() bool { return b.s.Identified() >= 4 })
	if r := b.c.Reception(); r.Up || !strings.Contains(r.Problem, "4008") {
		t.Errorf("%+v", r)
	}
	b.s.RefuseSessions(0)
	b.until("the reception", func() bool { return b.c.Reception().Up })
}

// The story: Discord said that a session was not valid, and the library introduced itself again
// at once, and again, as often as Discord said so. Discord wants 1 to 5 seconds in between, says
// whether the session may be taken up again, and resets the token of a bot that begins too many.
// Now it waits, and takes up what may be taken up: a press of that time is heard.
func TestInvalidSession(t *testing.T) {
	t.Parallel()
	for _, resumable := range []bool{true, false} {
		t.Run(strconv.FormatBool(resumable), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil).connected()
			ref := b.post(b.here, high())
			identified, began := b.s.Identified(), time.Now()
			b.s.Invalidate(resumable)
			b.until("the end of the connection", func() bool { return b.s.Connected() == 0 })
			b.until("another one", func() bool { return b.s.Connected() == 1 })
			if took := time.Since(began); took < time.Second {
				t.Errorf("it introduced itself again after %v", took)
			}
			if news, again := b.s.Identified()-identified, b.s.Resumed(); (news == 0) != resumable || (again == 1) != resumable {
				t.Errorf("%d new sessions, %d taken up again", news, again)
			}
			if err := b.s.Tap(b.ann, b.here, ref.Message, fake.DenyButton); err != nil {
				t.Fatal(err)
			}
			b.one(0)
			if log, err := b.stop(); err != nil || strings.Contains(log, "level=WARN msg=\"not connected") {
				t.Errorf("Run gives %v; routine is no trouble:\n%s", err, log)
			}
		})
	}
	g := &connection{last: &session{id: "x"}, journal: newJournal(&Channel{})}
	for range 1000 {
		var ready time.Time
		err := g.take(t.Context(), frame{Op: opInvalid, Data: json.RawMessage("true")}, &ready)
		if wait := calls.Asked(err); wait < time.Second || wait > 5*time.Second {
			t.Fatalf("it waits %v", wait)
		}
	}
	if g.last.id == "" {
		t.Error("a session that may be taken up again is forgotten")
	}
	var ready time.Time
	_ = g.take(t.Context(), frame{Op: opInvalid, Data: json.RawMessage("false")}, &ready)
	if *g.last != (session{}) {
		t.Error("a session that is over is remembered")
	}
}

// A gateway that says again and again that the session is not valid is not asked without pause,
// and that is no reception.
func TestNeverAValidSession(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.s.SetSessionBudget(1)
	b.connected()
	b.s.Invalidate(false)
	b.until("the reason", func() bool {
		r := b.c.Reception()
		return !r.Up && strings.Contains(r.Problem, "used up")
	})
	if n := b.s.Identified(); n != 1 {
		t.Errorf("it introduced itself %d times", n)
	}
}

// The story: nobody closed the connection to the gateway, but nothing came through it any more.
// That was noticed after 90 seconds. Now it is once a heartbeat is not acknowledged, the session
// is taken up again, and what people pressed meanwhile is heard.
func TestADeadGatewayConnectionIsLeft(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.s.HeartbeatEvery = 300 * time.Millisecond })
	front := callstest.NewFront(t, b.s.Addr, callstest.Certificate{})
	b.cfg.APIURL = "http://" + front.Addr + "/api"
	c, err := New(b.cfg, b.c.log)
	if err != nil {
		t.Fatal(err)
	}
	c.backoff.First, c.silence = 20*time.Millisecond, time.Second
	b.c = c
	b.connected()
	card := high()
	ref := b.post(b.here, card)
	front.Tunnel.Die()
	if err := b.s.TapUnheard(b.ann, b.here, ref.Message, fake.DenyButton); err != nil {
		t.Fatal(err)
	}
	b.until("the session to be taken up again", func() bool { return b.s.Resumed() == 1 })
	if r := b.one(0); r.Request != card.Request {
		t.Errorf("got %+v", r)
	}
	if r := b.c.Reception(); !strings.Contains(r.Problem, "did not acknowledge a heartbeat") {
		t.Errorf("%+v", r)
	}
}

// The story: Discord was away for a moment, and what people pressed just before was lost, because
// the first try that failed gave the session up. Now it is taken up again, at Discord's general
// address if need be; only a longer outage costs it.
func TestASessionOutlivesAShortOutage(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.c.backoff.First = time.Second
	b.connected()
	card := high()
	ref := b.post(b.here, card)
	identified := b.s.Identified()
	b.s.CutGateway()
	b.s.Break(fake.Down)
	b.until("a try that failed", func() bool { return strings.Contains(b.logged(), "connection refused") })
	b.s.Break(fake.Healthy)
	if err := b.s.TapUnheard(b.ann, b.here, ref.Message, fake.DenyButton); err != nil {
		t.Fatal(err)
	}
	if r := b.one(0); r.Request != card.Request || r.Approve {
		t.Errorf("got %+v", r)
	}
	if b.s.Identified() != identified || b.s.Resumed() != 1 {
		t.Errorf("%d new sessions, %d taken up again", b.s.Identified()-identified, b.s.Resumed())
	}
}

// Every status and code that Discord is known to use, and what it means.
func TestKinds(t *testing.T) {
	foreign := &calls.ForeignError{Status: 403}
	for name, c := range map[string]struct {
		status, code int
		foreign      error
		want         calls.Kind
		unclear      bool
	}{
		"unauthorized":               {status: 401, want: calls.Revoked},
		"unauthorized, with a code":  {status: 401, code: 40001, want: calls.Revoked},
		"401 of a proxy":             {status: 401, foreign: foreign},
		"unknown channel":            {status: 404, code: 10003, want: calls.Refused},
		"unknown message":            {status: 404, code: 10008, want: calls.Refused},
		"unknown interaction":        {status: 404, code: 10062, want: calls.Refused},
		"acknowledged by another":    {status: 400, code: 40060, want: calls.Refused},
		"missing access":             {status: 403, code: 50001, want: calls.Refused},
		"missing permissions":        {status: 403, code: 50013, want: calls.Refused},
		"invalid form":               {status: 400, code: 50035, want: calls.Refused},
		"404 without a code":         {status: 404},
		"403 of a proxy":             {status: 403, foreign: foreign},
		"a time-out":                 {status: 408, code: 1},
		"too early":                  {status: 425, code: 1},
		"unauthorized for a while":   {status: 403, code: 40001},
		"posting is off for a while": {status: 403, code: 40004},
		"a limited resource":         {status: 400, code: 40062},
		"a feature is off":           {status: 400, code: 110001},
		"overloaded":                 {status: 400, code: 130000},
		"too many requests":          {status: 429, want: calls.Limited},
		"429 of a proxy":             {status: 429, foreign: foreign, want: calls.Limited},
		"a redirect":                 {status: 302},
		"500":                        {status: 500, unclear: true},
		"502":                        {status: 502, unclear: true, foreign: foreign},
		"503":                        {status: 503, unclear: true},
	} {
		e := sorted(c.status, answer{Code: c.code}, 7*time.Second, c.foreign)
		if e.Kind != c.want || e.Unclear != c.unclear {
			t.Errorf("%s: %+v", name, e)
		}
		var p approver.Patience
		if errors.Is(e, approver.ErrFinal) != (c.want == calls.Refused) || errors.As(e, &p) != (c.want == calls.Limited) {
			t.Errorf("%s means something else to the core: %v", name, e)
		}
		if p != nil && p.RetryAfter() != 7*time.Second {
			t.Errorf("%s: %v", name, p.RetryAfter())
		}
	}
	if err := calls.OnTheWay("x", context.DeadlineExceeded); !errors.Is(err, context.DeadlineExceeded) || !err.Unclear {
		t.Errorf("%+v", err)
	}
}

// A heartbeat is the only sign that a connection lives: a gateway that wants one once a day, or none, is not believed.
func TestHeartbeatsThatAreTooRare(t *testing.T) {
	t.Parallel()
	for _, every := range []time.Duration{0, 24 * time.Hour, 1<<63 - 1} {
		b := newBench(t, func(b *bench) { b.s.HeartbeatEvery = every }).run(nil)
		b.until("the reason", func() bool {
			return strings.Contains(b.logged(), "how often it wants a heartbeat")
		})
		if b.c.Reception().Up || b.s.Connected() > 0 {
			t.Errorf("%v: answers are received", every)
		}
	}
}
