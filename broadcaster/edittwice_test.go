package broadcaster

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// A platform delivers the same change twice. The person is told both times that it counts. The same by
// somebody else, or another change, came too late.
func TestTheSameEditTwice(t *testing.T) {
	for name, changes := range map[string]bool{"changes": true, "instead": false} {
		story(t, func(t *testing.T, x *bench) {
			call := editable("c1")
			call.Changes = changes
			answer := x.asked(call, asking(approver.High))
			rep := x.editReply("1", "ls")
			first := x.Answers.Reply(t.Context(), rep)
			<-answer
			again := x.Answers.Reply(t.Context(), rep)
			if again.Kind != first.Kind || first.Kind == approver.OutcomeTooLate || again.Text != first.Text {
				t.Errorf("%s: told %+v, then %+v", name, first, again)
			}
			for sender, command := range map[string]string{"1": "ls -l", "2": "ls"} {
				if out := x.Answers.Reply(t.Context(), x.editReply(sender, command)); out.Kind != approver.OutcomeTooLate {
					t.Errorf("%s: %q of %s: %+v", name, command, sender, out)
				}
			}
		})
	}
}

// What a person is refused is in the audit without secrets and codes, also in the record in memory.
func TestARefusedEditIsMasked(t *testing.T) {
	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	story(t, func(t *testing.T, x *bench) {
		x.asked(editable("c1"), asking(approver.High))
		_, card := x.tg.card(0)
		code := strings.TrimPrefix(card.Code.Reveal(), "CONFIRM-")
		for _, text := range []string{"deploy --token " + secret, "echo " + code} {
			x.Answers.Reply(t.Context(), x.editReply("1", text))
		}
		all := x.audit.all(approver.EventRefused)
		if len(all) != 2 || all[0].Reply.Command == "" || strings.Contains(all[0].Reply.Command, secret) ||
			strings.Contains(all[1].Reply.Command, code) {
			t.Errorf("%+v", all)
		}
	})
}

// A version that knows no edits reads no yes in the record of one, whatever its state. It would have run the
// command that was asked about.
func TestAnEditIsNoYesToAnOlderVersion(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.asked(editable("c1"), asking(approver.High))
		id := x.request().ID
		x.Answers.Reply(t.Context(), x.editReply("1", "ls"))
		if v := <-answer; v.Decision != approver.Allow {
			t.Fatalf("%+v", v)
		}
		if x.olderYes(id) {
			t.Error("an older version reads a yes")
		}
		if r := x.loaded(id); !r.Resolution.Approve || r.Resolution.Edit.Command != "ls" {
			t.Errorf("%+v", r.Resolution)
		}
	})
}

// olderYes reports whether the part of a record that every version reads says yes.
func (x *bench) olderYes(id string) bool {
	raw, _, err := x.kv.Get(context.Background(), approver.Key("req", id))
	var r struct{ Resolution approver.Resolution }
	if err != nil || json.Unmarshal(raw, &r) != nil || r.Resolution.Person.ID != "alice" {
		x.t.Errorf("the record has no answer: %v\n%s", err, raw)
	}
	return r.Resolution.Approve
}

// The platform never confirmed the card: nobody knows whether it shows all of the command.
func TestNoEditOnACardThatWasNeverConfirmed(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		answer := x.asked(editable("c1"), asking(approver.High))
		r := x.request()
		r.Postings = slices.Clone(r.Postings)
		for i, p := range r.Postings {
			if p.To.Channel == "telegram" {
				r.Postings[i].Unsure, r.Postings[i].Phase, r.Postings[i].Ref = true, Sending, approver.Ref{}
				r.Postings[i].Until = time.Now().Add(time.Hour)
			}
		}
		x.put(t, r)
		x.doesNotCount(t, x.editReply("1", "ls"), answer, "never confirmed this card")
	})
}

// The story: Alice approved a call for 15 minutes and another one that waits for its agent, and was taken
// off the approver list. Nothing ran while she was off. When she is put back on the list, nothing of it runs.
func TestPutBackOnTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		x := newBench(t, kv)
		x.lastingYes(hookCall("c1"))
		waits := parkedCall("a", time.Second)
		waits.Command, waits.Args = "make deploy", []byte(`{"command":"make deploy"}`)
		<-x.askAsync(t.Context(), waits, approver.High)
		n := x.cardOf("make deploy")
		x.tap(x.tg, n, "1", true)
		if list, err := x.Grants.List(t.Context()); err != nil || len(list) != 2 {
			t.Fatalf("%+v, %v", list, err)
		}
		x.stop()
		o := x.Options
		o.People = approver.People{}
		o.People.Add("telegram", []approver.Approver{{ID: "2", Name: "Bob", Person: "bob"}})
		off, err := NewBroadcaster(o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- off.Run(ctx) }()
		time.Sleep(10 * time.Second)
		stop()
		<-ended
		y := newBench(t, kv)
		if list, err := y.Grants.List(t.Context()); err != nil || len(list) != 0 {
			t.Errorf("it works again: %+v, %v", list, err)
		}
		if y.runs(hookCall("c2"), approver.High) {
			t.Error("the call runs unasked")
		}
		if n := x.audit.all(approver.EventRevoked); len(n) != 2 || !strings.Contains(n[0].Note, "taken off") {
			t.Errorf("the audit has %+v", n)
		}
	})
}
