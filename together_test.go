package approver

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// batchKV is a memKV that takes writes together. What becomes of each the test
// may decide.
type batchKV struct {
	*memKV
	batches int
	spoil   func(Write) error
}

func (k *batchKV) PutAll(ctx context.Context, writes []Write) []error {
	k.batches++
	errs := make([]error, len(writes))
	for i, w := range writes {
		if k.spoil != nil {
			if errs[i] = k.spoil(w); errs[i] != nil {
				continue
			}
		}
		errs[i] = k.Put(ctx, w.Key, w.Value, w.Prev, w.Next, w.Due, w.KeepUntil)
	}
	return errs
}

// A request, its index and its codes are one batch. A code that is taken is
// replaced before anybody sees it, and leads nobody to this request; what was
// ambiguous is sent again.
func TestARequestIsStoredTogether(t *testing.T) {
	for name, spoil := range map[string]func(Write) error{
		"all at once": nil,
		"the codes are taken": func(w Write) error {
			if strings.Contains(w.Key, ":code:") {
				return ErrConflict
			}
			return nil
		},
		"all ambiguous": func(Write) error { return errors.New("the line went dead") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := &batchKV{memKV: newMemKV(), spoil: spoil}
				x := newBenchOn(t, kv.memKV, kv)
				answer := x.askAsync(t.Context(), testCall("c1"), High)
				synctest.Wait()
				if kv.batches != 1 {
					t.Errorf("%d batches", kv.batches)
				}
				_, card := x.tg.card(0)
				out := x.Reply(t.Context(), Reply{Channel: "telegram", Conversation: "T", Sender: "1", Approve: true, Method: ByCode, Code: card.Code})
				if out.Kind != OutcomeApproved {
					t.Errorf("the code on the card: %+v", out)
				}
				if v := <-answer; v.Decision != Allow {
					t.Errorf("verdict %+v", v)
				}
			})
		})
	}
}

// The question is recorded while the request is stored, but a card goes out only
// after both.
func TestNoCardBeforeTheQuestionIsRecorded(t *testing.T) {
	story(t, func(t *testing.T, x *bench) {
		x.audit.fail = EventAsked
		answer := x.askAsync(t.Context(), testCall("c1"), High)
		synctest.Wait()
		time.Sleep(time.Second)
		if n := x.tg.count() + x.dc.count(); n != 0 {
			t.Errorf("%d cards of a question that is not recorded", n)
		}
		if v := <-answer; v.Decision != Deny {
			t.Errorf("verdict %+v", v)
		}
	})
}
