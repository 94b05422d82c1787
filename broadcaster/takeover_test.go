package broadcaster

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
)

// Two daemons on one store, each with a bot and a chat of its own. One died while it sent a
// card, and was back after some seconds. The other one had taken its card over, was told that
// its bot is not in that chat, and denied the call: "no approval channel could be reached".
// It leaves the card to those whose chat it is now, and what it is refused for good ends
// nothing for them.
func TestACardIsTakenOverByWhoHasItsChat(t *testing.T) {
	for name, c := range map[string]struct {
		back  time.Duration // after which the daemon that died is there again; zero is never
		same  bool          // the other one's configuration has that chat too
		asked bool          // a person sees a card in the end
	}{
		"at once":                            {back: time.Second, asked: true},
		"after five seconds":                 {back: 5 * time.Second, asked: true},
		"just after its card was given up":   {back: 10 * time.Second, asked: true},
		"late":                               {back: 18 * time.Second, asked: true},
		"the other was refused first":        {back: 25 * time.Second, asked: true},
		"never":                              {},
		"at once, in both configurations":    {back: time.Second, same: true, asked: true},
		"late, in both configurations":       {back: 14 * time.Second, same: true, asked: true},
		"never, in both configurations":      {same: true},
		"five seconds in both configuration": {back: 5 * time.Second, same: true, asked: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := newMemKV()
				chat, other := approver.Destination{Channel: "telegram", Conversation: "T"},
					approver.Destination{Channel: "telegram", Conversation: "Y"}
				if c.same {
					other = chat
				}
				x := newRetriedIn(t, kv, nil, nil, chat)
				y := newRetriedIn(t, kv, always(step{err: errRefusedForGood}), nil, other)
				x.tg.onPost(func(ctx context.Context) error {
					<-ctx.Done()
					return ctx.Err()
				})
				ctx, leave := context.WithCancelCause(t.Context())
				first := x.askAsync(ctx, peerCall("c1", 1000), approver.High)
				time.Sleep(2 * time.Second)
				leave(approver.ErrShuttingDown)
				<-first
				x.stop()
				if c.back == 0 { // its courier finds the other daemon
					began := time.Now()
					v := <-y.askAsync(t.Context(), peerCall("c1", 1000), approver.High)
					if took := time.Since(began); v.Decision != approver.Deny || took > sendingFor+2*othersGrace+5*time.Second ||
						len(y.tg.times()) != 1 {
						t.Errorf("after %v: %v %q; %d tries", took, v.Decision, v.Reason, len(y.tg.times()))
					}
					return
				}
				waiting := y.askAsync(t.Context(), peerCall("c1", 1000), approver.High)
				time.Sleep(c.back)
				z := newRetriedIn(t, kv, nil, nil, chat)
				time.Sleep(25 * time.Second)
				synctest.Wait()
				if z.tg.count() != 1 {
					t.Fatalf("%d cards by whose chat it is, %d tries by the other", z.tg.count(), len(y.tg.times()))
				}
				z.tap(z.tg.chat, 0, "1", true)
				if v := <-waiting; v.Decision != approver.Allow {
					t.Errorf("%v %q", v.Decision, v.Reason)
				}
			})
		})
	}
}

// A daemon replaces its own card after a restart, and its bot has been removed from the chat.
// There is nobody else: the call is denied after a while, and not at its deadline.
func TestACardThatNobodyCanReplaceIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := newMemKV()
		chat := approver.Destination{Channel: "telegram", Conversation: "T"}
		x := newRetriedIn(t, kv, nil, nil, chat)
		x.tg.onPost(func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		ctx, leave := context.WithCancelCause(t.Context())
		first := x.askAsync(ctx, peerCall("c1", 1000), approver.High)
		time.Sleep(time.Second)
		leave(approver.ErrShuttingDown)
		<-first
		x.stop()
		began := time.Now()
		y := newRetriedIn(t, kv, always(step{err: errRefusedForGood}), nil, chat)
		v := <-y.askAsync(t.Context(), peerCall("c1", 1000), approver.High)
		if took := time.Since(began); v.Decision != approver.Deny || took < othersGrace ||
			took > sendingFor+othersGrace+5*time.Second || len(y.tg.times()) != 1 {
			t.Errorf("after %v: %v %q; %d tries", took, v.Decision, v.Reason, len(y.tg.times()))
		}
		if n := len(y.audit.of("c1")); n == 0 {
			t.Error("the audit has nothing of it")
		}
	})
}
