package slack_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/slack"
	"approver.example/channels/slack/slacktest"
)

// The story: status said "receives" while no connection was open. Now a channel
// receives while one is, and else there is a reason. The log names each cause once,
// and when it is over.
func TestReception(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		trouble, cure func(*slacktest.Server)
		problem       string
	}{
		"Slack is away": {func(s *slacktest.Server) { s.Break(fake.Down) },
			func(s *slacktest.Server) { s.Break(fake.Healthy) }, "connection refused"},
		"Slack breaks": {func(s *slacktest.Server) { s.Break(fake.ServerError) },
			func(s *slacktest.Server) { s.Break(fake.Healthy) }, "500"},
		"no more connections": {func(s *slacktest.Server) {
			s.Refuse("apps.connections.open",
				"too_many_websockets")
			s.Drop()
		},
			func(s *slacktest.Server) { s.Refuse("apps.connections.open", "") }, "Slack allows an app ten connections"},
		"an error that is not known": {func(s *slacktest.Server) {
			s.Refuse("apps.connections.open",
				"internal_error")
			s.Drop()
		},
			func(s *slacktest.Server) { s.Refuse("apps.connections.open", "") }, "internal_error"},
		"not to be found": {func(s *slacktest.Server) {
			s.Trips.Add(fake.Trip{Call: "apps.connections.open", Status: 404, Times: 1 << 20})
			s.Drop()
		}, func(s *slacktest.Server) { s.Trips.Clear() }, "404"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, setup{})
			b.eventually("the reception", func() bool { return b.channel.Reception().Up })
			began := b.channel.Reception()
			c.trouble(b.fake)
			b.eventually("the reason",
				func() bool { r := b.channel.Reception(); return !r.Up && strings.Contains(r.Problem, c.problem) })
			if r := b.channel.Reception(); r.Since.Before(began.Since) || r.Bad.Before(r.Since) || r.Good.IsZero() {
				t.Errorf("%+v", r)
			}
			b.eventually("six tries", func() bool { return strings.Count(b.logs.String(), "again_in") >= 6 })
			c.cure(b.fake)
			b.eventually("the reception again", func() bool { return b.channel.Reception().Up })
			b.eventually("its end in the log", func() bool { return strings.Contains(b.logs.String(), "brings answers again") })
			log := b.logs.String()
			if n := strings.Count(log, "level=WARN"); n < 1 || n > 3 {
				t.Errorf("%d warnings:\n%s", n, log)
			}
			if strings.Contains(log, "channel=slack") {
				t.Errorf("the channel names itself; whoever gives it a log does that:\n%s", log)
			}
		})
	}
}

// One of two connections that is refused leaves the channel up, and is logged once.
func TestOneConnectionTooMany(t *testing.T) {
	t.Parallel()
	b := begin(t, setup{fake: func(f *slacktest.Server) {
		f.Trips.Add(fake.Trip{Call: "apps.connections.open", Skip: 1, Times: 1 << 20, Status: 200,
			Body: failed("too_many_websockets")})
	}})
	b.eventually("five refusals", func() bool { return strings.Count(b.logs.String(), "too_many_websockets") >= 5 })
	if r := b.channel.Reception(); !r.Up {
		t.Errorf("%+v", r)
	}
	// The first may come before the other connection is open, which ends that outage.
	if n := strings.Count(b.logs.String(), "level=WARN"); n < 1 || n > 2 {
		t.Errorf("%d warnings:\n%s", n, b.logs)
	}
	b.pass()
	b.fake.Trips.Clear()
	b.eventually("both connections", func() bool { open, _ := b.fake.Connections(); return open == 2 })
}

// The story: one token_revoked that Slack took back a moment later ended the channel
// until somebody restarted the daemon. Now it asks again before it believes that.
func TestOneRefusalIsNotTheEnd(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"token_revoked", "invalid_auth", "account_inactive", "missing_scope"} {
		for _, call := range []string{"auth.test", "apps.connections.open", "conversations.info"} {
			t.Run(code+" "+call, func(t *testing.T) {
				t.Parallel()
				times := 1
				if call == "conversations.info" {
					times = 2 // of both conversations
				}
				b := begin(t, setup{fake: func(f *slacktest.Server) {
					f.Trips.Add(fake.Trip{Call: call, Times: times, Status: 200, Body: failed(code)})
				}})
				b.eventually("the connections", func() bool { open, _ := b.fake.Connections(); return open == 2 })
				b.pass()
			})
		}
		t.Run(code+" later", func(t *testing.T) {
			t.Parallel()
			b := start(t, setup{})
			b.fake.Trips.Add(fake.Trip{Call: "chat.postMessage", Status: 200, Body: failed(code)})
			if _, err := b.channel.Post(t.Context(), hereDest, b.card()); err == nil {
				t.Error("Post succeeded")
			}
			b.pass()
			b.fake.Trips.Add(fake.Trip{Call: "apps.connections.open", Status: 200, Body: failed(code)})
			b.fake.Refresh()
			b.eventually("new connections", func() bool { open, ever := b.fake.Connections(); return open == 2 && ever > 2 })
			b.pass()
		})
	}
}

// A token that stays refused ends Run with the cure. When the token works again, so
// does the channel: whoever runs it runs it again.
func TestRevokedForAWhile(t *testing.T) {
	t.Parallel()
	server := workspace(t, slacktest.Options{})
	c := channel(t, server)
	run := func() (stop context.CancelFunc, ended chan error) {
		ctx, cancel := context.WithCancel(context.Background())
		t.Cleanup(cancel)
		ended = make(chan error, 1)
		go func() { ended <- c.Run(ctx, nil) }()
		return cancel, ended
	}
	_, ended := run()
	if !server.WaitConnections(2) {
		t.Fatal("no connection")
	}
	server.Break(fake.Revoked)
	for range 2 {
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "install the app again") {
			t.Errorf("Run gives %v", err)
		}
		if r := c.Reception(); r.Up || !strings.Contains(r.Problem, "install the app again") {
			t.Errorf("%+v", r)
		}
		_, ended = run()
	}
	<-ended
	server.Break(fake.Healthy)
	stop, ended := run()
	if !server.WaitConnections(2) {
		t.Fatal("no connection")
	}
	for deadline := time.Now().Add(time.Minute); !c.Reception().Up &&
		time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		continue
	}
	if r := c.Reception(); !r.Up {
		t.Errorf("%+v", r)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Run gives %v", err)
	}
}

// beside makes another daemon with the bench's app, which has a store of its own: it
// knows no request.
func (b *bench) beside() *bench {
	b.t.Helper()
	other := &bench{t: b.t, fake: b.fake, ended: make(chan error, 1), logs: &logs{}, outcome: unknown}
	c, err := slack.New(config(b.fake), slog.New(slog.NewTextHandler(other.logs, nil)))
	if err != nil {
		b.t.Fatal(err)
	}
	other.channel = c
	ctx, cancel := context.WithCancel(context.Background())
	go func() { other.ended <- c.Run(ctx, other.reply) }()
	b.t.Cleanup(func() {
		cancel()
		<-other.ended
	})
	b.eventually("four connections", func() bool { open, _ := b.fake.Connections(); return open == 4 })
	b.eventually("the other one to know",
		func() bool { return strings.Contains(other.logs.String(), "other processes receive") })
	return other
}

func unknown(context.Context, approver.Reply) approver.Outcome {
	return approver.Outcome{Kind: approver.OutcomeUnknown, Text: "There is no such request in this conversation."}
}

// The story: two machines had daemons with stores of their own and one app. Slack
// brings each press to one of them. The one that had not asked acknowledged it, and
// it was lost. Now that one leaves it to Slack, which brings it again, to either; the
// card is left as it is, and the log says what to do, once.
func TestTwoDaemonsOneApp(t *testing.T) {
	t.Parallel()
	b := start(t, setup{opts: slacktest.Options{AckTimeout: time.Second}})
	other := b.beside()
	const all = 4
	for n := range all {
		card := b.card()
		ref := b.post(card)
		if err := b.fake.Tap(ann, here, ref.Message, fake.ApproveButton); err != nil {
			t.Fatal(err)
		}
		// in turn: Slack tries three connections
		b.eventually("the press to count", func() bool { return len(b.got()) == n+1 })
		if r := b.got()[n]; r.Request != card.Request || !r.Approve {
			t.Errorf("got %+v", r)
		}
	}
	if len(other.got()) == 0 {
		t.Fatal("the other daemon got none: the test shows nothing")
	}
	b.eventually("every press to be acknowledged", func() bool { return b.fake.Count(" ack interactive") == all })
	for _, c := range b.fake.Cards(here) {
		if len(c.Buttons) != 4 {
			t.Errorf("the other daemon changed a card: %+v", c)
		}
	}
	if n := strings.Count(other.logs.String(), "level=ERROR"); n != 1 ||
		!strings.Contains(other.logs.String(), "give each daemon an app of its own") {
		t.Errorf("the other daemon's log has %d errors:\n%s", n, other.logs)
	}
	if now := other.channel.Reception(); !now.Up || !strings.Contains(now.Contest, "give each daemon an app of its own") ||
		now.ContestSince.IsZero() {
		t.Errorf("its status has %+v", now)
	}
	if strings.Contains(b.logs.String(), "level=ERROR") || b.channel.Reception().Contest != "" {
		t.Errorf("%+v, the log:\n%s", b.channel.Reception(), b.logs)
	}
}

// A press on a card that nobody knows any more is told to its sender, and is no
// reason for an alarm where nobody else receives.
func TestUnknownRequestIsTold(t *testing.T) {
	t.Parallel()
	b := start(t, setup{outcome: unknown})
	ref := b.post(b.card())
	if err := b.fake.Tap(ann, here, ref.Message, fake.DenyButton); err != nil {
		t.Fatal(err)
	}
	b.told(ann, "There is no such request in this conversation. If the card has not changed by now, answer again")
	if n := len(b.got()); n != 1 || strings.Contains(b.logs.String(), "level=ERROR") {
		t.Errorf("it was put %d times to the core:\n%s", n, b.logs)
	}
}
