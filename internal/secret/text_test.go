package secret

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The story: the daemon has a user of its own, but the bot's token lies in a file
// that everybody can read. The agent reads it, and edits the cards.
func TestASecretIsItsOwnersAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "token")
	if err := os.WriteFile(path, []byte(" 123456:abc \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	try := func(mode os.FileMode, ok bool) {
		t.Helper()
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		s, err := From("token", Text{}, path)
		if ok != (err == nil) || ok && s.Reveal() != "123456:abc" || !ok && !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o660: false,
		0o602: false, 0o666: false} {
		try(mode, ok)
	}
	t.Setenv("CREDENTIALS_DIRECTORY", dir) // systemd gives access to one user by a list, which shows as the group's
	for mode, ok := range map[os.FileMode]bool{0o440: true, 0o444: false, 0o460: false} {
		try(mode, ok)
	}
	if _, err := From("token", Text{}, dir); err == nil || !strings.Contains(err.Error(), "regular file") {
		t.Errorf("a folder: %v", err)
	}
	if os.Geteuid() == 0 {
		t.Setenv("CREDENTIALS_DIRECTORY", "")
		try(0o600, true)
		if err := os.Chown(path, 4711, 4711); err != nil {
			t.Fatal(err)
		}
		if _, err := From("token", Text{}, path); err == nil || !strings.Contains(err.Error(), "belongs to neither") {
			t.Errorf("another user's file: %v", err)
		}
	}
}

// The story: a channel's configuration is logged as a whole. Its token lies in a field
// that is not exported, of which fmt calls no method: it printed the text.
func TestASecretIsNeverPrinted(t *testing.T) {
	type config struct {
		name  string
		token Text
		Token Text
	}
	c := config{"bot", New("s3cr3t"), New("s3cr3t")}
	nested := struct{ c *config }{&c}
	list := []any{c, &c, nested, &nested, c.token, &c.token, []config{c}, map[string]Text{"a": c.token},
		struct{ list []Text }{[]Text{c.token}}}
	for _, v := range list {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			if out := fmt.Sprintf(verb, v); strings.Contains(out, "s3cr3t") ||
				strings.Contains(out, hex.EncodeToString([]byte("s3cr3t"))) {
				t.Errorf("%s of %T prints the secret", verb, v)
			}
		}
		var log strings.Builder
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "v", v)
		if strings.Contains(log.String(), "s3cr3t") {
			t.Errorf("the log of %T prints the secret", v)
		}
	}
}

// A secret may come from the environment, or from systemd; whatever is missing
// is said with the cure, and never with the secret.
func TestSecretFromElsewhere(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bot"), []byte("123456:abc\n"), 0o400); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BOT_TOKEN", " 123456:abc ")
	t.Setenv("EMPTY", "")
	t.Setenv("CREDENTIALS_DIRECTORY", dir)
	for file, want := range map[string]string{
		"env:BOT_TOKEN": "", "credential:bot": "", "env:EMPTY": "the variable EMPTY is not set, or empty",
		"env:":            "is not set",
		"credential:none": "no such file", "credential:../bot": "is not the name of a credential",
		"credential:..": "is not the name", "credential:": "is not the name",
	} {
		s, err := From("token", Text{}, file)
		if want == "" && (err != nil || s.Reveal() != "123456:abc") ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want) || !s.IsZero()) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
		if IsPath(file) || !IsPath("./"+file) {
			t.Errorf("IsPath(%s)", file)
		}
	}
	t.Setenv("CREDENTIALS_DIRECTORY", "")
	if _, err := From("token", Text{}, "credential:bot"); err == nil ||
		!strings.Contains(err.Error(), "LoadCredential=bot") {
		t.Errorf("without systemd: %v", err)
	}
}

func TestSecretLines(t *testing.T) {
	lines := New("new\n\n  old \r\nolder").Lines()
	if len(lines) != 3 || lines[0].Reveal() != "new" || lines[1].Reveal() != "old" || lines[2].Reveal() != "older" ||
		len((Text{}).Lines()) != 0 {
		t.Errorf("%d lines", len(lines))
	}
}

func TestOnlyOneOfTheTwoSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(" abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := From("token", Text{}, file); err != nil || s.Reveal() != "abc" {
		t.Errorf("%q, %v", s.Reveal(), err)
	}
	if _, err := From("token", New("x"), file); err == nil || !strings.Contains(err.Error(), "both") {
		t.Errorf("both set: %v", err)
	}
	js, _ := json.Marshal(struct{ S Text }{New("hunter2")})
	if strings.Contains(string(js), "hunter2") {
		t.Errorf("a secret in JSON: %s", js)
	}
}
