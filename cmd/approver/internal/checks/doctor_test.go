package checks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/agents/settings"
	"approver.example/channels/channeltest/fake"
	"approver.example/channels/discord/discordtest"
	"approver.example/channels/slack/slacktest"
	"approver.example/channels/telegram/telegramtest"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/cmd/approver/internal/hookinstall"
	"approver.example/cmd/approver/internal/services"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/safefile"
	"approver.example/httpapi"
	"approver.example/store/redisstore"
	"approver.example/store/storetest/redistest"
)

// has asserts that a check had a result with a text.
func (d *doctor) has(t *testing.T, check string, r finding.Result, text string) {
	t.Helper()
	if !slices.ContainsFunc(d.found, func(f finding.Finding) bool {
		return f.Check == check && f.Result == r && strings.Contains(f.Text, text)
	}) {
		t.Errorf("no %s %s %q in %+v", r.Word(), check, text, d.found)
	}
}

// Every token is tried on its platform; one that was revoked is told.
func TestDoctorAsksThePlatforms(t *testing.T) {
	tg, dc, sl := telegramtest.New(), discordtest.New(), slacktest.New(slacktest.Options{})
	defer tg.Close()
	defer dc.Close()
	defer sl.Close()
	cfg, err := configs.Parse(filepath.Join(t.TempDir(), "approver.yaml"), []byte(`
dir: .
sockets: {submit: /tmp/s.sock, resolve: /tmp/r.sock}
channels:
  telegram: {token: "`+tg.Token()+`", api_url: "`+tg.URL()+`", chats: [{id: "10042"}], approvers: [{id: "10042"}]}
  discord: {token: "`+dc.Token()+`", api_url: "`+dc.URL()+`", channels: ["`+dc.AddChannel()+`"], approvers:
	[{id: "100000000000000001"}]}
  slack: {bot_token: "`+slacktest.BotToken+`", app_token: "`+slacktest.AppToken+`", api_url: "`+sl.URL()+`",
    channels: [C0123456789], approvers: [{id: U0123456789}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	tg.AddUser(10042, "Ada")
	d := doctor{cfg: cfg}
	d.channels(t.Context(), false)
	d.has(t, "channel", finding.Fail, "telegram: chat 10042: ")
	d.has(t, "channel", finding.Fail, "the conversation does not exist or the bot is not in it")
	tg.AddChat(telegramtest.Chat{ID: 10042})
	sl.AddConversation(slacktest.Conversation{ID: "C0123456789"})
	d = doctor{cfg: cfg}
	d.channels(t.Context(), false)
	d.platformClocks(t.Context())
	for _, whose := range []string{"Telegram", "Discord", "Slack"} {
		d.has(t, "clock", finding.OK, "as that of "+whose)
	}
	d.has(t, "channel", finding.OK, "telegram: @")
	d.has(t, "channel", finding.OK, "discord: 1 channels seen")
	d.has(t, "channel", finding.OK, "slack: ")
	for _, platform := range []fake.Platform{tg, dc, sl} {
		platform.Break(fake.Revoked)
	}
	d = doctor{cfg: cfg}
	d.channels(t.Context(), false)
	for _, name := range []string{"telegram", "discord", "slack"} {
		d.has(t, "channel", finding.Fail, name)
	}
	for _, f := range d.found {
		if strings.Contains(f.Text+f.Fix, strings.Split(tg.Token(), ":")[1]) || strings.Contains(f.Text, slacktest.BotToken) {
			t.Errorf("a token is shown: %s", f.Text)
		}
	}
}

// A Redis that forgets is a failure; one without a log on disk a warning.
func TestDoctorLooksAtRedis(t *testing.T) {
	key := filepath.Join(t.TempDir(), "hub.key")
	if err := os.WriteFile(key, []byte(strings.Repeat("k", 64)), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := redistest.Start(t.Context(), redistest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	look := func() *doctor {
		d := &doctor{cfg: configs.Config{Store: configs.Store{Redis: &redisstore.Config{Addrs: []string{server.Addr},
			HubKeyFile: key}}}}
		d.store(t.Context())
		return d
	}
	good := look()
	good.has(t, "store", finding.OK, "Redis answers")
	good.has(t, "clock", finding.OK, "as that of Redis")
	admin := server.Admin()
	defer admin.Close()
	if err := admin.ConfigSet(t.Context(), "appendonly", "no").Err(); err != nil {
		t.Fatal(err)
	}
	look().has(t, "store", finding.Warn, "appendonly")
	if err := admin.ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err(); err != nil {
		t.Fatal(err)
	}
	look().has(t, "store", finding.Fail, "evict")
}

func TestDoctorClock(t *testing.T) {
	for skew, want := range map[time.Duration]finding.Result{0: finding.OK, time.Second: finding.OK,
		5 * time.Second: finding.Warn, -5 * time.Second: finding.Warn} {
		var d doctor
		d.clock("Redis", time.Now().Add(skew), nil)
		if d.found[0].Result != want {
			t.Errorf("%v apart: %+v", skew, d.found)
		}
	}
	if (finding.Finding{}).Result != finding.Fail {
		t.Error("the zero value is no failure")
	}
}

// otherVersion is a daemon from before an update, with a channel that fails.
type otherVersion struct{}

func (otherVersion) Operate(context.Context, approver.Peer, string, json.RawMessage) (json.RawMessage, error) {
	return json.Marshal(adminapi.Status{Up: true, Version: "v0.0.1", Trouble: "disk full",
		Channels: []adminapi.Channel{{Name: "slack", Error: "away"}}})
}

func TestDoctorAsksTheDaemon(t *testing.T) {
	dir, err := os.MkdirTemp("", "doc") // short: a socket lies in it
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	at := filepath.Join(dir, "run", "r.sock")
	d := doctor{cfg: configs.Config{Sockets: configs.Sockets{Submit: at, Resolve: at}}}
	d.sockets()
	d.has(t, "socket", finding.Fail, "submit: nobody answers")
	if len(d.found) != 1 || !strings.Contains(d.found[0].Text, "resolve: nobody answers") ||
		!strings.HasPrefix(d.found[0].Fix, "approver init") {
		t.Errorf("one daemon that is not there: %+v", d.found)
	}
	d = doctor{cfg: d.cfg}
	if d.daemon(t.Context()); len(d.found) != 0 {
		t.Errorf("without a daemon: %+v", d.found)
	}
	l, err := httpapi.Listen(at, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	var closed atomic.Bool
	server := httpapi.Resolve{Operator: otherVersion{}, Log: slog.New(slog.DiscardHandler),
		Admit: func(approver.Peer) error {
			if closed.Load() {
				return errors.New("you may not")
			}
			return nil
		}}
	ctx, cancel := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(ctx, l) })
	defer serving.Wait()
	defer cancel()
	d = doctor{cfg: d.cfg} // it asks once
	d.daemon(t.Context())
	d.has(t, "daemon", finding.Warn, "it runs version v0.0.1")
	d.has(t, "daemon", finding.Fail, "its store fails: disk full")
	d.has(t, "daemon", finding.Fail, "slack DOES NOT RECEIVE: away")
	closed.Store(true)
	d = doctor{cfg: d.cfg}
	d.daemon(t.Context())
	d.has(t, "daemon", finding.Fail, "you may not")
}

func TestDoctorFilesAndPlaces(t *testing.T) {
	t.Setenv("HOME", t.TempDir()) // an ordinary container has none
	dir := t.TempDir()
	config := filepath.Join(dir, "approver.yaml")
	if err := os.WriteFile(config, []byte("ttl: 60s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o666, 0o604} { // umask has no say
		if err := os.Chmod(config, mode); err != nil {
			t.Fatal(err)
		}
		var d doctor
		cfg, err := configs.Load(config)
		if d.judge("config", err, "", ""); mode == 0o666 {
			d.has(t, "config", finding.Fail, "can be written by others")
			continue
		}
		d.cfg = cfg
		d.files(true)
		d.has(t, "permissions", finding.Warn, "can be read by everybody")
	}
	d := doctor{cfg: configs.Config{Dir: dir, Policy: filepath.Join(dir, "none.yaml"),
		Sockets: configs.Sockets{SubmitGroup: "no-such-group-here"}}}
	d.files(true)
	d.isolation()
	d.has(t, "policy", finding.Fail, "none.yaml")
	d.has(t, "isolation", finding.Fail, "no-such-group-here")
	d.store(t.Context()) // the folder is there
	d.has(t, "store", finding.Warn, "approver.db yet")
	d.cfg.Dir = filepath.Join(dir, "gone", "deeper")
	d.store(t.Context())
	d.has(t, "store", finding.Warn, "there is none yet")
}

func TestDoctorLooksAtPathAndService(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var d doctor
	t.Setenv("PATH", dir)
	d.path()
	d.has(t, "path", finding.Warn, "approver is not in PATH")
	program := filepath.Join(dir, "approver")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	d.path()
	d.has(t, "path", finding.Warn, "PATH leads to "+program)
	if err := errors.Join(os.Remove(program), os.Symlink(self, program)); err != nil {
		t.Fatal(err)
	}
	d.path()
	d.has(t, "path", finding.OK, program)

	u := services.Unit{User: true, Manager: "systemd", Path: filepath.Join(dir, "approver.service")}
	d.service([]services.Unit{u})
	d.has(t, "service", finding.Warn, "nothing starts the daemon")
	write := func(text string) {
		if err := os.WriteFile(u.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ExecStart=/other serve")
	d.service([]services.Unit{u})
	d.has(t, "service", finding.Warn, "starts another program")
	write("ExecStart=" + self + " serve")
	d.service([]services.Unit{u})
	d.has(t, "service", finding.Warn, "is not enabled")
	wants := filepath.Join(dir, "default.target.wants")
	if err := errors.Join(os.Mkdir(wants, 0o755),
		os.Symlink(u.Path, filepath.Join(wants, "approver.service"))); err != nil {
		t.Fatal(err)
	}
	d.service([]services.Unit{u})
	d.has(t, "service", finding.OK, u.Path)
}

func TestDoctorLooksAtTheHookProgram(t *testing.T) {
	t.Setenv("HOME", t.TempDir()) // an ordinary container has none
	dir := t.TempDir()
	cfg := configs.Default()
	cfg.Sockets.Submit = "/x/s.sock"
	d := doctor{cfg: cfg, pin: filepath.Join(dir, "none")}
	hook := filepath.Join(dir, "approver-hook")
	inFile := filepath.Join(dir, "settings.json")
	fits := func(flags string) *doctor {
		want, err := agents.Claude{}.HookConfig(hook, "", cfg.TTL)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(want), " --agent claude", " --agent claude"+flags)
		if err := os.WriteFile(inFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d := &doctor{cfg: d.cfg, pin: d.pin}
		d.hook(settings.Target{File: inFile, Managed: dir}, "")
		return d
	}
	fits("").has(t, "hook", finding.Fail, "no such file")
	if err := os.WriteFile(hook, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fits("").has(t, "hook", finding.Fail, "cannot be run")
	if err := os.Chmod(hook, 0o700); err != nil {
		t.Fatal(err)
	}
	fits("").has(t, "hook", finding.Fail, "and the daemon listens on /x/s.sock")
	fits(" --socket /x/s.sock").has(t, "hook", finding.OK, inFile)
	if os.Getuid() != 0 {
		return // a pin is root's
	}
	d.pin = filepath.Join(dir, "pin")
	if err := os.WriteFile(d.pin, []byte("socket /y/s.sock\nuid 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	fits(" --socket /x/s.sock").has(t, "hook", finding.Fail, "the hook asks on /y/s.sock")
}

// A hook that claude does not wait for, or does not run for every call, is none.
// Each has its cure beside it, and install makes it good.
func TestDoctorFailsHooksThatCannotBlock(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir) // no configuration but the default
	hook := filepath.Join(dir, "approver-hook")
	if err := os.WriteFile(hook, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	cfg := configs.Default()
	cfg.Sockets.Submit = "/x/s.sock"
	line := hook + " --agent claude --socket /x/s.sock --deadline 290s"
	all, err := agents.Claude{}.HookConfig(hook, "/x/s.sock", cfg.TTL)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(all), "\"PostToolUse\"")
	rest = "\"PostToolUse\"" + strings.TrimSuffix(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "}")), "}")
	for more, want := range map[string]string{
		`"type":"command"`:                     "",
		`"type":"command","async":false`:       "",
		`"type":"command","async":true`:        `the hook is "async"`,
		`"type":"command","asyncRewake":true`:  `the hook is "async"`,
		`"type":"command","async":"true"`:      "must be true or false",
		`"type":"command","if":"Bash(git *)"`:  `the hook is only for calls that match "Bash(git *)"`,
		`"type":"prompt","prompt":"is it ok?"`: `the hook is of type "prompt"`,
		`"statusMessage":"asking"`:             `has no "type"`,
	} {
		t.Run(more, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "settings.json")
			text := fmt.Sprintf(`{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"command":%q,"timeout":330,`+
				`"onFailure":"block",%s}]}],%s}}`, line, more, rest)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			d := doctor{cfg: cfg, pin: filepath.Join(dir, "none")}
			d.hook(settings.Target{File: path, Managed: dir}, "")
			if want == "" {
				d.has(t, "hook", finding.OK, path)
				return
			}
			d.has(t, "hook", finding.Fail, want)
			if strings.Contains(want, "type\"") && !strings.Contains(want, "of type") || strings.Contains(want, "must be") {
				return // nothing to install into
			}
			if err := (hookinstall.AgentCmd{Agent: "claude", Target: settings.Target{File: path},
				Hook: hook}).Install(); err != nil {
				t.Fatal(err)
			}
			if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), more) ||
				strings.Count(string(text), "async") != 1 { // PostToolBatch's own
				t.Errorf("after install: %v\n%s", err, text)
			}
		})
	}
}

// What root changes stays whose it was: the daemon could not read it else.
func TestChangedFilesKeepTheirOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT RUN: another owner needs root; .ci/run as root runs it")
	}
	path := filepath.Join(t.TempDir(), "approver.yaml")
	if err := errors.Join(os.WriteFile(path, []byte("a"), 0o640), os.Chown(path, 0, 61001)); err != nil {
		t.Fatal(err)
	}
	backup, changed, err := safefile.ChangeFile(path, func([]byte) ([]byte, error) { return []byte("b"), nil })
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	for _, file := range []string{path, backup} {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if st := info.Sys().(*syscall.Stat_t); st.Uid != 0 || st.Gid != 61001 || info.Mode().Perm() != 0o640 {
			t.Errorf("%s is of %d:%d, mode %v", file, st.Uid, st.Gid, info.Mode())
		}
	}
}
