package hooks

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/agents"
	"approver.example/daemon/daemontest"
	"approver.example/httpapi"
	"approver.example/store/sqlitestore"
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
			store, err := sqlitestore.Open(sqlitestore.Config{Path: filepath.Join(t.TempDir(), "db")},
				slog.New(slog.DiscardHandler))
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

// The story: people let a call of Gemini go, and its courier lost the answer with the daemon's restart, came
// back and got it again. That counted as two permissions, and when the same call ran once more, unasked, the
// record was that of a call that had been let go.
func TestACourierThatComesBackIsOnePermission(t *testing.T) {
	store, err := sqlitestore.Open(sqlitestore.Config{Path: filepath.Join(t.TempDir(), "db")},
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, restarts := range []bool{false, true} {
		people, ledger := &yesSayers{}, &daemontest.Ledger{}
		var d *Decider
		start := func() {
			d, _, _ = newDecider()
			d.Audit, d.Gate.Audit, d.Told.Store = ledger, ledger, store
			d.Gate.Stages, d.Gate.Fresh, d.Gate.Ask = []approver.Stage{people}, []approver.Stage{people}, people.ask
		}
		send := func(event, courier string) {
			d.Hook(t.Context(), httpapi.HookRequest{
				Agent: "gemini", CallID: courier, Peer: approver.Peer{Known: true, UID: 7}, Deadline: time.Minute,
				Payload: fmt.Appendf(nil, `{"session_id":"%t","cwd":"/p","hook_event_name":%q,"tool_response":{},`+
					`"tool_name":"run_shell_command","tool_input":{"command":"a"}}`, restarts, event),
			})
		}
		start()
		send("BeforeTool", "courier")
		if restarts {
			start()
		}
		send("BeforeTool", "courier")
		send("AfterTool", "report")
		if got := ledger.Last(); got.Event != approver.EventRan {
			t.Errorf("restarts %t: the run is recorded as %s: %s", restarts, got.Event, got.Note)
		}
		send("AfterTool", "another report")
		if got := ledger.Last(); got.Event != approver.EventAlarm {
			t.Errorf("restarts %t: a second run is recorded as %s: %s", restarts, got.Event, got.Note)
		}
	}
}

// The story: a call of Gemini was denied in one folder, and the same command let go in another. Then it ran
// in the first, and the record was that of the call that had been let go. A call that changes the folder is
// still its own.
func TestACallThatWasDeniedInAnotherFolder(t *testing.T) {
	for play, want := range map[string]string{ // D: denied, P: permitted, R: it ran; each in a folder
		"Da Pb Ra":             "alarm",
		"Da Pb Rb":             "ran",
		"Da Pb Ra Rb":          "alarm ran",
		"Pb Da Rb Ra":          "ran alarm",
		"Pb Rc":                "ran",
		"Da Pb Rc":             "ran",
		"Da Pa Ra":             "ran",
		"Da Pa Pb Ra Rb":       "ran ran",
		"Pa Pb Ra Da Ra":       "ran alarm",
		"Da Pb restart Ra Rb":  "alarm ran",
		"Pa Pb restart Ra Rb":  "ran ran",
		"Pa Pb Rb restart Ra":  "ran ran",
		"Pb Da restart Rc Rb":  "ran alarm", // one permission
		"Da Pa Da restart Ra":  "ran",
		"Da Db Pc restart Rb":  "alarm",
		"Da Db Pc Ra":          "alarm",
		"Da Pb Pb Ra Rb Rb Rb": "alarm ran ran alarm",
	} {
		t.Run(play, func(t *testing.T) {
			people, ledger, store := &yesSayers{}, &daemontest.Ledger{}, openStore(t)
			var d *Decider
			start := func() {
				d, _, _ = newDecider()
				d.Audit, d.Gate.Audit, d.Told.Store = ledger, ledger, store
				d.Gate.Stages, d.Gate.Fresh = []approver.Stage{people}, []approver.Stage{people}
			}
			start()
			var got []string
			for i, step := range strings.Fields(play) {
				if step == "restart" {
					start()
					continue
				}
				d.Gate.Ask = func(_ context.Context, _ approver.ToolCall, v approver.Verdict) approver.Verdict {
					if v.By = approver.ByPeople; step[0] == 'P' {
						v.Decision = approver.Allow
					} else {
						v.Decision = approver.Deny
					}
					return v
				}
				event := map[bool]string{true: "AfterTool", false: "BeforeTool"}[step[0] == 'R']
				d.Hook(t.Context(), httpapi.HookRequest{
					Agent: "gemini", CallID: fmt.Sprint(i), Peer: approver.Peer{Known: true, UID: 7}, Deadline: time.Minute,
					Payload: fmt.Appendf(nil, `{"session_id":"s","cwd":"/%c","hook_event_name":%q,"tool_response":{},`+
						`"tool_name":"run_shell_command","tool_input":{"command":"a"}}`, step[1], event),
				})
				if step[0] == 'R' {
					got = append(got, string(ledger.Last().Event))
				}
			}
			if got := strings.Join(got, " "); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}
