package discord

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/internal/calls"
	"approver.example/internal/secret"
)

// After these Discord takes nobody back who tries again.
func TestFatalCloseCodes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set  func(b *bench)
		want []string
	}{
		"a wrong token": {func(b *bench) { b.cfg.Token = secret.New("wrong-token") },
			[]string{"401", "token_file"}},
		"an intent that is not switched on": {func(b *bench) { b.cfg.TextApprovals = true },
			[]string{"4014", "Message Content", "text_approvals"}},
		"another application's token": {func(b *bench) { b.cfg.ApplicationID = b.s.Bot() },
			[]string{"application_id", "the token belongs to application"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.set).run(nil)
			select {
			case <-b.ended:
			case <-time.After(30 * time.Second):
				t.Fatal("Run goes on")
			}
			if b.err == nil {
				t.Fatal("Run ended without an error")
			}
			for _, w := range c.want {
				if !strings.Contains(b.err.Error(), w) {
					t.Errorf("the error does not say %q: %v", w, b.err)
				}
			}
			if strings.Contains(b.err.Error(), "wrong-token") || strings.Contains(b.err.Error(), b.s.Token()) {
				t.Errorf("the error shows the token: %v", b.err)
			}
			if n := b.s.Identified(); n > 2 { // it asks twice
				t.Errorf("the bot identified %d times", n)
			}
		})
	}
}

// A token that is revoked while the bot is connected ends Run as well.
func TestRevokedWhileConnected(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil).connected()
	b.s.Break(fake.Revoked)
	select {
	case <-b.ended:
	case <-time.After(30 * time.Second):
		t.Fatal("Run goes on")
	}
	if calls.KindOf(b.err) != calls.Revoked {
		t.Errorf("Run returned %v", b.err)
	}
}

// A channel that somebody deleted, or that the bot may not see, does not take the
// others along.
func TestOneLostChannelLeavesTheOthers(t *testing.T) {
	t.Parallel()
	const lost = "1100000000000000404"
	b := newBench(t, func(b *bench) { b.cfg.Channels = []string{lost, b.here} }).run(nil)
	card := high()
	ref := b.post(b.here, card)
	b.until("the connection", func() bool { return b.s.Connected() > 0 })
	if err := b.s.Tap(b.ann, b.here, ref.Message, fake.ApproveButton); err != nil {
		t.Fatal(err)
	}
	if r := b.one(0); r.Request != card.Request || !r.Approve {
		t.Errorf("got %+v", r)
	}
	if _, err := b.c.Post(t.Context(), approver.Destination{Channel: Name, Conversation: lost}, high()); err == nil {
		t.Error("a card was posted to a channel that is not there")
	}
	if log, err := b.stop(); err != nil || !strings.Contains(log, "cannot be reached") || !strings.Contains(log, lost) {
		t.Errorf("Run returned %v and logged\n%s", err, log)
	}
}

// Whatever ends a connection, the next one is up soon and takes answers.
func TestReconnects(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		trouble  func(b *bench)
		sessions int // more than before, at least
	}{
		"a plain close":             {func(b *bench) { b.s.CloseGateway(1000) }, 1},
		"an unknown error":          {func(b *bench) { b.s.CloseGateway(4000) }, 1},
		"a session that timed out":  {func(b *bench) { b.s.CloseGateway(4009) }, 1},
		"a request to reconnect":    {func(b *bench) { b.s.AskReconnect() }, 1},
		"a session no longer valid": {func(b *bench) { b.s.Invalidate(false) }, 1},
		"a gateway that fell silent": {func(b *bench) {
			b.s.MuteGateway(true)
			time.Sleep(1300 * time.Millisecond)
			b.s.MuteGateway(false)
		}, 1},
		"a gateway that is away": {func(b *bench) {
			b.s.Break(fake.Down)
			time.Sleep(50 * time.Millisecond)
			b.s.Break(fake.Healthy)
		}, 1},
		"a heartbeat out of turn": {func(b *bench) { b.s.AskHeartbeat() }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The library by itself would notice silence after five heartbeats.
			b := newBench(t, func(b *bench) { b.s.HeartbeatEvery = 400 * time.Millisecond })
			b.c.silence, b.c.hello = 900*time.Millisecond, 900*time.Millisecond
			b.connected()
			begun := func() int { return b.s.Identified() + b.s.Resumed() }
			before := begun()
			c.trouble(b)
			b.until("another session", func() bool { return begun() >= before+c.sessions && b.s.Connected() > 0 })
			card := high()
			ref := b.post(b.here, card)
			b.until("an answer to arrive", func() bool {
				if err := b.s.Tap(b.ann, b.here, ref.Message, fake.DenyButton); err != nil {
					t.Fatal(err)
				}
				time.Sleep(50 * time.Millisecond)
				return len(b.got()) > 0
			})
			if n := b.s.Connected(); n > 1 {
				t.Errorf("%d connections are open", n)
			}
			if n := begun() - before; n > c.sessions+1 {
				t.Errorf("it took %d sessions to recover", n)
			}
			if _, err := b.stop(); err != nil {
				t.Errorf("Run returned %v", err)
			}
		})
	}
}

// A gateway that never says Hello holds neither the connection nor the end up.
func TestSilentGateway(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.s.MuteGateway(true)
	b.c.hello = 400 * time.Millisecond
	b.run(nil)
	b.until("a second attempt", func() bool {
		return strings.Count(strings.Join(b.s.Log(), "\n"), "GET /gateway/") >= 2
	})
	b.s.MuteGateway(false)
	b.until("the connection", func() bool { return b.s.Connected() == 1 })

	c := newBench(t, nil)
	c.s.MuteGateway(true)
	c.run(nil)
	c.until("the attempt", func() bool { return strings.Contains(strings.Join(c.s.Log(), "\n"), "GET /gateway/") })
	began := time.Now()
	if _, err := c.stop(); err != nil {
		t.Errorf("Run returned %v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("Run took %v to end while the gateway was silent", took)
	}
}

// Discord resets the token of a bot that starts too many sessions in a day.
func TestSessionBudget(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.s.SetSessionBudget(0)
	b.run(nil)
	b.until("the bot to ask", func() bool { return strings.Contains(strings.Join(b.s.Log(), "\n"), "gateway/bot") })
	time.Sleep(300 * time.Millisecond)
	if n := b.s.Identified(); n != 0 {
		t.Errorf("the bot identified %d times although its budget was used up", n)
	}
	began := time.Now()
	log, err := b.stop()
	if err != nil || time.Since(began) > 5*time.Second {
		t.Errorf("Run returned %v after %v", err, time.Since(began))
	}
	if !strings.Contains(log, "used up") {
		t.Errorf("the log does not say why:\n%s", log)
	}
}

// The story: the application could not use an intent, Discord refused each session of the bot, and the daemon tried
// again whenever somebody had to be asked. When the intent was switched on at last, the thousand sessions of
// the day were used up, and the bot stayed away until the next one. The last ones are spared now.
func TestTheLastSessionsOfADayAreSpared(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.s.SetSessionBudget(sparedSessions)
	b.s.RefuseSessions(4014)
	b.run(nil)
	b.until("the reason", func() bool { return strings.Contains(b.c.Reception().Problem, "connections left for today") })
	if n := b.s.Identified(); n != 1 {
		t.Errorf("the bot introduced itself %d times", n)
	}
	if _, err := b.stop(); err != nil {
		t.Error(err)
	}
}

// Trouble at the commands' registration leaves everything else working.
func TestCommandsCannotBeRegistered(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.cfg.Channels = append(b.cfg.Channels, "404404404404404404") }).run(nil)
	b.until("a warning", func() bool { return strings.Contains(strings.Join(b.s.Log(), "\n"), "commands") })
	ref := b.post(b.here, high())
	if err := b.s.Tap(b.ann, b.here, ref.Message, fake.ApproveButton); err != nil {
		t.Fatal(err)
	}
	b.one(0)
	if log, _ := b.stop(); !strings.Contains(log, "404404404404404404") {
		t.Errorf("the log does not name the channel:\n%s", log)
	}
}

// The story: somebody pressed, and at that moment the daemon was restarted. Discord brings a
// press once, and it was on its way, or taken in and dropped. Now it is heard.
func TestAPressJustBeforeTheEndIsHeard(t *testing.T) {
	t.Parallel()
	for n := range 5 {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil).connected()
			ref := b.post(b.here, high())
			if err := b.s.Tap(b.ann, b.here, ref.Message, fake.DenyButton); err != nil {
				t.Fatal(err)
			}
			if log, err := b.stop(); err != nil || len(b.got()) != 1 {
				t.Errorf("%d answers, Run returned %v; the log:\n%s", len(b.got()), err, log)
			}
		})
	}
}

// An answer that is being decided when Run ends is waited for, and the person
// still hears of it.
func TestEndDuringAnAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	under := make(chan struct{})
	b.run(func(ctx context.Context, _ approver.Reply) approver.Outcome {
		close(under)
		<-ctx.Done()
		return approver.Outcome{Text: "the service is stopping"}
	})
	ref := b.post(b.here, high())
	if err := b.s.Tap(b.ann, b.here, ref.Message, fake.ApproveButton); err != nil {
		t.Fatal(err)
	}
	<-under
	if _, err := b.stop(); err != nil {
		t.Errorf("Run returned %v", err)
	}
	b.told(b.ann, "the service is stopping")
}

func TestWorkers(t *testing.T) {
	b := newBench(t, nil)
	w := newWorkers(b.c.log)
	hold := make(chan struct{})
	if !w.try("a", 1, func() { <-hold }) || w.try("a", 1, func() {}) || !w.try("b", 1, func() { panic("boom") }) {
		t.Error("the limit of a key is not kept")
	}
	close(hold)
	w.stop()
	if w.try("a", 1, func() {}) {
		t.Error("workers that were stopped take work")
	}
	if len(w.busy) != 0 {
		t.Errorf("left over: %v", w.busy)
	}
	if !strings.Contains(b.log.String(), "boom") {
		t.Error("a panic is not logged")
	}
}
