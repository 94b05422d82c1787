package chatstest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example/channels/channeltest/network"
	"approver.example/cmd/approver/internal/child"
	"approver.example/daemon/adminapi"
	"approver.example/httpapi"
)

const (
	atOnce    = 4                // agents that wait at the same time, before the fault's end and again after it
	patience  = 30 * time.Second // for what takes no time on an idle machine
	tapsAgain = 4 * time.Second  // a person taps again when a card has not changed by then
	deadline  = 290 * time.Second
)

// A cell is one fault on one platform: a daemon with one channel, the way to its platform, and the people there.
type cell struct {
	*testing.T
	platform platform
	way      *network.Proxy
	daemon   child.Daemon

	mu       sync.Mutex
	requests []*request
}

// A request is one call of an agent, and what became of it.
type request struct {
	command  string
	yes      bool // what the person answers
	thinks   time.Duration
	asked    time.Time
	seen     bool // a card was seen
	taps     int  // that the platform took
	answered time.Time
	exit     int
	said     string
}

// play plays one cell.
func play(t *testing.T, of maker, f fault, n int) row {
	t.Helper()
	began := time.Now()
	c := newCell(t, of)
	quarter := n / 4
	c.ask(quarter).Wait() // all is well
	f.begin(c)
	during := c.ask(n - 2*quarter)
	c.last(f)
	said := c.status()
	end := time.Now()
	f.finish(c)
	after := c.ask(quarter)
	during.Wait()
	after.Wait()
	r := c.tally(end)
	r.Fault, r.Platform, r.Channel, r.Own = f.name, of.name, of.channel, of.own
	r.Took, r.Status = time.Since(began).Seconds(), said
	if r.Struck = c.way.Struck(); f.strikes && r.Struck == 0 {
		t.Error("the fault befell no call: it was not played")
	}
	if r.Lost > 0 || r.Wrong > 0 {
		t.Logf("the daemon's log:\n%s", tail(c.daemon.Log(), 60))
	}
	return r
}

// last waits until a fault has lasted as long as it is to, or has befallen all calls that it is for.
func (c *cell) last(f fault) {
	time.Sleep(f.lasts)
	for end := time.Now().Add(patience); c.way.Left() > 0 && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
}

func newCell(t *testing.T, of maker) *cell {
	t.Helper()
	c := &cell{T: t, platform: of.open(t)}
	t.Cleanup(c.platform.close)
	way, err := network.New(network.Options{Target: c.platform.target(), Names: c.platform.names(), Authority: authority,
		Adapter: c.platform.adapter()})
	if err != nil {
		t.Fatal(err)
	}
	c.way = way
	t.Cleanup(way.Close)
	dir, err := os.MkdirTemp("", "apc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	c.daemon = child.Daemon{Program: filepath.Join(programs, "approver"), Dir: dir}
	if err := os.WriteFile(c.daemon.Config(), []byte(c.platform.config(way.URL())+`
dir: data
asks_per_minute: {user: 1000, agent: 1000}
pace: false
store:
  sqlite: {path: data/approver.db}
sockets:
  submit: run/submit.sock
  resolve: run/resolve.sock
`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.daemon.Stop(10 * time.Second) })
	c.await("the channel receives", func() bool { return c.status() == receives })
	return c
}

// await waits for something that takes no time on an idle machine.
func (c *cell) await(what string, ok func() bool) {
	c.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			c.Fatalf("after %v it is still not so that %s\n%s", patience, what, tail(c.daemon.Log(), 30))
		}
	}
}

// receives is what status says of a channel that works.
const receives = "receives"

// status is what the daemon says of its channel.
func (c *cell) status() string {
	var s adminapi.Status
	client := httpapi.ResolveClient{Socket: c.daemon.Resolve()}
	ctx, cancel := context.WithTimeout(c.Context(), 2*time.Second)
	defer cancel()
	if err := client.Operate(ctx, adminapi.OpStatus, struct{}{}, &s); err != nil {
		return err.Error()
	}
	for _, ch := range s.Channels {
		switch {
		case ch.Name != c.platform.channel():
		case ch.Receives:
			return receives
		default:
			return "does not receive: " + ch.Error
		}
	}
	return "there is no such channel"
}

// ask lets agents ask n questions, some at the same time. The group ends with the last answer.
func (c *cell) ask(n int) *sync.WaitGroup {
	var all sync.WaitGroup
	todo := make(chan *request, n)
	c.mu.Lock()
	for range n {
		i := len(c.requests)
		r := &request{yes: i%2 == 0, thinks: time.Duration(i%4) * 400 * time.Millisecond,
			command: fmt.Sprintf("git push origin --delete e2e-%03d-end", i)}
		c.requests = append(c.requests, r)
		todo <- r
	}
	c.mu.Unlock()
	close(todo)
	for range min(atOnce, n) {
		all.Go(func() {
			for r := range todo {
				c.one(r)
			}
		})
	}
	return &all
}

// one lets an agent ask, and a person answer.
func (c *cell) one(r *request) {
	ctx, stop := context.WithCancel(c.Context())
	var person sync.WaitGroup
	person.Go(func() { c.person(ctx, r) })
	exit, said := c.courier(r)
	c.mu.Lock()
	r.answered, r.exit, r.said = time.Now(), exit, said
	c.mu.Unlock()
	stop()
	person.Wait()
}

// courier runs the real courier, as an agent does.
func (c *cell) courier(r *request) (exit int, said string) {
	ctx, cancel := context.WithTimeout(c.Context(), deadline+patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(programs, "approver-hook"), "--agent", "claude", "--socket",
		c.daemon.Submit(), "--deadline", deadline.String())
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/dev", "USER=dev"}
	body, err := json.Marshal(map[string]any{
		"session_id": "ee0143d7-415e-428d-bcd5-c1de35e71da2", "cwd": "/home/dev/project", "permission_mode": "default",
		"transcript_path": "/home/dev/.claude/projects/project/ee0143d7-415e-428d-bcd5-c1de35e71da2.jsonl",
		"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "toolu_" + r.command[len(r.command)-7:],
		"tool_input": map[string]any{"command": r.command, "description": "clean up"},
	})
	if err != nil {
		return -1, err.Error()
	}
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(body), &out, &out
	c.mu.Lock()
	r.asked = time.Now()
	c.mu.Unlock()
	err = cmd.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return -1, err.Error()
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// person looks for the card of a request, and taps. A card that does not change is tapped again, as people do.
func (c *cell) person(ctx context.Context, r *request) {
	wait := func(d time.Duration) {
		select {
		case <-ctx.Done():
		case <-time.After(d):
		}
	}
	for ctx.Err() == nil {
		open := c.open(r)
		if len(open) == 0 {
			wait(50 * time.Millisecond)
			continue
		}
		c.mu.Lock()
		first := !r.seen
		r.seen = true
		c.mu.Unlock()
		if first {
			wait(r.thinks)
			continue
		}
		c.mu.Lock()
		tapped := open[r.taps%len(open)] // of two that look alike, one and then the other
		c.mu.Unlock()
		if c.platform.tap(tapped, r.yes) != nil {
			wait(time.Second) // the app says that it did not work
			continue
		}
		c.mu.Lock()
		r.taps++
		c.mu.Unlock()
		for end := time.Now().Add(tapsAgain); ctx.Err() == nil && time.Now().Before(end) && len(c.open(r)) == len(open); {
			wait(50 * time.Millisecond)
		}
	}
}

// open returns the cards of a request that offer buttons.
func (c *cell) open(r *request) (all []card) {
	for _, one := range c.platform.cards(r.command) {
		if one.open {
			all = append(all, one)
		}
	}
	return all
}

// tally counts what became of the requests, once their cards have had time to settle.
func (c *cell) tally(end time.Time) (t row) {
	t.Asked = len(c.requests)
	for settled := time.Now().Add(patience); time.Now().Before(settled); time.Sleep(50 * time.Millisecond) {
		if t.Open = 0; c.countCards(&t) == 0 {
			break
		}
	}
	t.Doubled = 0
	c.countCards(&t)
	first := time.Time{}
	for _, r := range c.requests {
		if r.seen || len(c.platform.cards(r.command)) > 0 {
			t.Delivered++
		}
		t.Again += max(r.taps-1, 0)
		if r.answered.After(end) {
			if first.IsZero() || r.answered.Before(first) {
				first = r.answered
			}
			if r.asked.Before(end) {
				t.All = max(t.All, r.answered.Sub(end).Seconds())
			}
		}
		switch r.fate() {
		case answered:
			t.Answered++
		case unrecorded:
			t.Disk++
		case wrong:
			t.Wrong++
			c.Logf("WRONG: %s: the person said %v, the agent got exit %d: %s", r.command, r.yes, r.exit, r.said)
		case lost:
			t.Lost++
			c.Logf("LOST: %s: seen %v, %d taps, the agent got exit %d: %s", r.command, r.seen, r.taps, r.exit, r.said)
		}
	}
	if !first.IsZero() {
		t.First = first.Sub(end).Seconds()
	}
	return t
}

// countCards counts cards that are too many, and returns how many are still open.
func (c *cell) countCards(t *row) (open int) {
	t.Doubled = 0
	for _, r := range c.requests {
		cards := c.platform.cards(r.command)
		t.Doubled += max(len(cards)-1, 0)
		for _, one := range cards {
			if one.open {
				open++
			}
		}
	}
	t.Open = open
	return open
}

// A fate is what became of a request. The zero value is the worst.
type fate uint8

const (
	wrong fate = iota
	lost
	unrecorded // denied before anybody was asked, because the disk does not keep up
	answered
)

// fate compares what the agent got with what the person answered.
func (r *request) fate() fate {
	allowed := r.exit == 0 && strings.Contains(r.said, `"permissionDecision":"allow"`)
	byPerson := strings.Contains(r.said, "by Alice")
	switch {
	case allowed == r.yes && byPerson:
		return answered
	case allowed || r.exit == 0 || byPerson:
		return wrong
	case strings.Contains(r.said, "could not be recorded in the audit"):
		return unrecorded
	}
	return lost
}

func tail(text string, lines int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
