package daemon

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/audit"
	"approver.example/daemon/daemontest"
)

// killVariable is the folder of a daemon that the test kills, in the environment of its process.
const killVariable = "APPROVER_TEST_KILLED"

// TestTheDaemonThatIsKilled is the process that TestAKillLeavesEachEventOnce kills: agents ask,
// people answer, and what agents are told is written down at once.
func TestTheDaemonThatIsKilled(t *testing.T) {
	dir := os.Getenv(killVariable)
	if dir == "" {
		t.Skip("it is for another test")
	}
	l := startRoom(t, daemontest.EmbeddedPlace(), dir)
	said, err := os.OpenFile(filepath.Join(dir, "said"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("ready")
	for range 6 {
		go func() {
			for {
				id := approver.NewRev()
				call := approver.ToolCall{ID: string(id), Agent: "claude", Session: "s", Tool: "Bash",
					Command: "make " + string(id), Dir: "/repo", At: time.Now()}
				v := l.people.Ask(l.ctx, call, approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r",
					Severity: approver.High, TTL: 3 * time.Second})
				_, _ = fmt.Fprintf(said, "%s %s\n", v.Decision, id) // one write, which a kill cannot take back
			}
		}()
	}
	for range 2 { // calls that pass, which audit.sync: group records
		go func() {
			for l.ctx.Err() == nil {
				id, asked := approver.NewRev(), time.Now()
				if l.records.Pass(l.ctx, approver.Record{Event: approver.EventVerdict, At: asked,
					Call:    approver.ToolCall{ID: string(id), Agent: "claude", Tool: "Bash", Command: "ls"},
					Verdict: approver.Verdict{Decision: approver.Pass}}) == nil {
					_, _ = fmt.Fprintf(said, "pass %s %d %d %d\n", id, os.Getpid(), asked.UnixNano(), time.Now().UnixNano())
				}
				time.Sleep(time.Millisecond)
			}
		}()
	}
	answered := map[string]bool{}
	for l.ctx.Err() == nil {
		var fresh []string
		l.room.Mu.Lock()
		for request := range l.room.Codes {
			if !answered[request] {
				answered[request], fresh = true, append(fresh, request)
			}
		}
		l.room.Mu.Unlock()
		for _, request := range fresh {
			// By its id: codes of cards that a kill voided would lock Ada out.
			go l.room.Reply(t.Context(), approver.Reply{Channel: "room", Sender: "1", Conversation: "r", Request: request,
				Method: approver.ByID, Approve: rand.N(4) > 0}) //nolint:gosec // any mix will do
		}
		time.Sleep(time.Millisecond)
	}
}

// The story: a daemon was killed again and again while agents asked and people answered. One log
// had the same release twice, and nobody could count. What happened and its record are one
// commit now: whatever an agent was told is in the audit, each event once by its id, each
// request has one end, and nothing is frozen or alarmed for it. Of calls that passed without a person,
// which are recorded in groups, only those of the last 10 ms may be missing.
func TestAKillLeavesEachEventOnce(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	if n, err := strconv.Atoi(os.Getenv("APPROVER_KILLS")); err == nil {
		rounds = n
	}
	dir := t.TempDir()
	for i := range rounds {
		killedDaemon(t, dir, rand.N(600*time.Millisecond), i%6 == 5) //nolint:gosec // any moment will do
	}
	l := startRoom(t, daemontest.EmbeddedPlace(), dir)
	allowed := saidAllow(t, dir)
	var lines []audit.Line
	// The questions that nobody answered end by themselves.
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		open, err := l.people.Requests.Open(t.Context())
		if lines = auditLines(t, dir); err == nil && len(open) == 0 && len(unended(lines)) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d are open, %v; without an end: %v", len(open), err, unended(lines))
		}
	}
	if why := l.freeze(); why != "" {
		t.Errorf("frozen because %q", why)
	}
	l.stop()
	checkEvents(t, auditLines(t, dir), allowed)
	checkPasses(t, auditLines(t, dir), dir)
	keys, err := audit.LoadKeys(filepath.Join(dir, "audit.key.pub"))
	if err != nil {
		t.Fatal(err)
	}
	report, err := audit.Verify(t.Context(), []string{filepath.Join(dir, "audit")}, keys, nil)
	if err != nil || report.Losses.Count > 0 {
		t.Errorf("the audit: %+v, %v", report, err)
	}
	repeats := len(lines) - len(byID(t, lines))
	t.Logf("%d kills: %d calls were allowed, %d lines, %d of them repeats", rounds, len(allowed), len(lines), repeats)
	if len(allowed) < rounds {
		t.Errorf("only %d calls were allowed", len(allowed))
	}
}

// killedDaemon runs the daemon, and kills it that long after its first approvals may be, or after its start.
func killedDaemon(t *testing.T, dir string, after time.Duration, early bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestTheDaemonThatIsKilled$")
	cmd.Env = append(os.Environ(), killVariable+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	for !early && said.Scan() && said.Text() != "ready" {
		t.Log(said.Text())
	}
	time.Sleep(after)
	_ = cmd.Process.Kill()
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the daemon ended by itself: %v", err)
	}
}

// saidAllow are the calls whose agents were told yes.
func saidAllow(t *testing.T, dir string) (ids []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "allow "); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// checkPasses looks at the calls whose agents were told that they pass. Of each daemon that was killed, those
// without a record were all asked within audit.MaxPassBehind of the first one's answer.
func checkPasses(t *testing.T, lines []audit.Line, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	recorded := map[string]bool{}
	for _, l := range lines {
		recorded[l.Call] = true
	}
	passed, lost := 0, 0
	type span struct{ answered, asked int64 } // first and last
	of := map[int]span{}
	for line := range strings.Lines(string(text)) {
		var id string
		var pid int
		var asked, answered int64
		if n, _ := fmt.Sscanf(line, "pass %s %d %d %d\n", &id, &pid, &asked, &answered); n != 4 {
			continue
		}
		if passed++; recorded[id] {
			continue
		}
		lost++
		s, ok := of[pid]
		if !ok {
			s = span{answered, asked}
		}
		of[pid] = span{min(s.answered, answered), max(s.asked, asked)}
	}
	for pid, s := range of {
		if took := time.Duration(s.asked - s.answered); took > audit.MaxPassBehind {
			t.Errorf("process %d lost calls that passed within %v", pid, took)
		}
	}
	if passed == 0 {
		t.Error("nothing passed")
	}
	t.Logf("%d calls passed, %d of them without a record, of %d daemons", passed, lost, len(of))
}

func auditLines(t *testing.T, dir string) (lines []audit.Line) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "audit", "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte(`{"checkpoint"`)) || !json.Valid(line) {
			continue
		}
		l, err := audit.ParseLine(bytes.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

// byID are the lines by the id of their event. A repeat says the same as the first.
func byID(t *testing.T, lines []audit.Line) map[string]audit.Line {
	t.Helper()
	ids := map[string]audit.Line{}
	for _, l := range lines {
		id := cmp.Or(l.Once, l.ID)
		if was, is := ids[id]; is && (was.Event != l.Event || was.Request != l.Request || was.Decision != l.Decision ||
			was.Call != l.Call || !was.Timestamp.Equal(l.Timestamp) && l.Event != approver.EventPosted) {
			t.Errorf("a repeat says something else:\n%+v\n%+v", was, l)
		}
		ids[id] = l
	}
	return ids
}

var ends = []approver.Event{
	approver.EventReleased, approver.EventDenied, approver.EventExpired, approver.EventWithdrawn,
}

// unended are the requests without an end.
func unended(lines []audit.Line) (ids []string) {
	open := map[string]bool{}
	for _, l := range lines {
		if l.Event == approver.EventAsked {
			open[l.Request] = true
		}
	}
	for _, l := range lines {
		if slices.Contains(ends, l.Event) {
			delete(open, l.Request)
		}
	}
	for id := range open {
		ids = append(ids, id)
	}
	return ids
}

// checkEvents looks at the events of each request: one question, one end, a yes with each release,
// and a release for every call that an agent was told to run.
func checkEvents(t *testing.T, lines []audit.Line, allowed []string) {
	t.Helper()
	of, calls := map[string]map[approver.Event]int{}, map[string]string{}
	for _, l := range byID(t, lines) {
		if l.Request == "" {
			continue
		}
		if of[l.Request] == nil {
			of[l.Request] = map[approver.Event]int{}
		}
		of[l.Request][l.Event]++
		if l.Event == approver.EventReleased {
			if was := calls[l.Call]; was != "" {
				t.Errorf("call %s was released for %s and for %s", l.Call, was, l.Request)
			}
			calls[l.Call] = l.Request
		}
	}
	for id, events := range of {
		n := 0
		for _, e := range ends {
			n += events[e]
		}
		if n != 1 || events[approver.EventAsked] != 1 ||
			events[approver.EventReleased] > 0 && events[approver.EventApproved] != 1 {
			t.Errorf("request %s: %v", id, events)
		}
	}
	for _, call := range allowed {
		if calls[call] == "" {
			t.Errorf("call %s ran, and the audit has no release of it", call)
		}
	}
	if len(of) == 0 {
		t.Error("nothing was asked")
	}
}
