package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
)

// Every file that is read once is told of, whatever becomes of it; nothing is told of those
// that are as they were.
func TestWhatIsReadOnceAndChanged(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(path string) error
		want  string
	}{
		{"nothing", func(string) error { return nil }, ""},
		{"touched", func(p string) error { return os.Chtimes(p, time.Now(), time.Now().Add(time.Hour)) }, ""},
		{"another mode", func(p string) error { return os.Chmod(p, 0o400) }, ""},
		{"written with the same", func(p string) error { return os.WriteFile(p, []byte("one"), 0o600) }, ""},
		{"another text", func(p string) error { return os.WriteFile(p, []byte("two"), 0o600) }, "was changed at"},
		{"another text of the same time", func(p string) error {
			info, err := os.Stat(p)
			if err == nil {
				err = os.WriteFile(p, []byte("two"), 0o600)
			}
			if err == nil {
				err = os.Chtimes(p, info.ModTime(), info.ModTime())
			}
			return err
		}, "was changed at"},
		{"empty", func(p string) error { return os.Truncate(p, 0) }, "was changed at"},
		{"longer", func(p string) error { return os.WriteFile(p, []byte("one\n"), 0o600) }, "was changed at"},
		{"gone", os.Remove, "is not there any more"},
		{"moved away", func(p string) error { return os.Rename(p, p+".old") }, "is not there any more"},
		{"a folder", func(p string) error {
			if err := os.Remove(p); err != nil {
				return err
			}
			return os.Mkdir(p, 0o700)
		}, "cannot be read any more"},
		{"another file in its place", func(p string) error {
			if err := os.WriteFile(p+".new", []byte("two"), 0o600); err != nil {
				return err
			}
			return os.Rename(p+".new", p)
		}, "was changed at"},
		{"a link to another", func(p string) error {
			if err := os.WriteFile(p+".new", []byte("two"), 0o600); err != nil {
				return err
			}
			if err := os.Remove(p); err != nil {
				return err
			}
			return os.Symlink(p+".new", p)
		}, "was changed at"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "token")
			if err := os.WriteFile(path, []byte("one"), 0o600); err != nil {
				t.Fatal(err)
			}
			var read ReadOnce
			read.Add("secret", path, "")
			if err := tt.spoil(path); err != nil {
				t.Fatal(err)
			}
			got := read.Outdated(func(string) bool { return false })
			if len(got) != 0 && tt.want == "" || len(got) != 1 && tt.want != "" {
				t.Fatalf("%v", got)
			}
			if tt.want != "" && (!strings.Contains(got[0].String(), tt.want) || got[0].File != path) {
				t.Errorf("%v", got)
			}
		})
	}
}

// A token that was replaced in its file, and that its channel has taken since, is in force: nobody is
// told to restart the daemon. A file that cannot be read is told of all the same.
func TestATokenThatWasTakenIsInForce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	var read ReadOnce
	read.Add("secret", path)
	if err := os.WriteFile(path, []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := &Admin{channels: []approver.Channel{renewer{file: path}}}
	if got := read.Outdated(d.inUse); len(got) != 0 {
		t.Errorf("%v", got)
	}
	d.channels = []approver.Channel{renewer{file: path + ".other"}}
	if got := read.Outdated(d.inUse); len(got) != 1 {
		t.Errorf("another channel's token: %v", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	d.channels = []approver.Channel{renewer{file: path}}
	if got := read.Outdated(d.inUse); len(got) != 1 {
		t.Errorf("without the file: %v", got)
	}
}

type renewer struct {
	approver.Channel
	file string
}

func (r renewer) Holds(file string) bool { return file == r.file }
