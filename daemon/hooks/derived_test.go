package hooks

import (
	"context"
	"path/filepath"
	"testing"

	"log/slog"

	"approver.example"
	"approver.example/agents"
	"approver.example/store/boltstore"
)

// The story: some agents give their calls no ids, so the id is what the call is. A call that people
// denied, and let go at the second try, was an alarm when it ran: the denial stayed under the same id.
// And of the same call twice in one turn, both permitted, the second was a call without a verdict.
func TestOutcomesOfCallsWithoutIDs(t *testing.T) {
	const p, d, u = permitted, denied, unanswered
	for name, c := range map[string]struct {
		told []outcome // one after the other
		ran  []outcome // what each report finds
	}{
		"permitted":                        {[]outcome{u, p}, []outcome{p, 0}},
		"denied":                           {[]outcome{u, d}, []outcome{d, 0}},
		"denied, then permitted":           {[]outcome{u, d, u, p}, []outcome{p, 0}},
		"permitted twice, side by side":    {[]outcome{u, u, p, p}, []outcome{p, p, 0}},
		"permitted, and another denied":    {[]outcome{u, u, p, d}, []outcome{p, 0}},
		"denied, while another may run":    {[]outcome{u, u, d, p}, []outcome{p, 0}},
		"never answered":                   {[]outcome{u}, []outcome{u, 0}},
		"permitted, and another is judged": {[]outcome{u, p, u}, []outcome{p, 0}},
	} {
		for _, lasting := range []bool{false, true} {
			store, err := boltstore.Open(boltstore.Config{Path: filepath.Join(t.TempDir(), "db")}, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			ev := agents.Event{Agent: "x", UseID: "what it is", Derived: true, Content: agents.Content{1}}
			peer := approver.Peer{Known: true, UID: 7}
			o := &Outcomes{Store: store}
			for _, told := range c.told {
				now := use{outcome: told, content: ev.Content, lasting: lasting && told != u}
				o.note(ev, peer, now)
				if now.lasting {
					if err := o.keep(t.Context(), ev, peer, now); err != nil {
						t.Fatal(err)
					}
				}
			}
			restarted := &Outcomes{Store: store}
			for i, want := range c.ran {
				got, err := o.take(context.Background(), ev, peer, string(rune('a'+i)))
				if err != nil || got.outcome != want && (want != 0 || got.outcome != taken) {
					t.Errorf("%s, lasting %t: report %d finds %d, want %d (%v)", name, lasting, i, got.outcome, want, err)
				}
			}
			if lasting { // what ran is known after a restart, too
				if got, _ := restarted.take(context.Background(), ev, peer, "z"); got.outcome == permitted {
					t.Errorf("%s: after all ran, a restarted daemon finds a permission", name)
				}
			}
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
