package slack

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"

	"approver.example/channels/internal/receiving"
)

const (
	maxHandlers = 256                    // events in work at once
	maxSeen     = 4096                   // events remembered against redelivery
	ackIn       = 2 * time.Second        // Slack gives up after 3 s
	ackTapIn    = 300 * time.Millisecond // a press is acknowledged by then, even if undecided
)

// A link is one connection. Its context ends with it: an acknowledgement to a closed socket is
// not received, and Slack delivers the event again.
type link struct {
	ctx    context.Context
	client *socketmode.Client
}

// event handles one event. An error ends the connection.
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
	default: // steps of connecting, and failed writes: Slack sends those events again
	}
	return nil
}

// greeted learns our app's id from Slack's hello, on a connection that was opened with the
// app's own token.
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

// joined counts a connection that is open, and checks for connections of others. Slack counts
// all connections of the app: those of replicas on one Redis store are legitimate, those of a
// daemon with a store of its own are not.
func (s *session) joined(hello *socketmode.Request) {
	s.mu.Lock()
	s.live++
	if hello != nil {
		s.others = max(hello.NumConnections-max(s.live, s.cfg.sockets()), 0) // one of ours may not be counted yet
		s.elsewhere.Store(int32(s.others))                                   //nolint:gosec // at most ten
	}
	others, tell := s.others, s.others > 0 && !s.counted
	s.counted = s.counted || tell
	s.mu.Unlock()
	if s.outage.Reception().Good.IsZero() {
		s.log.Info("connected to Slack")
	}
	s.outage.Up()
	if tell {
		s.log.Info("other processes receive with this Slack app: all of them must share one Redis store", "connections",
			others, "of", mostSockets)
	}
}

// left counts a connection that is gone.
func (s *session) left(err error) {
	s.mu.Lock()
	s.live--
	deaf := s.live == 0
	s.mu.Unlock()
	if deaf {
		s.outage.Failed(err)
	}
}

// alone reports that no connection is open.
func (s *session) alone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live == 0
}

// contested notes that somebody pressed a button of a request that our store does not know,
// while others receive with our app.
func (s *session) contested() {
	s.mu.Lock()
	others := s.others
	s.mu.Unlock()
	if others == 0 {
		return
	}
	const what = "another daemon receives with this Slack app, and has a store of its own: Slack brings each answer to " +
		"one of them, and the wrong one cannot count it"
	const cure = "give each daemon an app of its own, or have them share one Redis store"
	s.outage.Contested(what + ": " + cure)
	s.contest.Do(func() { s.log.Error(what, "connections", others, "cure", cure) })
}

func (s *session) who() guard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.guard
}

// An ack answers one envelope, once. Later answers are ignored.
type ack struct {
	keys []string // under which the event may come again
	once sync.Once
	send func(payload any)
	rich bool      // Slack takes a payload
	at   time.Time // when the event arrived; zero if that is unknown because it had arrived before
}

func (a *ack) done(payload any) bool {
	sent := false
	a.once.Do(func() {
		a.send(payload)
		sent = true
	})
	return sent
}

// leave prevents an acknowledgement, and reports whether none was sent before.
func (a *ack) leave() bool {
	left := false
	a.once.Do(func() { left = true })
	return left
}

// accept starts the work on one event. It acknowledges an event only once it has taken it on:
// if all handlers are busy, Slack delivers the event again.
func (s *session) accept(ctx context.Context, on link, ev socketmode.Event) {
	if ev.Request == nil || ev.Request.EnvelopeID == "" {
		return
	}
	s.takeOn(ctx, ev, func(payload any) {
		if err := on.client.AckCtx(on.ctx, ev.Request.EnvelopeID, payload); err != nil && on.ctx.Err() == nil {
			s.log.Warn("could not acknowledge a slack event", "error", err)
		}
	})
}

// takeOn starts the work on one event, whichever way it came. send acknowledges it. takeOn reports false
// if all handlers are busy.
func (s *session) takeOn(ctx context.Context, ev socketmode.Event, send func(payload any)) bool {
	select {
	case s.slots <- struct{}{}:
	default:
		s.log.Warn("too many slack events at once: one is left for redelivery", "limit", maxHandlers)
		return false
	}
	a := &ack{keys: eventKeys(ev), rich: ev.Request.AcceptsResponsePayload, send: send}
	if ev.Request.RetryAttempt == 0 {
		a.at = time.Now()
	}
	s.wg.Go(func() {
		defer func() { <-s.slots }()
		defer a.done(nil)
		defer receiving.Recovered(s.log, "slack event handler panicked")
		if !s.seen.First(a.keys...) {
			if slices.ContainsFunc(a.keys, s.foreign.Has) {
				a.leave()
			}
			s.log.Debug("slack event delivered again", "envelope", ev.Request.EnvelopeID, "attempt", ev.Request.RetryAttempt)
			return
		}
		s.handle(ctx, a, ev)
	})
	return true
}

// skip acknowledges an event that the library cannot read, for example of a kind newer than the
// library, so that Slack does not send it for ever.
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
	var keys []string
	add := func(kind, id string) {
		if id != "" {
			keys = append(keys, kind+" "+id)
		}
	}
	add("envelope", ev.Request.EnvelopeID)
	switch d := ev.Data.(type) {
	case slack.InteractionCallback:
		add("trigger", d.TriggerID)
	case slack.SlashCommand:
		add("trigger", d.TriggerID)
	case slackevents.EventsAPIEvent:
		add("event", eventID(&d))
	}
	return keys
}

// eventID is the id of an event; empty if it has none.
func eventID(d *slackevents.EventsAPIEvent) string {
	if cb, ok := d.Data.(*slackevents.EventsAPICallbackEvent); ok {
		return cb.EventID
	}
	return ""
}
