package daemon

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/audit"
	"approver.example/broadcaster"
	"approver.example/daemon/daemontest"
)

// The story: an agent ran a call around the gate and was frozen, and the daemon was
// killed in the next quarter of a second. The store had the freeze of the agent, but the
// next start looked for a freeze of everything, did not find it, and froze everybody. A
// store that does not have the agent's freeze is still an older one.
func TestAFreezeOfOneAgentAndAKill(t *testing.T) {
	who := func(agent string) broadcaster.Who {
		return broadcaster.Who{Peer: approver.Peer{Known: true, UID: 61000}, Agent: agent, Project: "/repo"}
	}
	hold := func(agent string) func(*trustLife) {
		return func(l *trustLife) {
			l.t.Helper()
			if _, err := l.people.Controls.Hold(l.t.Context(), who(agent), "approver", "test"); err != nil {
				l.t.Fatal(err)
			}
		}
	}
	all := func(acts ...func(*trustLife)) func(*trustLife) {
		return func(l *trustLife) {
			for _, act := range acts {
				act(l)
			}
		}
	}
	many := func(l *trustLife) {
		for i := range 9 { // more than one user's agent can have: it is frozen everywhere
			_, err := l.people.Controls.Hold(l.t.Context(), broadcaster.Who{Agent: "claude", Project: fmt.Sprint("/repo", i)},
				"approver", "test")
			if err != nil {
				l.t.Fatal(err)
			}
		}
	}
	for name, act := range map[string]func(*trustLife){
		"one":              hold("claude"),
		"the same twice":   all(hold("claude"), hold("claude")),
		"two":              all(hold("claude"), hold("codex")),
		"many":             many,
		"lifted":           all(hold("claude"), (*trustLife).unfreeze),
		"after everything": all((*trustLife).freeze, (*trustLife).unfreeze, hold("claude")),
		"of an agent without user": func(l *trustLife) {
			_, _ = l.people.Controls.Hold(l.t.Context(), broadcaster.Who{Agent: "x", Project: "/"}, "a", "b")
		},
	} {
		for _, old := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", an old store ", old), func(t *testing.T) {
				dir := t.TempDir()
				startLife(t, dir, "here").stop()
				before := image(t, dir)
				l := startLife(t, dir, "here")
				act(l)
				killed := image(t, dir)
				l.close()
				if old {
					put(t, "approver.db", before, killed)
				}
				l = startLife(t, killed, "here")
				defer l.close()
				if l.frozen() != old || len(l.trust.doubts) > 0 != old {
					t.Errorf("everybody is frozen: %v, %q", l.frozen(), l.trust.doubts)
				}
				c, _, err := l.people.Controls.Load(t.Context())
				if held := len(c.Held()) > 0; err != nil || !old && held == (name == "lifted") {
					t.Errorf("held %v, %v", held, err)
				}
			})
		}
	}
}

// Each freeze of an agent counts by itself, also where the versions of the record say nothing.
func TestTheNewestFreeze(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	hold := func(began, burned int64) broadcaster.Hold {
		h := broadcaster.Hold{Burned: at(burned)}
		if began > 0 {
			h.At = at(began)
		}
		return h
	}
	for name, tt := range map[string]struct {
		c    broadcaster.Controls
		want int64
	}{
		"everything":       {c: broadcaster.Controls{Burned: at(5)}, want: 5},
		"an agent":         {c: broadcaster.Controls{Holds: []broadcaster.Hold{hold(7, 7)}}, want: 7},
		"an agent, lifted": {c: broadcaster.Controls{Holds: []broadcaster.Hold{hold(0, 9)}}, want: 9},
		"several": {c: broadcaster.Controls{Burned: at(8),
			Holds: []broadcaster.Hold{hold(3, 3), hold(9, 9), hold(0, 4)}}, want: 9},
		"everything later": {c: broadcaster.Controls{Burned: at(10), Holds: []broadcaster.Hold{hold(3, 3)}}, want: 10},
	} {
		if got := newestFreeze(tt.c); !got.Equal(at(tt.want)) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := newestFreeze(broadcaster.Controls{}); !got.IsZero() {
		t.Errorf("none: %v", got)
	}
}

// The story: a machine was copied, with approver on it, and both daemons wrote the head
// of their log under one id to one Redis. The alarm said that lines were gone and asked who
// had changed the audit. It names this cause, too, and the cure, where it can be one.
func TestTwoDaemonsWithOneID(t *testing.T) {
	head := &audit.Head{Log: "same"}
	for name, tt := range map[string]struct {
		survives bool
		head     *audit.Head
		names    bool
	}{
		"redis":             {head: head, names: true},
		"a file":            {survives: true, head: head},
		"no head in redis":  {},
		"no head in a file": {survives: true},
	} {
		tr := trust{survives: tt.survives}
		store := daemontest.EmbeddedPlace().Open(t, t.TempDir())
		defer store.Close()
		if err := tr.judge(t.Context(), store,
			audit.Opening{Seq: 3, Head: tt.head, Lost: "the last 8 lines are gone"}); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(tr.doubts, "; ")
		if !strings.Contains(text, "8 lines are gone") || strings.Contains(text, "audit's id same") != tt.names ||
			strings.Contains(text, "give each its own audit.id") != tt.names {
			t.Errorf("%s: %q", name, text)
		}
	}
}
