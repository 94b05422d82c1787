package broadcaster

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"approver.example"
)

// A store that answers the freeze and then hangs: whichever record of a question it is that nobody gets,
// the agent reads that the store does not answer, also where that was found out by waiting in vain.
func TestAQuestionIsToldThatTheStoreIsAway(t *testing.T) {
	for name, err := range map[string]error{
		"away":  approver.ErrAway,
		"hangs": fmt.Errorf("redis: get: %w: %w", context.DeadlineExceeded, approver.ErrAway),
	} {
		const silent = "approver's store does not answer"
		for kind, want := range map[string]string{
			":grant:": silent, ":control:": silent, ":same:": silent, ":call:": silent, ":req:": silent, ":": silent,
			":code:": "the store had a problem", // the question is there by then
		} {
			t.Run(name+" "+kind, func(t *testing.T) {
				story(t, func(t *testing.T, x *bench) {
					time.Sleep(recentFor) // what was read before does not count any more
					began := time.Now()
					x.kv.failing(func(_, key string) error {
						if strings.Contains(key, kind) && time.Since(began) < time.Minute {
							return err
						}
						return nil
					})
					ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
					defer cancel()
					v := x.Ask(ctx, peerCall("a", 1000), asking(approver.High))
					if v.Decision != approver.Deny || !strings.Contains(v.Reason, want) {
						t.Errorf("%v %q, %q", v.Decision, v.Reason, v.Detail)
					}
				})
			})
		}
	}
}
