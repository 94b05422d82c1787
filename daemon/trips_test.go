package daemon

import (
	"fmt"
	"testing"
	"time"

	"approver.example"
	"approver.example/daemon/daemontest"
)

// One approval made 38 round trips to Redis, one behind another for each record that it looked at. Now
// records that a step needs are read together and ahead of it, the clock is carried on between two readings,
// and what this process has just written is not read again.
func TestTripsOfAnApproval(t *testing.T) {
	l := startRoom(t, daemontest.RedisPlace(t), t.TempDir())
	defer l.stop()
	meter := l.store.(approver.Meter)
	const first, approvals, most = 5, 20, 18 // and what the daemon does beside them
	known := map[string]bool{}
	card := func() string { // the request of the next one
		for {
			l.room.Mu.Lock()
			for request := range l.room.Codes {
				if !known[request] {
					known[request] = true
					l.room.Mu.Unlock()
					return request
				}
			}
			l.room.Mu.Unlock()
			time.Sleep(time.Millisecond)
		}
	}
	var before uint64
	for n := range first + approvals {
		if n == first { // the server has the scripts, and the sweeper has begun
			time.Sleep(time.Second)
			before = meter.Work().Trips
		}
		answer := make(chan approver.Verdict, 1)
		l.asked.Go(func() {
			call := approver.ToolCall{ID: fmt.Sprintf("c%d", n), Agent: "claude", Session: "s", Tool: "Bash",
				Command: fmt.Sprintf("git push --force %d", n), Dir: "/repo", At: time.Now()}
			answer <- l.people.Ask(l.ctx, call, approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r",
				Severity: approver.High})
		})
		request := card()
		time.Sleep(20 * time.Millisecond) // no thumb is faster
		out := l.room.Reply(t.Context(), approver.Reply{Channel: "room", Sender: "1", Conversation: "r", Request: request,
			Approve: true, Method: approver.ByID})
		if v := <-answer; v.Decision != approver.Allow || out.Kind != approver.OutcomeApproved {
			t.Fatalf("%+v, %+v", out, v)
		}
	}
	each := float64(meter.Work().Trips-before) / approvals
	t.Logf("%.1f trips for each approval", each)
	if each > most {
		t.Errorf("they are more than %d", most)
	}
}
