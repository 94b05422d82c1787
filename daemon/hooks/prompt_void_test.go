package hooks

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/channels/terminal"
	"approver.example/daemon/daemontest"
	"approver.example/gate"
	"approver.example/httpapi"
)

// The story: people let a git push go, and a moment later everything is frozen, the agent
// is, whoever said yes is removed, or the rules change. Claude Code asks its own user about
// that push as well. The hook was silent, as if the yes still stood, although every call
// was to be denied. The prompt is judged like any other call now.
func TestAPromptAfterAVoidYes(t *testing.T) {
	peer := approver.Peer{Known: true, UID: 7}
	who := broadcaster.Who{Peer: peer, Agent: "claude", Project: "/elsewhere", Session: "s"}
	ada := broadcaster.Removal{Person: "ada", By: "uid 7"}
	rules := "1"
	for name, c := range map[string]struct {
		meanwhile func(p *broadcaster.Broadcaster, d *Decider) error
		silent    bool // else the gate has judged the prompt
	}{
		"nothing": {func(*broadcaster.Broadcaster, *Decider) error { return nil }, true},
		"frozen": {func(p *broadcaster.Broadcaster, _ *Decider) error {
			_, err := p.Controls.Freeze(t.Context(), "uid 7", "runaway")
			return err
		}, false},
		"frozen, and lifted": {func(p *broadcaster.Broadcaster, _ *Decider) error {
			if _, err := p.Controls.Freeze(t.Context(), "uid 7", "runaway"); err != nil {
				return err
			}
			return p.Controls.Unfreeze(t.Context(), "uid 0")
		}, false},
		"the agent is frozen": {func(p *broadcaster.Broadcaster, _ *Decider) error {
			_, err := p.Controls.Hold(t.Context(), who, "alarm", "it went around")
			return err
		}, false},
		"another session is frozen": {func(p *broadcaster.Broadcaster, _ *Decider) error {
			other := who
			other.Session = "z"
			_, err := p.Controls.Hold(t.Context(), other, "alarm", "it went around")
			return err
		}, true},
		"who said yes is removed": {func(p *broadcaster.Broadcaster, _ *Decider) error {
			_, err := p.Removals.Remove(t.Context(), ada)
			return err
		}, false},
		"removed, and back": {func(p *broadcaster.Broadcaster, _ *Decider) error {
			if _, err := p.Removals.Remove(t.Context(), ada); err != nil {
				return err
			}
			c, _, err := p.Controls.Load(t.Context())
			if err != nil {
				return err
			}
			return p.Removals.Restore(t.Context(), c.Removed.InForce()[0], "uid 0")
		}, false},
		"somebody else is removed": {func(p *broadcaster.Broadcaster, _ *Decider) error {
			_, err := p.Removals.Remove(t.Context(), broadcaster.Removal{Person: "bob", By: "uid 7"})
			return err
		}, true},
		"the rules changed": {func(*broadcaster.Broadcaster, *Decider) error { rules += "1"; return nil }, false},
		"nothing can tell":  {func(_ *broadcaster.Broadcaster, d *Decider) error { d.Stands = nil; return nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			people, _ := daemontest.OpenPeople(t, func(e terminal.Event) terminal.Answer {
				asked++
				return terminal.Answer{Request: e.Card.Request, Message: e.Message, Code: e.Card.Code.Reveal(), Approve: asked == 1}
			})
			l := &daemontest.Ledger{}
			log := slog.New(slog.DiscardHandler)
			d := &Decider{
				Gate: &gate.Gate{
					Stages: []approver.Stage{broadcaster.FreezeStage{Store: people.Store}, &yesSayers{}}, Ask: people.Ask, Audit: l,
					Log: log,
				},
				Audit: l, Log: log, Stands: people.Grants.Stands, Rules: func() string { return rules },
			}
			send := func(event, id string) httpapi.HookAnswer {
				return d.Hook(t.Context(), httpapi.HookRequest{
					Agent: "claude", CallID: id, Peer: peer, Deadline: time.Minute,
					Payload: fmt.Appendf(nil, `{"session_id":"s","cwd":"/p","hook_event_name":%q,%s}`, event,
						toolCall("git push --force", id)),
				})
			}
			if a := send("PreToolUse", "1"); !a.ExitZero || asked != 1 {
				t.Fatalf("the call itself: asked %d, %s%s", asked, a.Stdout, a.Stderr)
			}
			if err := c.meanwhile(people, d); err != nil {
				t.Fatal(err)
			}
			// The second call is denied: by the gate, or by people.
			a := send("PermissionRequest", "2")
			if silent := a.ExitZero && len(a.Stdout)+len(a.Stderr) == 0; silent != c.silent {
				t.Errorf("silent %v: %+v %s%s", silent, a.ExitZero, a.Stdout, a.Stderr)
			}
		})
	}
}
