package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example/configs"
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

// The story: Ada runs init and then pair, with the token beside the configuration, from another
// folder. The file has the token's name alone, as the pages show it, and her account is the person
// who ran init; both commands say what comes next.
func TestPairAfterInit(t *testing.T) {
	t.Parallel() // it waits most of the time
	app := chatApps(t)[0]
	m := newPairMachine(t, "")
	folder := filepath.Join(m.dir, ".approver")
	if out, err := m.command(t.Context(), "init").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	token, err := os.ReadFile(app.flags[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "telegram.token"), token, 0o600); err != nil {
		t.Fatal(err)
	}
	out, ok := m.pair("yes\n", func(code string) { app.fake.Type(app.ada, app.room, "/start "+code) }, "telegram",
		"--token-file", filepath.Join(folder, "telegram.token"), "--api-url", app.flags[3], "--no-test")
	cfg, err := configs.Load(filepath.Join(folder, "approver.yaml"))
	if !ok || err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(cfg.File)
	if err != nil || !strings.Contains(string(text), "\n    token_file: \"telegram.token\"\n") ||
		cfg.Channels.Telegram.TokenFile != filepath.Join(folder, "telegram.token") {
		t.Errorf("%v: the configuration is\n%s", err, text)
	}
	person := cfg.Channels.Terminal.Approvers[0].Person
	if got := cfg.Channels.Telegram.Approvers[0].Person; got == "" || got != person {
		t.Errorf("her account belongs to %q, and the terminal to %q\n%s", got, person, out)
	}
	for _, want := range []string{"it counts as an account of \"" + person + "\"", "sent it: user id 10042, in -1001\n",
		"next: approver serve, or approver service install --user; then approver install claude, and approver doctor\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
}

// The story: somebody gives pair the token of another platform, or swaps the two of Slack. pair says
// which token that is before it asks anybody, and check says so too, at the line of the file, as it
// does of a file that is missing.
func TestATokenOfAnotherPlatform(t *testing.T) {
	t.Parallel()
	m := newPairMachine(t, "")
	tokens := map[string]string{"missing": ""}
	for name, text := range map[string]string{"telegram": "123456:AAE-" + strings.Repeat("x", 32),
		"discord": "MTEwMDAwMDAwMDAwMDAwMDA0Mg.Gx3abc." + strings.Repeat("y", 38),
		"bot":     "xoxb-1-2-abc", "app": "xapp-1-A0123-456-abc"} {
		tokens[name] = filepath.Join(m.dir, name)
		if err := os.WriteFile(tokens[name], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range [][]string{
		{"this is the token of a Telegram bot, not of a Discord bot: run approver pair telegram", "discord", "--token-file",
			tokens["telegram"]},
		{"this is the token of a Discord bot, not of a Telegram bot: run approver pair discord", "telegram", "--token-file",
			tokens["discord"]},
		{"--bot-token-file has the token that belongs to --app-token-file: are the two files swapped?", "slack",
			"--bot-token-file", tokens["app"], "--app-token-file", tokens["bot"]},
	} {
		args := append([]string{"pair", c[1], "--config", m.config}, c[2:]...)
		out, err := m.command(t.Context(), args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), c[0]) || strings.Contains(string(out), "xxxx") {
			t.Errorf("%v: it says\n%s", args, out)
		}
	}
	for file, want := range map[string]string{
		"discord": "approver.yaml:10:17: token_file: " + tokens["discord"] + " has a token of a Discord bot, which " +
			"belongs to channels.discord.token_file: put the right one there",
		"missing": "approver.yaml:10:17: token_file: open " + filepath.Join(m.dir, "missing") + ": no such file or " +
			"directory: put the secret there, in a file of mode 0600",
	} {
		text := m.before + "  telegram:\n    token_file: " + file + "\n    chats: [{id: \"1\"}]\n" +
			"    approvers: [{id: \"1\"}]\n"
		if err := os.WriteFile(m.config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := m.command(t.Context(), "check", "--config", m.config).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) || !strings.Contains(string(out), "\n1 problem, ") {
			t.Errorf("%s: check says %v\n%s", file, err, out)
		}
	}
}
