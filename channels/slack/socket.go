package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"

	"approver.example"
)

const (
	maxFrame     = 1 << 20 // bytes of one Socket Mode message
	maxHandlers  = 256     // events in work at once
	maxSeen      = 4096    // events remembered against redelivery
	minBackoff   = 500 * time.Millisecond
	maxBackoff   = 30 * time.Second
	steady       = 5 * time.Second // a connection that lasts this long ends the back-off
	writeBuffer  = 32 << 10        // Slack drops answers that come in several frames
	ackIn        = 2 * time.Second // Slack gives up after 3 s
	dialTimeout  = 10 * time.Second
	refuseEvery  = 10 * time.Second // between refusals to one stranger
	maxStrangers = 1024             // strangers remembered for that
)

// Run receives until ctx ends. It returns early when a token is wrong or
// revoked, a scope is missing, or no conversation is left that can get cards.
func (c *Channel) Run(ctx context.Context, reply approver.ReplyFunc) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer c.http.CloseIdleConnections()
	select {
	case err := <-c.dead: // from before this Run; if it still holds it will show at once
		c.log.Debug("a slack call had failed for good", "error", err)
	default:
	}
	if reply == nil {
		reply = func(context.Context, approver.Reply) approver.Outcome {
			return approver.Outcome{Text: "Nobody takes answers here: your answer did not count."}
		}
	}
	s, err := c.begin(ctx, reply)
	if err != nil {
		return ended(ctx, err)
	}
	n := c.cfg.Connections
	if n == 0 {
		n = defaultConnections
	}
	errs := make(chan error, n)
	for range n {
		s.wg.Go(func() { errs <- s.supervise(ctx) })
	}
	select {
	case err = <-errs:
	case err = <-c.dead:
	}
	err = ended(ctx, err)
	cancel()
	s.wg.Wait()
	return err
}

// ended turns the end of ctx into a plain return.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// A session is one Run: whom we listen to, and what is in work.
type session struct {
	*Channel
	reply  approver.ReplyFunc
	bot    string // our bot's user id
	slots  chan struct{}
	seen   *seen
	wg     sync.WaitGroup
	mu     sync.Mutex
	guard  guard // its app is learned from the greeting
	scolds map[string]time.Time
}

// begin asks who we are and surveys the conversations, until Slack answers or
// gives an error that no retry can cure.
func (c *Channel) begin(ctx context.Context, reply approver.ReplyFunc) (*session, error) {
	var me *slack.AuthTestResponse
	err := c.insist(ctx, func() error {
		return c.call(ctx, "auth.test", func(ctx context.Context) (err error) {
			me, err = c.api.AuthTestContext(ctx)
			return err
		})
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
	g := guard{app: c.cfg.AppID, bot: me.BotID, teams: map[string]bool{me.TeamID: true}, approvers: map[string]bool{}, channels: map[string]bool{}}
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
		slots: make(chan struct{}, maxHandlers), seen: newSeen(maxSeen), scolds: map[string]time.Time{},
	}, nil
}

// survey checks every conversation. One that can get no cards, because somebody
// archived it, shared it or removed the bot, does not take the others along: the
// log says what to do, Post refuses it, and once it is cured it gets cards again.
// It is an error if none is left.
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
		return fatalError{errors.Join(lost...)}
	}
	return nil
}

// insist repeats f with jittered back-off until it succeeds, fails for good, or
// ctx ends.
func (c *Channel) insist(ctx context.Context, f func() error) error {
	for attempt := 0; ; attempt++ {
		err := f()
		if err == nil || isFatal(err) || ctx.Err() != nil {
			return err
		}
		c.log.Warn("slack does not answer; trying again", "error", err)
		if err := sleep(ctx, backoff(attempt)); err != nil {
			return err
		}
	}
}

func backoff(attempt int) time.Duration {
	d := min(minBackoff<<min(attempt, 10), maxBackoff)
	return d/2 + rand.N(d/2)
}

// supervise keeps one Socket Mode connection, until ctx ends or it is refused
// for good. A new client is made only after the last one's goroutines have
// ended, or leaked sockets would use up the ten that an app may have.
func (s *session) supervise(ctx context.Context) error {
	for attempt := 0; ; attempt++ {
		began := time.Now()
		err := s.connect(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !isFatal(err) {
			err = explain("socket mode", err)
		}
		if isFatal(err) {
			return err
		}
		if time.Since(began) > maxBackoff {
			attempt = 0
		}
		d := backoff(attempt)
		if asked, ok := limited(err); ok {
			d = max(d, asked)
		}
		s.log.Warn("slack connection lost; connecting again", "error", err, "in", d)
		if err := sleep(ctx, d); err != nil {
			return err
		}
	}
}

// connect runs one client to its end. The library reconnects by itself when
// Slack renews a socket; every trouble ends the client, and our own back-off,
// which is shorter and jittered, starts the next.
//
// Work on an event outlives the connection that brought it: a person's answer
// must not be lost because a socket was.
func (s *session) connect(run context.Context) error {
	ctx, cancel := context.WithCancelCause(run)
	defer cancel(nil)
	client := socketmode.New(s.api,
		socketmode.OptionReadLimit(maxFrame),
		socketmode.OptionLog(quiet()),
		socketmode.OptionDialer(&websocket.Dialer{
			Proxy: http.ProxyFromEnvironment, HandshakeTimeout: dialTimeout, WriteBufferSize: writeBuffer}))
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
	for {
		// Events are taken at once whatever they are: a full channel would stop
		// the library's reading.
		select {
		case ev := <-client.Events:
			if ev.Type == socketmode.EventTypeConnected {
				if time.Since(connected) < steady {
					cancel(errors.New("slack closes the connection as soon as it is open"))
				}
				connected = time.Now()
			}
			if err := s.event(run, link{ctx, client}, ev); err != nil {
				cancel(err)
			}
		case err := <-done:
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		}
	}
}

// A link is one connection. Its context ends with it: an acknowledgement to a
// socket that is gone has no reader, and Slack delivers the event again.
type link struct {
	ctx    context.Context
	client *socketmode.Client
}

// event takes one event. An error ends the connection.
func (s *session) event(ctx context.Context, on link, ev socketmode.Event) error {
	switch ev.Type {
	case socketmode.EventTypeHello:
		return s.greeted(ev.Request)
	case socketmode.EventTypeConnectionError:
		if e, ok := ev.Data.(*slack.ConnectionErrorEvent); ok {
			return e.ErrorObj
		}
		return errors.New("cannot connect")
	case socketmode.EventTypeErrorBadMessage:
		s.skip(on, ev)
	case socketmode.EventTypeInteractive, socketmode.EventTypeSlashCommand, socketmode.EventTypeEventsAPI:
		s.accept(ctx, on, ev)
	default: // steps of connecting, and failed writes, whose events come again
	}
	return nil
}

// greeted learns our app's id. Slack says it on a connection that was opened
// with the app's own token.
func (s *session) greeted(hello *socketmode.Request) error {
	if hello == nil || hello.ConnectionInfo.AppID == "" {
		return nil // without an app id from here or the configuration the guard admits nobody
	}
	id := hello.ConnectionInfo.AppID
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.guard.app != "" && s.guard.app != id {
		return fatal("slack: app_token belongs to the app %s, but app_id says %s: correct one of them", id, s.guard.app)
	}
	s.guard.app = id
	return nil
}

func (s *session) who() guard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.guard
}

// An ack answers one envelope, once. Later calls are ignored.
type ack struct {
	once sync.Once
	send func(payload any)
	rich bool // Slack takes a payload
}

func (a *ack) done(payload any) bool {
	sent := false
	a.once.Do(func() {
		a.send(payload)
		sent = true
	})
	return sent
}

// accept starts the work on one event. An event is acknowledged only once it is
// ours: with all hands busy it is left for Slack to deliver again.
func (s *session) accept(ctx context.Context, on link, ev socketmode.Event) {
	if ev.Request == nil || ev.Request.EnvelopeID == "" {
		return
	}
	select {
	case s.slots <- struct{}{}:
	default:
		s.log.Warn("too many slack events at once: one is left for redelivery", "limit", maxHandlers)
		return
	}
	a := &ack{rich: ev.Request.AcceptsResponsePayload, send: func(payload any) {
		if err := on.client.AckCtx(on.ctx, ev.Request.EnvelopeID, payload); err != nil && on.ctx.Err() == nil {
			s.log.Warn("could not acknowledge a slack event", "error", err)
		}
	}}
	s.wg.Go(func() {
		defer func() { <-s.slots }()
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("slack event handler panicked", "panic", p)
			}
			a.done(nil)
		}()
		if !s.seen.first(eventKeys(ev)...) {
			s.log.Debug("slack event delivered again", "envelope", ev.Request.EnvelopeID, "attempt", ev.Request.RetryAttempt)
			return
		}
		s.handle(ctx, a, ev)
	})
}

// skip acknowledges an event that the library cannot read, such as one of a
// kind that is newer than it, so that Slack does not send it for ever.
func (s *session) skip(on link, ev socketmode.Event) {
	bad, ok := ev.Data.(*socketmode.ErrorBadMessage)
	if !ok {
		return
	}
	var envelope struct {
		ID string `json:"envelope_id"`
	}
	s.log.Warn("slack sent an event that cannot be read", "error", bad.Cause)
	if json.Unmarshal(bad.Message, &envelope) != nil || envelope.ID == "" {
		return
	}
	select {
	case s.slots <- struct{}{}:
	default:
		return
	}
	s.wg.Go(func() {
		defer func() { <-s.slots }()
		_ = on.client.AckCtx(on.ctx, envelope.ID, nil)
	})
}

// eventKeys are the ids under which one event may arrive again.
func eventKeys(ev socketmode.Event) []string {
	keys := []string{"envelope " + ev.Request.EnvelopeID}
	add := func(kind, id string) {
		if id != "" {
			keys = append(keys, kind+" "+id)
		}
	}
	switch d := ev.Data.(type) {
	case slack.InteractionCallback:
		add("trigger", d.TriggerID)
	case slack.SlashCommand:
		add("trigger", d.TriggerID)
	case slackevents.EventsAPIEvent:
		if cb, ok := d.Data.(*slackevents.EventsAPICallbackEvent); ok {
			add("event", cb.EventID)
		}
	}
	return keys
}

// seen remembers the last ids, up to a bound.
type seen struct {
	mu    sync.Mutex
	ids   map[string]bool
	order []string
	next  int
}

func newSeen(n int) *seen { return &seen{ids: make(map[string]bool, n), order: make([]string, n)} }

// first reports whether none of the ids was there before, and remembers all.
func (s *seen) first(ids ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := true
	for _, id := range ids {
		if s.ids[id] {
			fresh = false
			continue
		}
		delete(s.ids, s.order[s.next])
		s.ids[id], s.order[s.next] = true, id
		s.next = (s.next + 1) % len(s.order)
	}
	return fresh
}
