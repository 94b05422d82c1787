package broadcaster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// The story: the store failed while a question was saved. The agent heard a no, and the audit
// had the question without an end: nobody could prove that the call had not run. Whatever the
// store took in spite of its error, and whenever it is back, each question has one end; and
// the denial of the call is recorded.
func TestAQuestionThatCouldNotBeSavedHasAnEnd(t *testing.T) {
	request := func(key string) bool { return strings.Contains(key, ":req:") }
	for name, fail := range map[string]func(x *bench, do func() error) error{
		"nothing was taken": func(*bench, func() error) error { return errors.New("no store") },
		"it was taken": func(_ *bench, do func() error) error {
			return errors.Join(do(), errors.New("no answer"))
		},
		"away for a minute": func(x *bench, _ func() error) error {
			x.failing(func(string, string) bool { return true })
			time.AfterFunc(time.Minute, func() { x.kv.failing(nil) })
			return errors.New("no store")
		},
		"taken, and away for a minute": func(x *bench, do func() error) error {
			err := do()
			x.failing(func(string, string) bool { return true })
			time.AfterFunc(time.Minute, func() { x.kv.failing(nil) })
			return errors.Join(err, errors.New("no answer"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := &hookKV{memKV: newMemKV()}
				x := newBenchOn(t, kv.memKV, kv)
				kv.set(func() {
					kv.put = func(_ context.Context, key string, _ []byte, do func() error) error {
						if request(key) {
							return fail(x, do)
						}
						return do()
					}
				})
				if v := <-x.askAsync(t.Context(), testCall("a"), approver.High); v.Decision != approver.Deny {
					t.Errorf("%+v", v)
				}
				kv.set(func() { kv.put = nil })
				time.Sleep(5 * time.Minute)
				questions := map[string]bool{}
				for _, r := range x.audit.recorded() {
					if r.Event == approver.EventAsked {
						questions[r.Request] = true
					}
				}
				for id := range questions {
					ends := slices.DeleteFunc(x.audit.events(id), func(e approver.Event) bool {
						return e == approver.EventAsked || e == approver.EventPosted
					})
					if !slices.Equal(ends, []approver.Event{approver.EventDenied}) {
						t.Errorf("ends %v", ends)
					}
				}
				// The sweep may find what was taken first, and posts it: that card says how it ended.
				denied := slices.ContainsFunc(x.audit.of("a"), func(r approver.Record) bool {
					return r.Event == approver.EventDenied || r.Event == approver.EventVerdict && r.Verdict.Decision == approver.Deny
				})
				if _, card := x.tg.card(0); !denied || x.tg.count() > 1 ||
					x.tg.count() == 1 && card.State != approver.Denied {
					t.Errorf("%d questions, %d cards: %+v", len(questions), x.tg.count(), card)
				}
			})
		})
	}
}
