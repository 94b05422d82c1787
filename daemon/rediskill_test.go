package daemon

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"approver.example"
	"approver.example/daemon/daemontest"
)

// The story: Redis with an append-only file was killed, an approver had been added just
// before, and nobody knew whether honest people are frozen by that. Where its file has all,
// nothing is frozen and nothing alarmed, in the daemon that runs and in the next one. Where
// the file lacks the second with the approver, the store is older than the audit: both say
// so and freeze.
func TestRedisIsKilled(t *testing.T) {
	for name, lost := range map[string]bool{"nothing is lost": false, "the last second is lost": true} {
		for _, running := range []bool{true, false} {
			t.Run(name+map[bool]string{true: ", the daemon runs on", false: ", the daemon is killed, too"}[running],
				func(t *testing.T) {
					t.Parallel()
					p, server := daemontest.RedisPlaceOn(t, "appendfsync always")
					l := startRoom(t, p, t.TempDir())
					if err := l.lists().Replace(t.Context(), l.records, "Ada"); err != nil {
						t.Fatal(err)
					}
					request, answer := l.ask("c1", false)
					l.says(request, true, approver.Term{})
					if v := <-answer; v.Decision != approver.Allow {
						t.Fatalf("%+v", v)
					}
					l.still()
					files, before := filepath.Join(server.Dir, "appendonlydir"), t.TempDir()
					if err := os.CopyFS(before, os.DirFS(files)); err != nil {
						t.Fatal(err)
					}
					if err := l.lists().Replace(t.Context(), l.records, "Ada, Bob"); err != nil {
						t.Fatal(err)
					}
					l.still()
					dir := l.dir
					if !running {
						dir = image(t, l.dir, false)
					}
					server.Kill()
					if lost {
						if err := os.RemoveAll(files); err != nil {
							t.Fatal(err)
						}
						if err := os.CopyFS(files, os.DirFS(before)); err != nil {
							t.Fatal(err)
						}
					}
					if !running {
						l.stop()
					}
					if err := server.Restart(t.Context()); err != nil {
						t.Fatal(err)
					}
					if !running {
						l = startRoom(t, p, dir)
					}
					settled := func() bool { // without a loss there is nothing to wait for
						c, _, err := l.people.Controls.Load(t.Context())
						return err == nil && (!lost || c.Frozen() && !c.Missing && l.tells("", "alarm"))
					}
					for end := time.Now().Add(time.Minute); !settled() && time.Now().Before(end); {
						time.Sleep(20 * time.Millisecond)
					}
					if !lost {
						time.Sleep(2500 * time.Millisecond) // longer than from one look at the controls to the next
					}
					if frozen := l.freeze() != ""; frozen != lost || l.tells("", "alarm") != lost {
						t.Errorf("frozen because %q, an alarm is told: %v", l.freeze(), l.tells("", "alarm"))
					}
					l.stop()
					if l = startRoom(t, p, l.dir); (l.freeze() != "") != lost || len(l.trust.doubts) > 0 {
						t.Errorf("the next start: frozen because %q, %q", l.freeze(), l.trust.doubts)
					}
					l.stop()
				})
		}
	}
}
