package daemon

import (
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/channels/terminal"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/daemontest"
)

// openAdmin is a admin with such people.
func openAdmin(t *testing.T, answer func(terminal.Event) terminal.Answer) (*Admin, approver.Peer) {
	log := slog.New(slog.DiscardHandler)
	people, me := daemontest.OpenPeople(t, answer)
	return &Admin{People: people, observer: &observer{people: people, log: log}, log: log}, me
}

// Observe mode is put before people as CATASTROPHIC, in words that say what it
// does, also by whoever is trusted with a freeze; a no leaves rules enforced; and
// ending it asks nobody.
func TestPeopleDecideOverObserving(t *testing.T) {
	approve := false
	var shown []approver.Card
	d, me := openAdmin(t, func(e terminal.Event) terminal.Answer {
		shown = append(shown, e.Card)
		return terminal.Answer{Request: e.Card.Request, Message: e.Message, Code: e.Card.Code.Reveal(), Approve: approve}
	})
	observing := func() bool { _, on := d.People.Controls.Observing(t.Context(), approver.Verdict{}); return on }
	body := json.RawMessage(`{"reason":"first week","for":` + strconv.FormatInt(int64(48*time.Hour), 10) + `}`)

	if _, err := d.Operate(t.Context(), me, adminapi.OpObserve, body); err == nil ||
		!strings.Contains(err.Error(), "denied by Ada") || observing() {
		t.Errorf("after a no: %v", err)
	}
	approve = true
	raw, err := d.Operate(t.Context(), me, adminapi.OpObserve, body)
	if err != nil || !observing() || !strings.Contains(string(raw), "approved by Ada") {
		t.Fatalf("after a yes: %s, %v", raw, err)
	}
	if len(shown) != 2 || shown[0].Severity != approver.Catastrophic || shown[0].OneTap ||
		!strings.Contains(shown[0].Push, "for 2 days") ||
		!slices.Contains(shown[0].Why, "Every call runs, also what a rule denies.") ||
		!strings.Contains(shown[0].Whole(), "for 2 days NOTHING is asked or denied") ||
		!strings.Contains(shown[0].Whole(), "approver observe") || shown[0].Claimed != "first week" {
		t.Errorf("shown %+v", shown)
	}
	if raw, err := d.Operate(t.Context(), me, adminapi.OpEnforce, json.RawMessage(`{}`)); err != nil || observing() ||
		len(shown) != 2 || !strings.Contains(string(raw), `"done":true`) {
		t.Errorf("enforce: %s, %v", raw, err)
	}
	for _, wrong := range []string{`{}`, `{"for":1000000000}`, `{"for":-1}`,
		`{"for":` + strconv.FormatInt(int64(31*24*time.Hour), 10) + `}`} {
		if _, err := d.Operate(t.Context(), me, adminapi.OpObserve, json.RawMessage(wrong)); err == nil || observing() ||
			len(shown) != 2 {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if _, err := d.People.Controls.Freeze(t.Context(), "Ada", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Operate(t.Context(), me, adminapi.OpObserve, body); !errors.Is(err, broadcaster.ErrFrozen) ||
		len(shown) != 2 {
		t.Errorf("in a freeze: %v", err)
	}
}

// The story: people are asked for a pause, or for observe mode. Before they say
// yes somebody freezes everything and lifts it again. What they said yes to was
// how it was before; so nothing is paused or observed, and they are asked anew.
func TestAFreezeThatCameAndWentVoidsTheYes(t *testing.T) {
	var d *Admin
	var me approver.Peer
	freeze := func() {
		if _, err := d.People.Controls.Freeze(t.Context(), "Bob", "look at this first"); err != nil {
			t.Error(err)
		}
		if err := d.People.Controls.Unfreeze(t.Context(), "Bob"); err != nil {
			t.Error(err)
		}
	}
	meanwhile, done := freeze, make(chan struct{}, 8)
	d, me = openAdmin(t, func(e terminal.Event) terminal.Answer {
		meanwhile()
		done <- struct{}{}
		return terminal.Answer{Request: e.Card.Request, Message: e.Message, Code: e.Card.Code.Reveal(), Approve: true}
	})
	body := json.RawMessage(`{"for":` + strconv.FormatInt(int64(10*time.Minute), 10) + `}`)
	on := func() bool {
		c, now, err := d.People.Controls.Load(t.Context())
		return err != nil || c.Paused(approver.High, now) || c.Observing(now)
	}
	for _, op := range []string{adminapi.OpPause, adminapi.OpObserve} {
		meanwhile = freeze
		if _, err := d.Operate(t.Context(), me, op, body); err == nil || !strings.Contains(err.Error(), "ask anew") || on() {
			t.Errorf("%s: %v", op, err)
		}
		<-done // the question ends with the freeze, before that is lifted
		meanwhile = func() {}
		if _, err := d.Operate(t.Context(), me, op, body); err != nil || !on() {
			t.Errorf("%s, asked anew: %v", op, err)
		}
		<-done
	}
}
