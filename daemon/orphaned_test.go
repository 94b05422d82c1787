package daemon

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/daemon/daemontest"
)

// The environment of a daemon that is killed between a card and its note: its folder. storeVariable says where
// its Redis is, if it has one.
const orphanVariable = "APPROVER_TEST_ORPHAN"

// orphanCall is what its agent asks about.
func orphanCall() approver.ToolCall {
	return approver.ToolCall{ID: "00000000000000000000000000000001", Agent: "claude", Session: "s", Tool: "Bash",
		Command: "git push --force", Args: []byte(`{"command":"git push --force"}`), Dir: "/repo", At: time.Now()}
}

// TestTheDaemonThatIsKilledAtItsCard is the process that TestADaemonThatIsKilledBetweenACardAndItsNote kills. It says
// which request's card is up, and goes no further.
func TestTheDaemonThatIsKilledAtItsCard(t *testing.T) {
	dir := os.Getenv(orphanVariable)
	if dir == "" {
		t.Skip("it is for another test")
	}
	place := daemontest.EmbeddedPlace()
	if addr := os.Getenv(storeVariable); addr != "" {
		place = daemontest.RedisPlaceAt(t, addr)
	}
	l := startRoom(t, place, dir)
	l.room.Took = func(c approver.Card) string {
		if err := os.WriteFile(filepath.Join(dir, "card"), []byte(c.Request), 0o600); err != nil {
			t.Error(err)
		}
		println("shown") // the platform has the card, and its answer is on the way
		select {}
	}
	l.people.Ask(l.ctx, orphanCall(), approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r",
		Severity: approver.High})
}

// The story: a daemon was killed after the platform had taken a card, and before the note of where it is. The docs said
// that the card takes a no, and a yes if it showed everything; but whoever pressed it was told that it is no
// longer valid, and their no was lost. It is played here with a real kill on both stores, before and after
// the next daemon has posted a card of its own.
func TestADaemonThatIsKilledBetweenACardAndItsNote(t *testing.T) {
	for name, c := range map[string]struct {
		redis, yes bool
		second     bool // the new card is there when the first one is pressed
	}{
		"embedded, a no":                     {},
		"embedded, a yes after the new card": {yes: true, second: true},
		"redis, a no after the new card":     {redis: true, second: true},
		"redis, a yes":                       {redis: true, yes: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, place, env := t.TempDir(), daemontest.EmbeddedPlace(), ""
			if c.redis {
				p, server := daemontest.RedisPlaceOn(t, "appendfsync always")
				place, env = p, server.Addr
			}
			request := killedAtItsCard(t, dir, env)
			l := startRoom(t, place, dir)
			defer l.stop()
			answer := make(chan approver.Verdict, 1)
			l.asked.Go(func() { // its courier comes back
				answer <- l.people.Ask(l.ctx, orphanCall(), approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r",
					Severity: approver.High})
			})
			l.room.Mu.Lock()
			l.room.Took = func(approver.Card) string { return "second" }
			l.room.Mu.Unlock()
			posted := func() bool {
				l.room.Mu.Lock()
				defer l.room.Mu.Unlock()
				return len(l.room.Cards) > 0
			}
			for end := time.Now().Add(time.Minute); c.second && !posted() && time.Now().Before(end); {
				time.Sleep(20 * time.Millisecond)
			}
			out := l.room.Reply(l.ctx, approver.Reply{Channel: "room", Sender: "1", Conversation: "r", Request: request,
				Message: "first", Method: approver.ByTap, Approve: c.yes})
			want, decision := approver.OutcomeDenied, approver.Deny
			if c.yes {
				want, decision = approver.OutcomeApproved, approver.Allow
			}
			v := <-answer
			if out.Kind != want || v.Decision != decision || !strings.Contains(v.Reason, "Ada") {
				t.Errorf("the person is told %+v, the agent %v %q", out, v.Decision, v.Reason)
			}
			shows := func(message string) bool {
				l.room.Mu.Lock()
				defer l.room.Mu.Unlock()
				return strings.Contains(l.room.Edits[message].Result, "by Ada")
			}
			for end := time.Now().Add(time.Minute); !shows("first") || c.second && !shows("second") ||
				!l.tells(request, "posted"); {
				if time.Now().After(end) {
					t.Fatalf("the cards show %+v; the audit has them: %v", l.room.Edits, l.tells(request, "posted"))
				}
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
}

// killedAtItsCard runs the daemon until its card is up, kills it there, and returns the request.
func killedAtItsCard(t *testing.T, dir, store string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestTheDaemonThatIsKilledAtItsCard$")
	cmd.Env = append(os.Environ(), orphanVariable+"="+dir, storeVariable+"="+store)
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(errs)
	for said.Scan() && said.Text() != "shown" {
		t.Log(said.Text())
	}
	_ = cmd.Process.Kill()
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the daemon ended by itself: %v", err)
	}
	request, err := os.ReadFile(filepath.Join(dir, "card"))
	if err != nil {
		t.Fatal(err)
	}
	return string(request)
}
