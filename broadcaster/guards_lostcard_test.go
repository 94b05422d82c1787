package broadcaster

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// The story: somebody presses a button under a message that no note knows, with the id of
// an open request in it. It is taken for a card only if the answer to a post of that
// posting was lost; a forged message, one of a card that was replaced, and one of more
// messages than there can be are not. What does not show everything takes no yes.
func TestWhichMessagesAreFound(t *testing.T) {
	for name, tt := range map[string]struct {
		posting int
		is      func(p *Posting)
		found   bool
		also    int   // cards beside the first
		phase   Phase // of the posting after it
	}{
		"a forged message": {0, func(*Posting) {}, false, 0, Posted},
		"of no posting":    {7, func(p *Posting) { p.Unsure = true }, false, 0, Posted},
		"the answer was lost, all there": {
			0, func(p *Posting) { p.Unsure, p.Whole, p.Phase, p.Ref = true, true, Sending, approver.Ref{} }, true, 0, Posted,
		},
		"the answer was lost, cut": {
			0, func(p *Posting) { p.Unsure, p.Phase, p.Ref = true, Sending, approver.Ref{} }, true, 1, Sending,
		},
		"a second one, all there": {0, func(p *Posting) { p.Unsure, p.Whole = true, true }, true, 1, Posted},
		"a crash left it":         {0, func(p *Posting) { p.Unsure, p.Phase = true, Void }, true, 1, Void},
		"it was replaced":         {0, func(p *Posting) { p.Phase = Void }, false, 0, Void},
		"it is known":             {0, func(p *Posting) { p.Unsure, p.Ref.Message = true, "found" }, true, 0, Posted},
		"too many": {0, func(p *Posting) {
			p.Unsure = true
			for i := range maxFound {
				p.Also = append(p.Also, approver.Ref{Destination: p.To, Message: fmt.Sprint("other", i)})
			}
		}, false, maxFound, Posted},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				synctest.Wait()
				_, card := x.tg.card(0)
				r := x.loaded(card.Request)
				at := 0
				for i, p := range r.Postings {
					if p.To.Channel == "telegram" {
						at = i
					}
				}
				tt.is(&r.Postings[at])
				x.put(t, r)
				which := at
				if tt.posting > 0 {
					which = tt.posting
				}
				after, p, out := x.Answers.foundCard(t.Context(), r, which, "found")
				if (out == nil) != tt.found {
					t.Fatalf("%+v", out)
				}
				got := after.Postings[at]
				if len(got.Also) != tt.also || got.Phase != tt.phase {
					t.Errorf("%d beside it, %v", len(got.Also), got.Phase)
				}
				cut := name == "the answer was lost, cut" || name == "a crash left it"
				if out == nil && (p.Ref.Message != "found" || p.Ref.Partial != cut) {
					t.Errorf("it is %+v", p.Ref)
				}
				x.stop()
				<-answer
			})
		})
	}
}

// put makes the stored request this one.
func (x *bench) put(t *testing.T, r Request) {
	t.Helper()
	if _, err := x.Requests.change(t.Context(), r.ID, func(old Request, _ time.Time) (Request, error) {
		old.Postings = r.Postings
		return old, nil
	}); err != nil {
		t.Fatal(err)
	}
}
