package configs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// members is a Submitters whose group is known to the test.
func members(uids []uint32, inGroup ...uint32) Submitters {
	w := Submitters{uids: uids, groupsOf: func(uid uint32) ([]string, error) {
		for _, in := range inGroup {
			if in == uid {
				return []string{"5", "77"}, nil
			}
		}
		if uid == 666 {
			return nil, errors.New("the directory is down")
		}
		return []string{"5"}, nil
	}}
	if len(inGroup) > 0 {
		w.group, w.name = "77", "agents"
	}
	return w
}

func TestSubmitters(t *testing.T) {
	w := members([]uint32{1000}, 1001)
	for uid, want := range map[uint32]bool{1000: true, 1001: true, 1002: false, 0: false} {
		if got, err := w.Has(uid); got != want || err != nil {
			t.Errorf("uid %d: %v, %v", uid, got, err)
		}
	}
	if got, err := w.Has(666); got || err == nil {
		t.Errorf("a user whose groups are not known: %v, %v", got, err)
	}
	if w.String() != "uid 1000, group agents" || !w.Named() || (Submitters{}).Named() {
		t.Errorf("%s", w)
	}
	if got, err := (Submitters{}).Has(0); got || err != nil {
		t.Errorf("the zero value has root: %v, %v", got, err)
	}
	if _, err := (Sockets{SubmitGroup: "no-such-group-here"}).Submitters(); err == nil ||
		!strings.Contains(err.Error(), "sockets.submit_group") {
		t.Errorf("%v", err)
	}
	if _, err := groupsOf(4_000_000_000); err != nil {
		t.Errorf("a uid without a user: %v", err)
	}
}

// A house of files, of which each test spoils one.
func installed(t *testing.T) Config {
	t.Helper()
	dir := t.TempDir()
	c := Config{File: filepath.Join(dir, "etc", "approver.yaml"), Dir: filepath.Join(dir, "lib"),
		Policy: filepath.Join(dir, "etc", "policy.yaml")}
	c.Sockets.Submit, c.Sockets.Resolve = filepath.Join(dir, "run", "submit.sock"),
		filepath.Join(dir, "run", "resolve.sock")
	for name, mode := range map[string]os.FileMode{"etc": 0o755, "lib": 0o700, "run": 0o755} {
		if err := os.Mkdir(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{c.File, c.Policy} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func TestIsolation(t *testing.T) {
	me := uint32(os.Geteuid())
	chmod := func(mode os.FileMode, path func(Config) string) func(*testing.T, *Config) {
		return func(t *testing.T, c *Config) {
			if err := os.Chmod(path(*c), mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, tt := range map[string]struct {
		who   Submitters
		spoil func(*testing.T, *Config)
		want  string // of the notice; empty is isolated
	}{
		"good":                       {who: members([]uint32{me + 1})},
		"good, a group":              {who: members(nil, me+1)},
		"nobody is named":            {who: Submitters{}, want: "NOT ISOLATED: the agent runs as approver's own user"},
		"the daemon's own user":      {who: members([]uint32{me + 1, me}), want: "which approver runs as, may submit"},
		"the daemon is in the group": {who: members(nil, me), want: "which approver runs as, may submit"},
		"root":                       {who: members([]uint32{me + 1, 0}), want: "may submit"},
		"the folder can be read": {who: members([]uint32{me + 1}),
			spoil: chmod(0o750, func(c Config) string { return c.Dir }),
			want:  "is open to others (mode 0750): run chmod go-rwx"},
		"sockets can be replaced": {who: members([]uint32{me + 1}),
			spoil: chmod(0o775, func(c Config) string { return filepath.Dir(c.Sockets.Submit) }),
			want:  "run can be written by others"},
		"configuration writable": {who: members([]uint32{me + 1}),
			spoil: chmod(0o666, func(c Config) string { return c.File }), want: "approver.yaml can be written by others"},
		"a folder above is open": {who: members([]uint32{me + 1}),
			spoil: chmod(0o777, func(c Config) string { return filepath.Dir(c.Policy) }), want: "etc can be written by others"},
		"the audit lies elsewhere": {who: members([]uint32{me + 1}), spoil: func(t *testing.T, c *Config) {
			c.Audit.Dir = filepath.Join(filepath.Dir(c.Dir), "audit")
			if err := os.Mkdir(c.Audit.Dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}, want: "audit is open to others (mode 0755)"},
		"a link into a folder that is open": {who: members([]uint32{me + 1}), spoil: func(t *testing.T, c *Config) {
			open := filepath.Join(filepath.Dir(c.Dir), "open")
			if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777),
				os.WriteFile(filepath.Join(open, "p"), nil, 0o600), os.Remove(c.Policy),
				os.Symlink(filepath.Join(open, "p"), c.Policy)); err != nil {
				t.Fatal(err)
			}
		}, want: "open can be written by others"},
	} {
		t.Run(name, func(t *testing.T) {
			c := installed(t)
			if tt.spoil != nil {
				tt.spoil(t, &c)
			}
			got := c.Isolation(tt.who, me)
			if got.Isolated != (tt.want == "") || !strings.Contains(got.Notice(), tt.want) ||
				got.Isolated != (got.Notice() == "") {
				t.Errorf("%+v\nwant %q", got, tt.want)
			}
		})
	}
	if (Isolation{}).Isolated || (Isolation{}).Notice() != "NOT ISOLATED" {
		t.Error("the zero value is isolated")
	}
}

// What belongs to another user can be replaced by that user.
func TestHeldByAnotherUser(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	me := uint32(os.Geteuid())
	if err := Held(file, me); err != nil {
		t.Error(err)
	}
	if me != 0 {
		t.Skip("only root can give a file away")
	}
	if err := os.Chown(file, 61001, -1); err != nil {
		t.Fatal(err)
	}
	if err := Held(file, me); err == nil || !strings.Contains(err.Error(), "belongs to uid 61001") {
		t.Errorf("%v", err)
	}
	if err := Held(file, 61001); err != nil {
		t.Errorf("its own: %v", err)
	}
}
