package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"approver.example"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/discord/discordtest"
	"approver.example/channels/slack/slacktest"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/configs"
	"approver.example/daemon/daemontest"
)

// A chatApp is one of the platforms, with three people and a room.
type chatApp struct {
	name           string
	fake           fake.Platform
	ada, bob, eve  string
	room           string
	flags          []string // where the tokens are, and the server
	section        string   // of a configuration in which Ada may approve
	broken         []string // flags with a token that is not valid
	dir            string
	people, places func(configs.Config) string
}

// chatApps starts one of each, with its tokens in a folder.
func chatApps(t *testing.T) []chatApp {
	t.Helper()
	dir := t.TempDir()
	token := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ids := func(list []approver.Approver) (all string) {
		for _, a := range list {
			all += a.ID + "=" + a.Person + " "
		}
		return all
	}
	tg := telegramtest.New()
	t.Cleanup(tg.Close)
	for id, name := range map[int64]string{10042: "Ada", 10043: "Bob", 666: "Eve"} {
		tg.AddUser(id, name)
	}
	tg.AddChat(telegramtest.Chat{ID: -1001})
	tgToken := token("telegram", tg.Token())

	dc := discordtest.New()
	t.Cleanup(dc.Close)
	dcAda, dcBob, dcEve, dcRoom := dc.AddUser("Ada"), dc.AddUser("Bob"), dc.AddUser("Eve"), dc.AddChannel()
	dcToken := token("discord", dc.Token())

	sl := slacktest.New(slacktest.Options{})
	t.Cleanup(sl.Close)
	for id, name := range map[string]string{"U0ADA12345": "Ada", "U0BOB12345": "Bob", "U0EVE12345": "Eve"} {
		sl.AddUser(slacktest.User{ID: id, Name: name})
	}
	sl.AddConversation(slacktest.Conversation{ID: "C0ROOM1234"})
	slBot, slApp := token("slack.bot", slacktest.BotToken), token("slack.app", slacktest.AppToken)

	return []chatApp{
		{
			name: "telegram", fake: tg, ada: "10042", bob: "10043", eve: "666", room: "-1001", dir: dir,
			flags: []string{"--token-file", tgToken, "--api-url", tg.URL()},
			section: fmt.Sprintf("  telegram:\n    token_file: %s # of Ada\n    api_url: %s\n    chats: [{id: \"-1001\"}]\n   "+
				" approvers:\n      - {id: \"10042\", name: Ada}\n", tgToken, tg.URL()),
			broken: []string{"--token-file", token("telegram.bad", "1:"+strings.Repeat("x", 35)), "--api-url", tg.URL()},
			people: func(c configs.Config) string { return ids(c.Channels.Telegram.Approvers) },
			places: func(c configs.Config) string { return c.Channels.Telegram.Chats[0].ID },
		},
		{
			name: "discord", fake: dc, ada: dcAda, bob: dcBob, eve: dcEve, room: dcRoom, dir: dir,
			flags: []string{"--token-file", dcToken, "--api-url", dc.URL()},
			section: fmt.Sprintf("  discord:\n    token_file: %s # of Ada\n    api_url: %s\n    channels: [%q]\n    "+
				"approvers:\n      - {id: %q, name: Ada}\n", dcToken, dc.URL(), dcRoom, dcAda),
			broken: []string{"--token-file", token("discord.bad", "wrong"), "--api-url", dc.URL()},
			people: func(c configs.Config) string { return ids(c.Channels.Discord.Approvers) },
			places: func(c configs.Config) string { return c.Channels.Discord.Channels[0] },
		},
		{
			name: "slack", fake: sl, ada: "U0ADA12345", bob: "U0BOB12345", eve: "U0EVE12345", room: "C0ROOM1234", dir: dir,
			flags: []string{"--bot-token-file", slBot, "--app-token-file", slApp, "--api-url", sl.URL()},
			section: fmt.Sprintf("  slack:\n    bot_token_file: %s # of Ada\n    app_token_file: %s\n    api_url: %s\n    "+
				"channels: [C0ROOM1234]\n    approvers:\n      - {id: U0ADA12345, name: Ada}\n", slBot, slApp, sl.URL()),
			broken: []string{"--bot-token-file", token("slack.bad", "xoxb-wrong"), "--app-token-file", slApp, "--api-url",
				sl.URL()},
			people: func(c configs.Config) string { return ids(c.Channels.Slack.Approvers) },
			places: func(c configs.Config) string { return c.Channels.Slack.Channels[0] },
		},
	}
}

// A pairing person's machine has a configuration of its own.
type pairMachine struct {
	*testing.T
	dir, config, before string
}

func newPairMachine(t *testing.T, channels string) pairMachine {
	t.Helper()
	dir, err := os.MkdirTemp("", "pair") // short: sockets lie in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	m := pairMachine{t, dir, filepath.Join(dir, "approver.yaml"), ""}
	m.before = "# mine\nttl: 120s # two minutes\ndir: data\nsockets: {submit: run/s.sock, resolve: " +
		"run/r.sock}\nchannels:\n  # here\n  terminal:\n    approvers: [{id: \"0\"}]\n" + channels
	if err := os.WriteFile(m.config, []byte(m.before), 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m pairMachine) command(ctx context.Context, args ...string) *exec.Cmd {
	m.Helper()
	self, err := os.Executable()
	if err != nil {
		m.Fatal(err)
	}
	c := exec.CommandContext(ctx, self, args...)
	c.Args[0] = "approver" // the test's program acts by its name
	c.Env = []string{"HOME=" + m.dir, "PATH=" + os.Getenv("PATH")}
	return c
}

// serve runs a daemon until stop or the end of the test, and waits until it is
// there.
func (m pairMachine) serve() (stop func()) {
	m.Helper()
	c := m.command(context.Background(), "serve", "--config", m.config)
	var log daemontest.SafeBuffer
	c.Stderr = &log
	if err := c.Start(); err != nil {
		m.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
		if m.Failed() {
			m.Logf("the daemon:\n%s", log.String())
		}
	})
	m.Cleanup(stop)
	for range 1200 {
		if strings.Contains(log.String(), "msg=ready") {
			return stop
		}
		time.Sleep(25 * time.Millisecond)
	}
	m.Fatalf("no daemon:\n%s", log.String())
	return nil
}

var codeLine = regexp.MustCompile(`(?m)^ +(CONFIRM-\S+)$`)

// pair runs the command with an answer for the operator's question; while it
// waits, act is called with the code, and again every two seconds: who types when
// the bot has just gone waits for it in vain.
func (m pairMachine) pair(answer string, act func(code string), args ...string) (out string, ok bool) {
	m.Helper()
	ctx, cancel := context.WithTimeout(m.Context(), 90*time.Second)
	defer cancel()
	c := m.command(ctx, append([]string{"pair"}, args...)...)
	c.Stdin = strings.NewReader(answer)
	var both daemontest.SafeBuffer
	c.Stdout, c.Stderr = &both, &both
	if err := c.Start(); err != nil {
		m.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	var acted time.Time
	for {
		select {
		case err := <-ended:
			return both.String(), err == nil
		case <-time.After(100 * time.Millisecond):
			if found := codeLine.FindStringSubmatch(both.String()); found != nil && time.Since(acted) > 2*time.Second {
				act(found[1])
				acted = time.Now()
			}
		}
	}
}

// unchanged asserts that the configuration is what it was.
func (m pairMachine) unchanged() {
	m.Helper()
	text, err := os.ReadFile(m.config)
	if err != nil || string(text) != m.before {
		m.Errorf("the configuration was changed: %v\n%s", err, text)
	}
}

// The story: a stranger tries a code of their own, then Ada sends the right one.
// The operator says yes, and Ada is the first approver whom a chat reaches; had
// they said anything else, nobody was. The bot greets her, shows a card to try, and her
// tap is answered there and here; whoever else taps gets nowhere.
func TestPairAlone(t *testing.T) {
	t.Parallel() // it waits most of the time
	for _, app := range chatApps(t) {
		for _, answer := range []string{"yes", "y", ""} {
			t.Run(app.name+" "+answer, func(t *testing.T) {
				m := newPairMachine(t, "")
				out, ok := m.pair(answer+"\n", func(code string) {
					app.fake.Type(app.eve, app.room, "/pair CONFIRM-AAAAAAAAAAAA")
					app.fake.Type(app.ada, app.room, "/pair "+code)
					for _, card := range app.fake.Cards(app.room) {
						if slices.Contains(card.Buttons, fake.ApproveButton) {
							_ = app.fake.Tap(app.eve, app.room, card.Message, fake.ApproveButton)
							_ = app.fake.Tap(app.ada, app.room, card.Message, fake.ApproveButton)
						}
					}
				}, append([]string{app.name, "--config", m.config, "--person", "ada"}, app.flags...)...)
				if !strings.Contains(out, "user id "+app.ada+", in "+app.room) {
					t.Errorf("it says\n%s", out)
				}
				if app.name == "telegram" && !regexp.MustCompile(`(?m)^The bot is @\w+\.$`).MatchString(out) {
					t.Errorf("it does not say where the bot is:\n%s", out)
				}
				if answer != "yes" {
					if m.unchanged(); ok || !strings.Contains(out, "nothing was changed") {
						t.Errorf("without a yes:\n%s", out)
					}
					return
				}
				app.greeted(t, out)
				cfg, err := configs.Load(m.config)
				text, _ := os.ReadFile(m.config)
				if err != nil || app.people(cfg) != app.ada+"=ada " || app.places(cfg) != app.room {
					t.Fatalf("%v\n%s\n%s", err, text, out)
				}
				for line := range strings.Lines(m.before) {
					if !strings.Contains(string(text), line) {
						t.Errorf("%q is gone:\n%s", line, text)
					}
				}
			})
		}
	}
}

// The story: Ada taps Start once. Her phone answers at once, before anybody has said yes in the
// terminal, and says nothing else until then; the card that follows is answered by her tap.
func TestThePhoneHearsThatTheCodeCame(t *testing.T) {
	t.Parallel() // it waits most of the time
	for _, app := range chatApps(t) {
		for _, answer := range []string{"no", "yes"} {
			t.Run(app.name+" "+answer, func(t *testing.T) {
				m := newPairMachine(t, "")
				before, sent := len(app.fake.Told(app.ada)), false
				out, _ := m.pair(answer+"\n", func(code string) {
					if !sent && app.knows("pair") {
						app.fake.Type(app.ada, app.room, "/pair "+code)
						sent = true
					}
					for _, card := range app.fake.Cards(app.room) {
						if slices.Contains(card.Buttons, fake.ApproveButton) {
							_ = app.fake.Tap(app.ada, app.room, card.Message, fake.ApproveButton)
						}
					}
				}, append([]string{app.name, "--config", m.config}, app.flags...)...)
				told := app.fake.Told(app.ada)[before:]
				if len(told) == 0 || !strings.HasPrefix(told[0], "That was the code. Whoever runs") ||
					answer == "no" && len(told) > 1 ||
					answer == "yes" && (len(told) != 2 || !strings.HasPrefix(told[1], "It works")) {
					t.Errorf("she hears %q\n%s", told, out)
				}
			})
		}
	}
}

// knows reports whether the app offers a command, on a chat that has to be told of its commands: a text
// that looks like one is a message there.
func (a chatApp) knows(command string) bool {
	d, ok := a.fake.(*discordtest.Server)
	if !ok {
		return true
	}
	names, _ := d.Commands("")
	return slices.Contains(names, command)
}

// greeted asserts that the conversation has the greeting and a test card that was answered, and
// that pair says so.
func (a chatApp) greeted(t *testing.T, out string) {
	t.Helper()
	var all strings.Builder
	for _, card := range a.fake.Cards(a.room) {
		all.WriteString(card.Text + "\n")
		if strings.Contains(card.Text, "This is a test") && len(card.Buttons) > 0 {
			t.Errorf("the test card has buttons: %v", card.Labels)
		}
	}
	for _, want := range []string{"You are paired", "approver will ask you here", "Silence is a no",
		"This is a test: nothing runs", "It works: you said yes in "} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("the conversation lacks %q:\n%s", want, all.String())
		}
	}
	if told := strings.Join(a.fake.Told(a.ada), "\n"); !strings.Contains(told, "It works: you said yes in ") {
		t.Errorf("Ada is told %q", told)
	}
	if !regexp.MustCompile(`(?m)^the answer came after \d+\.\d s: you said yes\. It works$`).MatchString(out) {
		t.Errorf("it says\n%s", out)
	}
}

// The story: the daemon runs and Ada may approve. Bob sends the code to the bot
// on which the daemon listens; the operator says yes; and Ada has the last word,
// with the code on her card, on the exact lines.
func TestPairThroughTheDaemon(t *testing.T) {
	t.Parallel() // it waits most of the time
	for _, app := range chatApps(t) {
		for _, adaSays := range []string{"approve", "deny"} {
			t.Run(app.name+" "+adaSays, func(t *testing.T) {
				m := newPairMachine(t, app.section)
				stop := m.serve()
				out, ok := m.pair("yes\n", func(code string) {
					app.fake.Type(app.bob, app.room, "/pair "+code)
					for _, card := range app.fake.Cards(app.room) {
						found := regexp.MustCompile(`CONFIRM-[A-Z0-9]{6,8}\b`).FindString(card.Text)
						if found == "" {
							continue
						}
						if !strings.Contains(card.Text, app.bob) || strings.Contains(card.Text, "token_file") {
							t.Errorf("the card says\n%s", card.Text)
						}
						for _, b := range card.Buttons {
							if b == fake.ApproveButton {
								t.Error("the card takes a tap")
							}
						}
						app.fake.Type(app.ada, app.room, "/"+adaSays+" "+found)
					}
				}, app.name, "--config", m.config)
				if adaSays == "deny" {
					if m.unchanged(); ok || !strings.Contains(out, "nothing was changed: ") {
						t.Errorf("after a no:\n%s", out)
					}
					return
				}
				cfg, err := configs.Load(m.config)
				text, _ := os.ReadFile(m.config)
				if err != nil || app.people(cfg) != app.bob+"= "+app.ada+"= " || !strings.Contains(out, "approved by Ada") {
					t.Fatalf("%v\n%s\n%s", err, text, out)
				}
				if !bytes.Contains(text, []byte("# of Ada")) {
					t.Errorf("a comment is gone:\n%s", text)
				}
				stop()
				m.serve()
				if waits := m.waiting(); len(waits) > 0 {
					t.Errorf("after the next start %v waits, although Ada said yes", waits)
				}
			})
		}
	}
}

// Whatever goes wrong has a text of its own, and changes nothing.
func TestPairFails(t *testing.T) {
	nobody := func(string) {}
	for _, app := range chatApps(t) {
		t.Run(app.name, func(t *testing.T) {
			t.Parallel() // it waits most of the time
			m := newPairMachine(t, "")
			try := func(name, want string, act func(string), args ...string) {
				t.Helper()
				out, ok := m.pair("yes\n", act, append([]string{app.name, "--config", m.config}, args...)...)
				if ok || !strings.Contains(out, want) {
					t.Errorf("%s: want %q in\n%s", name, want, out)
				}
				m.unchanged()
			}
			try("a token that is not valid", "does not take this token", nobody, app.broken...)
			try("no network", "this may not be the token's fault", nobody, append(slices.Clone(app.flags[:len(app.flags)-1]),
				"http://127.0.0.1:1")...)
			try("no token", "token", nobody)
			try("nobody sends it", "nobody sent the code: the code was good for 1s", nobody,
				append(app.flags, "--timeout", "1s")...)
			try("only wrong codes", "others were sent: the code was good for 10s", func(string) {
				app.fake.Type(app.eve, app.room, "/pair CONFIRM-BBBBBBBBBBBB")
			}, append(app.flags, "--timeout", "10s")...)
			was := m.before
			m.before += "# by somebody else\n"
			if err := os.WriteFile(m.config, []byte(was), 0o600); err != nil {
				t.Fatal(err)
			}
			try("changed meanwhile", "was changed meanwhile", func(code string) {
				if err := os.WriteFile(m.config, []byte(m.before), 0o600); err != nil {
					t.Error(err)
				}
				app.fake.Type(app.ada, app.room, "/pair "+code)
			}, app.flags...)
		})
	}
}

// One more approver needs the yes of those who are there, so a daemon.
func TestPairAsksThoseWhoAreThere(t *testing.T) {
	app := chatApps(t)[0]
	m := newPairMachine(t, app.section)
	out, ok := m.pair("yes\n", func(string) {}, "telegram", "--config", m.config)
	if m.unchanged(); ok || !strings.Contains(out, "needs their yes: start the daemon") ||
		strings.Contains(out, "CONFIRM-") {
		t.Errorf("it says\n%s", out)
	}
	m.serve()
	out, ok = m.pair("yes\n", func(string) {}, append([]string{"telegram", "--config", m.config}, app.flags...)...)
	if m.unchanged(); ok || !strings.Contains(out, "with its own bot") {
		t.Errorf("it says\n%s", out)
	}
}

// A configuration that the caller cannot change is told before anybody is asked.
func TestPairCannotWrite(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT RUN: a second user needs root; .ci/run as root runs it")
	}
	m := newPairMachine(t, "")
	for path, mode := range map[string]os.FileMode{m.dir: 0o755, m.config: 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(m.dir, "approver")
	self, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(program, self, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, "pair", "telegram", "--config", m.config)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: strangerUID, Gid: strangerUID}}
	out, err := c.CombinedOutput()
	if m.unchanged(); err == nil || !strings.Contains(string(out), "could not be changed, so nobody is paired") {
		t.Errorf("%v\n%s", err, out)
	}
}
