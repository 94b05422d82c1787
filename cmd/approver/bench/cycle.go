package bench

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"approver.example/display"
	"approver.example/httpapi"
	"approver.example/httpapi/wire"
)

// payload returns what Claude Code sends before it runs a command.
func payload(command string, n int) []byte {
	body, err := json.Marshal(map[string]any{
		"session_id": "bench", "transcript_path": "/home/dev/.claude/bench.jsonl", "cwd": "/", "permission_mode": "default",
		"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": map[string]any{"command": command},
		"tool_use_id": fmt.Sprintf("toolu_bench%08d", n),
	})
	if err != nil {
		panic(err) // strings always encode
	}
	return body
}

// A caller is a connection on which a call was sent as by a courier.
type caller struct{ conn net.Conn }

// submit sends a call as the courier does.
func submit(ctx context.Context, d *daemon, body []byte, left time.Duration) (*caller, error) {
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", d.Submit())
	if err != nil {
		return nil, err
	}
	env := "PATH=" + d.programs() + "\x00HOME=/home/dev\x00"
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: approver\r\nConnection: close\r\nContent-Length: %d\r\n", wire.HookPath,
		len(env)+len(body))
	fmt.Fprintf(&b, "%s: claude\r\n%s: %s\r\n%s: %d\r\n%s: %d\r\n\r\n%s", wire.Agent, wire.Call, hex.EncodeToString(id[:]),
		wire.Deadline, left.Milliseconds(), wire.EnvBytes, len(env), env)
	b.Write(body)
	if _, err := conn.Write(b.Bytes()); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &caller{conn}, nil
}

// answer reads the answer, which must have exit code 0, and closes the connection.
func (c *caller) answer() (string, error) {
	defer c.conn.Close()
	_ = c.conn.SetReadDeadline(time.Now().Add(time.Minute))
	res, err := http.ReadResponse(bufio.NewReader(c.conn), nil)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && (res.StatusCode != http.StatusOK || res.Header.Get(wire.Exit) != "0") {
		err = fmt.Errorf("the daemon answered %s: %s", res.Status, body)
	}
	return string(body), err
}

// withoutCard is the error for a call that no card shows: what the daemon has answered instead,
// if it has.
func (c *caller) withoutCard() error {
	_ = c.conn.SetReadDeadline(time.Now().Add(time.Second))
	head := make([]byte, 2000)
	n, err := io.ReadAtLeast(c.conn, head, 1)
	if n == 0 {
		return errors.Join(fmt.Errorf("no card came within 30 s, and no answer: %w", err), c.conn.Close())
	}
	return errors.Join(fmt.Errorf("no card came within 30 s; the daemon answered: %s", head[:n]), c.conn.Close())
}

// A card has the fields that are read from an event of the resolve socket.
type card struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Card    struct {
		Request string          `json:"request"`
		Body    []display.Block `json:"body"`
	} `json:"card"`
}

// command is the command that the card asks about.
func (c card) command() string {
	for _, b := range c.Card.Body {
		if b.Kind == display.Code {
			return b.Text
		}
	}
	return ""
}

// A driver runs approvals through one daemon: couriers on one side, a person's program on the
// other.
type driver struct {
	d      *daemon
	client *http.Client
	serial *atomic.Int64

	mu      sync.Mutex
	asked   []time.Time          // when each question was put
	waiting map[string]chan card // by command
	watched chan error           // gets the error when the watch ends
	once    sync.Once
	shows   chan struct{} // closed when the daemon has accepted the watch
}

// drive starts a watch, which b.end ends.
func (b *bench) drive(ctx context.Context, d *daemon, serial *atomic.Int64) *driver {
	v := &driver{d: d, serial: serial, waiting: map[string]chan card{}, watched: make(chan error, 1),
		shows: make(chan struct{})}
	v.client = &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 2 * b.workers,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", d.Resolve())
		},
	}}
	ctx, cancel := context.WithCancel(ctx)
	go func() { v.watched <- httpapi.ResolveClient{Socket: d.Resolve()}.Watch(ctx, v.see) }() // awaited below
	b.onEnd(func() error {
		cancel()
		<-v.watched //nolint:errcheck // it ended because we ended it
		v.client.CloseIdleConnections()
		return nil
	})
	return v
}

// see passes a card to the goroutine that waits for it.
func (v *driver) see(raw json.RawMessage) error {
	var c card
	if err := json.Unmarshal(raw, &c); err != nil {
		return err
	}
	v.once.Do(func() { close(v.shows) }) // the first event is the hello
	if c.Type != "card" {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	command := c.command()
	if to := v.waiting[command]; to != nil {
		to <- c // does not block: the buffer has room for one
		delete(v.waiting, command)
	}
	return nil
}

// ask sends a call that needs people and waits for its card.
func (v *driver) ask(ctx context.Context) (*caller, card, error) {
	select {
	case <-v.shows: // without a watch no card is shown
	case err := <-v.watched:
		v.watched <- err
		return nil, card{}, fmt.Errorf("the watch ended: %w", err)
	case <-ctx.Done():
		return nil, card{}, context.Cause(ctx)
	}
	n := v.serial.Add(1)
	command := "git push origin --delete bench-" + strconv.FormatInt(n, 10)
	shown := make(chan card, 1)
	v.mu.Lock()
	v.waiting[command] = shown
	v.asked = append(v.asked, time.Now())
	v.mu.Unlock()
	c, err := submit(ctx, v.d, payload(command, int(n)), turn)
	if err != nil {
		return nil, card{}, err
	}
	select {
	case k := <-shown:
		return c, k, nil
	case err := <-v.watched:
		v.watched <- err
		err = fmt.Errorf("the watch ended: %w", err)
		return nil, card{}, errors.Join(err, c.conn.Close())
	case <-time.After(30 * time.Second):
		return nil, card{}, c.withoutCard()
	case <-ctx.Done():
		return nil, card{}, errors.Join(context.Cause(ctx), c.conn.Close())
	}
}

// nthLast returns when the n-th last question was put, or the zero time if there were fewer.
func (v *driver) nthLast(n int) time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.asked) < n {
		return time.Time{}
	}
	return v.asked[len(v.asked)-n]
}

// reply approves a card by one tap.
func (v *driver) reply(ctx context.Context, k card) error {
	body := fmt.Sprintf(`{"request":%q,"message":%q,"approve":true}`, k.Card.Request, k.Message)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://approver/v1/answer", strings.NewReader(body))
	if err != nil {
		return err
	}
	res, err := v.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && !bytes.Contains(text, []byte(`"kind":"approved"`)) {
		err = fmt.Errorf("the approval did not count: %s", text)
	}
	return err
}

// A lap has the times of the parts of one approval.
type lap struct{ toCard, toRelease, whole time.Duration }

// cycle runs one approval from the request to the released hook. The person looks at the card for
// the time look, which is not counted.
func (v *driver) cycle(ctx context.Context, look time.Duration) (lap, error) {
	start := time.Now()
	c, k, err := v.ask(ctx)
	if err != nil {
		return lap{}, err
	}
	toCard := time.Since(start)
	if err := pause(ctx, look); err != nil {
		return lap{}, errors.Join(err, c.conn.Close())
	}
	answered := time.Now()
	replied := make(chan error, 1)
	go func() { replied <- v.reply(ctx, k) }()
	answer, err := c.answer()
	toRelease := time.Since(answered)
	if err == nil && !strings.Contains(answer, `"permissionDecision":"allow"`) {
		err = fmt.Errorf("an approved call got %s", answer)
	}
	if err := errors.Join(err, <-replied); err != nil {
		return lap{}, err
	}
	return lap{toCard, toRelease, toCard + toRelease}, nil
}

// hold makes n requests that stay pending with their couriers waiting.
func (v *driver) hold(ctx context.Context, b *bench, n int) error {
	return inParallel(min(n, 16), func(worker int) error {
		for i := worker; i < n; i += 16 {
			c, _, err := v.ask(ctx)
			if err != nil {
				return err
			}
			v.mu.Lock()
			b.onEnd(c.conn.Close)
			v.mu.Unlock()
		}
		return nil
	})
}

// inParallel runs f(0) … f(n-1) at once and returns the first error. The others tell the same.
func inParallel(n int, f func(int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = f(i) })
	}
	all.Wait()
	return cmp.Or(errs...)
}
