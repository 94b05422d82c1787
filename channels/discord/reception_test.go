package discord

import (
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
)

var _ approver.Receiver = (*Channel)(nil)

// The story: status said "receives" while the gateway was never reached. Now a
// channel receives when Discord says so, and else there is a reason. The log names
// each cause once, and when it is over.
func TestReception(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		trouble, cure func(b *bench)
		problem       string
	}{
		"the server is away": {func(b *bench) { b.s.Break(fake.Down) },
			func(b *bench) { b.s.Break(fake.Healthy) }, "connection refused"},
		"the server breaks": {func(b *bench) { b.s.Break(fake.ServerError); b.s.CloseGateway(1011) },
			func(b *bench) { b.s.Break(fake.Healthy) }, "500"},
		"the gateway is not there": {func(b *bench) { b.away(404); b.s.CloseGateway(1000) },
			func(b *bench) { b.back() }, "404"},
		"the gateway is for somebody else": {func(b *bench) { b.away(403); b.s.CloseGateway(1000) },
			func(b *bench) { b.back() }, "403"},
		"the gateway falls silent": {func(b *bench) { b.s.MuteGateway(true) },
			func(b *bench) { b.s.MuteGateway(false) }, "gateway"},
		"connections are used up": {func(b *bench) { b.s.SetSessionBudget(0); b.s.CloseGateway(1000) }, nil,
			"used up"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(b *bench) { b.s.HeartbeatEvery = 400 * time.Millisecond })
			b.c.silence, b.c.hello = 2*time.Second, 2*time.Second
			if got := b.c.Reception(); got != (approver.Reception{}) {
				t.Errorf("before it tried: %+v", got)
			}
			b.connected()
			b.until("the reception", func() bool { return b.c.Reception().Up })
			began := b.c.Reception()
			c.trouble(b)
			b.until("the reason", func() bool { r := b.c.Reception(); return !r.Up && strings.Contains(r.Problem, c.problem) })
			if r := b.c.Reception(); r.Since.Before(began.Since) || r.Bad.Before(r.Since) || r.Good.IsZero() {
				t.Errorf("%+v", r)
			}
			if c.cure == nil {
				return
			}
			b.until("three tries", func() bool { return strings.Count(b.logged(), "connected to Discord") >= 4 })
			c.cure(b)
			b.until("the reception again", func() bool { return b.c.Reception().Up })
			b.until("the end in the log", func() bool { return strings.Contains(b.logged(), "brings answers again") })
			log, err := b.stop()
			// A trouble may show in some ways, such as a cut and then a refusal.
			if n := strings.Count(log, "level=WARN msg=\"not connected"); n < 1 || n > 3 || err != nil {
				t.Errorf("%d warnings, Run gives %v:\n%s", n, err, log)
			}
			if n := strings.Count(log, "brings answers again"); n != 1 {
				t.Errorf("its end is logged %d times", n)
			}
			if strings.Contains(log, "channel=discord") {
				t.Errorf("the channel names itself; whoever gives it a log does that:\n%s", log)
			}
		})
	}
}

// away makes the gateway's address answer with an error, back ends that.
func (b *bench) away(status int) {
	b.s.Trips.Add(fake.Trip{Call: "/gateway", Times: 1 << 20, Status: status, Body: `<html>`})
}

func (b *bench) back() { b.s.Trips.Clear() }

// The story: one 401 that Discord took back a second later ended the channel until
// somebody restarted the daemon. Now it asks again before it believes that.
func TestOneRefusalIsNotTheEnd(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]func(b *bench){
		"401": func(b *bench) {
			b.s.Trips.Add(fake.Trip{Call: "GET /api/v10/gateway/bot", Status: 401,
				Body: `{"code":0,"message":"401: Unauthorized"}`})
			b.s.CloseGateway(1000)
		},
		"4004": func(b *bench) { b.s.CloseGateway(4004) },
		"4013": func(b *bench) { b.s.CloseGateway(4013) },
		"both": func(b *bench) {
			b.s.Trips.Add(fake.Trip{Call: "GET /api/v10/gateway/bot", Status: 401})
			b.s.CloseGateway(4004)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil).connected()
			before := b.s.Identified() + b.s.Resumed()
			trouble(b)
			b.until("another connection", func() bool { return b.s.Identified()+b.s.Resumed() > before && b.s.Connected() == 1 })
			ref := b.post(b.here, high())
			if err := b.s.Tap(b.ann, b.here, ref.Message, fake.DenyButton); err != nil {
				t.Fatal(err)
			}
			b.one(0)
			if _, err := b.stop(); err != nil {
				t.Errorf("Run gives %v", err)
			}
		})
	}
}

// A token that stays refused ends Run with the cure. When the token works again, so
// does the channel: whoever runs it runs it again.
func TestRevokedForAWhile(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	b.s.Break(fake.Revoked)
	<-b.ended
	if b.err == nil || !strings.Contains(b.err.Error(), "token_file") {
		t.Errorf("Run gives %v", b.err)
	}
	if r := b.c.Reception(); r.Up || !strings.Contains(r.Problem, "token_file") {
		t.Errorf("%+v", r)
	}
	b.run(nil)
	<-b.ended // still
	b.s.Break(fake.Healthy)
	b.run(nil)
	b.until("the reception", func() bool { return b.c.Reception().Up })
	ref := b.post(b.here, high())
	if err := b.s.Tap(b.ann, b.here, ref.Message, fake.DenyButton); err != nil {
		t.Fatal(err)
	}
	b.one(0)
	log, err := b.stop()
	if err != nil || strings.Count(log, "level=WARN msg=\"not connected") > 2 {
		t.Errorf("Run gives %v\n%s", err, log)
	}
}

// Discord asks every bot to connect again from time to time. What people press
// meanwhile arrives, because the session is taken up again.
func TestPressesBetweenConnections(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(b *bench){
		"asked to reconnect": func(b *bench) { b.s.AskReconnect() },
		"an unknown error":   func(b *bench) { b.s.CloseGateway(4000) },
		"a cut":              func(b *bench) { b.s.CutGateway() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil).connected()
			card := high()
			ref := b.post(b.here, card)
			before := b.s.Identified()
			end(b)
			b.until("the end of the connection", func() bool { return b.s.Connected() == 0 || b.s.Resumed() > 0 })
			if err := b.s.TapUnheard(b.ann, b.here, ref.Message, fake.ApproveButton); err != nil {
				t.Fatal(err)
			}
			if r := b.one(0); r.Request != card.Request || !r.Approve {
				t.Errorf("got %+v", r)
			}
			if b.s.Identified() != before || b.s.Resumed() != 1 {
				t.Errorf("it took %d new sessions and %d old ones", b.s.Identified()-before, b.s.Resumed())
			}
			if log, err := b.stop(); err != nil || strings.Contains(log, "level=WARN msg=\"not connected") {
				t.Errorf("Run gives %v; routine is no trouble:\n%s", err, log)
			}
		})
	}
}
