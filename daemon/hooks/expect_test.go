package hooks

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"approver.example"
	"approver.example/agents"
	"approver.example/store/sqlitestore"
)

// People are asked, the daemon says yes to the agent and is killed before anything more is stored. The report of
// the call comes to the next daemon: it may run if its request was released to it, once, and what ran is what was
// judged. Of a call that was not released, nothing is known.
func TestAnExpectationComesTrueWithTheRelease(t *testing.T) {
	yes := func(of string) func(context.Context, string, string) (bool, error) {
		return func(_ context.Context, call, _ string) (bool, error) { return call == of, nil }
	}
	away := errors.New("away")
	for name, c := range map[string]struct {
		released func(context.Context, string, string) (bool, error)
		want     outcome
		err      error
	}{
		"released":         {yes("c1"), permitted, nil},
		"not released":     {yes("other"), 0, nil},
		"nobody can say":   {func(context.Context, string, string) (bool, error) { return false, away }, 0, away},
		"nobody to ask":    {nil, 0, errNoReleases},
		"released to none": {yes(""), 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			store, ev, call := expecting(t)
			killed := &Outcomes{Store: store, Released: yes("c1")}
			ctx, e := killed.expect(t.Context(), ev, call)
			Asking(ctx)
			Asking(ctx) // the store had a moment of trouble: people are asked once more
			<-e.done
			if !e.kept {
				t.Fatal("nothing is written")
			}
			next := &Outcomes{Store: store, Released: c.released}
			got, err := next.take(t.Context(), ev, call.Peer, "report")
			if got.outcome != c.want || !errors.Is(err, c.err) || c.want == permitted && (got.content != ev.Content ||
				got.asked != "c1") {
				t.Errorf("%+v, %v", got, err)
			}
			if c.want != permitted {
				return
			}
			if got, err = next.take(t.Context(), ev, call.Peer, "another"); got.outcome != taken || err != nil {
				t.Errorf("a second run: %+v, %v", got, err)
			}
		})
	}
}

// An expectation is enough only for the very answer that it says, once its request was released.
func TestAnExpectationHolds(t *testing.T) {
	store, ev, call := expecting(t)
	released := false
	o := &Outcomes{Store: store, Released: func(context.Context, string, string) (bool, error) { return released, nil }}
	ctx, e := o.expect(t.Context(), ev, call)
	now := use{outcome: permitted, content: ev.Content, by: "c1", asked: "c1", lasting: true}
	if e.holds(ctx, now, "r") {
		t.Error("nobody was asked")
	}
	Asking(ctx)
	<-e.done
	if e.holds(ctx, now, "r") {
		t.Error("its request was not released")
	}
	released = true
	if !e.holds(ctx, now, "r") {
		t.Error("it came true")
	}
	for name, change := range map[string]func(*use){
		"denied":          func(u *use) { u.outcome = denied },
		"another content": func(u *use) { u.content[0]++ },
		"another call":    func(u *use) { u.by = "c2" },
		"nobody said yes": func(u *use) { u.asked = "" },
	} {
		other := now
		change(&other)
		if e.holds(ctx, other, "r") {
			t.Errorf("%s: it is taken for that answer", name)
		}
	}
	// The agent was told no after all: that is what is known from then on.
	no := use{outcome: denied, content: ev.Content, lasting: true, by: "c1"}
	if err := o.keep(t.Context(), ev, call.Peer, no); err != nil {
		t.Fatal(err)
	}
	if got, err := (&Outcomes{Store: store, Released: o.Released}).take(t.Context(), ev, call.Peer, "r"); err != nil ||
		got.outcome == permitted {
		t.Errorf("%+v, %v", got, err)
	}
}

// What is known of a call's id already is not replaced by an expectation.
func TestAnExpectationReplacesNothing(t *testing.T) {
	store, ev, call := expecting(t)
	o := &Outcomes{Store: store, Released: func(context.Context, string, string) (bool, error) { return true, nil }}
	no := use{outcome: denied, content: ev.Content, lasting: true, by: "c0"}
	if err := o.keep(t.Context(), ev, call.Peer, no); err != nil {
		t.Fatal(err)
	}
	ctx, e := o.expect(t.Context(), ev, call)
	Asking(ctx)
	<-e.done
	if e.holds(ctx, use{outcome: permitted, content: ev.Content, by: "c1", asked: "c1"}, "r") {
		t.Error("it is said to be written")
	}
	if got, err := (&Outcomes{Store: store}).take(t.Context(), ev, call.Peer, "r"); err != nil || got.outcome != denied {
		t.Errorf("%+v, %v", got, err)
	}
	ev.UseID = ""
	if ctx, _ := o.expect(t.Context(), ev, call); ctx != t.Context() {
		t.Error("a call without an id is expected")
	}
}

func expecting(t *testing.T) (approver.KV, agents.Event, approver.ToolCall) {
	t.Helper()
	store, err := sqlitestore.Open(sqlitestore.Config{Path: filepath.Join(t.TempDir(), "db")},
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	call := approver.ToolCall{ID: "c1", Agent: "claude", Dir: "/repo", Peer: approver.Peer{Known: true, UID: 1000}}
	ev := agents.Event{Agent: "claude", UseID: "toolu_1", Content: agents.Content{1}, Call: call}
	return store, ev, call
}
