package discord

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

	"approver.example"
)

// maxBackoff is the longest wait between two connections.
const maxBackoff = time.Minute

// writeWithin bounds one write to the gateway.
const writeWithin = 3 * time.Second

// fatalCloses are the gateway's close codes after which no retry can help.
var fatalCloses = map[int]string{
	4004: "the bot token is not valid: put a current one into token_file",
	4010: "the shard is not valid",
	4011: "the bot is in too many servers for one connection: take it out of some",
	4012: "the gateway no longer speaks this version of the API: update approver",
	4013: "the gateway does not know the intents: update approver",
	4014: "the application may not use the Message Content intent: switch it on at Discord under Bot, or set text_approvals to false",
}

// A fatal error is one that ends Run.
type fatal struct{ error }

func (f fatal) Unwrap() error { return f.error }

// A delay is an error after which the next connection waits for at least that
// time.
type delay struct {
	error
	wait time.Duration
}

// Run connects to the gateway and takes answers until ctx ends; then it returns
// nil. It returns an error when the token or the intents are refused, or the
// token is of another application than configured.
func (c *Channel) Run(ctx context.Context, reply approver.ReplyFunc) error {
	if reply == nil {
		reply = func(context.Context, approver.Reply) approver.Outcome {
			return approver.Outcome{Kind: approver.OutcomeRefused, Text: "This service takes no answers."}
		}
	}
	crew := newCrew(c.log)
	defer crew.stop()
	// What is under way ends with Run, however Run ends.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for failures := 0; ; failures++ {
		began := time.Now()
		err := c.connect(ctx, newIntake(c, crew, reply))
		if ctx.Err() != nil {
			return nil
		}
		var stop fatal
		if errors.As(err, &stop) {
			return err
		}
		if time.Since(began) >= c.settled {
			failures = 0
		}
		wait := c.pause(failures)
		var d delay
		if errors.As(err, &d) {
			wait = max(wait, d.wait)
		}
		c.log.Warn("not connected to Discord", "err", err, "again_in", wait.Round(time.Millisecond))
		if sleep(ctx, wait) != nil {
			return nil
		}
	}
}

// pause is the wait after so many failures in a row: doubling, half of it random.
func (c *Channel) pause(failures int) time.Duration {
	most := min(c.backoff<<min(failures, 6), maxBackoff)
	return most/2 + rand.N(most/2+1)
}

// connect makes one connection and returns why it ended.
func (c *Channel) connect(ctx context.Context, in *intake) error {
	if err := c.mayIdentify(ctx); err != nil {
		return err
	}
	s, err := c.session()
	if err != nil {
		return fatal{err}
	}
	var tcp lines
	tcp.patience.Store(int64(c.hello))
	s.Client = &http.Client{Transport: bound{ctx, c.wire}}
	s.Dialer = &websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: c.hello, NetDialContext: tcp.dial}
	s.Identify.Intents = discordgo.IntentsGuildMessages | discordgo.IntentsDirectMessages
	if c.cfg.TextApprovals {
		s.Identify.Intents |= discordgo.IntentMessageContent
	}
	ready := handle(ctx, s, in)
	// Open knows no context: what it waits for is cut under it.
	cut := context.AfterFunc(ctx, tcp.close)
	err = s.Open()
	cut()
	if err != nil {
		return closed("connect to the gateway", err)
	}
	// Ends the library's goroutines. It says goodbye to Discord, takes a second
	// for that, and has no error to tell.
	defer func() { _ = s.Close() }()
	timer := time.NewTimer(c.hello)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-in.gone:
		return errors.New("discord: the gateway closed the connection before it was ready")
	case <-timer.C:
		return errors.New("discord: the gateway did not become ready")
	case r := <-ready:
		if err := c.know(r); err != nil {
			return err
		}
		close(in.known)
	}
	tcp.patience.Store(int64(c.silence))
	c.log.Info("connected to Discord")
	in.crew.try("set-up", 1, func() { c.setUp(ctx) })
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-in.gone:
		return errors.New("discord: the gateway closed the connection or fell silent")
	}
}

// handle has the session's events taken in. ready gets the first.
func handle(ctx context.Context, s *discordgo.Session, in *intake) (ready chan *discordgo.Ready) {
	ready = make(chan *discordgo.Ready, 1)
	var once sync.Once
	s.AddHandler(func(_ *discordgo.Session, r *discordgo.Ready) {
		select {
		case ready <- r:
		default:
		}
	})
	s.AddHandler(func(*discordgo.Session, *discordgo.Disconnect) { once.Do(func() { close(in.gone) }) })
	s.AddHandler(func(_ *discordgo.Session, e *discordgo.InteractionCreate) { in.interaction(ctx, e.Interaction) })
	s.AddHandler(func(_ *discordgo.Session, e *discordgo.MessageCreate) { in.message(ctx, e.Message) })
	return ready
}

// mayIdentify asks whether the token is good and whether Discord allows another
// session today: it resets the token of a bot that makes too many.
func (c *Channel) mayIdentify(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*c.hello)
	defer cancel()
	var got struct {
		Limit *struct {
			Remaining  int   `json:"remaining"`
			ResetAfter int64 `json:"reset_after"` // milliseconds
		} `json:"session_start_limit"`
	}
	err := c.call(ctx, "ask for the gateway", http.MethodGet, "gateway/bot", nil, nil, &got)
	var api *apiError
	switch {
	case errors.As(err, &api) && api.status == http.StatusUnauthorized:
		return fatal{err}
	case errors.As(err, &api) && api.status == http.StatusTooManyRequests:
		return delay{err, api.after}
	case err != nil:
		return err
	case got.Limit != nil && got.Limit.Remaining <= 0:
		wait := min(time.Duration(max(got.Limit.ResetAfter, 0))*time.Millisecond, 24*time.Hour)
		return delay{errors.New("discord: the bot has used up its connections for today"), wait}
	}
	return nil
}

// closed explains an error of Open.
func closed(what string, err error) error {
	var ce *websocket.CloseError
	if errors.As(err, &ce) {
		if why, ok := fatalCloses[ce.Code]; ok {
			return fatal{fmt.Errorf("discord: %s: close code %d: %s", what, ce.Code, why)}
		}
		return fmt.Errorf("discord: %s: close code %d", what, ce.Code)
	}
	return fmt.Errorf("discord: %s: %w", what, withoutAddress(err))
}

// know learns who we are from the gateway's first message.
func (c *Channel) know(r *discordgo.Ready) error {
	app := ""
	if r.Application != nil {
		app = r.Application.ID
	}
	if app == "" {
		app = c.cfg.ApplicationID
	}
	switch {
	case r.User == nil || r.User.ID == "" || app == "":
		return errors.New("discord: the gateway does not say who the bot is: set application_id")
	case c.cfg.ApplicationID != "" && c.cfg.ApplicationID != app:
		return fatal{fmt.Errorf("discord: the token belongs to application %s, not to application_id %s", app, c.cfg.ApplicationID)}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.app, c.bot, c.homes = app, r.User.ID, nil
	for _, guild := range r.Guilds {
		if c.pairsOnly && guild != nil {
			c.homes = append(c.homes, guild.ID)
		}
	}
	return nil
}

// bound ends a session's requests with a context: discordgo asks for the
// gateway's address without one.
type bound struct {
	//nolint:containedctx // a RoundTripper gets its context from the request, and this one has none
	ctx  context.Context
	next http.RoundTripper
}

func (b bound) RoundTrip(req *http.Request) (*http.Response, error) {
	return b.next.RoundTrip(req.WithContext(b.ctx))
}

// lines are the network connections of one session. A read that waits longer
// than patience fails, so that a gateway that fell silent shows.
type lines struct {
	patience atomic.Int64 // a time.Duration

	mu   sync.Mutex
	open []net.Conn
	shut bool
}

func (l *lines) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shut {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	l.open = append(l.open, conn)
	return line{conn, l}, nil
}

func (l *lines) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shut = true
	for _, conn := range l.open {
		_ = conn.Close()
	}
}

// A line renews its deadline with every read and write.
type line struct {
	net.Conn
	of *lines
}

func (l line) Read(b []byte) (int, error) {
	if err := l.SetReadDeadline(time.Now().Add(time.Duration(l.of.patience.Load()))); err != nil {
		return 0, err
	}
	return l.Conn.Read(b)
}

func (l line) Write(b []byte) (int, error) {
	if err := l.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return 0, err
	}
	return l.Conn.Write(b)
}
