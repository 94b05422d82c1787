package daemon

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/broadcaster/sealing"
	"approver.example/daemon/daemontest"
	"approver.example/daemon/sealed"
	"approver.example/store/redisstore"
	"approver.example/store/storetest/redistest"
)

// bothPlaces make the real stores, empty.
func bothPlaces() map[string]func(*testing.T) daemontest.Place {
	return map[string]func(*testing.T) daemontest.Place{
		"embedded": func(*testing.T) daemontest.Place { return daemontest.EmbeddedPlace() },
		"redis":    daemontest.RedisPlace,
	}
}

// The story: a call got its yes, and its courier said that it has it. Somebody who had
// copied the store just before killed the daemon and put the copy back, and the same call
// got its yes again, as often as they liked. Now the audit knows of the acknowledgment, and
// of each repetition: an embedded store without it freezes everything, and what Redis may
// have lost is told to nobody again. A daemon that is only killed is no alarm.
func TestAYesIsNotBroughtBack(t *testing.T) {
	for where, open := range bothPlaces() {
		for what, act := range map[string]func(l *roomLife){
			"acknowledged": func(l *roomLife) {
				if err := l.people.Reports.Acknowledge(l.t.Context(), approver.Peer{}, "c1"); err != nil {
					l.t.Fatal(err)
				}
			},
			"repeated": func(l *roomLife) {
				if _, answer := l.ask("c1", false); (<-answer).Decision != approver.Allow {
					l.t.Fatal("it is not repeated")
				}
			},
		} {
			for _, old := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s %s, an old store %v", where, what, old), func(t *testing.T) {
					p := open(t)
					l := startRoom(t, p, t.TempDir())
					id, answer := l.ask("c1", false)
					l.says(id, true, approver.Term{})
					if v := <-answer; v.Decision != approver.Allow {
						t.Fatalf("%+v", v)
					}
					for end := time.Now().Add(time.Minute); !l.tells(id, "released") && time.Now().Before(end); {
						time.Sleep(5 * time.Millisecond)
					}
					l.still()
					was := p.Snap(t, l.dir)
					act(l)
					if !old {
						l.still()
						was = p.Snap(t, l.dir)
					}
					killed := image(t, l.dir, where == "embedded")
					l.stop()
					p.Put(t, killed, was)
					l = startRoom(t, p, killed)
					defer l.stop()
					if froze := l.freeze() != ""; froze != (old && where == "embedded") {
						t.Errorf("frozen because %q", l.freeze())
					}
					if struck := len(l.trust.missing) > 0; struck != (old && where == "redis") {
						t.Errorf("struck: %v", l.trust.missing)
					}
					if !old && what == "repeated" {
						return // it may be read again: its courier never said that it has it
					}
					_, answer = l.ask("c1", false)
					select {
					case v := <-answer:
						if v.Decision == approver.Allow {
							t.Error("the yes is told again")
						}
					case <-time.After(time.Second): // people are asked anew
					}
				})
			}
		}
	}
}

// lists is the sealed record of whose answers count, of a daemon.
func (l *roomLife) lists() sealed.Record {
	l.t.Helper()
	sealer, err := sealing.New(make([]byte, 32))
	if err != nil {
		l.t.Fatal(err)
	}
	return sealed.Record{Name: "approvers", Store: l.store, Sealer: sealer, ID: "here", Where: "the store",
		Mark: l.trust.mark}
}

// The story: an approver was taken out. Somebody put the store of before back over a
// kill, and the approver into the configuration, and that person's answers counted at
// once; on Redis, too. Now such a change counts as one of the controls, which each line of
// the audit knows. Killed at any point of the change, the daemon starts as ever.
func TestAnApproverWhoWasTakenOut(t *testing.T) {
	for where, open := range bothPlaces() {
		for what, tt := range map[string]struct {
			change func(l *roomLife) error
			old    bool // put back
			frozen bool
		}{
			"put back": {change: func(l *roomLife) error { return l.lists().Replace(l.t.Context(), l.records, "Ada") },
				old: true, frozen: true},
			"killed":           {change: func(l *roomLife) error { return l.lists().Replace(l.t.Context(), l.records, "Ada") }},
			"killed half-way":  {change: func(l *roomLife) error { return l.lists().Save(l.t.Context(), "Ada") }},
			"killed and early": {change: func(l *roomLife) error { return l.trust.mark.Count(l.t.Context(), l.store) }},
		} {
			t.Run(where+" "+what, func(t *testing.T) {
				p := open(t)
				l := startRoom(t, p, t.TempDir())
				if err := l.lists().Replace(t.Context(), l.records, "Ada, Bob"); err != nil || l.trust.mark.Version() != 1 {
					t.Fatalf("the first is version %d, %v", l.trust.mark.Version(), err)
				}
				l.still()
				was := p.Snap(t, l.dir)
				if err := tt.change(l); err != nil {
					t.Fatal(err)
				}
				if !tt.old {
					l.still()
					was = p.Snap(t, l.dir)
				}
				killed := image(t, l.dir, where == "embedded")
				l.stop()
				p.Put(t, killed, was)
				l = startRoom(t, p, killed)
				defer l.stop()
				if (l.freeze() != "") != tt.frozen || l.tells("older than the audit", "alarm") != tt.frozen {
					t.Errorf("frozen because %q", l.freeze())
				}
			})
		}
	}
}

// A daemon that is killed at any moment of an honest life starts again and freezes nothing,
// whatever it was about to write to store and audit.
func TestAKillIsNoAlarm(t *testing.T) {
	if dir := os.Getenv("APPROVER_TEST_LIFE"); dir != "" {
		honestLife(t, dir, os.Getenv("APPROVER_TEST_REDIS"))
		return
	}
	kills := 45
	if testing.Short() {
		kills = 8
	}
	server, err := redistest.Start(t.Context(), redistest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	for where, addr := range map[string]string{"embedded": "", "redis": server.Addr} {
		t.Run(where, func(t *testing.T) {
			dir, random := t.TempDir(), rand.New(rand.NewPCG(7, uint64(len(addr))))
			var text []byte
			missing := func(event string) bool {
				return !strings.Contains(string(text), `"event":"`+event+`"`)
			}
			events := []string{"started", "released", "acked", "policy"}
			for n, longer := 0, 1; n < kills || longer < 32; n++ {
				if n >= kills { // on a slow machine a life needs longer for all that is killed in its middle
					if longer *= 2; !slices.ContainsFunc(events, missing) {
						break
					}
				}
				child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestAKillIsNoAlarm$")
				child.Env = append(os.Environ(), "APPROVER_TEST_LIFE="+dir, "APPROVER_TEST_REDIS="+addr)
				var out strings.Builder
				child.Stdout, child.Stderr = &out, &out
				if err := child.Start(); err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() { ended <- child.Wait() }()
				select {
				case <-ended:
					t.Fatalf("start %d: %s", n, &out)
				case <-time.After(time.Duration(longer*(20+random.IntN(900))) * time.Millisecond):
					_ = child.Process.Kill()
					<-ended
				}
				text, _ = os.ReadFile(filepath.Join(dir, "audit", "audit.jsonl")) // there may be none yet
			}
			for _, event := range events {
				if missing(event) {
					t.Errorf("no line says %s: nothing was killed in the middle", event)
				}
			}
			if strings.Contains(string(text), `"alarm":"store"`) || strings.Contains(string(text), `"alarm":"audit"`) ||
				strings.Contains(string(text), `"alarm":"loss"`) {
				t.Error("an alarm is in the audit")
			}
		})
	}
}

// honestLife is a daemon that works until it is killed. It ends at once if it is frozen.
func honestLife(t *testing.T, dir, redis string) {
	p := daemontest.EmbeddedPlace()
	if redis != "" {
		hub := filepath.Join(dir, "hub.key")
		if err := os.WriteFile(hub, []byte(strings.Repeat("h", 40)), 0o600); err != nil {
			t.Fatal(err)
		}
		p.Open = func(t *testing.T, _ string) daemontest.PlaceStore {
			s, err := redisstore.Open(t.Context(), redisstore.Config{Addrs: []string{redis}, HubKeyFile: hub},
				slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	}
	l := startRoom(t, p, dir)
	if why := l.freeze(); why != "" || len(l.trust.doubts)+len(l.trust.missing) > 0 {
		t.Fatalf("frozen because %q; %q; struck %v", why, l.trust.doubts, l.trust.missing)
	}
	for n := 0; l.ctx.Err() == nil; n++ {
		var id [16]byte
		for i := range id {
			id[i] = byte(rand.IntN(256))
		}
		call := hex.EncodeToString(id[:])
		answer := l.askOf(call)
		if (<-answer).Decision == approver.Allow && n%3 > 0 {
			_ = l.people.Reports.Acknowledge(l.ctx, approver.Peer{}, call)
		}
		if n%2 == 0 {
			if err := l.lists().Replace(l.ctx, l.records, call); err != nil {
				t.Fatal(err)
			}
		}
		if n%3 == 0 {
			_, _ = l.records.Record(l.ctx, approver.Record{Event: approver.EventVerdict, Note: "a call that passes"})
		}
		if n%4 == 3 {
			_, _ = l.people.Controls.Hold(l.ctx, broadcaster.Who{Agent: "codex", Project: "/" + call}, "approver", "r")
			_ = l.people.Controls.Unfreeze(l.ctx, "Ada")
		}
	}
}

// askOf asks about a call, and people say yes to it, or no to one of four.
func (l *roomLife) askOf(call string) chan approver.Verdict {
	answer := make(chan approver.Verdict, 1)
	ctx, cancel := context.WithTimeout(l.ctx, 5*time.Second)
	go func() {
		defer cancel()
		answer <- l.people.Ask(ctx,
			approver.ToolCall{ID: call, Agent: "claude", Session: call, Tool: "Bash", Command: "git push --force", Dir: "/repo",
				At: time.Now()},
			approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High})
	}()
	for ctx.Err() == nil {
		open, _ := l.people.Requests.Open(ctx)
		for _, r := range open {
			l.room.Mu.Lock()
			code, shown := l.room.Codes[r.ID]
			l.room.Mu.Unlock()
			if r.CallID == call && shown {
				out := l.room.Reply(ctx,
					approver.Reply{Channel: "room", Conversation: "r", Sender: "1", Approve: call[0] > '3', Method: approver.ByCommand,
						Code: code})
				if out.Kind == approver.OutcomeApproved || out.Kind == approver.OutcomeDenied {
					return answer
				}
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	return answer
}
