package broadcaster

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"approver.example"
)

// unwatched is a chat that forgets, as the terminal does, and that nobody looks at.
type unwatched struct{ *chat }

func (unwatched) Shows(approver.Ref) bool { return false }

func (unwatched) Watches() (now, ever int) { return 0, 0 }

// Somebody closed the terminal that watched. The agent was told that the operator finds
// the cause in the log, and the log had none. Now both name it; what a chat platform said
// stays in the log, and what the agent is told of that is no reason there: it sent whoever
// read the log to the log.
func TestWhoCouldNotBeAskedIsToldWhy(t *testing.T) {
	gone := func(context.Context) error {
		return fmt.Errorf("https://platform/bot12345/send: gone: %w", approver.ErrFinal)
	}
	for name, tt := range map[string]struct {
		tg, dc      bool // whether it is a terminal
		want, never string
	}{
		"terminals alone": {true, true, "nobody watches the ", "bot12345"},
		"a chat as well":  {true, false, "The operator finds why in approver's log", "bot12345"},
		"chats alone":     {false, false, "The operator finds why in approver's log", "bot12345"},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				x.tg.onPost(gone)
				x.dc.onPost(gone)
				if tt.tg {
					x.Channels.byName[x.tg.Name()] = unwatched{x.tg}
				}
				if tt.dc {
					x.Channels.byName[x.dc.Name()] = unwatched{x.dc}
				}
				var log bytes.Buffer
				x.tune(func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
				v := <-x.askAsync(t.Context(), testCall("c1"), approver.High)
				synctest.Wait()
				if v.Decision != approver.Deny || !strings.Contains(v.Reason,
					"no approval channel could be reached, so the call was blocked") || !strings.Contains(v.Reason, tt.want) {
					t.Errorf("the agent is told: %s", v.Reason)
				}
				if strings.Contains(v.Reason, tt.never) {
					t.Errorf("the agent is told what a platform said: %s", v.Reason)
				}
				// Where a platform said why, that is the one line, of each chat.
				said := strings.Count(log.String(), "a card could not be posted")
				chats := !tt.tg || !tt.dc
				if chats == strings.Contains(log.String(), "nobody could be asked, so a call is denied") || chats != (said > 0) {
					t.Errorf("the log: %s", log.String())
				}
				if strings.Contains(log.String(), "The operator finds") || strings.Contains(log.String(), "asking people failed") {
					t.Errorf("the log has the agent's text: %s", log.String())
				}
			})
		})
	}
}
