package gate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/internal/timing"
)

// The story: one user's agents sent 200 calls at once that each take most of a second to
// judge, and all were judged at once. The call of another user, a plain ls, was answered
// after 25 seconds instead of a few milliseconds, and the daemon took 1.8 GB. Now
// a user has no more turns than the machine has processors, and another's begins at once.
func TestOneUsersWorkDoesNotHoldUpAnothers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(2)
		stage := &slowStage{busy: map[uint32]int{}, most: map[uint32]int{}}
		g := &Gate{Stages: []approver.Stage{stage}, Turns: turns, Audit: &memLedger{}, Log: slog.New(slog.DiscardHandler)}
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				g.Decide(t.Context(), approver.ToolCall{ID: fmt.Sprint(i), Peer: approver.Peer{UID: 1}, Command: "slow"})
			})
		}
		synctest.Wait()
		for range 3 {
			start := time.Now()
			if v := g.Decide(t.Context(), approver.ToolCall{Peer: approver.Peer{UID: 2}}); v.Decision != approver.Pass ||
				time.Since(start) != time.Millisecond {
				t.Errorf("the other's call: %v after %v", v.Decision, time.Since(start))
			}
		}
		// A third user, while two have all turns, waits for one of theirs to end and no more.
		for i := range 50 {
			all.Go(func() {
				g.Decide(t.Context(), approver.ToolCall{ID: fmt.Sprint(i), Peer: approver.Peer{UID: 2}, Command: "slow"})
			})
		}
		synctest.Wait()
		start := time.Now()
		if v := g.Decide(t.Context(), approver.ToolCall{Peer: approver.Peer{UID: 3}}); v.Decision != approver.Pass ||
			time.Since(start) > slowly+time.Millisecond {
			t.Errorf("a third user's call: %v after %v", v.Decision, time.Since(start))
		}
		all.Wait()
		if stage.most[1] != 2 || stage.most[2] != 2 || stage.all > 4 {
			t.Errorf("worked on at once: %v, %d", stage.most, stage.all)
		}
		if turns.busy != 0 || len(turns.users) != 0 || len(turns.next) != 0 {
			t.Errorf("left: %d, %v, %v", turns.busy, turns.users, turns.next)
		}
	})
}

const slowly = time.Second

// A slowStage computes for a while and counts how many do so at once.
type slowStage struct {
	mu   sync.Mutex
	busy map[uint32]int
	most map[uint32]int
	now  int
	all  int
}

func (s *slowStage) Part() timing.Part { return timing.Reflex }

func (s *slowStage) Judge(_ context.Context, call approver.ToolCall) (approver.Verdict, error) {
	uid := call.Peer.UID
	s.mu.Lock()
	s.now++
	s.busy[uid]++
	s.most[uid], s.all = max(s.most[uid], s.busy[uid]), max(s.all, s.now)
	s.mu.Unlock()
	took := time.Millisecond
	if call.Command == "slow" {
		took = slowly
	}
	time.Sleep(took)
	s.mu.Lock()
	s.now--
	s.busy[uid]--
	s.mu.Unlock()
	return approver.Verdict{Decision: approver.Pass}, nil
}

type memLedger struct{}

func (*memLedger) Record(context.Context, approver.Record) (string, error) { return "", nil }

// A call whose time is over before its turn comes is denied, also where a failing stage
// would let it go on: who sends many calls must not open the gate by that.
func TestNoTurnIsADenial(t *testing.T) {
	turns := NewTurns(1)
	if err := turns.Take(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	opened := 0
	g := &Gate{
		Stages: []approver.Stage{&slowStage{busy: map[uint32]int{}, most: map[uint32]int{}}}, Turns: turns, FailOpen: true,
		OnFailOpen: func(approver.ToolCall, string, error) { opened++ }, Audit: &memLedger{},
		Log: slog.New(slog.DiscardHandler),
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the courier has gone"))
	if v := g.Decide(ctx, approver.ToolCall{Peer: approver.Peer{UID: 1}}); v.Decision != approver.Deny || opened != 0 {
		t.Errorf("%v, opened %d", v.Decision, opened)
	}
	turns.Give(1)
	if v := g.Decide(t.Context(), approver.ToolCall{Peer: approver.Peer{UID: 1}}); v.Decision != approver.Pass ||
		len(turns.users) != 0 {
		t.Errorf("afterwards: %v, %v", v.Decision, turns.users)
	}
}

// Users take turns: a queue of one is not emptied before another's is looked at. Who
// leaves it is passed over, and what is given to who leaves just then is not lost.
func TestTurnsGoRound(t *testing.T) {
	turns := NewTurns(1)
	for _, uid := range []uint32{8, 9} { // all that there are
		if turns.enter(uid) != nil {
			t.Fatal("no turn")
		}
	}
	var order []uint32
	waiting := map[uint32][]chan struct{}{}
	for _, uid := range []uint32{1, 1, 1, 1, 2, 2, 3} {
		mine := turns.enter(uid)
		if mine == nil {
			t.Fatal("a turn too many")
		}
		waiting[uid] = append(waiting[uid], mine)
	}
	if !turns.leave(1, waiting[1][1]) || turns.leave(1, waiting[1][1]) {
		t.Error("who leaves waits no more")
	}
	waiting[1] = slices.Delete(waiting[1], 1, 2)
	got := func() (uid uint32) {
		for of, all := range waiting {
			for i, mine := range all {
				select {
				case <-mine:
					waiting[of] = slices.Delete(slices.Clone(all), i, i+1)
					return of
				default:
				}
			}
		}
		return 0
	}
	turns.Give(8)
	for uid := got(); uid != 0; uid = got() {
		order = append(order, uid)
		turns.Give(uid)
	}
	if want := []uint32{1, 2, 3, 1, 2, 1}; !slices.Equal(order, want) {
		t.Errorf("%v, want %v", order, want)
	}
	turns.Give(9)
	// Given and left at the same time.
	mine := []chan struct{}{turns.enter(5), turns.enter(5)}
	turns.Give(5)
	if mine[0] != nil || turns.leave(5, mine[1]) {
		t.Error("the turn had come")
	}
	turns.Give(5)
	if turns.busy != 0 || len(turns.users) != 0 || len(turns.next) != 0 {
		t.Errorf("left: %d, %v, %v", turns.busy, turns.users, turns.next)
	}
}

// What a turn costs whoever is alone.
func BenchmarkTurnAlone(b *testing.B) {
	turns := NewTurns(2)
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if turns.Take(ctx, 7) == nil {
			turns.Give(7)
		}
	}
}

// A stage that waits, such as for a store, has no turn meanwhile: those who compute have it.
func TestAStageThatWaitsHasNoTurn(t *testing.T) {
	turns := NewTurns(1)
	busy := func() int {
		turns.mu.Lock()
		defer turns.mu.Unlock()
		return turns.busy
	}
	var seen []int
	looks := func(approver.ToolCall) (approver.Verdict, error) {
		seen = append(seen, busy())
		return approver.Verdict{Decision: approver.Pass}, nil
	}
	g := &Gate{Stages: []approver.Stage{stage(looks), computes(looks), computes(looks), stage(looks), computes(looks)},
		Turns: turns, Audit: &memLedger{}, Log: slog.New(slog.DiscardHandler)}
	if v := g.Decide(t.Context(), approver.ToolCall{}); v.Decision != approver.Pass ||
		!slices.Equal(seen, []int{0, 1, 1, 0, 1}) || busy() != 0 {
		t.Errorf("%v: turns at the stages %v, after them %d", v.Decision, seen, busy())
	}
}

// computes is a stage that computes.
type computes func(approver.ToolCall) (approver.Verdict, error)

func (s computes) Judge(_ context.Context, c approver.ToolCall) (approver.Verdict, error) {
	return s(c)
}

func (computes) Part() timing.Part { return timing.Reflex }
