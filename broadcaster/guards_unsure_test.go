package broadcaster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"approver.example"
)

// The story: a channel had ended, so a card was never handed to its platform. Had the note
// said that a card may be there all the same, a message that somebody forged with the
// request's id in it would have been taken for that card.
func TestACardThatWasNeverSentIsNotUnsure(t *testing.T) {
	for name, failed := range map[string]bool{"the channel had ended": false, "the answer was lost": true} {
		story(t, func(t *testing.T, x *bench) {
			if failed {
				x.tg.onPost(func(context.Context) error { return errors.New("the line\nwent dead") })
			} else {
				x.Channels.states.ended("telegram", errors.New("401\nUnauthorized"))
			}
			answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
			synctest.Wait()
			_, card := x.dc.card(0)
			r := x.loaded(card.Request)
			for i, p := range r.Postings {
				if p.To.Channel != "telegram" {
					continue
				}
				if p.Unsure != failed || x.tg.count() != 0 {
					t.Errorf("%s: unsure %v, %d cards", name, p.Unsure, x.tg.count())
				}
				if _, _, out := x.Answers.foundCard(t.Context(), r, i, "forged"); (out == nil) != failed {
					t.Errorf("%s: a message is found: %+v", name, out)
				}
			}
			cards := x.Channels.State("telegram").Cards
			if (len(cards) > 0) != failed || failed && (strings.Contains(cards[0].Problem, "\n") || cards[0].Problem == "") {
				t.Errorf("%s: status says %+v", name, cards)
			}
			x.tap(x.dc, 0, "d1", false)
			<-answer
		})
	}
}

// What the daemon asks about itself has no user, and is not counted among what agents ask.
func TestACallOfNobodyIsNotCounted(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.tune(func(o *Options) {
			o.Limit = func(context.Context, string, approver.ToolCall) error {
				return &approver.TooManyError{Limit: "user", Most: 1}
			}
		})
		call := testCall("c1")
		call.Own = true
		answer := x.askAsync(t.Context(), call, approver.High)
		synctest.Wait()
		if n := x.tg.count(); n != 1 {
			t.Errorf("%d cards", n)
		}
		x.tap(x.tg, 0, "1", false)
		<-answer
	})
}
