package daemon

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
)

// The story: approver watch showed one call and its code, and was closed. Another identical
// call joined, and approver approve CODE ran both: no screen had ever shown the second. A
// code is typed for what the command that sends it has shown, and that one shows nothing.
func TestATypedCodeRunsWhatItsScreenShowed(t *testing.T) {
	for name, c := range map[string]struct {
		shown, want int
		command     bool
	}{
		"approver approve CODE":            {0, 1, true},
		"the code alone":                   {0, 1, false},
		"approver watch, which showed two": {1, 2, false},
		"more than wait":                   {9, 2, true},
		"less than the first":              {-1, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			cards := make(chan approver.Card, 8)
			d, me := openAdmin(t, func(e terminal.Event) terminal.Answer {
				cards <- e.Card
				return terminal.Answer{}
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			verdicts := make(chan approver.Verdict, 2)
			for i := range 2 {
				go func() {
					verdicts <- d.People.Ask(ctx,
						approver.ToolCall{ID: strings.Repeat(fmt.Sprint(i), 32), Agent: "claude", Tool: "Bash", Command: "git push",
							Dir: "/repo", Peer: me, At: time.Now()},
						approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r", Severity: approver.High})
				}()
			}
			card := <-cards
			var open []broadcaster.Request // until the edit is noted: it must not count
			for end := time.Now().Add(20 * time.Second); (len(open) != 1 || open[0].Postings[0].Upto != 1) &&
				time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
				open, _ = d.People.Requests.Open(ctx)
			}
			body, err := json.Marshal(terminal.Answer{Code: card.Code.Reveal(), Approve: true, Command: c.command,
				Shown: c.shown})
			if err != nil {
				t.Fatal(err)
			}
			raw, err := d.People.Options.Channels[0].(*terminal.Channel).Answer(ctx, me, body)
			if err != nil || !strings.Contains(string(raw), `"kind":"approved"`) ||
				strings.Contains(string(raw), "2 identical calls") != (c.want == 2) {
				t.Errorf("told %s, %v", raw, err)
			}
			allowed := 0
			for end := time.After(3 * time.Second); ; {
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
