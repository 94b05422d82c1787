package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

// The story: Ada pairs, and her phone is in another room. The test card waits for as long as the
// code may, and no longer than two minutes; then it is over on the card too, pair says what to look
// at, and she is paired all the same.
func TestNobodyTapsTheTestCard(t *testing.T) {
	t.Parallel() // it waits most of the time
	for _, app := range chatApps(t) {
		t.Run(app.name, func(t *testing.T) {
			t.Parallel()
			m := newPairMachine(t, "")
			out, ok := m.pair("yes\n", func(code string) { app.fake.Type(app.ada, app.room, "/pair "+code) },
				append([]string{app.name, "--config", m.config, "--timeout", "6s"}, app.flags...)...)
			if !ok || !strings.Contains(out, "nobody tapped within 6 s. They are paired all the same") ||
				!strings.Contains(out, "approver ask --severity high -- echo hello shows one") {
				t.Errorf("%v\n%s", ok, out)
			}
			text, _ := os.ReadFile(m.config)
			cards := app.fake.Cards(app.room)
			last := cards[len(cards)-1]
			if !strings.Contains(string(text), app.ada) || len(last.Buttons) > 0 ||
				!strings.Contains(last.Text, "Nobody tapped within 6 s") || strings.Contains(last.Text, "CONFIRM-") {
				t.Errorf("%s\nthe card:\n%+v", text, last)
			}
		})
	}
}

// A no on the test card works like a yes, and --no-test shows none. What is not the code is said
// while pair waits, with the time that is left.
func TestFirstContactSaysWhatItSees(t *testing.T) {
	t.Parallel() // it waits most of the time
	for _, app := range chatApps(t) {
		t.Run(app.name, func(t *testing.T) {
			t.Parallel()
			m := newPairMachine(t, "")
			start := time.Now()
			out, ok := m.pair("yes\n", func(code string) {
				switch {
				case time.Since(start) < 5*time.Second:
					app.fake.Type(app.eve, app.room, "/pair CONFIRM-BBBBBBBBBBBB")
				default:
					app.fake.Type(app.ada, app.room, "/pair "+code)
				}
			}, append([]string{app.name, "--config", m.config, "--no-test"}, app.flags...)...)
			if !ok || !strings.Contains(out, "somebody sent a code that is not this one (") ||
				!strings.Contains(out, " left\n") || strings.Contains(out, "test card") || strings.Contains(out, "\x1b") {
				t.Errorf("%v\n%s", ok, out)
			}
			greeted := false
			for _, card := range app.fake.Cards(app.room) {
				if strings.Contains(card.Text, "This is a test") {
					t.Errorf("a test card: %s", card.Text)
				}
				greeted = greeted || strings.Contains(card.Text, "You are paired")
			}
			if !greeted {
				t.Error("nobody is greeted")
			}
		})
	}
}

// The story: through the running daemon the test card would have to wait for its next start, and two
// receivers cannot share a bot: pair says so, and the phone is greeted all the same; what was sent
// that is not the code is told by the daemon.
func TestFirstContactThroughTheDaemon(t *testing.T) {
	t.Parallel() // it waits most of the time
	app := chatApps(t)[0]
	m := newPairMachine(t, app.section)
	m.serve()
	start := time.Now()
	out, ok := m.pair("no\n", func(code string) {
		switch {
		case time.Since(start) < 4*time.Second:
			app.fake.Type(app.bob, app.room, "is this the bot?")
		default:
			app.fake.Type(app.bob, app.room, "/start "+code)
		}
	}, app.name, "--config", m.config)
	if ok || !strings.Contains(out, "somebody wrote to the bot, but not the code (") {
		t.Errorf("%v\n%s", ok, out)
	}
	said := ""
	for _, card := range app.fake.Cards(app.room) {
		said += card.Text + "\n"
	}
	if !strings.Contains(said, "You were not added: nothing was changed.") {
		t.Errorf("after the operator's no the phone says\n%s", said)
	}
}

// A newcomer types pair telegram alone: the error says how to get a token and what to type next.
func TestPairWithoutATokenSaysHowToGetOne(t *testing.T) {
	for name, want := range map[string][]string{
		"telegram": {"/newbot to @BotFather", "--token-file", "head -1 > ~/.approver/telegram.token",
			"approver pair telegram --token-file ~/.approver/telegram.token", "docs/channels/telegram.md"},
		"discord": {"https://discord.com/developers/applications", "--token-file", "approver pair discord --token-file"},
		"slack": {"https://api.slack.com/apps", "--bot-token-file", "--app-token-file",
			"approver pair slack --bot-token-file"},
	} {
		m := newPairMachine(t, "")
		out, err := m.command(t.Context(), "pair", name, "--config", m.config).CombinedOutput()
		for _, w := range want {
			if err == nil || !strings.Contains(string(out), w) {
				t.Errorf("pair %s lacks %q:\n%s", name, w, out)
			}
		}
	}
}
