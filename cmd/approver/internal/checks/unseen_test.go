package checks

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/configs"
	"approver.example/daemon/hookfiles"
	"approver.example/daemon/logging"
)

// withoutFiles does something while the process can open no file any more.
func withoutFiles(t *testing.T, do func()) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Skip(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 1, Max: was.Max}); err != nil {
		t.Skip(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
			t.Fatal(err)
		}
	}()
	if _, err := os.Open(os.DevNull); !errors.Is(err, syscall.EMFILE) {
		t.Skip("this system opens files beyond the limit: ", err)
	}
	do()
}

// The story: a stranger's connections took every file that the daemon could open. It told
// its owner that THE HOOKS ARE WEAKENED, recorded an alarm, and then said that they were
// uninstalled; nothing of it was so. Now it says that it cannot look, which is no alarm
// and is not well either, and afterwards it knows what it knew before.
func TestNoFilesIsNoWeakHook(t *testing.T) {
	m := newClaudeMachine(t)
	var log bytes.Buffer
	m.watch.Log = logging.New(&log, configs.Log{})
	good := m.read()
	weak := strings.Replace(good, "290s", "290s || true", 1)
	look := func(alarms int, said ...string) {
		t.Helper()
		m.watch.Look(t.Context())
		got := strings.Join(m.watch.Now(), "\n")
		if m.alarms() != alarms || len(said) == 0 && got != "" {
			t.Errorf("%d alarms, want %d: %s", m.alarms(), alarms, got)
		}
		for _, want := range said {
			if !strings.Contains(got, want) {
				t.Errorf("%q is not in %q", want, got)
			}
		}
	}
	look(0)
	withoutFiles(t, func() { look(0, "cannot look whether the hooks of", "too many open files", "LimitNOFILE=") })
	look(0)
	m.write(m.settings, weak)
	withoutFiles(t, func() { look(0, "cannot look") })
	look(1, "the hook runs")
	withoutFiles(t, func() { look(1, "cannot look", "the hook runs") }) // what was seen last holds
	look(1, "the hook runs")
	m.write(m.settings, good)
	withoutFiles(t, func() { look(1, "cannot look", "the hook runs") }) // nor is it mended before it was seen
	look(1)
	for _, never := range []string{"no longer watched"} {
		if strings.Contains(log.String(), never) {
			t.Errorf("the log says %q: %s", never, &log)
		}
	}
	if n := strings.Count(log.String(), "THE HOOKS ARE WEAKENED"); n != 1 ||
		!strings.Contains(log.String(), "CANNOT BE LOOKED AT") {
		t.Errorf("%d alarms in the log: %s", n, &log)
	}
	// What says something of the file is an alarm as before: here the record.
	m.write(hookfiles.InstallsFile(m.cfg.Dir), "{")
	look(2, "the record of what was installed")
	if strings.Contains(log.String(), "no longer watched") {
		t.Errorf("a broken record is no uninstall: %s", &log)
	}
	m.must(os.Remove(hookfiles.InstallsFile(m.cfg.Dir)))
	look(2)
	if !strings.Contains(log.String(), "no longer watched") {
		t.Errorf("a record that is gone: %s", &log)
	}
}

// A change of the settings that cannot be looked at is not taken, and is no alarm.
func TestNoFilesTakeNoSettings(t *testing.T) {
	m := newClaudeMachine(t)
	withoutFiles(t, func() {
		if a := m.changed(m.settings); a.ExitZero ||
			!strings.Contains(string(a.Stderr)+string(a.Stdout), "cannot look at them now") || m.alarms() != 0 {
			t.Errorf("%+v, %d alarms", a, m.alarms())
		}
	})
	if a := m.changed(m.settings); !a.ExitZero {
		t.Errorf("afterwards: %s", a.Stderr)
	}
	m.write(m.settings, "{}")
	if a := m.changed(m.settings); a.ExitZero || m.alarms() != 1 {
		t.Errorf("what weakens is an alarm: %+v, %d", a, m.alarms())
	}
}

// Doctor says the same of its own look.
func TestDoctorWithoutFiles(t *testing.T) {
	m := newClaudeMachine(t)
	d := &doctor{cfg: m.cfg, pin: filepath.Join(m.dir, "none")}
	withoutFiles(t, func() { d.hook(settings.Target{Managed: filepath.Join(m.dir, "managed")}, "") })
	d.has(t, "hook", finding.Fail, "nobody can say whether the hooks hold")
}

// Which errors say nothing of the file; all others do, and are what they were.
func TestUnseen(t *testing.T) {
	for err, want := range map[error]bool{
		syscall.EMFILE: true, syscall.ENFILE: true, syscall.ENOMEM: true, syscall.EIO: true, syscall.EINTR: true,
		syscall.ESTALE: true, syscall.EAGAIN: true, syscall.ETIMEDOUT: true,
		syscall.ENOENT: false, syscall.EACCES: false, syscall.EPERM: false, syscall.ENOTDIR: false, syscall.ELOOP: false,
		syscall.EISDIR: false, syscall.ENAMETOOLONG: false,
		syscall.ENXIO: false, syscall.EINVAL: false, fs.ErrNotExist: false, fs.ErrPermission: false, errors.New("x"): false,
	} {
		if got := settings.Unseen(fmt.Errorf("x: %w", &fs.PathError{Op: "open", Path: "/x", Err: err})); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
	if settings.Unseen(nil) || settings.Blindness(fs.ErrPermission) != nil {
		t.Error("no error is none")
	}
}
