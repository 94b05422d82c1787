package broadcaster

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// heldOf is a hold of one user's agent in a project.
func heldOf(uid int, project string) Who {
	return Who{Peer: approver.Peer{Known: true, UID: uint32(uid)}, Agent: "claude", Project: project}
}

// freezes freezes agents, and lifts that, unless one fails.
func (x *bench) freezes(lift bool, all ...Who) Controls {
	x.t.Helper()
	for _, who := range all {
		if _, err := x.Controls.Hold(x.t.Context(), who, "approver", "r"); err != nil {
			x.t.Fatal(err)
		}
		if time.Sleep(time.Second); lift {
			if err := x.Controls.Unfreeze(x.t.Context(), "Ada"); err != nil {
				x.t.Fatal(err)
			}
		}
	}
	c, err := LoadControls(x.t.Context(), x.kv)
	if err != nil {
		x.t.Fatal(err)
	}
	return c
}

// The story: over two days, seven false alarms in seven projects were looked into and
// lifted, one after the other. The seventh froze that user's agent everywhere, and on a
// shared store the sixty-fifth froze everybody, although nothing was frozen at that time.
// Now only freezes that stand count, and a yes of before each lifted one stays void.
func TestLiftedHoldsDoNotCount(t *testing.T) {
	for _, n := range []int{
		1, maxHoldsEach - 1, maxHoldsEach, maxHoldsEach + 1, maxHoldsEach + 2, 3 * maxHoldsEach, maxHolds + 5,
	} {
		t.Run(fmt.Sprint("one agent, ", n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				before := time.Now()
				var lifted []Who
				for i := range n {
					lifted = append(lifted, heldOf(7, fmt.Sprint("/p", i)))
				}
				x.freezes(true, lifted...)
				c := x.freezes(false, heldOf(7, "/q"))
				call := approver.ToolCall{Agent: "claude", Dir: "/r", Peer: approver.Peer{Known: true, UID: 7}}
				if f, frozen := c.freezeOf(call); frozen || c.Frozen() || len(c.Held()) != 1 {
					t.Errorf("another project is frozen: %+v; %d stand, all: %v", f, len(c.Held()), c.Frozen())
				}
				if call.Dir = "/q"; !c.freezeVoidsFor(call, time.Now()) {
					t.Error("the frozen one goes on")
				}
				for _, who := range lifted {
					if call.Dir = who.Project; !c.freezeVoidsFor(call, before) ||
						n <= maxHoldsEach && c.freezeVoidsFor(call, time.Now()) {
						t.Errorf("%s: a yes of before lives again, or one of after is void", who.Project)
					}
				}
				if len(c.Holds) > maxHoldsEach+2 {
					t.Errorf("%d are kept", len(c.Holds))
				}
			})
		})
	}
	for _, n := range []int{maxHolds, maxHolds + 1, 2*maxHolds + 3} {
		t.Run(fmt.Sprint("many agents, ", n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				before := time.Now()
				var lifted []Who
				for i := range n {
					lifted = append(lifted, heldOf(100+i, "/p"))
				}
				x.freezes(true, lifted...)
				c := x.freezes(false, heldOf(7, "/q"))
				if c.Frozen() || len(c.Held()) != 1 || len(c.Holds) > maxHolds+2 {
					t.Errorf("all frozen: %v, %d stand, %d are kept", c.Frozen(), len(c.Held()), len(c.Holds))
				}
				for _, who := range lifted {
					if !c.freezeVoidsFor(approver.ToolCall{Agent: "claude", Dir: "/p", Peer: who.Peer}, before) {
						t.Errorf("uid %d: a yes of before lives again", who.Peer.UID)
					}
				}
			})
		})
	}
}

// Of the bound of all holds, only those that stand count: with as many lifted ones as are
// kept, and all but one that may stand, one more is still a freeze of that agent alone, and
// only the next one is of everybody.
func TestStandingHoldsAreCounted(t *testing.T) {
	for _, lifted := range []int{0, 1, maxHolds - 1, maxHolds} {
		for _, stand := range []int{0, 1, maxHolds - 1, maxHolds} {
			var c Controls
			now := time.Unix(1e9, 0)
			for i := range lifted {
				c.Holds = append(c.Holds, Hold{Who: heldOf(1000+i, "/p"), Burned: now})
			}
			for i := range stand {
				c.hold(Hold{Freeze: Freeze{By: "approver"}, Who: heldOf(2000+i, "/p")}, now)
			}
			if c.Frozen() || len(c.Held()) != stand {
				t.Fatalf("%d lifted, %d stand: all frozen %v, %d are held", lifted, stand, c.Frozen(), len(c.Held()))
			}
			c.hold(Hold{Freeze: Freeze{By: "approver"}, Who: heldOf(7, "/p")}, now)
			if c.Frozen() != (stand == maxHolds) {
				t.Errorf("%d lifted, %d stand, one more: all frozen %v", lifted, stand, c.Frozen())
			}
		}
	}
}

// The story: one agent was frozen and people lifted that. A yes from before was still open;
// then another agent was frozen, the record of the lifted one went, and the yes counted
// again. It is kept as long as any yes waits, and not for ever.
func TestALiftedHoldIsKeptAsLongAsAYesWaits(t *testing.T) {
	for after, want := range map[time.Duration]bool{
		0: true, time.Minute: true, approver.SessionTerm: true, 24 * time.Hour: true, 47 * time.Hour: true,
		49 * time.Hour: false,
	} {
		var c Controls
		before := time.Unix(1e9, 0)
		lifted := before.Add(time.Minute)
		c.hold(Hold{Who: heldOf(7, "/p")}, lifted)
		c.lift(lifted)
		c.hold(Hold{Who: heldOf(8, "/p")}, lifted.Add(after))
		call := approver.ToolCall{Agent: "claude", Dir: "/p", Peer: approver.Peer{Known: true, UID: 7}}
		if got := c.freezeVoidsFor(call, before); got != want || c.freezeVoidsFor(call, lifted.Add(time.Second)) {
			t.Errorf("after %v the yes of before is void: %v", after, got)
		}
	}
}

// One freeze more than can be kept stops everything, and so nothing is let through by a
// pause, or by observe mode, that people began before.
func TestTheLastHoldEndsPauseAndObserve(t *testing.T) {
	for _, pause := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			x := newBench(t, newMemKV())
			var err error
			if pause {
				_, err = x.Controls.Pause(t.Context(), nil, MaxPause, true, "Ada")
			} else {
				_, err = x.Controls.Observe(t.Context(), nil, time.Hour, "Ada")
			}
			if err != nil {
				t.Fatal(err)
			}
			var all []Who
			for i := range maxHolds {
				all = append(all, heldOf(100+i, "/p"))
			}
			loose := func(c Controls) bool { return c.Observing(time.Now()) || time.Now().Before(c.Pause.Until) }
			if c := x.freezes(false, all...); c.Frozen() || !loose(c) {
				t.Fatalf("frozen %v, loosened %v", c.Frozen(), loose(c))
			}
			if c := x.freezes(false, heldOf(7, "/p")); !c.Frozen() || loose(c) || !c.freezeVoids(time.Now()) {
				t.Errorf("frozen %v, loosened %v", c.Frozen(), loose(c))
			}
			if err := x.Controls.Unfreeze(t.Context(), "Ada"); err != nil {
				t.Fatal(err)
			}
			if c, err := LoadControls(t.Context(), x.kv); err != nil || c.Frozen() || loose(c) {
				t.Errorf("lifted: %v, frozen %v, loosened %v", err, c.Frozen(), loose(c))
			}
		})
	}
}

// The story: a frozen agent's folder was mounted a second time, under another name. No
// link leads there, and no name is like the other: only the folder itself tells.
func TestAHoldKnowsItsFolderOnAnotherMount(t *testing.T) {
	if dir := os.Getenv("APPROVER_TEST_MOUNTED"); dir != "" {
		for name, want := range map[string]bool{
			"there": true, "there/sub": true, "there/sub/deep": true, "q": false, "there/..": false, ".": false,
		} {
			who := heldOf(7, filepath.Join(dir, "p"))
			if got := who.Is(approver.ToolCall{Peer: who.Peer, Agent: "claude", Dir: filepath.Join(dir, name)}); got != want {
				t.Errorf("a call in %s is frozen: %v", name, got)
			}
		}
		return
	}
	dir := t.TempDir()
	for _, name := range []string{"p/sub/deep", "q", "there"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	mount := fmt.Sprintf("mount --bind %[1]s/p %[1]s/there", dir)
	if out, err := exec.Command("unshare", "-rm", "sh", "-c", mount).CombinedOutput(); err != nil {
		t.Skipf("no mount is possible here: %v: %s", err, out)
	}
	again := exec.Command("unshare", "-rm", "sh", "-c",
		mount+` && exec "$0" -test.run '^TestAHoldKnowsItsFolderOnAnotherMount$'`, os.Args[0])
	again.Env = append(os.Environ(), "APPROVER_TEST_MOUNTED="+dir)
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// The story: an agent made five reports under sessions of 3.6 MB each. The freezes of
// that agent are one record with the sessions in it; the fifth made it larger than the
// store takes, and what the store does not take freezes everybody. A freeze keeps the
// hash of a long session now, and a folder that is too long for one counts as every
// folder, so any number of such reports freezes that agent and nobody else.
func TestLongSessionsFreezeOneAgentOnly(t *testing.T) {
	long := strings.Repeat("q", 1<<20)
	for name, who := range map[string]func(int) Who{
		"sessions": func(i int) Who { return Who{Session: fmt.Sprint(i, long), Project: "/p"} },
		"folders":  func(i int) Who { return Who{Session: fmt.Sprint(i), Project: fmt.Sprint("/", i, long)} },
		"both":     func(i int) Who { return Who{Session: fmt.Sprint(i, long), Project: fmt.Sprint("/", i, long)} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, newMemKV())
				for i := range 3 * maxHoldsEach {
					w := who(i)
					w.Agent, w.Peer = "claude", approver.Peer{Known: true, UID: 7}
					if _, err := x.Controls.Hold(t.Context(), w, "approver", "r"+long); err != nil {
						t.Fatal(err)
					}
					c, err := LoadControls(t.Context(), x.kv)
					if err != nil || c.Frozen() {
						t.Fatalf("%d: everybody is frozen: %v", i, err)
					}
					if text, _ := json.Marshal(c); len(text) > 64<<10 {
						t.Errorf("%d: the record has %d bytes", i, len(text))
					}
					call := approver.ToolCall{Agent: "claude", Session: w.Session, Dir: "/elsewhere", Peer: w.Peer}
					if _, frozen := c.freezeOf(call); !frozen {
						t.Errorf("%d: the session goes on in another folder", i)
					}
					if call.Peer.UID = 8; len(c.Holds) == 0 || c.Holds[0].Who.Is(call) {
						t.Errorf("%d: another user is frozen", i)
					}
				}
			})
		})
	}
}

// A record from before sessions were bounded is made small by the next freeze, and
// holds the same calls before and after.
func TestAnOldLongFreezeIsShortened(t *testing.T) {
	long := strings.Repeat("q", 1<<20)
	of := approver.Peer{Known: true, UID: 7}
	c := Controls{
		Holds: []Hold{{Freeze: Freeze{At: time.Now()}, Who: Who{Agent: "claude", Peer: of, Project: "/p", Session: long}}},
	}
	call := approver.ToolCall{Agent: "claude", Session: long, Dir: "/elsewhere", Peer: of}
	for _, step := range []string{"as it was", "after another"} {
		if _, frozen := c.freezeOf(call); !frozen {
			t.Errorf("%s: it goes on", step)
		}
		c.hold(Hold{Who: heldOf(8, "/q")}, time.Now())
	}
	if text, err := json.Marshal(c); err != nil || len(text) > 4096 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
