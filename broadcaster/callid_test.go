package broadcaster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// A call came too late to join an identical one, and people were asked too often for one of
// its own. Its id then led nowhere, and the same call had to wait for nine seconds before
// anything happened to it. An id that leads nowhere is like one that was never seen.
func TestACallIDThatLeadsNowhereIsNew(t *testing.T) {
	me := approver.Peer{Known: true, UID: 1000}
	for name, use := range map[string]func(x *bench) error{
		"asked again": func(x *bench) error {
			n, began := x.tg.count(), time.Now()
			x.askAsync(x.t.Context(), peerCall("late", 1000), approver.High)
			for x.tg.count() == n {
				time.Sleep(10 * time.Millisecond)
				if time.Since(began) > time.Second {
					return errors.New("no card after a second")
				}
			}
			return nil
		},
		"asked on two connections": func(x *bench) error {
			n := x.tg.count()
			x.askAsync(x.t.Context(), peerCall("late", 1000), approver.High)
			x.askAsync(x.t.Context(), peerCall("late", 1000), approver.High)
			time.Sleep(time.Second)
			if x.tg.count() != n+1 {
				return errors.New("not one card")
			}
			return nil
		},
		"comes back for a parked yes": func(x *bench) error {
			<-x.askAsync(x.t.Context(), func() approver.ToolCall {
				c := otherCall("p")
				c.ParkAt = time.Now()
				return c
			}(), approver.High)
			synctest.Wait()
			if out := x.tap(x.tg, x.tg.count()-1, "1", true); out.Kind != approver.OutcomeRecorded {
				return errors.New(out.Text)
			}
			again := otherCall("p")
			again.ID = "late"
			if v := <-x.askAsync(x.t.Context(), again, approver.High); v.Decision != approver.Allow {
				return errors.New(v.Reason)
			}
			return nil
		},
		"acknowledged":     func(x *bench) error { return x.Reports.Acknowledge(x.t.Context(), me, "late") },
		"reported":         func(x *bench) error { return x.Reports.Became(x.t.Context(), me, "late", NotRun) },
		"reported as done": func(x *bench) error { return x.Reports.Became(x.t.Context(), me, "late", DidRun) },
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				if err := x.records.put(t.Context(), approver.Key("call", "late"), nil, "", approver.NewRev(), time.Time{},
					time.Now().Add(time.Hour)); err != nil {
					t.Fatal(err)
				}
				if err := use(x); err != nil {
					t.Error(err)
				}
			})
		})
	}
	// How such an id comes to be.
	story(t, func(t *testing.T, x *bench) {
		for i := range 1 + maxCallers {
			x.askAsync(t.Context(), peerCall(string(rune('A'+i)), 1000), approver.High)
			synctest.Wait()
		}
		x.tune(func(o *Options) {
			o.Limit = func(context.Context, string, approver.ToolCall) error {
				return &approver.TooManyError{Limit: "agent", Most: 1}
			}
		})
		if v := <-x.askAsync(t.Context(), peerCall("late", 1000), approver.High); v.By != approver.LimitedBy {
			t.Fatalf("%+v", v)
		}
		if _, _, err := x.Requests.idByCall(t.Context(), "late"); !errors.Is(err, approver.ErrNotFound) {
			t.Errorf("the id leads to a request: %v", err)
		}
	})
}
