package slack

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/internal/secret"
	"approver.example/internal/section"
	"approver.example/internal/webhooks"
)

// This file takes the events that Slack brings over HTTP, in the place of Socket Mode: they are read into
// the same events, and handled by the same code.

const (
	stampHeader     = "X-Slack-Request-Timestamp"
	signatureHeader = "X-Slack-Signature"
	retryHeader     = "X-Slack-Retry-Num"
	// signedWithin is how far Slack's clock and ours may be apart, and how long a request may travel. It is
	// what Slack advises. Within it an event counts once, by its id.
	signedWithin = 5 * time.Minute
	// hookAckIn is after how long a request is acknowledged, whatever became of it: Slack gives up after 3 s.
	hookAckIn = 2500 * time.Millisecond
)

// A hook is where Slack brings events.
type hook struct {
	*Channel
	key  []byte
	gate webhooks.Gate[run]
}

// A run is a session that receives until its context ends.
type run struct {
	*session
	ctx context.Context
}

// newHook makes the hook of a channel; nil if it is to use Socket Mode.
func newHook(cfg Config, c *Channel) (*hook, error) {
	if cfg.Receive != section.ByWebhook {
		return nil, nil //nolint:nilnil // there is none
	}
	text, err := secret.From("signing_secret", cfg.SigningSecret, cfg.SigningSecretFile)
	if err == nil {
		err = checkSigning(text)
	}
	if err != nil {
		return nil, err
	}
	return &hook{Channel: c, key: []byte(text.Reveal())}, nil
}

// Webhook returns where Slack brings events; nil with Socket Mode.
func (c *Channel) Webhook() webhooks.Hook {
	if c.hook == nil {
		return nil
	}
	return c.hook
}

// Head wants a signature, and a time that is near.
func (h *hook) Head(header http.Header) error {
	if header.Get(signatureHeader) == "" || header.Get(stampHeader) == "" {
		return webhooks.ErrUnsigned
	}
	return webhooks.Fresh(header.Get(stampHeader), time.Now(), signedWithin)
}

// Verify compares the signature over the time and the body.
func (h *hook) Verify(header http.Header, body []byte) error {
	if err := h.Head(header); err != nil {
		return err
	}
	m := hmac.New(sha256.New, h.key)
	_, _ = fmt.Fprintf(m, "v0:%s:", header.Get(stampHeader))
	_, _ = m.Write(body)
	want := "v0=" + hex.EncodeToString(m.Sum(nil))
	if !hmac.Equal([]byte(want), []byte(header.Get(signatureHeader))) {
		return errors.New("its signature is not made with signing_secret")
	}
	return nil
}

// Judged counts requests.
func (h *hook) Judged(refused error) { h.outage.Judged(refused) }

// Take handles one event. The answer is the acknowledgement: an event that nobody takes on, because
// the channel is not running or all handlers are busy, is refused, and Slack brings it again if it is one
// that Slack repeats.
func (h *hook) Take(ctx context.Context, header http.Header, body []byte) webhooks.Answer {
	if challenge, ok := challenged(body); ok {
		return webhooks.Answer{Body: map[string]string{"challenge": challenge}}
	}
	ev, err := parsed(header, body)
	if err != nil {
		h.log.Warn("slack sent an event that cannot be read", "error", err)
		return webhooks.Answer{}
	}
	acked, begun := make(chan any, 1), false
	entered := h.gate.Enter(func(r *run) {
		begun = r.takeOn(r.ctx, ev, func(payload any) { acked <- payload })
	})
	if !entered || !begun {
		return webhooks.Away
	}
	late := time.NewTimer(hookAckIn)
	defer late.Stop()
	select {
	case payload := <-acked:
		return webhooks.Answer{Body: payload}
	case <-late.C:
	case <-ctx.Done():
	}
	return webhooks.Answer{}
}

// challenged returns the word with which Slack asks, when somebody enters the address, whether we are
// who we are.
func challenged(body []byte) (challenge string, ok bool) {
	var q struct {
		Type      string `json:"type"`
		Challenge string `json:"challenge"`
	}
	if isForm(body) || json.Unmarshal(body, &q) != nil || q.Type != slackevents.URLVerification {
		return "", false
	}
	return q.Challenge, true
}

// isForm reports that a body is a form, and not JSON. Slack's signature has the body and not its type: whoever
// could change that header would have a message of a stranger read as somebody's press.
func isForm(body []byte) bool { return !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) }

// parsed reads a request into the event that Socket Mode would have brought.
func parsed(header http.Header, body []byte) (ev socketmode.Event, err error) {
	ev.Request = &socketmode.Request{AcceptsResponsePayload: true}
	if n := header.Get(retryHeader); n != "" && n != "0" {
		ev.Request.RetryAttempt = 1 // when it first came is not known
	}
	if !isForm(body) {
		var inner slackevents.EventsAPIEvent
		ev.Type, ev.Request.AcceptsResponsePayload = socketmode.EventTypeEventsAPI, false
		inner, err = slackevents.ParseEvent(body, slackevents.OptionNoVerifyToken())
		ev.Data = inner
		return ev, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return ev, errors.New("the form is not readable")
	}
	if payload := form.Get("payload"); payload != "" {
		var cb slack.InteractionCallback
		ev.Type = socketmode.EventTypeInteractive
		err = json.Unmarshal([]byte(payload), &cb)
		ev.Data = cb
		return ev, err
	}
	if form.Get("command") == "" {
		return ev, errors.New("the form has neither a payload nor a command")
	}
	words := form.Get("text")
	ev.Type = socketmode.EventTypeSlashCommand
	ev.Data = slack.SlashCommand{
		TeamID: form.Get("team_id"), TeamDomain: form.Get("team_domain"), EnterpriseID: form.Get("enterprise_id"),
		ChannelID: form.Get("channel_id"), ChannelName: form.Get("channel_name"), UserID: form.Get("user_id"),
		UserName: form.Get("user_name"), Command: form.Get("command"), Text: words,
		TriggerID: form.Get("trigger_id"), APIAppID: form.Get("api_app_id"),
	}
	return ev, nil
}

// errOnlyDaemon ends a pairing on its own with a webhook: Slack brings everything to the daemon.
var errOnlyDaemon = errors.New("slack: with receive: webhook only the daemon receives: start it, and run this again. " +
	"The first approver is paired before receive is set")

// receiveHooks takes what Slack brings until ctx ends or Slack refuses the app. It looks now and then
// whether Slack still knows the token: nothing else would tell that answers no longer arrive.
func (c *Channel) receiveHooks(ctx context.Context, reply approver.ReplyFunc) (received bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := c.begin(ctx, reply)
	if err != nil {
		return false, err
	}
	defer s.wg.Wait()
	defer cancel()
	defer c.hook.gate.Open(&run{s, ctx})()
	defer c.outage.Stopped()
	for attempt := 0; ; {
		_, err := c.me(ctx)
		wait := c.look
		switch {
		case ctx.Err() != nil:
			return received, ctx.Err()
		case calls.Stops(err):
			return received, err
		case err != nil:
			wait = calls.Usual().After(attempt, err)
			attempt++
			c.outage.Down(err, wait)
		default:
			attempt, received = 0, true
			c.outage.Up()
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		case refusal := <-c.dead:
			if err := c.confirm(ctx, refusal); err != nil {
				return received, err
			}
		}
	}
}
