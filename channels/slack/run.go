package slack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/receiving"
)

const (
	maxFrame    = 1 << 20          // bytes of one Socket Mode message
	steady      = 5 * time.Second  // a connection that is closed sooner was none
	settled     = 30 * time.Second // a connection that lasts this long ends the back-off
	writeBuffer = 32 << 10         // Slack drops answers that come in several frames
	dialTimeout = 10 * time.Second
	refuseEvery = 10 * time.Second // between refusals to one stranger
)

// Run receives until ctx ends. It returns early when Slack refuses the app twice in a row: a
// token is wrong or revoked, a scope is missing, or no conversation is left that can get cards.
// It can then be called again, and works once people have fixed the cause.
func (c *Channel) Run(ctx context.Context, reply approver.ReplyFunc) error {
	defer c.http.CloseIdleConnections()
	reply = receiving.Replies(reply, c.log, "taking a slack answer panicked", &c.Speech)
	receive := c.receive
	if c.hook != nil {
		if c.pairsOnly {
			return errOnlyDaemon
		}
		receive = c.receiveHooks
	}
	for refused := false; ; {
		received, err := receive(ctx, reply)
		if ctx.Err() != nil {
			return nil
		}
		wait := calls.Usual().After(0, err)
		c.outage.Down(err, wait)
		if refused && !received {
			return err
		}
		refused = true // a single refusal may be a hiccup at Slack
		if calls.Sleep(ctx, wait) != nil {
			return nil
		}
	}
}

// receive keeps connections until ctx ends or Slack refuses the app. received
// reports whether answers could arrive.
func (c *Channel) receive(ctx context.Context, reply approver.ReplyFunc) (received bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	select {
	case err := <-c.dead: // from before this Run; if it still holds, it shows again at once
		c.log.Debug("a slack call had failed for good", "error", err)
	default:
	}
	s, err := c.begin(ctx, reply)
	if err != nil {
		return false, err
	}
	began := time.Now()
	n := c.cfg.sockets()
	errs := make(chan error, n)
	for range n {
		s.wg.Go(func() { errs <- s.supervise(ctx) })
	}
	for err = nil; err == nil; {
		select {
		case err = <-errs:
		case err = <-c.dead:
			err = c.confirm(ctx, err)
		}
	}
	received = c.outage.Reception().Good.After(began)
	cancel()
	s.wg.Wait()
	return received, err
}

// confirm asks Slack whether it really refuses the bot token. It returns nil if it does not.
func (c *Channel) confirm(ctx context.Context, refusal error) error {
	_, err := c.me(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case calls.KindOf(err) == calls.Revoked:
		return refusal
	case err == nil:
		c.log.Warn("slack refused a call for its token, and then took the token", "error", refusal)
	}
	return nil
}

// A session is one Run: who may answer, and what is being handled.
type session struct {
	*Channel
	reply    approver.ReplyFunc
	bot      string // our bot's user id
	slots    chan struct{}
	seen     *receiving.Seen[string]
	foreign  *receiving.Seen[string] // envelopes that are left to another daemon
	wg       sync.WaitGroup
	mu       sync.Mutex
	guard    guard                // its app is learned from Slack's hello
	refusals calls.Pauses[string] // strangers who were told of a refusal lately
	hints    receiving.Hints[string]
	live     int  // our open connections
	others   int  // the connections of others, according to Slack's last hello
	counted  bool // whether others was logged
}

// begin asks who we are and surveys the conversations. It repeats this until Slack answers or
// returns an error that no retry can cure.
func (c *Channel) begin(ctx context.Context, reply approver.ReplyFunc) (*session, error) {
	var me *slack.AuthTestResponse
	err := c.insist(ctx, func() (err error) {
		me, err = c.me(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if me.BotID == "" || me.TeamID == "" {
		return nil, fatal("slack: auth.test names no bot or no workspace: bot_token must be a bot's (xoxb-…)")
	}
	if !c.pairsOnly { // there are no conversations yet
		if err := c.survey(ctx); err != nil {
			return nil, err
		}
	}
	g := guard{app: c.cfg.AppID, bot: me.BotID, teams: map[string]bool{me.TeamID: true}, approvers: map[string]bool{},
		channels: map[string]bool{}}
	for _, id := range c.cfg.Teams {
		g.teams[id] = true
	}
	for _, a := range c.cfg.Approvers {
		g.approvers[a.ID] = true
	}
	for _, id := range c.cfg.Channels {
		g.channels[id] = true
	}
	return &session{
		Channel: c, reply: reply, bot: me.UserID, guard: g,
		slots: make(chan struct{}, maxHandlers),
		seen:  receiving.NewSeen[string](maxSeen), foreign: receiving.NewSeen[string](maxSeen),
	}, nil
}

// survey checks every conversation. One that can get no cards, because somebody archived it,
// shared it or removed the bot, does not affect the others: the log says what to do, Post
// refuses it, and once it is fixed it gets cards again. It is an error if no conversation is
// left.
func (c *Channel) survey(ctx context.Context) error {
	var lost []error
	for _, id := range c.cfg.Channels {
		err := c.insist(ctx, func() error { return c.vet(ctx, id) })
		if err == nil {
			continue
		}
		if ctx.Err() != nil {
			return err
		}
		c.log.Error("a slack conversation gets no cards", "conversation", id, "error", err)
		lost = append(lost, err)
	}
	if len(lost) == len(c.cfg.Channels) {
		return fatal("%w", errors.Join(lost...))
	}
	return nil
}

// insist repeats f with jittered back-off until it succeeds, fails for good, or
// ctx ends.
func (c *Channel) insist(ctx context.Context, f func() error) error {
	for attempt := 0; ; attempt++ {
		err := f()
		if err == nil || calls.Stops(err) || ctx.Err() != nil {
			return err
		}
		wait := calls.Usual().After(attempt, err)
		c.outage.Down(err, wait)
		if err := calls.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// supervise keeps one Socket Mode connection open until ctx ends or Slack refuses it for good.
// It makes a new client only after the goroutines of the last one have ended; otherwise leaked
// sockets would use up the ten that an app may have.
func (s *session) supervise(ctx context.Context) error {
	for attempt := 0; ; attempt++ {
		began, used := time.Now(), s.app.Reveal()
		err := s.connect(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err = sorted("socket mode", err)
		if s.app.Renewed(ctx, used, err, s.sameApp, s.log) {
			continue
		}
		if calls.Stops(err) {
			return err
		}
		if time.Since(began) > settled {
			attempt = 0
		}
		d := calls.Usual().After(attempt, err)
		if s.alone() {
			s.outage.Down(err, d)
		} else {
			s.outage.Lost("one of the connections to Slack is lost", err, d)
		}
		if err := calls.Sleep(ctx, d); err != nil {
			return err
		}
	}
}

// connect runs one client to its end. The library reconnects by itself when Slack renews a
// socket. Any other trouble ends the client, and supervise starts the next one after our own
// back-off, which is shorter and jittered.
//
// Work on an event outlives the connection that brought it: a person's answer must not be lost
// because a socket was.
func (s *session) connect(run context.Context) (err error) {
	ctx, cancel := context.WithCancelCause(run)
	defer cancel(nil)
	client := socketmode.New(s.api,
		socketmode.OptionReadLimit(maxFrame), socketmode.OptionPingInterval(s.silence),
		socketmode.OptionLog(quiet()),
		socketmode.OptionDialer(&websocket.Dialer{
			Proxy: http.ProxyFromEnvironment, NetDialContext: s.dialListened,
			HandshakeTimeout: dialTimeout, WriteBufferSize: writeBuffer}))
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("the connection broke: %v", p)
			}
		}()
		done <- client.RunContext(ctx)
	}()
	var connected time.Time
	up := false
	down := func(err error) {
		if err == nil {
			err = errors.New("slack: socket mode: the connection has ended")
		}
		if up {
			up = false
			s.left(err)
		}
	}
	defer func() { down(err) }()
	for {
		// Events are received at once, whatever they are: a full channel would block the
		// library's reads.
		select {
		case ev := <-client.Events:
			if ev.Type == socketmode.EventTypeConnected {
				if time.Since(connected) < steady {
					cancel(errors.New("slack closes the connection as soon as it is open"))
				}
				connected = time.Now()
			}
			if ev.Type == socketmode.EventTypeConnecting {
				down(errors.New("slack: socket mode: the connection was closed"))
			}
			if err := s.event(run, link{ctx, client}, ev); err != nil {
				cancel(err)
			} else if ev.Type == socketmode.EventTypeHello && !up {
				up = true
				s.joined(ev.Request)
			}
		case err := <-done:
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		}
	}
}
