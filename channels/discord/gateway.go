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
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/receiving"
)

// maxBackoff is the longest wait between two connections.
const maxBackoff = time.Minute

// lastLook is how long a connection that is about to end still receives answers.
const lastLook = 200 * time.Millisecond

// writeWithin bounds one write to the gateway.
const writeWithin = 3 * time.Second

// fatalCloses are the gateway's close codes after which no retry can help.
var fatalCloses = map[int]string{
	4004: "the bot token is not valid: put a current one into token_file",
	4010: "the shard is not valid",
	4011: "the bot is in too many servers for one connection: take it out of some",
	4012: "the gateway no longer speaks this version of the API: update approver",
	4013: "the gateway does not know the intents: update approver",
	4014: "the application may not use the Message Content intent: switch it on at Discord under Bot, or set " +
		"text_approvals to false",
}

// A fatal error is one that only people can cure.
type fatal struct{ error }

func (f fatal) Unwrap() error { return f.error }

// Run connects to the gateway and takes answers until ctx ends; then it returns nil. It returns
// an error when Discord refuses the bot twice in a row: its token, its intents, or because the
// token belongs to another application than the configured one. It can then be called again,
// and works once people have fixed the cause.
func (c *Channel) Run(ctx context.Context, reply approver.ReplyFunc) error {
	reply = receiving.Replies(reply, c.log, "handling an answer panicked", &c.Speech)
	workers := newWorkers(c.log)
	defer workers.stop()
	// What is under way ends with Run, however Run ends. The core itself ends the answers that
	// it has.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer c.outage.Stopped()
	var last link
	for failures, refused := 0, false; ; failures++ {
		err := c.connect(ctx, &last, newIntake(c, workers, reply))
		if ctx.Err() != nil {
			return nil
		}
		good := !last.ready.IsZero()
		if good && time.Since(last.ready) >= c.settled {
			failures = 0
		}
		if good && failures == 0 {
			// Discord closes connections as a matter of routine, and keeps taps for us.
			c.outage.Failed(err)
			c.log.Debug("the gateway closed the connection", "error", err)
			if calls.Sleep(ctx, rand.N(c.backoff/4)) != nil {
				return nil
			}
			refused = false
			continue
		}
		last = link{}
		wait := max(calls.Backoff(c.backoff, maxBackoff, failures), calls.Asked(err))
		c.outage.Down(err, wait)
		_, stop := errors.AsType[fatal](err)
		if stop && refused {
			return err
		}
		refused = stop // a single refusal may be a hiccup at Discord
		if calls.Sleep(ctx, wait) != nil {
			return nil
		}
	}
}

// A link is a gateway session and its latest connection.
type link struct {
	session *discordgo.Session
	ready   time.Time // when the connection became ready; zero if it never did
	forget  []func()  // each removes a handler from the session
}

// connect makes one connection and returns why it ended. If there is a session, it resumes it:
// Discord then delivers what happened in the meantime, or begins a new session. The library
// resumes at the gateway's general address, where Discord ends connections somewhat sooner than
// at the address that it names for resuming.
func (c *Channel) connect(ctx context.Context, last *link, in *intake) error {
	last.ready = time.Time{}
	resumes := last.session != nil
	if !resumes {
		if err := c.mayIdentify(ctx); err != nil {
			return err
		}
		s, err := c.session()
		if err != nil {
			return fatal{err}
		}
		last.session = s
	}
	s := last.session
	var tcp conns
	tcp.patience.Store(int64(c.hello))
	s.Client = &http.Client{Transport: bound{ctx, c.wire}}
	s.Dialer = &websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: c.hello, NetDialContext: tcp.dial}
	s.Identify.Intents = discordgo.IntentsGuildMessages | discordgo.IntentsDirectMessages
	if c.cfg.TextApprovals {
		s.Identify.Intents |= discordgo.IntentMessageContent
	}
	if c.pairsOnly {
		s.Identify.Intents |= discordgo.IntentsGuilds // to hear of an invitation
	}
	ready := last.handle(ctx, in)
	if resumes {
		close(in.known) // missed events come before the notice that the session is resumed
	}
	// Open takes no context: when ctx ends, the connection below it is cut.
	cut := context.AfterFunc(ctx, tcp.close)
	err := s.Open()
	cut()
	if err != nil {
		return closed("connect to the gateway", err)
	}
	// Ends the library's goroutines. Close says goodbye to Discord, which takes a second; it
	// has no useful error.
	defer func() { _ = s.Close() }()
	if err := c.introduce(ctx, in, ready, resumes); err != nil {
		return err
	}
	tcp.patience.Store(int64(c.silence))
	now := time.Now()
	last.ready = now
	in.since.Store(&now)
	return c.serve(ctx, in, s)
}

// introduce waits until Discord has said who we are, or that the session is resumed.
func (c *Channel) introduce(ctx context.Context, in *intake, ready <-chan *discordgo.Ready, resumes bool) error {
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
		if r != nil {
			if err := c.know(r); err != nil {
				return err
			}
		}
		if !resumes {
			close(in.known)
		}
	}
	return nil
}

// serve lasts as long as the connection does. It ends a connection whose gateway no longer
// acknowledges heartbeats: no answers would arrive on it.
func (c *Channel) serve(ctx context.Context, in *intake, s *discordgo.Session) error {
	if c.outage.Reception().Good.IsZero() {
		c.log.Info("connected to Discord")
	}
	c.outage.Up()
	in.workers.try("set-up", 1, func() { c.setUp(ctx) })
	tick := time.NewTicker(c.silence / 9)
	defer tick.Stop()
	var last time.Time
	for {
		select {
		case <-ctx.Done():
			select { // presses made before now are on their way, and come only once
			case <-time.After(lastLook):
			case <-in.gone:
			}
			return ctx.Err()
		case <-in.gone:
			return errors.New("discord: the gateway closed the connection or fell silent")
		case <-tick.C:
			s.RLock()
			beat := s.LastHeartbeatAck
			s.RUnlock()
			if time.Since(beat) > c.silence {
				return errors.New("discord: the gateway no longer acknowledges heartbeats")
			}
			if beat.After(last) {
				last = beat
				c.outage.Up()
			}
		}
	}
}

// handle registers the handlers for the session's events, and removes those of an earlier
// connection. ready gets the first message of this connection: nil if the session is resumed.
func (l *link) handle(ctx context.Context, in *intake) (ready chan *discordgo.Ready) {
	for _, forget := range l.forget {
		forget()
	}
	ready = make(chan *discordgo.Ready, 1)
	first := func(r *discordgo.Ready) {
		select {
		case ready <- r:
		default:
		}
	}
	var once sync.Once
	l.forget = []func(){
		l.session.AddHandler(func(_ *discordgo.Session, r *discordgo.Ready) { first(r) }),
		l.session.AddHandler(func(*discordgo.Session, *discordgo.Resumed) { first(nil) }),
		l.session.AddHandler(func(*discordgo.Session, *discordgo.Disconnect) { once.Do(func() { close(in.gone) }) }),
		l.session.AddHandler(func(_ *discordgo.Session, e *discordgo.InteractionCreate) {
			in.interaction(ctx, e.Interaction)
		}),
		l.session.AddHandler(func(_ *discordgo.Session, e *discordgo.MessageCreate) { in.message(ctx, e.Message) }),
		l.session.AddHandler(func(_ *discordgo.Session, e *discordgo.MessageUpdate) { in.edited(ctx, e.Message) }),
	}
	if in.pairsOnly {
		l.forget = append(l.forget,
			l.session.AddHandler(func(_ *discordgo.Session, e *discordgo.GuildCreate) { in.joined(ctx, e.ID) }))
	}
	return ready
}

// mayIdentify checks that the token is good and that Discord allows another session today:
// Discord resets the token of a bot that makes too many.
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
	case errors.As(err, &api) && api.status == http.StatusUnauthorized && api.foreign == nil:
		return fatal{err}
	case err != nil:
		return err
	case got.Limit != nil && got.Limit.Remaining <= 0:
		wait := min(time.Duration(max(got.Limit.ResetAfter, 0))*time.Millisecond, 24*time.Hour)
		return calls.Limited(errors.New("discord: the bot has used up its connections for today"), wait)
	}
	return nil
}

// closed adds to an error of Open what its close code means.
func closed(what string, err error) error {
	if ce, ok := errors.AsType[*websocket.CloseError](err); ok {
		if why, ok := fatalCloses[ce.Code]; ok {
			return fatal{fmt.Errorf("discord: %s: close code %d: %s", what, ce.Code, why)}
		}
		return fmt.Errorf("discord: %s: close code %d", what, ce.Code)
	}
	if errors.Is(err, websocket.ErrBadHandshake) {
		err = fmt.Errorf("%w: the answer is no WebSocket: a proxy or a wrong URL?", err)
	}
	return fmt.Errorf("discord: %s: %w", what, withoutAddress(err))
}

// know learns who we are from the gateway's Ready message.
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
		return fatal{fmt.Errorf("discord: the token belongs to application %s, not to application_id %s", app,
			c.cfg.ApplicationID)}
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

// bound ends a session's requests when a context ends: discordgo asks for the gateway's address
// without one.
type bound struct {
	//nolint:containedctx // a RoundTripper gets its context from the request, and this one has none
	ctx  context.Context
	next http.RoundTripper
}

func (b bound) RoundTrip(req *http.Request) (*http.Response, error) {
	return b.next.RoundTrip(req.WithContext(b.ctx))
}

// conns are the network connections of one session. A read that waits longer than patience
// fails, so that a silent gateway is noticed.
type conns struct {
	patience atomic.Int64 // a time.Duration

	mu   sync.Mutex
	open []net.Conn
	shut bool
}

func (l *conns) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := calls.Dialer().DialContext(ctx, network, addr)
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
	return boundedConn{conn, l}, nil
}

func (l *conns) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shut = true
	for _, conn := range l.open {
		_ = conn.Close()
	}
}

// A boundedConn renews its deadline with every read and write.
type boundedConn struct {
	net.Conn
	of *conns
}

func (l boundedConn) Read(b []byte) (int, error) {
	if err := l.SetReadDeadline(time.Now().Add(time.Duration(l.of.patience.Load()))); err != nil {
		return 0, err
	}
	return l.Conn.Read(b)
}

func (l boundedConn) Write(b []byte) (int, error) {
	if err := l.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return 0, err
	}
	return l.Conn.Write(b)
}
