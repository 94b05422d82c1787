package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/gate"
)

// testWho is whoever makes testCall.
var testWho = Who{Agent: "claude", Project: "/repo", Session: "s"}

// The story: a call of one agent went around the gate. That agent is stopped where it
// works and in its session, what it asked is denied, and no yes to it runs anything,
// also after people have lifted it. The agents of others go on.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		other := testCall("c2")
		other.Dir, other.Session = "/elsewhere", "t"
		mine, others := x.askAsync(t.Context(), testCall("c1"), approver.High), x.askAsync(t.Context(), other, approver.High)
		synctest.Wait()
		denied, err := x.Controls.Hold(t.Context(), testWho, "approver", "it went around the gate")
		if v := <-mine; err != nil || denied != 1 || v.Decision != approver.Deny {
			t.Errorf("%d denied, %v, the agent is told %+v", denied, err, v)
		}
		stage := FreezeStage{Store: x.kv}
		if v, err := stage.Judge(t.Context(), testCall("c3")); err != nil || v.Decision != approver.Deny ||
			!strings.Contains(v.Reason, "has frozen this agent") || !strings.Contains(v.Reason, "around the gate") {
			t.Errorf("a new call: %+v, %v", v, err)
		}
		if v, err := stage.Judge(t.Context(), other); err != nil || v.Decision != approver.Pass {
			t.Errorf("the call of another: %+v, %v", v, err)
		}
		time.Sleep(time.Second)
		slipped := x.slips(testCall("c4"))
		if _, card := x.tg.card(-1); !strings.HasPrefix(warned(card), "FROZEN: claude in /repo by approver") {
			t.Errorf("the card says %q", warned(card))
		}
		if out := x.tap(x.tg, -1, "1", true); out.Kind == approver.OutcomeApproved || (<-slipped).Decision != approver.Deny {
			t.Errorf("a yes in the freeze: %+v", out)
		}
		if out := x.tap(x.tg, 1, "1", true); out.Kind != approver.OutcomeApproved &&
			x.tap(x.tg, 0, "1", true).Kind != approver.OutcomeApproved {
			t.Errorf("a yes to another agent: %+v", out)
		}
		if v := <-others; v.Decision != approver.Allow {
			t.Errorf("another agent is told %+v", v)
		}
		older := x.slips(testCall("c5"))
		time.Sleep(time.Second)
		if err := x.Controls.Unfreeze(t.Context(), "uid 7"); err != nil {
			t.Fatal(err)
		}
		if out := x.tap(x.tg, -1, "1", true); out.Kind == approver.OutcomeApproved || (<-older).Decision != approver.Deny {
			t.Errorf("what it burned is released: %+v", out)
		}
		time.Sleep(time.Second)
		later := x.askAsync(t.Context(), testCall("c6"), approver.High)
		synctest.Wait()
		if out := x.tap(x.tg, -1, "1", true); out.Kind != approver.OutcomeApproved || (<-later).Decision != approver.Allow {
			t.Errorf("after it: %+v", out)
		}
		if err := x.Controls.Unfreeze(t.Context(), "uid 7"); !errors.Is(err, ErrNotFrozen) {
			t.Errorf("lifted twice: %v", err)
		}
	})
}

// Neither another folder nor another session leads out of it, only both: that is
// another agent. Another user's, and another program's, is another one too.
func TestWhoIs(t *testing.T) {
	who := Who{Peer: approver.Peer{Known: true, UID: 7}, Agent: "claude", Project: "/home/a/shop", Session: "s"}
	for _, tt := range []struct {
		dir, session, agent, control string
		uid                          uint32
		want                         bool
	}{
		{"/home/a/shop", "s", "claude", "", 7, true},
		{"/home/a/shop", "t", "claude", "", 7, true},
		{"/home/a/shop/src/deep", "t", "claude", "", 7, true},
		{"/tmp", "s", "claude", "", 7, true},
		{"/home/a", "s", "claude", "", 7, true},
		{"/tmp", "t", "claude", "", 7, false},
		{"/home/a/shopping", "t", "claude", "", 7, false},
		{"/home/a", "t", "claude", "", 7, false},
		{"/home/a/shop", "s", "codex", "", 7, false},
		{"/home/a/shop", "s", "claude", "", 8, false},
		{"/home/a/shop", "s", "claude", "unfreeze", 7, false},
	} {
		call := approver.ToolCall{
			Dir: tt.dir, Session: tt.session, Agent: tt.agent, Control: tt.control,
			Peer: approver.Peer{Known: true, UID: tt.uid, PID: 99},
		}
		if who.Is(call) != tt.want {
			t.Errorf("%+v: %v", tt, !tt.want)
		}
	}
	if (Who{}).Is(approver.ToolCall{Agent: "claude", Dir: "/x"}) {
		t.Error("nobody is somebody")
	}
	empty := Who{Agent: "claude", Project: "/x"}
	if empty.Is(approver.ToolCall{Agent: "claude", Dir: "/y"}) {
		t.Error("two calls without a session are of one session")
	}
}

// The story: somebody sends made-up reports under ever other sessions, to fill the
// record until everything is frozen. One user's agent takes a few places, and is then
// frozen everywhere; the agents of other users go on.
func TestHoldsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		for i := range 40 {
			who := Who{
				Peer: approver.Peer{Known: true, UID: 7, PID: int32(i)}, Agent: "claude", Project: fmt.Sprint("/p", i),
				Session: fmt.Sprint(i),
			}
			if _, err := x.Controls.Hold(t.Context(), who, "approver", "r"); err != nil {
				t.Fatal(err)
			}
		}
		c, err := LoadControls(t.Context(), x.kv)
		if err != nil || c.Frozen() || len(c.Holds) > maxHoldsEach {
			t.Errorf("%d holds, %v, frozen %v", len(c.Holds), err, c.Frozen())
		}
		for i := range 60 {
			call := approver.ToolCall{
				Agent: "claude", Dir: fmt.Sprint("/p", i), Session: "x", Peer: approver.Peer{Known: true, UID: 7},
			}
			if _, frozen := c.freezeOf(call); !frozen {
				t.Errorf("%s goes on", call.Dir)
			}
			call.Peer.UID = 8
			if _, frozen := c.freezeOf(call); frozen {
				t.Errorf("another user's agent in %s is frozen", call.Dir)
			}
		}
		for i := range maxHolds + 1 { // by ever other users: then everything stops
			if _, err := x.Controls.Hold(t.Context(), Who{
				Peer: approver.Peer{Known: true, UID: uint32(100 + i)}, Agent: "claude", Project: "/p",
			}, "approver", "r"); err != nil {
				t.Fatal(err)
			}
		}
		if c, err = LoadControls(t.Context(), x.kv); err != nil || !c.Frozen() || len(c.Holds) > maxHolds {
			t.Errorf("%d holds, %v, frozen %v", len(c.Holds), err, c.Frozen())
		}
	})
}

// A freeze of one agent ends no pause and no observing, and neither lets that agent
// on.
func TestHoldStandsWhileObserving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		if _, err := x.Controls.Observe(t.Context(), nil, time.Hour, "Ada"); err != nil {
			t.Fatal(err)
		}
		if _, err := x.Controls.Hold(t.Context(), testWho, "approver", "r"); err != nil {
			t.Fatal(err)
		}
		g := &gate.Gate{
			Stages: []approver.Stage{FreezeStage{Store: x.kv}}, Observe: x.Controls.Observing, Audit: x.audit, Log: x.Log,
		}
		if v := g.Decide(t.Context(), testCall("c1")); v.Decision != approver.Deny {
			t.Errorf("a frozen agent is told %+v", v)
		}
		c, now, err := x.Controls.Load(t.Context())
		if err != nil || !c.Observing(now) || !strings.Contains(c.Notice(now), "FROZEN: claude in /repo by approver; ") {
			t.Errorf("%v, %q", err, c.Notice(now))
		}
	})
}

// What stages decided alone is judged again after a restart; all else is not.
func TestVerdictAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, newMemKV())
		says := func(v approver.Verdict) *gate.Gate {
			g := &gate.Gate{Stages: []approver.Stage{
				stage(func(approver.ToolCall) (approver.Verdict, error) { return v, nil }),
			}, Tiers: approver.TierScreen, Audit: x.audit, Log: x.Log}
			g.Ask = func(context.Context, approver.ToolCall, approver.Verdict) approver.Verdict {
				return approver.Verdict{Decision: approver.Allow}
			}
			return g
		}
		for name, tt := range map[string]struct {
			v    approver.Verdict
			want bool
		}{
			"pass":  {approver.Verdict{Decision: approver.Pass, Severity: approver.High}, true},
			"allow": {approver.Verdict{Decision: approver.Allow, Severity: approver.High}, true},
			"deny":  {approver.Verdict{Rule: "r"}, true},
			"ask":   {approver.Verdict{Decision: approver.Ask, Severity: approver.High, Rule: "r"}, false},
			"destruction": {
				approver.Verdict{
					Decision: approver.Pass, Severity: approver.High, Irreversible: approver.Irreversibility{Score: 10},
				}, false,
			},
		} {
			if v := says(tt.v).Decide(t.Context(), testCall(name)); v.Alone() != tt.want {
				t.Errorf("%s: %v", name, v.Alone())
			}
		}
		if (approver.Verdict{}).Alone() {
			t.Error("the zero verdict is alone")
		}
	})
}

// The story: an agent was frozen after a call went around the gate, and began anew: with
// a new session, and its own folder by another name. The names were compared letter by
// letter, and its calls went on. Now the folders are compared.
func TestAHoldKnowsItsFolderByEveryName(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(base, name) }
	for _, dir := range []string{"p/sub/deep", "q", "project"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"link": "p", "above": ".", "deep": "p/sub/deep", "twice": "link", "q/back": "../p", "elsewhere": "q",
	} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	peer := approver.Peer{Known: true, UID: 1000}
	for dir, want := range map[string]bool{
		at("p"): true, at("p/sub"): true, at("p/sub/deep"): true, at("p") + "/": true, at("p") + "//": true, at("p") +
			"/.": true,
		"/" + at("p"): true, "//" + at("p/sub"): true, base + "//p": true, base + "/./p": true, base + "/q/../p": true,
		base + "/none/../p": true,
		at("link"):          true, at("link/sub"): true, at("link") + "/../p": true, at("above/p"): true,
		at("above/above/p/sub"): true, at("deep"): true,
		base + "/deep/../..": true, at("twice"): true, at("twice/sub"): true, at("q/back"): true, at("q/back/sub"): true,
		"/proc/self/root" + at("p"): true, "/proc/self/cwd": true, "/proc/1/root" + at("p"): true, "/./proc/self/root" +
			at("p"): true,
		base: false, at("q"): false, at("project"): false, at("elsewhere"): false, at("none"): false, base +
			"/p/../q": false, "/": false, "/tmp/none": false,
	} {
		for _, project := range []string{at("p"), at("link"), at("p") + "/", base + "//p"} {
			who := Who{Peer: peer, Agent: "claude", Project: project, Session: "old"}
			if got := who.Is(approver.ToolCall{Peer: peer, Agent: "claude", Dir: dir, Session: "new"}); got != want {
				t.Errorf("%s is frozen, and a call in %s is %v", project, dir, got)
			}
		}
	}
	gone := Who{Peer: peer, Agent: "claude", Project: at("gone")}
	if !gone.Is(approver.ToolCall{
		Peer: peer, Agent: "claude", Dir: at("gone/./sub"),
	}) || gone.Is(approver.ToolCall{Peer: peer, Agent: "claude", Dir: at("q")}) {
		t.Error("a folder that is not there is not compared by its name")
	}
}
