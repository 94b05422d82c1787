package configs_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/agents/facts"
	"approver.example/configs"
	"approver.example/internal/strictyaml"
)

//go:generate go test -run "^(TestGeneratedRules|TestGeneratedHeuristics)$" -update .
//go:generate go test -run "^(TestBadConfigs|TestManual|TestRulesPage|TestCountsInPages|TestHeuristicCounts)$" -update .

var update = flag.Bool("update", false, "write the golden files and docs/config.md anew")

// isolate gives the test a home of its own, so that it reads no configuration
// of the machine.
func isolate(t testing.TB) string {
	home := t.TempDir()
	t.Setenv("HOME", home)
	return home
}

// defaultYAML is the manual.
func defaultYAML(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile("approver.default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestDefaultFileIsTheDefault(t *testing.T) {
	isolate(t)
	got, err := configs.Parse("/etc/x/approver.yaml", defaultYAML(t))
	if err != nil {
		t.Fatal(err)
	}
	want, err := configs.Default().Resolve("/etc/x")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("approver.default.yaml\ngot  %+v\nwant %+v", got, want)
	}
	if err := want.Validate(); err != nil {
		t.Errorf("the default is not valid: %v", err)
	}
	empty, err := configs.Parse("/etc/x/approver.yaml", nil)
	if err != nil || !reflect.DeepEqual(empty, want) {
		t.Errorf("an empty file: %+v, %v", empty, err)
	}
}

// uncomment makes settings of the lines that are left out in the default file:
// "#key: value" without a space behind the #.
func uncomment(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		rest := strings.TrimLeft(line, " ")
		if len(rest) > 1 && rest[0] == '#' && rest[1] != ' ' && rest[1] != '#' {
			lines[i] = line[:len(line)-len(rest)] + rest[1:]
		}
	}
	return strings.Join(lines, "\n")
}

// Every setting of every part is in the manual, at its place and with an
// explanation above it or above the group that it begins; and nothing else is.
func TestEverySettingIsExplained(t *testing.T) {
	text := uncomment(string(defaultYAML(t)))
	f, err := strictyaml.Parse("approver.default.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c := configs.Default()
	f.Decode(&c)
	if err := f.Err(); err != nil {
		t.Fatalf("the examples are not valid:\n%v", err)
	}
	lines := strings.Split(text, "\n")
	keys := strictyaml.Keys(reflect.TypeFor[configs.Config]())
	if len(keys) < 50 {
		t.Fatalf("only %d keys: %v", len(keys), keys)
	}
	for _, key := range keys {
		// The sections of all agents are alike, and one of them is explained.
		if of, is := strings.CutPrefix(key, "agents."); is && !strings.HasPrefix(of, facts.Example()+".") {
			continue
		}
		at := strings.TrimSuffix(strings.ReplaceAll(key, "[]", "[0]"), ".*")
		if !f.Has(at) {
			t.Errorf("%s is not in approver.default.yaml", key)
			continue
		}
		if !explained(lines, f.Position(at).Line-1) {
			t.Errorf("%s has no explanation above it", key)
		}
	}
}

// explained looks for a comment above a line; settings directly below one
// another share theirs, and so do the parts of a list's element.
func explained(lines []string, n int) bool {
	for n--; n >= 0; n-- {
		line := strings.TrimSpace(lines[n])
		if line == "" {
			return false
		}
		if strings.HasPrefix(line, "# ") {
			return true
		}
	}
	return false
}

// The examples in the manual pass all checks but the ones that exclude each
// other: two stores, a secret and its file.
func TestExamplesAreValid(t *testing.T) {
	isolate(t)
	_, err := configs.Parse("/etc/x/approver.yaml", []byte(uncomment(string(defaultYAML(t)))))
	var bad *strictyaml.FileError
	if !errors.As(err, &bad) {
		t.Fatal(err)
	}
	for _, p := range bad.Problems {
		if !strings.Contains(p.Text, "keep one") && !strings.Contains(p.Text, "does not look like one") {
			t.Errorf("%s", p)
		}
	}
}

func parseFile(path string) (configs.Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return configs.Config{}, err
	}
	return configs.Parse(path, data)
}

func TestGoodConfig(t *testing.T) {
	home := isolate(t)
	c, err := parseFile("testdata/good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for name, pair := range map[string][2]any{
		"dir":      {c.Dir, dir + "/data"},
		"submit":   {c.Sockets.Submit, dir + "/run/s.sock"},
		"resolve":  {c.Sockets.Resolve, dir + "/run/r.sock"},
		"policy":   {c.Policy, dir + "/policy.yaml"},
		"ttl":      {c.TTL, 90 * time.Second},
		"waits":    {c.Wait, configs.Wait{High: 10 * time.Minute, Catastrophic: 5 * time.Minute}},
		"code":     {c.CodeLength, 8},
		"fail":     {c.FailMode, "closed"},
		"log":      {c.Log.Level.Level(), slog.LevelDebug},
		"audit":    {c.AuditDir(), home + "/audit"},
		"key":      {c.AuditKey(), dir + "/keys/audit.key"},
		"id":       {c.AuditID(), "hub-1"},
		"every":    {c.Audit.Options().CheckpointEvery, 10},
		"after":    {c.Audit.Options().CheckpointAfter, time.Second},
		"size":     {c.Audit.Options().MaxSize, int64(2_000_000)},
		"addrs":    {fmt.Sprint(c.Store.Redis.Addrs), "[10.0.0.1:6379 10.0.0.2:6379]"},
		"password": {c.Store.Redis.PasswordFile, dir + "/redis.password"},
		"hub key":  {c.Store.Redis.HubKeyFile, "/etc/approver/hub.key"},
		"ca":       {c.Store.Redis.TLS.CAFile, dir + "/ca.pem"},
		"wait":     {c.Store.Redis.WaitTimeout, 500 * time.Millisecond},
		"telegram": {c.Channels.Telegram.TokenFile, dir + "/telegram.token"},
		"thread":   {c.Channels.Telegram.Chats[0].Thread, 7},
		"discord":  {c.Channels.Discord.TokenFile, dir + "/discord.token"},
		"slack":    {c.Channels.Slack.BotToken.Reveal(), "xoxb-hunter2"},
		"app":      {c.Channels.Slack.AppTokenFile, dir + "/slack.token"},
		"terminal": {c.Channels.Terminal.AllowAnswers, true},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: got %v, want %v", name, pair[0], pair[1])
		}
	}
	if text := fmt.Sprintf("%+v %#v", c.Channels.Slack, c.Channels.Slack); strings.Contains(text, "hunter2") {
		t.Error("printing the configuration shows a token")
	}
}

func TestPeopleAndDestinations(t *testing.T) {
	isolate(t)
	c, err := parseFile("testdata/good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	people := c.People()
	for id, want := range map[approver.Identity]approver.Person{
		{Channel: "telegram", ID: "10042567"}:          {ID: "ada", Name: "Ada"},
		{Channel: "discord", ID: "100000000000000001"}: {ID: "ada", Name: "100000000000000001"},
		{Channel: "discord", ID: "100000000000000002"}: {ID: "discord:100000000000000002", Name: "100000000000000002"},
		{Channel: "slack", ID: "U0123456789"}:          {ID: "bob", Name: "Bob"},
		{Channel: "terminal", ID: "1000"}:              {ID: "terminal:1000", Name: "1000"},
	} {
		if got, ok := people.Lookup(id.Channel, id.ID); !ok || got != want {
			t.Errorf("%+v: got %+v, %v", id, got, ok)
		}
	}
	if len(people) != 5 {
		t.Errorf("%d people", len(people))
	}
	// An id counts on its own channel only.
	if _, ok := people.Lookup("slack", "10042567"); ok {
		t.Error("a Telegram id counts on Slack")
	}
	got, err := json.Marshal(c.Destinations())
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"channel":"telegram","conversation":"-1001234567890/7"},{"channel":"telegram","conversation":"10042567"},` +
		`{"channel":"discord","conversation":"200000000000000001"},{"channel":"slack","conversation":"C0123456789"},{` +
		`"channel":"terminal","conversation":"local"}]`
	if string(got) != want {
		t.Errorf("destinations\ngot  %s\nwant %s", got, want)
	}
	if none := configs.Default(); len(none.People()) != 0 || len(none.Destinations()) != 0 {
		t.Error("the default has people or destinations")
	}
	if _, ok := (configs.Config{}).People().Lookup("telegram", ""); ok {
		t.Error("the zero configuration admits somebody")
	}
}

// One file for each defect, named by it; beside it what is said, in full.
func TestBadConfigs(t *testing.T) {
	isolate(t)
	files, err := filepath.Glob("testdata/bad-*.yaml")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c, err := configs.Parse(filepath.Base(file), data)
			if err == nil {
				t.Fatal("accepted")
			}
			if !reflect.DeepEqual(c, configs.Config{}) {
				t.Error("a configuration came with the error")
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows a secret:\n%v", err)
			}
			golden := strings.TrimSuffix(file, ".yaml") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(err.Error()+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, readErr := os.ReadFile(golden)
			if readErr != nil {
				t.Fatal(readErr)
			}
			if got := err.Error() + "\n"; got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestLoadRefusesWhatOthersCanWrite(t *testing.T) {
	dir := isolate(t)
	path := filepath.Join(dir, "approver.yaml")
	if err := os.WriteFile(path, []byte("ttl: 60s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o644: true, 0o400: true, 0o660: false, 0o602: false,
		0o666: false, 0o620: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := configs.Load(path)
		if ok != (err == nil) {
			t.Errorf("mode %04o: %v", mode, err)
		}
		if want := fmt.Sprintf("can be written by others (mode %04o): run chmod go-w on it", mode); !ok &&
			!strings.Contains(err.Error(), want) {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
	token := "channels:\n  telegram:\n    token: '1234567:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'\n" +
		"    chats: [{id: -100}]\n    approvers: [{id: '5'}]\n"
	if err := os.WriteFile(path, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := configs.Load(path); ok != (err == nil) || !ok && !strings.Contains(err.Error(), "token_file") {
			t.Errorf("a token in a file of mode %04o: %v", mode, err)
		}
	}
	if _, err := configs.Load(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := configs.Load(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	big := filepath.Join(dir, "big.yaml")
	if err := os.WriteFile(big, []byte(strings.Repeat("#", strictyaml.MaxBytes+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := configs.Load(big); err == nil || !strings.Contains(err.Error(), "the limit is 1048576") {
		t.Errorf("a big file: %v", err)
	}
}

func TestLoadOrDefault(t *testing.T) {
	home := isolate(t)
	if _, err := os.Lstat("/run/approver"); err == nil {
		// On a machine with an isolated daemon the system's file is read.
		return
	}
	c, err := configs.LoadOrDefault("")
	if err != nil {
		t.Fatal(err)
	}
	if c.Dir != home+"/.approver" || c.Sockets.Submit != home+"/.approver/run/submit.sock" ||
		c.Sockets.Resolve != home+"/.approver/run/resolve.sock" ||
		c.Storage().File != home+"/.approver/approver.db" || c.AuditDir() != home+"/.approver/audit" ||
		c.AuditKey() != home+"/.approver/audit.key" {
		t.Errorf("places: %+v", c)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if err := os.Mkdir(home+"/.approver", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(home+"/.approver/approver.yaml", []byte("ttl: 60s\ndir: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err = configs.LoadOrDefault(""); err != nil || c.TTL != time.Minute || c.Dir != home+"/.approver/x" {
		t.Errorf("the file at home: %+v, %v", c, err)
	}
	// A file that is there and broken is never passed over.
	if err := os.WriteFile(home+"/.approver/approver.yaml", []byte("ttl: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = configs.LoadOrDefault(""); err == nil {
		t.Error("a broken file was passed over")
	}
	// A file that is asked for has to be there.
	if _, err = configs.LoadOrDefault(home + "/other.yaml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	t.Setenv("HOME", "")
	if _, err = configs.LoadOrDefault(""); err == nil || !strings.Contains(err.Error(), "HOME") {
		t.Errorf("without HOME: %v", err)
	}
	if _, err = configs.Parse("/x/a.yaml",
		[]byte("dir: /d\nsockets: {submit: /a, resolve: /b}\npolicy: ~/p\n")); err == nil ||
		!strings.Contains(err.Error(), "HOME") {
		t.Errorf("~ without HOME: %v", err)
	}
	if _, err = configs.Parse("/x/a.yaml", []byte("dir: /d\nsockets: {submit: /a, resolve: /b}\n")); err != nil {
		t.Errorf("nothing needs HOME: %v", err)
	}
}

func TestValidateWithoutAFile(t *testing.T) {
	err := configs.Config{}.Validate()
	if err == nil {
		t.Fatal("the zero configuration is valid")
	}
	for _, want := range []string{"ttl: ", "code_length: ", "fail_mode: ", "sockets.submit: ", "audit.max_size: "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no word of %s in\n%v", want, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add(defaultYAML(f))
	f.Add([]byte(uncomment(string(defaultYAML(f)))))
	f.Setenv("HOME", "/home/fuzz")
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := configs.Parse("/x/f.yaml", data)
		if err != nil {
			if err.Error() == "" || !reflect.DeepEqual(c, configs.Config{}) {
				t.Fatalf("%+v with error %q", c, err)
			}
			return
		}
		if err := c.Validate(); err != nil {
			t.Fatalf("accepted, but not valid: %v", err)
		}
		for id, person := range c.People() {
			if id.ID == "" || person.ID == "" {
				t.Fatalf("nobody is on the approver list: %+v", id)
			}
		}
	})
}
