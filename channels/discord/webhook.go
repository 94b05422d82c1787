package discord

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/display"
	"approver.example/internal/section"
	"approver.example/internal/webhooks"
)

// This file takes the interactions that Discord brings over HTTP, in the place of the gateway: they are
// handled by the same code. The first response to one is the answer to its request; Discord takes it in
// no other way. What follows goes over REST, as always.

const (
	signatureHeader = "X-Signature-Ed25519"
	stampHeader     = "X-Signature-Timestamp"
	// signedWithin is how far Discord's clock and ours may be apart. Discord brings an interaction once, and
	// gives it up after three seconds, so nothing genuine is older; the rest is for a clock that is off.
	signedWithin = time.Minute
)

// A hook is where Discord brings interactions.
type hook struct {
	*Channel
	at   string // its address as Discord sees it
	key  atomic.Pointer[ed25519.PublicKey]
	gate webhooks.Gate[run]
}

// A run is an intake that receives until its context ends.
type run struct {
	*intake
	ctx context.Context
}

// newHook makes the hook of a channel; nil if it is to use the gateway.
func newHook(cfg Config, c *Channel) *hook {
	if cfg.Receive != section.ByWebhook {
		return nil
	}
	h := &hook{Channel: c}
	if key, err := publicKey(cfg.PublicKey); err == nil {
		h.key.Store(&key)
	}
	return h
}

// publicKey reads the public key of an application.
func publicKey(text string) (ed25519.PublicKey, error) {
	key, err := hex.DecodeString(text)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, errors.New("it is no public key")
	}
	return key, nil
}

// Webhook returns where Discord brings interactions; nil with the gateway.
func (c *Channel) Webhook() webhooks.Hook {
	if c.hook == nil {
		return nil
	}
	return c.hook
}

// Head wants a signature, and a time that is near.
func (h *hook) Head(header http.Header) error {
	if len(header.Get(signatureHeader)) != 2*ed25519.SignatureSize || header.Get(stampHeader) == "" {
		return webhooks.ErrUnsigned
	}
	return webhooks.Fresh(header.Get(stampHeader), time.Now(), signedWithin)
}

// Verify checks the signature over the time and the body.
func (h *hook) Verify(header http.Header, body []byte) error {
	if err := h.Head(header); err != nil {
		return err
	}
	key := h.key.Load()
	if key == nil {
		return errors.New("the application's public key is not known yet: Discord has not told it")
	}
	signature, err := hex.DecodeString(header.Get(signatureHeader))
	if err != nil || !ed25519.Verify(*key, append([]byte(header.Get(stampHeader)), body...), signature) {
		return errors.New("its signature is not made with the key of the bot's application")
	}
	return nil
}

// Judged counts requests.
func (h *hook) Judged(refused error) { h.outage.Judged(refused) }

// Take handles one interaction and returns the response to it.
func (h *hook) Take(ctx context.Context, _ http.Header, body []byte) webhooks.Answer {
	var i discordgo.Interaction
	if err := json.Unmarshal(body, &i); err != nil {
		h.log.Warn("an interaction that cannot be read is ignored", "error", err)
		return webhooks.Answer{Status: http.StatusBadRequest}
	}
	if i.Type == discordgo.InteractionPing {
		return webhooks.Answer{Body: map[string]any{"type": discordgo.InteractionResponsePong}}
	}
	var waits *desk
	var response chan any
	if !h.gate.Enter(func(r *run) {
		waits = r.desk
		if response = waits.wait(i.ID); response != nil {
			r.interaction(r.ctx, &i)
		}
	}) {
		return webhooks.Away
	}
	if response == nil { // it waits already
		return webhooks.Answer{Status: http.StatusAccepted}
	}
	defer waits.leave(i.ID)
	late := time.NewTimer(h.ackWithin)
	defer late.Stop()
	select {
	case body := <-response:
		return webhooks.Answer{Body: body}
	case <-late.C:
	case <-ctx.Done():
	}
	return webhooks.Answer{Status: http.StatusAccepted} // nobody is told anything
}

// A desk is where requests wait for the responses to their interactions.
type desk struct {
	mu      sync.Mutex
	waiting map[string]chan any
}

// wait begins to wait for the response to an interaction; nil if its request waits already.
func (d *desk) wait(id string) chan any {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiting[id] != nil {
		return nil
	}
	response := make(chan any, 1)
	d.waiting[id] = response
	return response
}

func (d *desk) leave(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.waiting, id)
}

// respond answers the request of an interaction. It is an error if it no longer waits.
func (d *desk) respond(id string, body any) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	response := d.waiting[id]
	if response == nil {
		return errors.New("discord no longer waits for the response")
	}
	delete(d.waiting, id)
	response <- body
	return nil
}

// An application is what Discord says of the bot's application.
type application struct {
	ID       string `json:"id"`
	Key      string `json:"verify_key"`
	Endpoint string `json:"interactions_endpoint_url"`
	Bot      struct {
		ID string `json:"id"`
	} `json:"bot"`
}

func (c *Channel) application(ctx context.Context) (app application, err error) {
	err = c.call(ctx, "ask for the application", http.MethodGet, "applications/@me", nil, nil, &app)
	return app, err
}

// enter enters where interactions go: to an address, or to the gateway if it is nil.
func (c *Channel) enter(ctx context.Context, endpoint *string) error {
	return c.call(ctx, "enter where presses go", http.MethodPatch, "applications/@me",
		map[string]any{"interactions_endpoint_url": endpoint}, nil, nil)
}

// freeGateway takes away an address that somebody entered for interactions, because none come over the
// gateway then. It reports false if that has to be tried again.
func (c *Channel) freeGateway(ctx context.Context) bool {
	app, err := c.application(ctx)
	if err != nil || app.Endpoint == "" {
		return true // what is wrong with the connection shows elsewhere
	}
	c.log.Warn("an address for interactions is entered for this application, which keeps presses from us: taking it "+
		"away. If it comes back, another program uses the same bot", "address", display.OneLine(app.Endpoint))
	if err := c.enter(ctx, nil); err != nil {
		c.log.Error("presses on cards do not arrive: they go to another address", "error", err, "cure",
			"take the Interactions Endpoint URL out of General Information of the application")
		return false
	}
	return true
}

// problem says why interactions do not arrive, as far as Discord knows.
func (h *hook) problem(app application) error {
	if app.Endpoint != h.at {
		return fmt.Errorf("discord: presses go to %q and not to %s: the daemon enters that when it starts; if it changes "+
			"again, another program uses the same bot", display.OneLine(app.Endpoint), h.at)
	}
	return h.agrees(app)
}

// agrees makes sure that the configured key is the application's.
func (h *hook) agrees(app application) error {
	if _, err := publicKey(app.Key); err != nil {
		return errors.New("discord: ask for the application: the answer has no public key")
	}
	if h.cfg.PublicKey != "" && !strings.EqualFold(h.cfg.PublicKey, app.Key) {
		return calls.Errorf(calls.Fatal, "discord: public_key is not that of the bot's application, which is %s",
			app.Key)
	}
	return nil
}

// errOnlyDaemon ends a pairing on its own with a webhook: Discord brings everything to the daemon.
var errOnlyDaemon = errors.New("discord: with receive: webhook only the daemon receives: start it, and run this " +
	"again. The first approver is paired before receive is set")

// attend takes what Discord brings until ctx ends. It looks now and then whether Discord still knows the
// bot and brings interactions here. Like Run with the gateway, it ends when Discord has refused the bot
// twice in a row.
func (c *Channel) attend(ctx context.Context, reply approver.ReplyFunc) error {
	if c.pairsOnly {
		return errOnlyDaemon
	}
	workers := newWorkers(c.log)
	defer workers.stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer c.outage.Stopped()
	in := newIntake(c, workers, reply)
	in.desk = &desk{waiting: map[string]chan any{}}
	defer c.hook.gate.Open(&run{in, ctx})()
	for failures, refused := 0, false; ; {
		err := c.keepEndpoint(ctx)
		if ctx.Err() != nil {
			return nil
		}
		wait := c.look
		if err == nil {
			failures, refused = 0, false
			c.outage.Up()
			workers.try("set-up", 1, func() { c.setUp(ctx) })
		} else {
			wait = c.backoff.After(failures, err)
			failures++
			c.outage.Down(err, wait)
			if calls.Stops(err) && refused {
				return err
			}
			refused = calls.Stops(err)
		}
		if calls.Sleep(ctx, wait) != nil {
			return nil
		}
	}
}

// keepEndpoint learns who we are, and makes sure that Discord brings interactions here.
func (c *Channel) keepEndpoint(ctx context.Context) error {
	app, err := c.application(ctx)
	if err != nil {
		return err
	}
	err = c.know(&discordgo.Ready{User: &discordgo.User{ID: app.Bot.ID}, Application: &discordgo.Application{ID: app.ID}})
	if err == nil {
		err = c.hook.agrees(app)
	}
	if err != nil {
		return err
	}
	key, err := publicKey(app.Key)
	if err != nil {
		return err
	}
	c.hook.key.Store(&key)
	if app.Endpoint == c.hook.at {
		return nil
	}
	if !c.outage.Reception().Good.IsZero() {
		c.log.Warn("another program has changed where presses go: entering our address again", "it was",
			display.OneLine(app.Endpoint))
	}
	return c.enter(ctx, &c.hook.at)
}
