package discord_test

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/discord"
	"approver.example/channels/discord/discordtest"
	"approver.example/internal/secret"
	"approver.example/tokens"
)

// meet runs a bot that waits for a pairing code.
func meet(t *testing.T, s *discordtest.Server) (bot approver.Pairer, code tokens.Code, found chan approver.Paired) {
	t.Helper()
	bot, err := discord.Config{Token: secret.New(s.Token()), APIURL: s.URL()}.ForPairing(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if code, err = tokens.Mint(12); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan struct{})
	go func() { defer close(ran); _ = bot.Run(ctx, nil) }()
	t.Cleanup(func() { cancel(); <-ran })
	found = make(chan approver.Paired, 1)
	go func() {
		if who, err := bot.Pair(ctx, code); err == nil {
			found <- who
		}
	}()
	await(t, "the connection", func() bool { return bot.(approver.Receiver).Reception().Up })
	return bot, code, found
}

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not come", what)
		}
	}
}

// The story: a bot that was just made is in no server. Its owner runs approver pair, which shows the
// link of the invitation, invites it while pair waits, and uses /pair there: the command is
// registered as soon as the bot is in.
func TestInvitedWhilePairing(t *testing.T) {
	s := discordtest.New()
	t.Cleanup(s.Close)
	s.Uninvited = true
	ann, room := s.AddUser("Ann"), s.AddChannel()
	bot, code, found := meet(t, s)
	shown, err := bot.Introduce(t.Context(), code)
	// 1<<10 View Channel, 1<<11 Send Messages, 1<<14 Embed Links, 1<<15 Attach Files, 1<<16 Read Message History.
	want := "https://discord.com/oauth2/authorize?client_id=" + s.Application() +
		"&scope=bot+applications.commands&permissions=117760"
	if err != nil || shown.Name != "approver" || shown.Steps[0].Link != want ||
		shown.Steps[2].Link != "https://discord.com/users/"+s.Bot() {
		t.Errorf("%+v, %v", shown, err)
	}
	if page, err := os.ReadFile("../../docs/channels/discord.md"); err != nil ||
		!strings.Contains(string(page), "&scope=bot+applications.commands&permissions=117760`") {
		t.Errorf("the page shows another link: %v", err)
	}
	if s.Command(ann, room, "pair", code.Reveal()) {
		t.Fatal("a bot that is in no server has a command there")
	}
	s.Invite()
	await(t, "the command", func() bool { return s.Command(ann, room, "pair", code.Reveal()) })
	if who := <-found; who.ID != ann || who.Chat != room {
		t.Errorf("paired %+v", who)
	}
	if err := bot.Tell(t.Context(), approver.Paired{ID: ann, Chat: room}, "You are paired, @everyone."); err != nil {
		t.Error(err)
	}
	cards := s.Cards(room)
	if len(cards) != 1 || !strings.Contains(cards[0].Text, "You are paired") || len(s.Pings()) > 0 {
		t.Errorf("%+v, pings %v", cards, s.Pings())
	}
}

// Somebody who writes to the bot itself is told what it is; bots, edits and forwarded messages with
// the code pair nobody, nor does a wrong code, which is counted.
func TestWhoIsNotPaired(t *testing.T) {
	s := discordtest.New()
	t.Cleanup(s.Close)
	mallory := s.AddUser("Mallory")
	direct, room := s.AddDirect(mallory), s.AddChannel()
	bot, code, found := meet(t, s)
	for name, change := range map[string]func(map[string]any){
		"a bot":     func(m map[string]any) { m["author"].(map[string]any)["bot"] = true },
		"a webhook": func(m map[string]any) { m["webhook_id"] = "1100000000000000099" },
		"an edit":   func(m map[string]any) { m["edited_timestamp"] = time.Now().Format(time.RFC3339) },
		"forwarded": func(m map[string]any) {
			m["message_reference"] = map[string]any{"type": 1, "message_id": "1100000000000000099", "channel_id": room}
		},
	} {
		s.SendMessage(mallory, direct, code.Reveal(), 1, change)
		select {
		case who := <-found:
			t.Errorf("%s pairs %+v", name, who)
		case <-time.After(50 * time.Millisecond):
		}
	}
	s.Type(mallory, direct, "CONFIRM-AAAAAAAAAAAA")
	s.Type(mallory, direct, "hello?")
	await(t, "the count", func() bool { return bot.Passed() == approver.Passed{Messages: 1, Codes: 1} })
	told := func() string { return strings.Join(s.Told(mallory), "\n") }
	await(t, "what the bot is", func() bool { return strings.Contains(told(), "I am the bot of approver") })
	if strings.Contains(told(), code.Reveal()) || strings.Count(told(), "I am") != 1 {
		t.Errorf("it says %q", told())
	}
	s.Break(fake.Revoked)
	if _, err := bot.Introduce(t.Context(), code); err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("a bad token: %v", err)
	}
}
