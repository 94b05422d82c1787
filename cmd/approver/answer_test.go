package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/channels/terminal"
	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/daemon"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/daemontest"
)

// The story: three identical calls waited and approver watch was open. approver approve ID
// showed one call and asked "Approve this call?"; the yes ran all three. It shows how many
// wait, and what it runs is what it showed.
func TestApproveByIDRunsWhatItShowed(t *testing.T) {
	for name, c := range map[string]struct {
		op    string
		shown bool
		want  int
	}{"shown": {adminapi.OpShow, true, 3}, "not shown, as with --yes": {adminapi.OpShow, false, 1}} {
		t.Run(name, func(t *testing.T) {
			people, me := daemontest.OpenPeople(t, func(terminal.Event) terminal.Answer { return terminal.Answer{} })
			d := &daemon.Admin{People: people}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			verdicts := make(chan approver.Verdict, 3)
			for i := range 3 {
				go func() {
					verdicts <- people.Ask(ctx, approver.ToolCall{ID: strings.Repeat(fmt.Sprint(i), 32), Agent: "claude", Tool: "Bash",
						Command: "git push", Dir: "/repo", Peer: me, At: time.Now()},
						approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High})
				}()
			}
			var open []broadcaster.Request
			for end := time.Now().Add(20 * time.Second); (len(open) != 1 || open[0].Joined != 2) &&
				time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
				open, _ = people.Requests.Open(ctx)
			}
			if len(open) != 1 {
				t.Fatalf("%d requests", len(open))
			}
			raw, err := d.Operate(ctx, me, c.op, json.RawMessage(`{"request":"`+open[0].ID+`"}`))
			var shown adminapi.Shown
			if err == nil {
				err = json.Unmarshal(raw, &shown)
			}
			var text strings.Builder
			adminclient.PrintRequest(&text, 0, shown)
			if err != nil || !strings.Contains(text.String(),
				"\nWarning: 3 identical calls wait: a yes runs each of them once.") {
				t.Fatalf("%v: %s", err, text.String())
			}
			answer := terminal.Answer{Request: open[0].ID, Approve: true}
			if c.shown {
				answer.Shown = shown.Upto
			}
			body, err := json.Marshal(answer)
			if err == nil {
				raw, err = people.Options.Channels[0].(*terminal.Channel).Answer(ctx, me, body)
			}
			if err != nil || !strings.Contains(string(raw), `"kind":"approved"`) ||
				strings.Contains(string(raw), "3 identical calls") != c.shown {
				t.Errorf("told %s, %v", raw, err)
			}
			allowed := 0
			for end := time.After(5 * time.Second); ; {
				select {
				case v := <-verdicts:
					if v.Decision == approver.Allow {
						allowed++
					}
					continue
				case <-end:
				}
				break
			}
			if allowed != c.want {
				t.Errorf("%d calls ran, want %d", allowed, c.want)
			}
		})
	}
}
