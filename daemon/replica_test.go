package daemon

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/daemon/daemontest"
)

// The environment of the process of a replica: its folder, and where its Redis is. The folder above has
// what people know.
const (
	replicaVariable = "APPROVER_TEST_REPLICA"
	storeVariable   = "APPROVER_TEST_STORE"
)

// replicaTTL is how long people have.
const replicaTTL = 3 * time.Second

// TestTheReplicaThatIsKilled is the process of a replica, for other tests: agents ask it, and come back
// after a kill; people answer at it what any replica asked. What agents and people are told is written
// down at once, each with one write.
func TestTheReplicaThatIsKilled(t *testing.T) {
	dir := os.Getenv(replicaVariable)
	if dir == "" {
		t.Skip("it is for another test")
	}
	l := startRoom(t, daemontest.RedisPlaceAt(t, os.Getenv(storeVariable)), dir, filepath.Base(dir))
	said, cards, told := appendTo(t, dir, "said"), appendTo(t, dir, "../cards"), appendTo(t, dir, "told")
	fmt.Println("ready")
	unanswered := saidCalls(t, dir, "ask")
	for id := range saidCalls(t, dir, "") {
		delete(unanswered, id)
	}
	for id, at := range unanswered {
		if time.Since(at) < 2*replicaTTL { // its courier still waits, and comes back
			go l.asks(said, id)
		}
	}
	for range 4 {
		go func() {
			for l.ctx.Err() == nil {
				id := string(approver.NewRev())
				_, _ = fmt.Fprintf(said, "ask %s %d\n", id, time.Now().UnixNano())
				l.asks(said, id)
			}
		}()
	}
	shown := map[string]bool{}
	read := int64(0)
	if i, err := os.Stat(cards.Name()); err == nil {
		read = i.Size()
	}
	for l.ctx.Err() == nil {
		l.room.Mu.Lock()
		for request := range l.room.Codes {
			if !shown[request] {
				shown[request] = true
				_, _ = fmt.Fprintln(cards, request)
			}
		}
		l.room.Mu.Unlock()
		for _, request := range linesFrom(cards.Name(), &read) {
			if rand.N(3) > 0 { //nolint:gosec // any mix will do
				go l.answers(told, request)
			}
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// asks asks about a call, and writes down what its agent is told.
func (l *roomLife) asks(said *os.File, id string) {
	me := approver.Peer{Known: true, UID: 7}
	call := approver.ToolCall{ID: id, Agent: "claude", Session: "s", Tool: "Bash", Command: "make " + id,
		Args: fmt.Appendf(nil, `{"command":"make %s"}`, id), Dir: "/repo", At: time.Now(), Peer: me}
	v := l.people.Ask(l.ctx, call, approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "r",
		Severity: approver.High, TTL: replicaTTL})
	if l.ctx.Err() != nil {
		return
	}
	// one write, which a kill cannot take back
	_, _ = fmt.Fprintf(said, "%s %s %d\n", v.Decision, id, time.Now().UnixNano())
	if v.Decision == approver.Allow && rand.N(2) > 0 { //nolint:gosec // any mix will do
		_ = l.people.Reports.Acknowledge(l.ctx, me, id)
	}
}

// answers has one of two people answer a request, and writes down what they are told.
func (l *roomLife) answers(told *os.File, request string) {
	time.Sleep(rand.N(60 * time.Millisecond))          //nolint:gosec // any moment will do
	yes, who := rand.N(4) > 0, fmt.Sprint(1+rand.N(2)) //nolint:gosec // any mix will do
	out := l.room.Reply(l.ctx, approver.Reply{Channel: "room", Sender: who, Conversation: "r", Request: request,
		Method: approver.ByID, Approve: yes})
	_, _ = fmt.Fprintf(told, "%v %s %d %s\n", yes, request, out.Kind, out.Text)
}

func appendTo(t *testing.T, dir, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// linesFrom returns what whole lines a file has got since it was last read.
func linesFrom(name string, read *int64) (lines []string) {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	b := make([]byte, 64<<10)
	n, _ := f.ReadAt(b, *read)
	end := bytes.LastIndexByte(b[:n], '\n') + 1
	*read += int64(end)
	return strings.Fields(string(b[:end]))
}

// saidCalls are the calls of which a replica wrote a word down, and when. Without a word they are those
// whose agents have an answer.
func saidCalls(t *testing.T, dir, word string) map[string]time.Time {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]time.Time{}
	for line := range strings.Lines(string(text)) {
		var is, id string
		var at int64
		if n, _ := fmt.Sscanf(line, "%s %s %d\n", &is, &id, &at); n == 3 && (is == word || word == "" && is != "ask") {
			calls[id] = time.Unix(0, at)
		}
	}
	return calls
}

// A replica is one of several daemons on one Redis.
type replica struct {
	dir, store string
	cmd        *exec.Cmd
	output     bytes.Buffer
	ready      chan struct{} // closed once it serves
	ended      chan error
}

// start starts its process. If it ends while it starts, because its store is away, that is for whoever
// kills it to see.
func (r *replica) start(t *testing.T) {
	t.Helper()
	r.cmd = exec.Command(os.Args[0], "-test.run=^TestTheReplicaThatIsKilled$")
	r.cmd.Env = append(os.Environ(), replicaVariable+"="+r.dir, storeVariable+"="+r.store)
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.output.Reset()
	r.cmd.Stderr = &r.output
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready, ended := make(chan struct{}), make(chan error, 1)
	r.ready, r.ended = ready, ended
	go func() {
		words := bufio.NewScanner(out)
		for words.Scan() {
			if words.Text() == "ready" {
				close(ready)
			} else {
				_, _ = fmt.Fprintln(&r.output, words.Text())
			}
		}
		ended <- r.cmd.Wait()
	}()
}

// serves reports whether it has started.
func (r *replica) serves() bool {
	select {
	case <-r.ready:
		return true
	default:
		return false
	}
}

// kill ends it with SIGKILL, and reports whether that found it alive.
func (r *replica) kill(t *testing.T) (alive bool) {
	t.Helper()
	_ = r.cmd.Process.Kill()
	err := <-r.ended
	switch {
	case err != nil && strings.Contains(err.Error(), "killed"):
		return true
	case err != nil && r.serves() || strings.Contains(r.output.String(), "panic"):
		t.Errorf("%s ended by itself: %v\n%s", filepath.Base(r.dir), err, r.output.String())
	}
	return false
}
