package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/daemontest"
)

// The story: the audit's folder was removed, moved, cut or linked to nowhere while the
// daemon ran. Calls that people let run went out all the same, and the next start was
// content. Now such a call is denied, everything is frozen in the store, status fails,
// and only people who lift it let calls run again; the starts after that are as before.
func TestNoReleaseWithoutTheAudit(t *testing.T) {
	for name, attack := range map[string]func(dir, log string) error{
		"the folder is removed": func(dir, _ string) error { return os.RemoveAll(dir) },
		"the log is removed":    func(_, log string) error { return os.Remove(log) },
		"moved by logrotate":    func(_, log string) error { return os.Rename(log, log+".1") },
		"cut to nothing":        func(_, log string) error { return os.Truncate(log, 0) },
		"a word is edited": func(_, log string) error {
			b, err := os.ReadFile(log)
			if err != nil {
				return err
			}
			f, err := os.OpenFile(log, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteAt([]byte("stopped"), int64(strings.Index(string(b), "started")))
			return err
		},
	} {
		for _, killed := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", and killed"}[killed], func(t *testing.T) {
				t.Parallel()
				p := daemontest.EmbeddedPlace()
				l := startRoom(t, p, t.TempDir())
				request, answer := l.ask("c1", false)
				l.still() // the store has heard of the end
				dir := filepath.Join(l.dir, "audit")
				if err := attack(dir, filepath.Join(dir, "audit.jsonl")); err != nil {
					t.Fatal(err)
				}
				was := p.Snap(t, l.dir)
				l.says(request, true, approver.Term{})
				if v := <-answer; v.Decision != approver.Deny {
					t.Fatalf("without a record the call got %+v", v)
				}
				if killed { // before the daemon could do anything
					if err := os.MkdirAll(dir, 0o700); err != nil {
						t.Fatal(err)
					}
					now := image(t, l.dir)
					l.stop()
					p.Put(t, now, was)
					l = startRoom(t, p, now)
				}
				for end := time.Now().Add(time.Minute); (l.freeze() == "" || l.records.Err() != nil) && time.Now().Before(end); {
					time.Sleep(20 * time.Millisecond)
				}
				c, _, err := l.people.Controls.Load(t.Context())
				if err != nil || !c.Frozen() || l.records.Err() != nil {
					t.Fatalf("frozen %v, %v, the audit: %v", c.Frozen(), err, l.records.Err())
				}
				if (adminapi.Status{Up: true, Freeze: &c.Freeze}).Well() ||
					!(adminapi.Status{Up: true, Freeze: &broadcaster.Freeze{By: "Ada"}}).Well() {
					t.Error("status does not fail for it, or fails for a freeze of a person")
				}
				for end := time.Now().Add(time.Minute); !l.tells("", "frozen") && time.Now().Before(end); {
					time.Sleep(20 * time.Millisecond)
				}
				if err := l.people.Controls.Unfreeze(t.Context(), "Ada"); err != nil {
					t.Fatal(err)
				}
				request, answer = l.ask("c2", false)
				l.says(request, true, approver.Term{})
				if v := <-answer; v.Decision != approver.Allow {
					t.Fatalf("after people lifted it: %+v", v)
				}
				for range 2 {
					dir := l.dir
					l.stop()
					if l = startRoom(t, p, dir); l.freeze() != "" {
						t.Errorf("frozen again: %q", l.freeze())
					}
				}
				l.stop()
			})
		}
	}
}

// Two daemons share one Redis. One is killed again and again, with requests open and
// answered, and comes back: neither finds fault with the store.
func TestOneOfTwoDaemonsIsKilled(t *testing.T) {
	p := daemontest.RedisPlace(t)
	here, there := startRoom(t, p, t.TempDir()), startRoom(t, p, t.TempDir(), "2")
	defer func() { here.stop(); there.stop() }()
	for n := range 5 {
		id := string(rune('a' + n))
		request, answer := there.ask("here"+id, false)
		there.says(request, true, approver.Term{})
		if v := <-answer; v.Decision != approver.Allow {
			t.Fatalf("%+v", v)
		}
		here.still()
		there.still() // its log and the store are of one moment
		killed := image(t, there.dir, false)
		head := p.Snap(t, "")
		there.stop()
		if n%2 == 0 { // the last words of the one that was killed never came
			p.Put(t, "", head)
		}
		there = startRoom(t, p, killed, "2")
		if len(there.trust.doubts)+len(there.trust.missing) > 0 && n%2 == 0 || there.freeze() != "" && n%2 == 0 ||
			here.freeze() != "" && n%2 == 0 {
			t.Fatalf("kill %d: doubts %q, struck %v", n, there.trust.doubts, there.trust.missing)
		}
		if n%2 == 1 { // its audit is older than the store's word of it: that is no crash
			if there.freeze() == "" {
				t.Fatal("an older audit beside a newer store is not noticed")
			}
			time.Sleep(100 * time.Millisecond)
			if err := there.people.Controls.Unfreeze(t.Context(), "Ada"); err != nil {
				t.Fatal(err)
			}
		}
	}
}
