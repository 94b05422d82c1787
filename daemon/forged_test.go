package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/daemon/daemontest"
)

// The story: somebody who can write to Redis edited the record of freezes. Every call was
// denied with a riddle, nothing alarmed, unfreeze failed, and the next start died: only
// who knew the name of a key got out. Now such a record is one that is missing: a freeze
// and an alarm that names it, which people lift as any other, also after a restart.
func TestAControlRecordThatIsNotOurs(t *testing.T) {
	key := approver.Key("control", "all")
	p, server := daemontest.RedisPlaceOn(t)
	admin := server.Admin()
	raw := func(t *testing.T) string {
		s, err := admin.Get(t.Context(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for name, edit := range map[string]func(t *testing.T) any{
		"garbage":       func(*testing.T) any { return "garbage" },
		"nothing":       func(*testing.T) any { return "" },
		"plain JSON":    func(*testing.T) any { return `{"version":9}` },
		"another value": func(t *testing.T) any { return strings.Replace(raw(t), "version", "versiom", 1) },
		"a value more":  func(t *testing.T) any { return raw(t) + " " },
		"another revision": func(t *testing.T) any {
			s := raw(t)
			return s[:1] + string(approver.NewRev()) +
				s[37:]
		},
		"another format": func(t *testing.T) any { return "\x02" + raw(t)[1:] },
		"half":           func(t *testing.T) any { s := raw(t); return s[:len(s)/2] },
		"its head":       func(t *testing.T) any { return raw(t)[:69] },
		"one byte":       func(t *testing.T) any { return raw(t)[:1] },
		"the record of another key": func(t *testing.T) any {
			s,
				_ := admin.Get(t.Context(), approver.Key("hub", "key")).Result()
			return s
		},
		"a hash": nil,
	} {
		for _, running := range []bool{true, false} {
			t.Run(name+map[bool]string{true: ", running", false: ", away"}[running], func(t *testing.T) {
				l := startRoom(t, p, t.TempDir())
				dir := l.dir
				if l.freeze() != "" {
					t.Fatalf("frozen before: %q", l.freeze())
				}
				if !running {
					l.stop()
				}
				if edit == nil {
					// At once: between the two, a running daemon would find no record at all.
					if _, err := admin.TxPipelined(t.Context(), func(tx redis.Pipeliner) error {
						tx.Del(t.Context(), key)
						tx.HSet(t.Context(), key, "value", "x")
						return nil
					}); err != nil {
						t.Fatal(err)
					}
				} else if err := admin.Set(t.Context(), key, edit(t), 0).Err(); err != nil {
					t.Fatal(err)
				}
				if !running {
					l = startRoom(t, p, dir)
				}
				stage := broadcaster.FreezeStage{Store: l.store, Mark: l.trust.mark}
				if v, err := stage.Judge(t.Context(), approver.ToolCall{}); err != nil || v.Decision != approver.Deny ||
					!strings.Contains(v.Reason, "frozen") {
					t.Errorf("the next call: %+v, %v", v, err)
				}
				settled := func() bool { // the alarm, and then the freeze, are written
					c, err := broadcaster.LoadControls(t.Context(), l.store)
					return err == nil && !c.Missing && l.tells(key, "alarm")
				}
				for end := time.Now().Add(time.Minute); !settled() && time.Now().Before(end); {
					time.Sleep(20 * time.Millisecond)
				}
				if !l.tells(key, "alarm") || !strings.Contains(l.freeze(), key) {
					t.Errorf("no alarm names the key; frozen because %q", l.freeze())
				}
				if err := l.people.Controls.Unfreeze(t.Context(), "Ada"); err != nil {
					t.Fatal(err)
				}
				if v, err := stage.Judge(t.Context(), approver.ToolCall{}); err != nil || v.Decision != approver.Pass {
					t.Errorf("after it was lifted: %+v, %v", v, err)
				}
				l.stop()
				if l = startRoom(t, p, dir); l.freeze() != "" {
					t.Errorf("frozen again after a restart: %q", l.freeze())
				}
				l.stop()
				if err := admin.FlushAll(t.Context()).Err(); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}
