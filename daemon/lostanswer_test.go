package daemon

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/daemon/daemontest"
	"approver.example/store/storetest/redistest"
)

// proxied is a room on a Redis behind a proxy.
func proxied(t *testing.T, config ...string) (*roomLife, *redistest.Proxy, *redistest.Server) {
	t.Helper()
	_, server := daemontest.RedisPlaceOn(t, config...)
	proxy, err := redistest.StartProxy(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	return startRoom(t, daemontest.RedisPlaceAt(t, proxy.Addr), t.TempDir()), proxy, server
}

// The story: Redis did what a daemon had asked for, and the connection was cut before the answer. The daemon
// cannot know. Whichever answer of one question's life is lost, from the question to the acknowledgment: the
// agent gets its yes, and each event is in the audit once.
func TestAnAnswerOfRedisIsLost(t *testing.T) {
	most, step := 24, 1
	if testing.Short() {
		step = 6
	}
	l, proxy, _ := proxied(t)
	me := approver.Peer{Known: true, UID: 7}
	var allowed []string
	for nth := 0; nth < most; nth += step {
		for _, during := range []string{"the question", "the answer", "the acknowledgment"} {
			before, id := proxy.Lost(), fmt.Sprintf("%s-%d", during, nth)
			lose := func(now string) {
				if now == during {
					proxy.LoseAnswer("evalsha", nth)
				}
			}
			lose("the question")
			request, answer := l.askAbout(approver.ToolCall{ID: id, Agent: "claude", Session: "s", Tool: "Bash",
				Command: "make " + id, Args: fmt.Appendf(nil, `{"command":%q}`, id), Dir: "/repo", At: time.Now(), Peer: me},
				20*time.Second)
			if request == "" {
				t.Fatalf("%s: nobody was asked: %+v", id, <-answer)
			}
			lose("the answer")
			out := l.room.Reply(t.Context(), approver.Reply{Channel: "room", Conversation: "r", Sender: "1", Approve: true,
				Method: approver.ByID, Request: request})
			v := <-answer
			if v.Decision != approver.Allow || out.Kind != approver.OutcomeApproved && out.Kind != approver.OutcomeRecorded {
				t.Errorf("%s: the agent hears %v %q, the person %q", id, v.Decision, v.Reason, out.Text)
			}
			allowed = append(allowed, id)
			lose("the acknowledgment")
			if err := l.people.Reports.Acknowledge(t.Context(), me, id); err != nil {
				t.Errorf("%s: acknowledged: %v", id, err)
			}
			for end := time.Now().Add(time.Second); during == "the acknowledgment" && proxy.Lost() == before &&
				time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
		}
	}
	daemontest.Eventually(t, "each request has an end in the audit", func() bool {
		lines := auditLines(t, l.dir)
		return len(unended(lines)) == 0
	})
	if why := l.freeze(); why != "" || l.tells("", "alarm") {
		t.Errorf("frozen because %q, an alarm is told: %v", why, l.tells("", "alarm"))
	}
	l.stop()
	lines := auditLines(t, l.dir)
	checkEvents(t, lines, allowed)
	t.Logf("%d answers lost in %d questions, %d lines, %d of them repeats", proxy.Lost(), len(allowed), len(lines),
		len(lines)-len(byID(t, lines)))
	if proxy.Lost() == 0 {
		t.Error("no answer was lost")
	}
}

// awayFor is how long the store is away while a person says yes. It is back more than 15 seconds before the
// deadline.
const awayFor = 5 * time.Second

// The story: people have said yes in time, and the store was away in that moment. It was back 15 seconds
// before the deadline, and yet the agent heard that nobody had answered. However the store is away, the agent gets
// the yes, soon after the store is back. A network that forgot its connections leaves those half-open: nothing
// says that they are dead, and each that is tried costs its time.
func TestAYesInTimeWhileTheStoreIsAway(t *testing.T) {
	if testing.Short() {
		t.Skip("each takes several seconds")
	}
	for name, away := range map[string]struct {
		begin, end func(*redistest.Proxy, *redistest.Server) error
		lasts      time.Duration
	}{
		"it hangs":   {set(redistest.Stall), set(redistest.NoFault), awayFor},
		"half-open":  {set(redistest.Swallow), set(redistest.NoFault), awayFor},
		"forgotten":  {set(redistest.Swallow), set(redistest.NoFault), 0},
		"refused":    {cutAnd(redistest.Refuse), set(redistest.NoFault), awayFor},
		"cut":        {cutAnd(redistest.Stall), set(redistest.NoFault), awayFor},
		"it is dead": {killRedis, restartRedis, awayFor},
		"for longer than an answer waits": {cutAnd(redistest.Refuse), set(redistest.NoFault),
			broadcaster.StorePatience + 2*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, proxy, server := proxied(t, "appendfsync always")
			defer l.stop()
			request, answer := l.askAbout(approver.ToolCall{ID: "c1", Agent: "claude", Session: "s", Tool: "Bash",
				Command: "make", Dir: "/repo", At: time.Now()}, away.lasts+17*time.Second)
			var busy sync.WaitGroup // as many connections as a busy daemon has
			for range 200 {
				busy.Go(func() { _, _ = l.store.Now(t.Context()) })
			}
			busy.Wait()
			t.Logf("%d connections", strings.Count(server.Admin().ClientList(t.Context()).Val(), "\n"))
			if err := away.begin(proxy, server); err != nil {
				t.Fatal(err)
			}
			told := make(chan approver.Outcome, 1)
			go func() {
				told <- l.room.Reply(t.Context(), approver.Reply{Channel: "room", Conversation: "r", Sender: "1", Approve: true,
					Method: approver.ByID, Request: request})
			}()
			time.Sleep(away.lasts)
			if err := away.end(proxy, server); err != nil {
				t.Fatal(err)
			}
			back := time.Now()
			v := <-answer
			t.Logf("the agent hears %v %q %v after the store was back", v.Decision, v.Reason, time.Since(back))
			if v.Decision != approver.Allow {
				t.Errorf("the agent hears %v %q", v.Decision, v.Reason)
			}
			out, kept := <-told, away.lasts > broadcaster.StorePatience
			if kept != strings.Contains(out.Text, "may not count yet") ||
				!kept && out.Kind != approver.OutcomeApproved && out.Kind != approver.OutcomeRecorded {
				t.Errorf("the person hears %q", out.Text)
			}
			if l.freeze() != "" {
				t.Errorf("frozen because %q", l.freeze())
			}
		})
	}
}

func set(f redistest.Fault) func(*redistest.Proxy, *redistest.Server) error {
	return func(p *redistest.Proxy, _ *redistest.Server) error { p.Set(f); return nil }
}

func cutAnd(f redistest.Fault) func(*redistest.Proxy, *redistest.Server) error {
	return func(p *redistest.Proxy, _ *redistest.Server) error { p.Set(f); p.Cut(); return nil }
}

func killRedis(_ *redistest.Proxy, s *redistest.Server) error { s.Kill(); return nil }

func restartRedis(_ *redistest.Proxy, s *redistest.Server) error {
	return s.Restart(context.Background())
}
