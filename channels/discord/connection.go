package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/receiving"
)

// This file speaks with the gateway: one connection at a time. The library's own connection
// identifies again at once when Discord says that a session is not valid, which uses up the
// sessions of a day, and notices a dead connection only after minutes.

const (
	// writeWithin bounds one write to the gateway.
	writeWithin = 3 * time.Second
	// maxBeat bounds how rarely the gateway may want a heartbeat, in milliseconds: it is the sign of life.
	maxBeat = 5 * 60 * 1000
	// maxFrame bounds one message of the gateway, in bytes.
	maxFrame = 64 << 20
	// lastLook is how long a connection that is about to end still receives answers.
	lastLook = 200 * time.Millisecond
)

// The gateway's operations.
const (
	opDispatch = iota
	opHeartbeat
	opIdentify
	opResume       = 6
	opReconnect    = 7
	opInvalid      = 9
	opHello        = 10
	opHeartbeatAck = 11
)

// A frame is one message of the gateway.
type frame struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  int64           `json:"s"`
	Type string          `json:"t"`
}

// A session is what Discord takes up again after a connection has ended: it then delivers what
// happened in the meantime. The zero value is none.
type session struct {
	id      string
	address string // where Discord wants it taken up
	seq     int64  // of the last event
}

// A connection is one WebSocket to the gateway.
type connection struct {
	*intake
	journal *journal
	ws      *websocket.Conn
	address string // without the version
	acks    chan struct{}

	mu     sync.Mutex // writes, the deadline of reads, and the next three
	last   *session
	ending bool  // its context has ended
	why    error // why we closed it
}

// connect makes one connection and returns when it became ready, zero if it never did, and why
// it ended. If there is a session, it takes that up again.
func (c *Channel) connect(
	ctx context.Context, last *session, in *intake, j *journal,
) (ready time.Time, err error) {
	address := last.address
	if address == "" {
		if address, err = c.mayIdentify(ctx, last.id != ""); err != nil {
			return time.Time{}, err
		}
	}
	const what = "discord: connect to the gateway"
	full, err := c.withVersion(address)
	if err != nil {
		return time.Time{}, err
	}
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: c.hello,
		NetDialContext: c.wire.next.DialContext}
	ws, resp, err := dialer.DialContext(ctx, full, nil)
	if resp != nil {
		defer resp.Body.Close()
	}
	if err != nil {
		last.address = "" // where a session is taken up may be gone
		failed := calls.OnTheWay(what, err)
		if resp != nil {
			failed.Status = resp.StatusCode
			failed.Words += ", " + calls.Status(resp.StatusCode)
		}
		return time.Time{}, failed
	}
	g := &connection{intake: in, journal: j, ws: ws, last: last, address: address, acks: make(chan struct{}, 1)}
	defer ws.Close()
	defer context.AfterFunc(ctx, g.lastLook)()
	ws.SetReadLimit(maxFrame)
	return g.serve(ctx, what)
}

// withVersion is the address of the gateway for our version of the API. It is as well protected as the API itself:
// the token is sent there.
func (c *Channel) withVersion(address string) (string, error) {
	u, err := url.Parse(address)
	plain := strings.HasPrefix(c.wire.base, "http:")
	if err != nil || u.Host == "" || u.Scheme != "wss" && (!plain || u.Scheme != "ws") {
		return "", errors.New("discord: the gateway's address is not readable")
	}
	if !strings.HasSuffix(u.Path, "/") {
		u.Path += "/"
	}
	u.RawQuery = "v=10&encoding=json"
	return u.String(), nil
}

// lastLook lets answers arrive that are on their way, and come only once.
func (g *connection) lastLook() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ending = true
	_ = g.ws.SetReadDeadline(time.Now().Add(lastLook))
}

// patience sets how long the gateway may be silent. Zero is for ever.
func (g *connection) patience(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ending {
		return
	}
	var until time.Time
	if d > 0 {
		until = time.Now().Add(d)
	}
	_ = g.ws.SetReadDeadline(until)
}

// send writes one message.
func (g *connection) send(op int, data any) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = g.ws.SetWriteDeadline(time.Now().Add(writeWithin))
	return g.ws.WriteJSON(map[string]any{"op": op, "d": data})
}

// drop ends the connection. Only the first reason counts.
func (g *connection) drop(why error) {
	g.mu.Lock()
	if g.why == nil {
		g.why = why
	}
	g.mu.Unlock()
	_ = g.ws.Close()
}

// forget lets the next connection begin a new session.
func (g *connection) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	*g.last = session{}
	g.journal.note(*g.last)
}

// closeKeeps is a close code that leaves the session to whoever takes it up.
const closeKeeps = 4000

// goodbye ends the connection. If nobody can take the session up, it ends that too: Discord then shows that the
// bot is away.
func (g *connection) goodbye() {
	code := websocket.CloseNormalClosure
	if g.journal.memory != nil {
		code = closeKeeps
	}
	_ = g.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(writeWithin))
}

// serve lasts as long as the connection does.
func (g *connection) serve(ctx context.Context, what string) (ready time.Time, err error) {
	g.patience(g.hello)
	hello, err := g.read()
	if err != nil || hello.Op != opHello {
		return time.Time{}, g.ended(ctx, what, err, "the gateway did not say hello")
	}
	var terms struct {
		Interval int64 `json:"heartbeat_interval"` // milliseconds
	}
	if err := json.Unmarshal(hello.Data, &terms); err != nil || terms.Interval <= 0 || terms.Interval > maxBeat {
		return time.Time{}, errors.New("discord: the gateway did not say how often it wants a heartbeat")
	}
	g.patience(g.hello) // until it is ready
	if was := *g.last; was.id != "" {
		err = g.send(opResume, map[string]any{"token": g.token.Reveal(), "session_id": was.id, "seq": was.seq})
	} else if err = g.journal.mayBegin(ctx); err == nil {
		err = g.send(opIdentify, g.identity())
	}
	beating, stop := context.WithCancel(ctx)
	var beats sync.WaitGroup
	beats.Go(func() { g.beat(beating, time.Duration(terms.Interval)*time.Millisecond) })
	defer beats.Wait()
	defer stop()
	for err == nil {
		var f frame
		if f, err = g.read(); err == nil {
			err = g.take(ctx, f, &ready)
		}
	}
	return ready, g.ended(ctx, what, err, "")
}

// ended says why a connection ended.
func (g *connection) ended(ctx context.Context, what string, err error, otherwise string) error {
	g.mu.Lock()
	why := g.why
	g.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		g.goodbye()
		return ctx.Err()
	case why != nil:
		return why
	case err == nil:
		return errors.New("discord: " + otherwise)
	}
	if ce, ok := errors.AsType[*websocket.CloseError](err); ok {
		if over[ce.Code] {
			g.forget()
		}
		return closed(what, ce.Code)
	}
	if _, ok := errors.AsType[*calls.Error](err); ok {
		return err
	}
	return calls.OnTheWay(what, err)
}

func (g *connection) read() (f frame, err error) {
	_, raw, err := g.ws.ReadMessage()
	if err == nil {
		err = json.Unmarshal(raw, &f)
	}
	return f, err
}

// identity is what begins a session.
func (g *connection) identity() map[string]any {
	return map[string]any{"token": g.token.Reveal(), "intents": g.intents(),
		"properties": map[string]string{"os": runtime.GOOS, "browser": "approver", "device": "approver"}}
}

// intents say which events a session brings.
func (c *Channel) intents() discordgo.Intent {
	intents := discordgo.IntentsGuildMessages | discordgo.IntentsDirectMessages
	if c.cfg.TextApprovals {
		intents |= discordgo.IntentMessageContent
	}
	if c.pairsOnly {
		intents |= discordgo.IntentsGuilds // to hear of an invitation
	}
	return intents
}

// beat sends heartbeats until ctx ends, and ends a connection that does not acknowledge one: no
// answers would arrive on it, although nobody closed it.
func (g *connection) beat(ctx context.Context, every time.Duration) {
	wait := rand.N(every) //nolint:gosec // spreads load, hides nothing
	for calls.Sleep(ctx, wait) == nil {
		select {
		case <-g.acks:
		default:
		}
		began := time.Now()
		if err := g.heartbeat(); err != nil {
			g.drop(calls.OnTheWay("discord: the gateway takes no heartbeat", err))
			return
		}
		timer := time.NewTimer(g.silence)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
			g.drop(&calls.Error{Code: "no heartbeat",
				Words: fmt.Sprintf("discord: the gateway did not acknowledge a heartbeat within %v", g.silence)})
			return
		case <-g.acks:
			timer.Stop()
		}
		wait = max(every-time.Since(began), 0)
	}
}

func (g *connection) heartbeat() error {
	var seen any
	g.mu.Lock()
	if g.last.seq > 0 {
		seen = g.last.seq
	}
	g.mu.Unlock()
	return g.send(opHeartbeat, seen)
}

// take handles one message. An error ends the connection.
func (g *connection) take(ctx context.Context, f frame, ready *time.Time) error {
	switch f.Op {
	case opDispatch:
		defer g.journal.begin(f.Seq)()
		g.mu.Lock()
		g.last.seq = f.Seq
		g.journal.note(*g.last)
		g.mu.Unlock()
		return g.dispatch(ctx, f, ready)
	case opHeartbeat:
		return g.heartbeat()
	case opReconnect:
		return &calls.Error{Code: "op 7", Words: "discord: the gateway asked to connect again"}
	case opInvalid:
		// Whether the session can be taken up again, or a new one has to begin, Discord wants
		// that after 1 to 5 seconds.
		if string(f.Data) != "true" {
			g.forget()
		}
		wait := time.Second + rand.N(4*time.Second) //nolint:gosec // spreads load, hides nothing
		return &calls.Error{Kind: calls.Limited, Code: "op 9", Wait: wait,
			Words: "discord: the gateway says that the session is not valid"}
	case opHeartbeatAck:
		if !ready.IsZero() {
			g.outage.Up()
		}
		select {
		case g.acks <- struct{}{}:
		default:
		}
	}
	return nil
}

// dispatch handles one event.
func (g *connection) dispatch(ctx context.Context, f frame, ready *time.Time) error {
	defer receiving.Recovered(g.log, "an event handler panicked")
	switch f.Type {
	case "READY":
		var r struct {
			Resume string `json:"resume_gateway_url"`
		}
		var who discordgo.Ready
		if err := errors.Join(json.Unmarshal(f.Data, &r), json.Unmarshal(f.Data, &who)); err != nil {
			return fmt.Errorf("discord: the gateway's first message is not readable: %w", err)
		}
		if err := g.know(&who); err != nil {
			return err
		}
		if scheme, _, _ := strings.Cut(g.address, ":"); !strings.HasPrefix(r.Resume, scheme+":") {
			r.Resume = g.address // never a worse protected one
		}
		g.mu.Lock()
		g.last.id, g.last.address = who.SessionID, r.Resume
		g.journal.note(*g.last)
		g.mu.Unlock()
		g.began(ctx, ready)
		g.workers.try("journal", 1, func() { _ = g.journal.keep(ctx) })
	case "RESUMED":
		g.began(ctx, ready)
	case "INTERACTION_CREATE":
		decoded[discordgo.InteractionCreate](g, f, func(e discordgo.InteractionCreate) { g.interaction(ctx, e.Interaction) })
	case "MESSAGE_CREATE":
		decoded[discordgo.MessageCreate](g, f, func(e discordgo.MessageCreate) { g.message(ctx, e.Message) })
	case "MESSAGE_UPDATE":
		decoded[discordgo.MessageUpdate](g, f, func(e discordgo.MessageUpdate) { g.edited(ctx, e.Message) })
	case "GUILD_CREATE":
		if g.pairsOnly {
			decoded[discordgo.GuildCreate](g, f, func(e discordgo.GuildCreate) { g.joined(ctx, e.ID) })
		}
	}
	return nil
}

// decoded reads an event and handles it. One that cannot be read must not hide the others.
func decoded[T any](g *connection, f frame, handle func(T)) {
	var e T
	if err := json.Unmarshal(f.Data, &e); err != nil {
		g.log.Warn("an event that cannot be read is ignored", "type", f.Type, "error", err)
		return
	}
	g.workers.during(func() (end func()) { return g.journal.begin(f.Seq) }, func() { handle(e) })
}

// began notes that answers arrive.
func (g *connection) began(ctx context.Context, ready *time.Time) {
	g.patience(0) // from now on heartbeats tell whether it lives
	now := time.Now()
	*ready = now
	g.since.Store(&now)
	if g.outage.Reception().Good.IsZero() {
		g.log.Info("connected to Discord")
	}
	g.outage.Up()
	g.workers.try("set-up", 1, func() { g.setUp(ctx) })
}
