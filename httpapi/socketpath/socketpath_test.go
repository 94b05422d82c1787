package socketpath

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDir(t *testing.T) {
	base := t.TempDir()
	system := filepath.Join(base, "run")
	if got, err := dir(system, "/home/u/"); err != nil || got != "/home/u/.approver/run" {
		t.Errorf("without a system folder: %q, %v", got, err)
	}
	for _, home := range []string{"", "relative", "~"} {
		if got, err := dir(system, home); err == nil {
			t.Errorf("home %q: %q, want an error", home, got)
		}
	}
	if err := os.Mkdir(system, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, home := range []string{"/home/u", ""} {
		if got, err := dir(system, home); err != nil || got != system {
			t.Errorf("with a system folder: %q, %v", got, err)
		}
	}
	// A broken system folder must not send the courier to where HOME points,
	// which the agent may choose.
	if got, err := dir(filepath.Join(writeFile(t, base, "f", "", 0o644), "run"), "/home/u"); err != nil ||
		!strings.HasPrefix(got, base) {
		t.Errorf("behind a file: %q, %v", got, err)
	}
}

func TestCheck(t *testing.T) {
	for path, want := range map[string]string{
		"/run/approver/submit.sock":            "",
		"":                                     "not an absolute path",
		"run/x":                                "not an absolute path",
		"/a\x00b":                              "NUL",
		"/" + strings.Repeat("x", MaxLength):   "longer than the",
		"/" + strings.Repeat("x", MaxLength-1): "",
	} {
		err := Check(path)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("Check(%.40q) = %v, want %q", path, err, want)
		}
	}
}

func TestFolder(t *testing.T) {
	for path, want := range map[string]string{"/run/approver/s": "/run/approver", "/s": "/", "s": "/", "": "/"} {
		if got := Folder(path); got != want {
			t.Errorf("Folder(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestTrust(t *testing.T) {
	base := t.TempDir()
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(base, Submit)
	stranger := uint32(os.Getuid()) + 4711
	for _, uid := range []uint32{0, uint32(os.Geteuid())} {
		if err := Trust(path, uid); err != nil {
			t.Errorf("uid %d: %v", uid, err)
		}
	}
	if err := Trust(path, stranger); err == nil || !strings.Contains(err.Error(), "neither root, nor you") {
		t.Errorf("a stranger listens: %v", err)
	}
	for _, mode := range []os.FileMode{0o775, 0o757, 0o777 | os.ModeSticky} {
		if err := os.Chmod(base, mode); err != nil {
			t.Fatal(err)
		}
		if err := Trust(path, uint32(os.Geteuid())); err == nil || !strings.Contains(err.Error(), "written by others") {
			t.Errorf("folder with mode %v: %v", mode, err)
		}
	}
	if err := Trust(filepath.Join(base, "no", "s"), 0); err == nil {
		t.Error("a folder that is not there is trusted")
	}
	if err := Trust(filepath.Join(writeFile(t, base, "f", "", 0o644), "s"), 0); err == nil {
		t.Error("a file is trusted as a folder")
	}
}

func writeFile(t *testing.T, dir, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadPin(t *testing.T) {
	dir, me := t.TempDir(), uint32(os.Getuid())
	const good = "socket /run/approver/submit.sock\nuid 991\n"
	if pin, ok, err := ReadPin(filepath.Join(dir, "none"), me); ok || err != nil || pin != (Pin{}) {
		t.Errorf("no file: %v, %v, %v", pin, ok, err)
	}
	pin, ok, err := ReadPin(writeFile(t, dir, "good", good, 0o644), me)
	if want := (Pin{"/run/approver/submit.sock", 991}); !ok || err != nil || pin != want {
		t.Errorf("good file: %v, %v, %v", pin, ok, err)
	}
	if pin, ok, err := ReadPin(filepath.Join(dir, "good"), me+1); ok || err == nil || pin != (Pin{}) {
		t.Errorf("a file of another owner: %v, %v, %v", pin, ok, err)
	}
	if pin, ok, err := ReadPin(dir, me); ok || err == nil {
		t.Errorf("a folder: %v, %v, %v", pin, ok, err)
	}
	if pin, ok, err := ReadPin(filepath.Join(dir, "good", "x"), me); ok || err == nil {
		t.Errorf("behind a file: %v, %v, %v", pin, ok, err)
	}
	for name, bad := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"group can write":  {good, 0o664},
		"others can write": {good, 0o646},
		"empty":            {"", 0o644},
		"no uid":           {"socket /s\n", 0o644},
		"negative uid":     {"socket /s\nuid -1\n", 0o644},
		"large uid":        {"socket /s\nuid 4294967296\n", 0o644},
		"uid first":        {"uid 1\nsocket /s\n", 0o644},
		"a third line":     {good + "uid 0\n", 0o644},
		"relative socket":  {"socket s\nuid 1\n", 0o644},
	} {
		if pin, ok, err := ReadPin(writeFile(t, dir, name, bad.text, bad.mode), me); err == nil {
			t.Errorf("%s: %v, %v", name, pin, ok)
		}
	}
}
