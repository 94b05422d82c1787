package broadcaster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"approver.example"
)

// The story: somebody approved on Discord while Redis was away for four seconds. After two
// the lease to receive could not be renewed, the channel was stopped, and the answer, which
// only waited for the store, with it: the person was told that the store had a problem, and
// the agent that nobody answered. Discord brings a press once. Now an answer that was heard
// is seen through, until its own deadline or the end of the daemon.
func TestAnAnswerOutlivesItsChannel(t *testing.T) {
	const until = 30 * time.Second // a channel's own bound
	for name, c := range map[string]struct {
		away, channelEnds, daemonEnds, bound time.Duration
		took                                 time.Duration // at the most
		counts                               bool
		kept                                 bool // it counts later
	}{
		"the lease is lost": {
			away: 4 * time.Second, channelEnds: 2 * time.Second, bound: until, took: 5 * time.Second, counts: true,
		},
		"it was lost before": {away: 4 * time.Second, bound: until, took: 5 * time.Second, counts: true},
		"a store that is away for too long": {
			away: time.Minute, channelEnds: 2 * time.Second, bound: until, took: StorePatience + time.Second, kept: true,
		},
		"the channel's own bound": {
			away: 4 * time.Second, channelEnds: time.Second, bound: 3 * time.Second, took: 3 * time.Second,
			kept: true,
		},
		"the daemon ends, in time": {
			away: time.Second, channelEnds: 500 * time.Millisecond, daemonEnds: 500 * time.Millisecond, bound: until,
			took: 3 * time.Second, counts: true,
		},
		"the daemon ends, and no store": {
			away: time.Minute, channelEnds: time.Second, daemonEnds: time.Second, bound: until, took: 3 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, x *bench) {
				answer := x.askAsync(t.Context(), testCall("c1"), approver.High)
				time.Sleep(time.Second)
				msg, card := x.dc.card(0)
				x.kv.failing(func(string, string) error { return errors.New("connection refused") })
				time.AfterFunc(c.away, func() { x.kv.failing(nil) })
				run, end := context.WithCancel(t.Context())
				time.AfterFunc(c.channelEnds, end)
				if c.daemonEnds > 0 {
					time.AfterFunc(c.daemonEnds, x.stop)
				}
				ctx, cancel := context.WithTimeout(run, c.bound)
				defer cancel()
				began := time.Now()
				out := x.dc.reply(ctx, approver.Reply{
					Channel: "discord", Conversation: "D", Sender: "d1", Approve: true, Method: approver.ByTap, Request: card.Request,
					Message: msg,
				})
				if took := time.Since(began); took > c.took {
					t.Errorf("it took %v, at most %v", took, c.took)
				}
				x.kv.failing(nil)
				r := x.loaded(card.Request)
				if _, answered := r.Told(); (answered || r.State == approver.Approved) != c.counts ||
					c.counts == strings.Contains(out.Text, "The store") || c.kept != strings.Contains(out.Text, "may not count yet") {
					t.Errorf("the request is %v, the person hears %q", r.State, out.Text)
				}
				if c.daemonEnds > 0 {
					return
				}
				if v := <-answer; (v.Decision == approver.Allow) != (c.counts || c.kept) {
					t.Errorf("the agent hears %v %s", v.Decision, v.Reason)
				}
			})
		})
	}
}
