package daemon

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"approver.example"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/words"
	"approver.example/display"
	"approver.example/gate"
)

// The story: the very first card that somebody saw showed the command, and under it the
// same words as JSON. It is shown once, and its arguments still bind all of it.
func TestTheCardOfAskShowsTheCommandOnce(t *testing.T) {
	for _, argv := range [][]string{{"echo", "hello"}, {"sh", "-c", "echo 'a b'; ls"}, {"printf", "%s\n", "\u202ex"},
		{"x", ""}, {"make", "deploy", "ENV=a b"}} {
		var asked approver.ToolCall
		var says display.Summary
		a := asker{gate: gate.Gate{Log: slog.New(slog.DiscardHandler),
			Sum: func(approver.ToolCall) display.Summary { return display.Summary{Project: "acme/shop", Branch: "main"} },
			Ask: func(_ context.Context, call approver.ToolCall, v approver.Verdict) approver.Verdict {
				asked, says = call, v.Says
				return approver.Verdict{}
			}}}
		body, err := json.Marshal(adminapi.Ask{ID: strings.Repeat("0", 32), Argv: argv, Dir: "/", Severity: approver.High})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.ask(t.Context(), approver.Peer{}, body); err != nil {
			t.Fatal(err)
		}
		if got, want := asked.Text(), "approver ask: "+words.ShellLine(argv); got != want {
			t.Errorf("%q is shown as %q, want %q", argv, got, want)
		}
		if says.Project != "acme/shop" || says.Title.Plain() != words.ShellLine(argv) {
			t.Errorf("%q: the headline is %q of the project %q", argv, says.Title.Plain(), says.Project)
		}
		var args map[string]string
		if err := json.Unmarshal(asked.Args, &args); err != nil || args["command"] != words.ShellLine(argv) ||
			len(args) != 1 {
			t.Errorf("%q: the arguments are %s, %v", argv, asked.Args, err)
		}
	}
}
