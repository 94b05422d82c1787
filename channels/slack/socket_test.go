package slack_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/slack"
	"approver.example/channels/slack/slacktest"
	"approver.example/internal/secret"
)

// Run must end, and say why, for what no retry can cure.
func TestRunEndsForGood(t *testing.T) {
	for _, code := range []string{"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired",
		"missing_scope",
		"no_permission", "not_allowed_token_type", "team_access_not_granted", "org_login_required", "link_disabled"} {
		for _, method := range []string{"auth.test", "apps.connections.open", "conversations.info"} {
			t.Run(method+"/"+code, func(t *testing.T) {
				t.Parallel()
				b := begin(t, setup{fake: func(f *slacktest.Server) { f.Refuse(method, code) }})
				b.ends(code)
				if n := b.fake.Count(method); n > 4 { // it asks twice, for two conversations or connections
					t.Errorf("%s was called %d times", method, n)
				}
			})
		}
	}
	for name, c := range map[string]struct {
		setup setup
		want  string
	}{
		"the only conversation is shared": {setup{
			fake:   func(f *slacktest.Server) { f.AddConversation(slacktest.Conversation{ID: there, ExtShared: true}) },
			config: func(c *slack.Config) { c.Channels = []string{there} },
		}, "shared with another organization"},
		"no conversation is left": {setup{
			fake: func(f *slacktest.Server) {
				f.AddConversation(slacktest.Conversation{ID: here, Archived: true})
				f.AddConversation(slacktest.Conversation{ID: there, NotMember: true})
			},
		}, "/invite"},
		"another app's token": {setup{config: func(c *slack.Config) { c.AppID = "A0ANOTHER1" }},
			"app_token belongs to the app " + slacktest.AppID},
		"wrong bot token": {setup{config: func(c *slack.Config) { c.BotToken = secret.New("xoxb-wrong") }},
			"invalid_auth"},
		"wrong app token": {setup{config: func(c *slack.Config) { c.AppToken = secret.New("xapp-wrong") }},
			"invalid_auth"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin(t, c.setup).ends(c.want)
		})
	}
}

// The story: the bot posts to two conversations. Somebody archives one, shares it
// with a customer or removes the bot, for which nobody needs to be an approver.
// At the next start cards still go to the other one, and their buttons must not
// be dead; the log says what to do, and when that is done the conversation gets
// cards again.
func TestOneLostConversationLeavesTheOthers(t *testing.T) {
	const private = "G0PRIVATE1"
	for name, c := range map[string]struct {
		lost slacktest.Conversation
		want string
	}{
		"archived":                  {slacktest.Conversation{ID: there, Archived: true}, "unarchive it"},
		"shared":                    {slacktest.Conversation{ID: there, ExtShared: true}, "use another one"},
		"about to be shared":        {slacktest.Conversation{ID: there, Pending: true}, "use another one"},
		"left, and public":          {slacktest.Conversation{ID: there, NotMember: true}, "/invite"},
		"left, and private":         {slacktest.Conversation{ID: private, NotMember: true}, "/invite"},
		"converted to another kind": {slacktest.Conversation{ID: there, Became: "C0NEW12345"}, "put that id under channels"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, setup{
				fake:   func(f *slacktest.Server) { f.AddConversation(c.lost) },
				config: func(cfg *slack.Config) { cfg.Channels = []string{c.lost.ID, here} },
			})
			lost := approver.Destination{Channel: "slack", Conversation: c.lost.ID}
			if _, err := b.channel.Post(t.Context(), lost, b.card()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Post gives %v, want the cure %q", err, c.want)
			}
			if log := b.logs.String(); !strings.Contains(log, "level=ERROR") || !strings.Contains(log, c.want) ||
				!strings.Contains(log, c.lost.ID) {
				t.Errorf("the log does not say %q of %s:\n%s", c.want, c.lost.ID, log)
			}
			if err := b.fake.Tap(ann, here, b.post(b.card()).Message, fake.ApproveButton); err != nil {
				t.Fatal(err)
			}
			b.want(1)

			b.fake.AddConversation(slacktest.Conversation{ID: c.lost.ID})
			if err := b.fake.Tap(ann, lost.Conversation, b.postTo(lost, b.card()).Message, fake.DenyButton); err != nil {
				t.Fatal(err)
			}
			if r := b.want(2)[1]; r.Conversation != lost.Conversation {
				t.Errorf("the answer in the cured conversation is %+v", r)
			}
		})
	}
}

// A bot token that is revoked while the sockets stay open shows at the next
// post, and ends Run when Slack confirms it.
func TestBotTokenRevokedLater(t *testing.T) {
	b := start(t, setup{})
	b.fake.Refuse("auth.test", "token_revoked")
	b.fake.Refuse("chat.postMessage", "token_revoked")
	if _, err := b.channel.Post(t.Context(), hereDest, b.card()); err == nil {
		t.Error("Post succeeded")
	}
	b.ends("token_revoked")
}

// A method that this app may not call is no reason to stop listening.
func TestMissingScopeOfOneMethod(t *testing.T) {
	b := start(t, setup{})
	b.fake.Refuse("files.getUploadURLExternal", "missing_scope")
	card := b.card()
	card.Body = channeltest.Command(strings.Repeat("x", 30000))
	b.post(card)
	b.eventually("the log says what to do", func() bool { return strings.Contains(b.logs.String(), "add it under OAuth") })
	b.pass()
}

func TestRunAgain(t *testing.T) {
	fake := workspace(t, slacktest.Options{})
	c := channel(t, fake)
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx, nil) }()
		if !fake.WaitConnections(2) {
			t.Fatal("no connection")
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
}

func TestConnections(t *testing.T) {
	b := begin(t, setup{config: func(c *slack.Config) { c.Connections = 1 }})
	b.pass()
	if open, ever := b.fake.Connections(); open != 1 || ever != 1 {
		t.Errorf("%d connections are open, %d ever were", open, ever)
	}
}

// Slack renews sockets every few hours. No answer is lost, and the number of
// sockets stays the same.
func TestRefreshAndDrop(t *testing.T) {
	b := start(t, setup{})
	card := b.card()
	ref := b.post(card)
	for i, renew := range []func(){b.fake.Refresh, b.fake.Drop} {
		_, before := b.fake.Connections()
		renew()
		b.eventually("new connections", func() bool {
			open, ever := b.fake.Connections()
			return open == 2 && ever >= before+2
		})
		if err := b.fake.Tap(ann, here, ref.Message, fake.DenyButton); err != nil {
			t.Fatal(err)
		}
		b.want(i + 1)
	}
}

// A service that closes every socket at once is not called without pause.
func TestFlappingConnectionBacksOff(t *testing.T) {
	b := start(t, setup{})
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	before := b.fake.Count("apps.connections.open")
	for ctx.Err() == nil {
		b.fake.Refresh()
		time.Sleep(time.Millisecond)
	}
	if n := b.fake.Count("apps.connections.open") - before; n > 16 {
		t.Errorf("two connections were opened %d times in 1.5 s", n)
	}
	b.pass()
}

// An answer that is being judged is not lost with the socket that brought it.
func TestAnswerOutlivesItsConnection(t *testing.T) {
	release := make(chan struct{})
	b := start(t, setup{outcome: func(ctx context.Context, _ approver.Reply) approver.Outcome {
		select {
		case <-release:
			return approver.Outcome{Kind: approver.OutcomeApproved, Text: "It runs."}
		case <-ctx.Done():
			return approver.Outcome{Text: "The answer was lost."}
		}
	}})
	ref := b.post(b.card())
	if err := b.fake.Tap(ann, here, ref.Message, fake.ApproveButton); err != nil {
		t.Fatal(err)
	}
	b.eventually("the reply", func() bool { return len(b.got()) == 1 })
	b.fake.Drop()
	b.eventually("new connections", func() bool { open, ever := b.fake.Connections(); return open == 2 && ever >= 4 })
	close(release)
	b.told(ann, "It runs.")
}

func TestRedelivery(t *testing.T) {
	b := start(t, setup{config: func(c *slack.Config) { c.TextApprovals = true }})
	card := b.card()
	ref := b.post(card)
	button := b.fake.ButtonPayload(ann, here, ref.Message, blockID(t, b.fake.Messages(here)[0]), card.Request, "deny")
	id := b.fake.Deliver("interactive", button)
	b.want(1)
	b.fake.Redeliver(id, "interactive", button) // the same envelope
	b.fake.Deliver("interactive", button)       // the same press in a new envelope
	b.want(1)

	command := b.fake.CommandPayload(ann, here, "/deny", card.Code.Reveal())
	for range 3 {
		b.fake.Deliver("slash_commands", command)
	}
	b.want(2)

	text := b.fake.MessagePayload(ann, here, "", "no "+card.Code.Reveal())
	for range 3 {
		b.fake.Deliver("events_api", text)
	}
	b.want(3)
	b.eventually("every envelope is acknowledged",
		func() bool { return b.fake.Count("envelope ") == b.fake.Count(" ack ") })
	// Pressing again is another answer.
	if err := b.fake.Tap(ann, here, ref.Message, fake.DenyButton); err != nil {
		t.Fatal(err)
	}
	b.want(4)
}

// The core knows a repeat by the event of a reply. Slack delivers an event again to any process that receives,
// which knows nothing of the first delivery.
func TestAnotherProcessKnowsARepeat(t *testing.T) {
	b := start(t, setup{config: func(c *slack.Config) { c.TextApprovals = true }})
	other := &bench{t: t, fake: b.fake, ended: make(chan error, 1), logs: &logs{}, outcome: b.outcome}
	c, err := slack.New(config(b.fake), slog.New(slog.NewTextHandler(other.logs, nil)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { other.ended <- c.Run(ctx, other.reply) }()
	t.Cleanup(func() {
		cancel()
		<-other.ended
	})
	b.eventually("four connections", func() bool { open, _ := b.fake.Connections(); return open == 4 })
	card := b.card()
	ref := b.post(card)
	seen := map[string]string{"": "no event"}
	for name, deliver := range map[string]func(){
		"press": func() {
			block := blockID(t, b.fake.Messages(here)[0])
			press := b.fake.ButtonPayload(ann, here, ref.Message, block, card.Request, "deny")
			for range 4 {
				b.fake.Deliver("interactive", press)
			}
		},
		"command": func() {
			command := b.fake.CommandPayload(ann, here, "/deny", card.Code.Reveal())
			for range 4 {
				b.fake.Deliver("slash_commands", command)
			}
		},
		"message": func() {
			text := b.fake.MessagePayload(ann, here, "", "no "+card.Code.Reveal())
			for range 4 {
				b.fake.Deliver("events_api", text)
			}
		},
	} {
		n := len(b.got())
		deliver()
		b.eventually(name+" at both", func() bool { return len(b.got()) == n+1 && len(other.got()) == n+1 })
		one, two := b.event(n), other.event(n)
		if was, is := seen[one]; is || one != two {
			t.Errorf("%s has the events %q and %q; of before: %s", name, one, two, was)
		}
		seen[one] = name
	}
}

// The story: a press for a dialog was delivered to two processes. One opened the dialog, and the other told the
// person that Slack had not opened it.
func TestADialogThatIsOpenIsNotMissed(t *testing.T) {
	b := start(t, setup{})
	ref := b.post(b.catastrophic())
	b.fake.Refuse("views.open", "exchanged_trigger_id")
	if err := b.fake.Tap(ann, here, ref.Message, fake.CodeButton); err != nil {
		t.Fatal(err)
	}
	b.eventually("the try", func() bool { return b.fake.Count("views.open") > 0 })
	b.pass()
	if told := b.fake.Told(ann); len(told) > 0 {
		t.Errorf("she is told %q", told)
	}
}

// All processes with one app agree on the lease, and at most eight connections are open, whatever the number of
// connections.
func TestSeats(t *testing.T) {
	for connections, seats := range map[int]int{0: 4, 1: 4, 2: 4, 3: 2, 4: 2, 5: 1} {
		cfg := slack.Config{
			BotToken: secret.New("xoxb-1"), AppToken: secret.New("xapp-1-A0123456789-42-abc"), Channels: []string{"C0123456789"},
			Approvers: []approver.Approver{{ID: "U0123456789"}}, Connections: connections,
		}
		c, err := slack.New(cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.Seats() != seats || seats*max(connections, 2) > 10 {
			t.Errorf("%d connections: %d processes receive", connections, c.Seats())
		}
		cfg.AppToken = secret.New("xapp-1-A0123456789-43-def") // another token of the same app
		other, err := slack.New(cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.LeaseName() != "slack:A0123456789" || other.LeaseName() != c.LeaseName() {
			t.Errorf("leases %q and %q", c.LeaseName(), other.LeaseName())
		}
		cfg.AppToken, cfg.AppID = secret.New("xapp-odd"), "A0123456789"
		if other, err = slack.New(cfg, nil); err != nil || other.LeaseName() != c.LeaseName() {
			t.Errorf("with app_id: %q, %v", other.LeaseName(), err)
		}
		cfg.AppID = ""
		if other, err = slack.New(cfg, nil); err != nil || strings.Contains(other.LeaseName(), "xoxb") ||
			len(other.LeaseName()) < len("slack:")+16 {
			t.Errorf("without any: %q, %v", other.LeaseName(), err)
		}
	}
}

// Slack delivers a slow dialog's event again while the first is in work.
func TestRedeliveryWhileInWork(t *testing.T) {
	b := start(t, setup{
		opts: slacktest.Options{AckTimeout: 150 * time.Millisecond},
		outcome: func(ctx context.Context, _ approver.Reply) approver.Outcome {
			select {
			case <-time.After(400 * time.Millisecond):
			case <-ctx.Done():
			}
			return approver.Outcome{Kind: approver.OutcomeApproved, Text: "It runs."}
		},
	})
	card := b.catastrophic()
	ref := b.post(card)
	if err := b.fake.EnterCode(ann, here, ref.Message, card.Code.Reveal()); err != nil {
		t.Fatal(err)
	}
	b.told(ann, "It runs.")
	b.want(1)
	if b.fake.Count("attempt 1") == 0 {
		t.Error("the event was not delivered again: the test shows nothing")
	}
}

// More events at once than there are hands wait at Slack, which delivers them
// again; none is lost and none counts twice.
func TestMoreAnswersThanHands(t *testing.T) {
	release := make(chan struct{})
	var once sync.Once
	b := start(t, setup{
		opts: slacktest.Options{AckTimeout: 400 * time.Millisecond},
		outcome: func(ctx context.Context, _ approver.Reply) approver.Outcome {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return approver.Outcome{Kind: approver.OutcomeTooLate}
		},
	})
	t.Cleanup(func() { once.Do(func() { close(release) }) })
	card := b.card()
	ref := b.post(card)
	block := blockID(t, b.fake.Messages(here)[0])
	const all = 300
	for range all {
		b.fake.Deliver("interactive", b.fake.ButtonPayload(ann, here, ref.Message, block, card.Request, "deny"))
	}
	b.eventually("all hands are busy", func() bool { return len(b.got()) >= 256 })
	if n := len(b.got()); n != 256 {
		t.Errorf("%d answers are in work at once", n)
	}
	b.eventually("the rest is left at Slack",
		func() bool { return strings.Contains(b.logs.String(), "left for redelivery") })
	once.Do(func() { close(release) })
	b.want(all)
}

// Events that nobody can read are acknowledged, or Slack would repeat them and
// in the end switch events off.
func TestUnreadableEvents(t *testing.T) {
	b := start(t, setup{opts: slacktest.Options{AckTimeout: 300 * time.Millisecond}})
	for kind, payload := range map[string]any{
		"events_api": map[string]any{"type": "event_callback", "team_id": slacktest.Team,
			"event": map[string]any{"type": "brand_new"}},
		"interactive":    []string{"no object"},
		"slash_commands": map[string]any{"command": 7},
		"interactive ":   map[string]any{},
	} {
		b.fake.Deliver(strings.TrimSpace(kind), payload)
	}
	b.fake.Deliver("events_api",
		map[string]any{"type": "event_callback", "event": map[string]any{"type": "app_mention", "user": ann, "text": "yes"}})
	b.pass()
	time.Sleep(400 * time.Millisecond)
	if n := b.fake.Count("attempt 1"); n != 0 || len(b.got()) != 0 {
		t.Errorf("%d events were delivered again, replies %+v\n%s", n, b.got(), strings.Join(b.fake.Log(), "\n"))
	}
}

// Without knowing our own app no event can be ours.
func TestUnknownAppAdmitsNobody(t *testing.T) {
	b := start(t, setup{opts: slacktest.Options{NoAppID: true}})
	card := b.card()
	ref := b.post(card)
	if err := b.fake.Tap(ann, here, ref.Message, fake.DenyButton); err != nil {
		t.Fatal(err)
	}
	b.fake.Type(ann, here, "/deny "+card.Code.Reveal())
	b.eventually("both are acknowledged", func() bool { return b.fake.Count(" ack ") == 2 })
	time.Sleep(50 * time.Millisecond)
	if got := b.got(); len(got) != 0 {
		t.Errorf("it became %+v", got)
	}

	known := start(t, setup{opts: slacktest.Options{NoAppID: true},
		config: func(c *slack.Config) { c.AppID = slacktest.AppID }})
	known.pass() // the configured id does as well
}

func TestPanicIsContained(t *testing.T) {
	var calls atomic.Int32
	b := start(t, setup{outcome: func(context.Context, approver.Reply) approver.Outcome {
		if calls.Add(1) == 1 {
			panic(fmt.Sprintf("a bug with %s", "details"))
		}
		return approver.Outcome{Kind: approver.OutcomeDenied, Text: "Denied."}
	}})
	card := b.catastrophic()
	ref := b.post(card)
	if err := b.fake.EnterCode(ann, here, ref.Message, card.Code.Reveal()); err != nil {
		t.Fatal(err)
	}
	b.told(ann, "Something broke")
	if err := b.fake.Tap(ann, here, ref.Message, fake.DenyButton); err != nil {
		t.Fatal(err)
	}
	b.told(ann, "Denied.")
	if strings.Contains(strings.Join(b.fake.Told(ann), ""), "a bug") ||
		!strings.Contains(b.logs.String(), "a bug with details") {
		t.Error("the panic belongs into the log, not before people")
	}
}
