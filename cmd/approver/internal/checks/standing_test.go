package checks

import (
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example/cmd/approver/internal/judging"
	"approver.example/configs"
	"approver.example/daemon"
	"approver.example/store/sqlitestore"
)

// A site is a folder with a configuration that serve and check are given.
type site struct {
	t   *testing.T
	dir string
}

func newSite(t *testing.T) site {
	t.Helper()
	dir, err := os.MkdirTemp("", "st") // short: sockets lie in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("HOME", dir)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	return site{t, dir}
}

func (s site) file(name, text string, mode fs.FileMode) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600),
		os.Chmod(path, mode))
	if err != nil {
		s.t.Fatal(err)
	}
}

// files are all that lie there, for what must leave no trace.
func (s site) files() (all []string) {
	_ = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, _ error) error {
		all = append(all, path+" "+d.Type().String())
		return nil
	})
	return all
}

const (
	botToken = "123456:AAEhBP0av28FrPBmiRhTLD2ucWOCrDqUmZs"
	// telegramBy has a bot that is never reached: what is wrong is found before.
	telegramBy = "channels: {telegram: {token_file: bot.token, api_url: 'http://127.0.0.1:1', chats: [{id: \"1\"}], " +
		"approvers: [{id: \"1\"}]}}\n"
	evaluatorBy = "shield: {evaluator: {provider: anthropic, model: m, key_file: model.key}}\n"
	redisBy     = "store: {redis: {addrs: ['127.0.0.1:1'], hub_key_file: hub.key, password_file: redis.password}}\n"
)

// refusals are configurations that a daemon does not start with, each with words of what
// it says.
var refusals = []struct {
	name, config string
	spoil        func(s site)
	want         string
}{
	{"no token file", telegramBy, nil, "bot.token: no such file or directory: put the secret there"},
	{"a token that everybody reads", telegramBy, func(s site) { s.file("bot.token", botToken, 0o644) }, "chmod 600"},
	{"a token that a group reads", telegramBy, func(s site) { s.file("bot.token", botToken, 0o640) }, "chmod 600"},
	{"an empty token file", telegramBy, func(s site) { s.file("bot.token", "\n", 0o600) }, "is empty"},
	{"a folder for a token file", telegramBy, func(s site) { s.file("bot.token/x", "", 0o600) }, "is not a regular file"},
	{"a token of somebody else", telegramBy, func(s site) {
		if os.Getuid() != 0 {
			s.t.Skip("NOT RUN: another owner needs root; .ci/run as root runs it")
		}
		s.file("bot.token", botToken, 0o600)
		if err := os.Chown(filepath.Join(s.dir, "bot.token"), 61003, 61003); err != nil {
			s.t.Fatal(err)
		}
	}, "belongs to neither root nor you"},
	{"two tokens at once",
		"channels:\n  discord: {token_file: d.token, channels: [\"200000000000000001\"], approvers: [{id: " +
			"\"100000000000000001\"}]}\n" +
			"  slack: {bot_token_file: b, app_token_file: a, channels: [C0123456789], approvers: [{id: U0123456789}]}\n", nil,
		"d.token"},
	{"a code key that others read", "", func(s site) {
		s.file("code.key", base64.StdEncoding.EncodeToString(make([]byte, 32)), 0o644)
	}, "code_key_file"},
	{"a damaged code key", "", func(s site) { s.file("code.key", "x", 0o600) }, "is not a key of this program"},
	{"an audit key that others read", "", func(s site) { s.file("audit.key", "x", 0o640) }, "audit key"},
	{"a damaged audit key", "", func(s site) { s.file("audit.key", "x", 0o600) }, "is damaged"},
	{"a store that others read", "", func(s site) { s.file("approver.db", "x", 0o644) }, "chmod 600"},
	{"a folder for a store", "", func(s site) { s.file("approver.db/x", "x", 0o600) }, "is not a regular file"},
	{"a damaged store", "", func(s site) { s.file("approver.db", strings.Repeat("x", 32<<10), 0o600) },
		"is damaged, or no store"},
	{"a short store", "", func(s site) { s.file("approver.db", "x", 0o600) }, "is damaged, or no store"},
	{"a store of another program", "",
		func(s site) { s.file("approver.db", "SQLite format 3\x00"+strings.Repeat("\x00", 8<<10), 0o600) },
		"is damaged, or no store"},
	{"a store that was cut", "", func(s site) { s.half("approver.db") }, "is damaged, or no store"},
	{"a folder for the log", "", func(s site) { s.file("audit/audit.jsonl/x", "x", 0o600) }, "is no plain file"},
	{"a folder for the log's lock", "", func(s site) { s.file("audit/audit.lock/x", "x", 0o600) }, "is no plain file"},
	{"a damaged public key", "", func(s site) { s.file("audit.key.pub", "x", 0o644) }, "audit.key.pub is damaged"},
	{"an empty public key", "", func(s site) { s.file("audit.key.pub", "", 0o644) }, "audit.key.pub is damaged"},
	{"a private key among the public ones", "", func(s site) {
		s.file("audit.key.pub", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", 0o644)
	}, "among public keys"},
	{"a folder for the socket's lock", "", func(s site) { s.file("run/s.sock.lock/x", "x", 0o600) }, "the socket's lock"},
	{"a link for the socket's lock", "", func(s site) {
		s.file("run/x", "x", 0o600)
		if err := os.Symlink("x", filepath.Join(s.dir, "run", "r.sock.lock")); err != nil {
			s.t.Fatal(err)
		}
	}, "the socket's lock"},
	{"a store in no folder", "store: {sqlite: {path: none/approver.db}}\n", nil, "make the folder first"},
	{"a file for the data folder", "dir: data\n", func(s site) { s.file("data", "x", 0o600) }, "not a folder"},
	{"a file above the data folder", "dir: data/deeper\n", func(s site) { s.file("data", "x", 0o600) }, "not a directory"},
	{"a file for the audit's folder", "", func(s site) { s.file("audit", "x", 0o600) }, "not a folder"},
	{"a file where the socket goes", "", func(s site) { s.file("run/s.sock", "x", 0o600) }, "is not a socket"},
	{"a socket's folder that others write", "", func(s site) {
		s.file("run/x", "x", 0o600)
		if err := os.Chmod(filepath.Join(s.dir, "run"), 0o777); err != nil {
			s.t.Fatal(err)
		}
	}, "can be written by others"},
	{"a group that is not there", "sockets: {submit: run/s.sock, resolve: run/r.sock, submit_group: no-such-group-here}\n",
		nil, "sockets.submit_group"},
	{"a socket's path that is too long", "sockets: {submit: " + strings.Repeat("x", 110) + ", resolve: run/r.sock}\n", nil,
		"longer than the"},
	{"no key of the evaluator", evaluatorBy, nil, "model.key"},
	{"a key of the evaluator that others read", evaluatorBy, func(s site) { s.file("model.key", "k", 0o644) },
		"chmod 600"},
	{"a key of the evaluator with a blank", evaluatorBy, func(s site) { s.file("model.key", "a b", 0o600) }, "no key has"},
	{"no hub key", redisBy, func(s site) { s.file("redis.password", "p", 0o600) }, "openssl rand -hex 32"},
	{"a short hub key", redisBy, func(s site) { s.file("hub.key", "k", 0o600); s.file("redis.password", "p", 0o600) },
		"hub_key"},
	{"no password of Redis", redisBy, func(s site) { s.file("hub.key", strings.Repeat("k", 64), 0o600) },
		"redis.password"},
	{"no certificate of Redis",
		strings.Replace(redisBy, "password_file: redis.password", "tls: {enabled: true, ca_file: ca.pem}", 1),
		func(s site) { s.file("hub.key", strings.Repeat("k", 64), 0o600) }, "ca.pem"},
	{"no policy", "policy: none.yaml\n", nil, "correct the setting policy"},
	{"a preset without its prefix", "policy: strict\n", nil, "the built-in one is called preset:strict"},
	{"a policy that others write", "policy: p.yaml\n", func(s site) { s.file("p.yaml", "rules: []\n", 0o666) },
		"can be written by others"},
	{"a key that is not known", "tll: 5m\n", nil, "tll"},
}

// What the daemon refuses, check says, in the same words. Somebody changed a token file's
// mode, check said "0 problems", the restart failed, and every call was blocked.
func TestCheckFindsWhatServeRefuses(t *testing.T) {
	for _, tt := range refusals {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			config := tt.config
			if !strings.Contains(config, "sockets:") {
				config += "sockets: {submit: run/s.sock, resolve: run/r.sock}\n"
			}
			if !strings.Contains(config, "dir:") {
				config += "dir: .\n"
			}
			s.file("approver.yaml", config, 0o600)
			if tt.spoil != nil {
				tt.spoil(s)
			}
			before := s.files()
			path := filepath.Join(s.dir, "approver.yaml")
			found := CheckCmd{Flags: judging.Flags{Config: path}}.look(t.Context())
			said := strings.Join(found.Problems, "\n")
			refused := s.serve(path)
			if refused == nil || !strings.Contains(refused.Error(), tt.want) || !strings.Contains(said, tt.want) {
				t.Fatalf("want %q of both\nserve: %v\ncheck: %s", tt.want, refused, said)
			}
			var told Checked
			told.Problem(refused)
			slices.Sort(told.Problems)
			slices.Sort(found.Problems)
			if !slices.Equal(told.Problems, found.Problems) {
				t.Errorf("serve: %s\ncheck: %s", strings.Join(told.Problems, "\n"), said)
			}
			if after := s.files(); !slices.Equal(before, after) {
				t.Errorf("a trace was left: %v", after)
			}
		})
	}
}

// half leaves the beginning of a store that a daemon has written.
func (s site) half(name string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	store, err := sqlitestore.Open(sqlitestore.Config{Path: path}, slog.New(slog.DiscardHandler))
	if err != nil {
		s.t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err = errors.Join(err, store.Close()); err == nil {
		err = os.Truncate(path, min(info.Size(), 9<<10))
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// serve returns why a daemon does not start; nil if it does, and then it is stopped.
func (s site) serve(path string) error {
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	cfg, err := configs.LoadOrDefault(path)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- daemon.New(cfg, slog.New(slog.DiscardHandler)).Run(ctx) }()
	for {
		select {
		case err := <-ended:
			return err
		case <-time.After(20 * time.Millisecond):
			if _, err := os.Stat(cfg.Sockets.Resolve); err == nil {
				cancel()
				<-ended
				return nil
			}
		}
	}
}

// What check takes, serve starts with: before the first start, and beside a daemon that
// runs, whose locks and sockets are no problem.
func TestCheckTakesWhatServeStartsWith(t *testing.T) {
	s := newSite(t)
	s.file("bot.token", botToken, 0o600)
	s.file("approver.yaml", "dir: data\nsockets: {submit: run/s.sock, resolve: run/r.sock}\n"+telegramBy, 0o600)
	path := filepath.Join(s.dir, "approver.yaml")
	look := func() []string { return CheckCmd{Flags: judging.Flags{Config: path}}.look(t.Context()).Problems }
	for _, when := range []string{"before the first start", "after it"} {
		if found := look(); len(found) > 0 {
			t.Errorf("%s: %v", when, found)
		}
		if err := s.serve(path); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
	}
	cfg, err := configs.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- daemon.New(cfg, slog.New(slog.DiscardHandler)).Run(ctx) }()
	for range 500 {
		if _, err := os.Stat(cfg.Sockets.Resolve); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if found := look(); len(found) > 0 {
		t.Errorf("beside the daemon: %v", found)
	}
	cancel()
	<-ended
}

// A hook that was installed for a shorter ttl gives up before people do, and claude then
// blocks the call. The daemon starts all the same, so check is where it shows.
func TestCheckFindsAHookThatGivesUpTooEarly(t *testing.T) {
	for ttl, short := range map[string]bool{"120s": false, "280s": false, "30m": true, "291s": true} {
		s := newSite(t)
		s.file(".claude/settings.json",
			`{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"/usr/bin/approver-hook --agent `+
				`claude --deadline 290s","timeout":330,"onFailure":"block"}]}]}}`, 0o600)
		s.file("approver.yaml", "dir: .\nsockets: {submit: run/s.sock, resolve: run/r.sock}\nttl: "+ttl+"\n", 0o600)
		path := filepath.Join(s.dir, "approver.yaml")
		said := strings.Join(CheckCmd{Flags: judging.Flags{Config: path}}.look(t.Context()).Problems, "\n")
		if got := strings.Contains(said, "the hook gives people 4m50s, less than the ttl") &&
			strings.Contains(said, "approver install claude --config "+path); got != short {
			t.Errorf("ttl %s: %q", ttl, said)
		}
	}
}

// The program of a classifier that is not there does not keep the daemon from starting,
// and blocks every call that it would score: check says so before.
func TestCheckFindsAClassifierThatIsNotThere(t *testing.T) {
	s := newSite(t)
	s.file("approver.yaml",
		"dir: .\nsockets: {submit: run/s.sock, resolve: run/r.sock}\n"+
			"shield: {sidecar: {program: /no/such/approver-classifier, model: /no/such/model}}\n", 0o600)
	path := filepath.Join(s.dir, "approver.yaml")
	said := strings.Join(CheckCmd{Flags: judging.Flags{Config: path}}.look(t.Context()).Problems, "\n")
	if !strings.Contains(said, "sidecar: ") || !strings.Contains(said, "/no/such/model") {
		t.Errorf("%q", said)
	}
}

// Where the settings of one agent are may not be known: those of the others are looked at all the same.
func TestCheckGoesOnBehindSettingsThatCannotBeFound(t *testing.T) {
	s := newSite(t)
	s.file(".gemini/settings.json", `{"hooks":{"BeforeTool":[{"matcher":"*","hooks":[{"type":"command","command":`+
		`"/usr/bin/approver-hook --agent gemini --deadline 290s","timeout":330000}]}]}}`, 0o600)
	s.file("approver.yaml", "dir: .\nsockets: {submit: run/s.sock, resolve: run/r.sock}\nttl: 30m\n", 0o600)
	t.Setenv("GEMINI_CLI_HOME", "")
	t.Setenv("QWEN_HOME", "relative") // it comes before
	look := CheckCmd{Flags: judging.Flags{Config: filepath.Join(s.dir, "approver.yaml")}}.look(t.Context())
	if said := strings.Join(look.Problems, "\n"); !strings.Contains(said, "approver install gemini") {
		t.Errorf("%q", said)
	}
}
