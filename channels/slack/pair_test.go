package slack_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/slack"
	"approver.example/channels/slack/slacktest"
	"approver.example/internal/secret"
	"approver.example/tokens"
)

// The story: an app waits for a pairing code. Its links open it; a wrong code and talk pair nobody
// and are counted; a colleague who writes to the app itself is told what it is, never the code; a
// second program on the same app is told of. Then Ann's command pairs her, and the app greets her
// without naming anybody else.
func TestFirstContact(t *testing.T) {
	fake := workspace(t, slacktest.Options{})
	const direct = "D0DIRECT12"
	fake.AddConversation(slacktest.Conversation{ID: direct})
	cfg := slack.Config{BotToken: secret.New(slacktest.BotToken), AppToken: secret.New(slacktest.AppToken),
		APIURL: fake.URL()}
	open := func() approver.Pairer {
		bot, err := cfg.ForPairing(slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return bot
	}
	bot, other := open(), open()
	code, err := tokens.Mint(12)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan struct{}, 2)
	run := func(p approver.Pairer) {
		go func() { _ = p.Run(ctx, nil); ran <- struct{}{} }()
	}
	run(bot)
	t.Cleanup(func() { cancel(); <-ran; <-ran })
	found := make(chan approver.Paired, 1)
	go func() {
		if who, err := bot.Pair(ctx, code); err == nil {
			found <- who
		}
	}()
	eventually := func(what string, done func() bool) {
		t.Helper()
		for end := time.Now().Add(15 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s does not come", what)
			}
		}
	}
	eventually("the connection", func() bool { return bot.(approver.Receiver).Reception().Up })
	shown, err := bot.Introduce(ctx, code)
	if err != nil || shown.Name != "approver in Home" || len(shown.Steps) != 3 ||
		!strings.Contains(shown.Steps[0].Text, "/pair "+code.Reveal()) ||
		shown.Steps[1].Link != "https://slack.com/app_redirect?app="+slacktest.AppID+"&team="+slacktest.Team ||
		shown.Steps[2].Link != "slack://app?team="+slacktest.Team+"&id="+slacktest.AppID {
		t.Errorf("%+v, %v", shown, err)
	}
	fake.Type(stranger, direct, "CONFIRM-AAAAAAAAAAAA")
	fake.Type(stranger, direct, "hello")
	eventually("the count", func() bool {
		p := bot.Passed()
		return p.Codes == 1 && p.Messages == 1
	})
	told := func() string { return strings.Join(fake.Told(stranger), "\n") }
	eventually("what the app is", func() bool { return strings.Contains(told(), "I am the bot of approver") })
	if strings.Contains(told(), code.Reveal()) || strings.Count(told(), "I am") != 1 {
		t.Errorf("it says %q", told())
	}
	fake.Type(ann, here, "/pair "+code.Reveal())
	if who := <-found; who.ID != ann || who.Chat != here {
		t.Errorf("paired %+v", who)
	}
	if err := bot.Tell(ctx, approver.Paired{ID: ann, Chat: here}, "You are paired, <!channel>."); err != nil {
		t.Error(err)
	}
	if cards := fake.Cards(here); len(cards) != 1 || len(fake.Pinged()) > 0 {
		t.Errorf("%+v, pings %v", cards, fake.Pinged())
	}
	run(other)
	eventually("the word of a second program", func() bool { return other.Passed().Others > 0 })
}
