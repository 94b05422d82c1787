// Package discord shows cards in Discord channels and takes answers there, as
// an ordinary bot.
//
// # Answers
//
// A person approves by a button, by the code dialogue that a button opens, or
// by the registered commands /approve and /deny. A token that can only post
// messages can do none of these. A typed message may deny; it approves only with
// [Config.TextApprovals].
//
// # Identity
//
// The first thing that is looked at in every event is who sent it: a person, by
// the stable id that Discord authenticated, on the approver list, in one of the
// configured channels. Bots, webhooks, forwarded and edited messages are nobody.
//
// # Connection
//
// Events come over the gateway WebSocket, each connection with a new discordgo
// session under a supervisor of our own: it backs off from one to sixty seconds,
// keeps within the number of sessions that Discord allows in a day, notices a
// gateway that falls silent, and gives up for good only when Discord says that no
// retry can help. What a person does while there is no connection fails in their
// client, and they do it again; cards are sent over REST all the time. Of several
// replicas, the holder of the lease [Channel.LeaseName] is connected; all may post.
package discord

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"approver.example"
)

// maxFile is the greatest file that is attached to a card, in bytes. It is
// below what Discord takes in a server without boosts.
const maxFile = 8 << 20

// libraryVersion makes discordgo ask the gateway for version 10. The library
// reads it from a variable of its own, always this same value, so that any
// number of channels with different addresses live in one process.
var libraryVersion = sync.OnceFunc(func() { discordgo.APIVersion = "10" })

// A Channel is one Discord bot. Use New to make one.
type Channel struct {
	cfg       Config
	log       *slog.Logger
	token     approver.Secret
	approvers map[string]bool
	channels  map[string]bool
	wire      *wire
	rest      *discordgo.Session // for requests only: it is never opened
	files     *http.Client       // for attachments; it carries no token
	nonceKey  []byte
	seen      *memory
	pairing   approver.Pairing
	pairsOnly bool // made by ForPairing

	// Times, changed by tests only.
	ackWithin time.Duration // Discord voids an interaction that is not acknowledged in 3 s
	hello     time.Duration // how long the gateway may be silent before it is ready
	silence   time.Duration // and after: more than two of its heartbeats
	backoff   time.Duration // the first wait before a new connection, at most
	settled   time.Duration // a connection that lasted this long was a good one

	mu      sync.Mutex
	app     string            // our application's id
	bot     string            // our bot user's id
	guilds  map[string]string // a channel's server, as Discord says
	applied bool              // the commands are registered
	homes   []string          // the servers that the bot is in; with pairsOnly
}

// New returns a channel for a valid configuration. It reads the token's file and
// connects to nothing. The error names every problem of cfg at once.
func New(cfg Config, log *slog.Logger) (*Channel, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	token, err := approver.SecretFrom("token", cfg.Token, cfg.TokenFile)
	if err != nil {
		return nil, fmt.Errorf("discord: %w", err)
	}
	if err := checkToken(token); err != nil {
		return nil, err
	}
	base, err := cfg.base()
	if err != nil {
		return nil, err
	}
	libraryVersion()
	c := &Channel{
		cfg: cfg, log: log.With("channel", Name), token: token,
		approvers: map[string]bool{}, channels: map[string]bool{}, guilds: map[string]string{},
		wire: newWire(base), nonceKey: make([]byte, 32), seen: newMemory(4096),
		ackWithin: 2500 * time.Millisecond, hello: 15 * time.Second, silence: 90 * time.Second,
		backoff: time.Second, settled: 90 * time.Second,
	}
	if _, err := rand.Read(c.nonceKey); err != nil {
		return nil, fmt.Errorf("discord: %w", err)
	}
	for _, a := range cfg.Approvers {
		c.approvers[a.ID] = true
	}
	for _, id := range cfg.Channels {
		c.channels[id] = true
	}
	c.files = &http.Client{Transport: c.wire.next, CheckRedirect: noRedirect}
	if c.rest, err = c.session(); err != nil {
		return nil, err
	}
	c.rest.Client = &http.Client{Transport: c.wire}
	return c, nil
}

// session returns a discordgo session without any of the library's own retries.
func (c *Channel) session() (*discordgo.Session, error) {
	s, err := discordgo.New("Bot " + c.token.Reveal())
	if err != nil {
		return nil, fmt.Errorf("discord: %w", err)
	}
	s.LogLevel = -1 // the library logs past our logger, whole payloads included
	s.ShouldReconnectOnError = false
	s.ShouldRetryOnRateLimit = false
	s.MaxRestRetries = 0
	s.StateEnabled = false
	s.SyncEvents = true // handlers run where their goroutine has an owner
	s.Compress = false
	return s, nil
}

// Name returns "discord".
func (c *Channel) Name() string { return Name }

// LeaseName names the lease that the receiving process holds: Discord gives
// every connection of a bot every event, and one answer to each is enough. The
// bot is told apart by a hash under its token, which gives neither away.
func (c *Channel) LeaseName() string {
	m := hmac.New(sha256.New, []byte(c.token.Reveal()))
	m.Write([]byte("approver: who receives from this bot"))
	return Name + ":" + hex.EncodeToString(m.Sum(nil)[:8])
}

// self returns the ids of our application and bot; empty before the first
// connection.
func (c *Channel) self() (app, bot string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.app, c.bot
}

// sent is what Discord says of a message that it took.
type sent struct {
	ID          string `json:"id"`
	ChannelID   string `json:"channel_id"`
	Embeds      []any  `json:"embeds"`
	Attachments []any  `json:"attachments"`
}

// Post shows a new card. A Post that is repeated with the same card, because the
// first answer was lost, does not show it twice: Discord knows it again by its
// nonce for some minutes.
func (c *Channel) Post(ctx context.Context, to approver.Destination, card approver.Card) (approver.Ref, error) {
	if err := ctx.Err(); err != nil {
		return approver.Ref{}, fmt.Errorf("discord: post a card: %w", err)
	}
	if err := c.place(to); err != nil {
		return approver.Ref{}, err
	}
	v, err := render(card, false)
	if err != nil {
		return approver.Ref{}, err
	}
	if n := len(v.file.content); n > maxFile {
		return approver.Ref{}, fmt.Errorf("discord: post a card: its %s has %d bytes, more than the %d that can be attached", v.file.name, n, maxFile)
	}
	v.Nonce, v.EnforceNonce = c.nonce(to, card), true
	var got sent
	err = c.twice(ctx, func() error {
		got = sent{}
		err := c.call(ctx, "post a card", http.MethodPost, "channels/"+to.Conversation+"/messages", v.message, v.files(), &got)
		if err == nil && !snowflake(got.ID) {
			err = fmt.Errorf("discord: post a card: the answer has no message id")
		}
		return err
	})
	if err != nil {
		return approver.Ref{}, err
	}
	if len(got.Embeds) < len(v.Embeds) || len(got.Attachments) < len(v.files()) {
		// Without its permissions a bot's message loses its embed, and people
		// would be asked to approve what they do not see.
		lost := fmt.Errorf("discord: post a card: Discord dropped the command from the message: give the bot Embed Links and Attach Files in channel %s", to.Conversation)
		if err := c.call(ctx, "take the card back", http.MethodDelete, "channels/"+to.Conversation+"/messages/"+got.ID, nil, nil, nil); err != nil {
			return approver.Ref{}, fmt.Errorf("%w; and it is still there: %w", lost, err)
		}
		return approver.Ref{}, lost
	}
	return approver.Ref{Destination: to, Message: got.ID, Partial: v.partial}, nil
}

// Update changes the card's message. What is attached stays.
func (c *Channel) Update(ctx context.Context, ref approver.Ref, card approver.Card) error {
	if err := c.place(ref.Destination); err != nil {
		return err
	}
	if !snowflake(ref.Message) {
		return fmt.Errorf("discord: update a card: %q is not a message id", ref.Message)
	}
	v, err := render(card, ref.Partial)
	if err != nil {
		return err
	}
	return c.twice(ctx, func() error {
		return c.call(ctx, "update a card", http.MethodPatch, "channels/"+ref.Conversation+"/messages/"+ref.Message, v.message, nil, nil)
	})
}

// place refuses destinations that are not configured.
func (c *Channel) place(to approver.Destination) error {
	switch {
	case to.Channel != Name:
		return fmt.Errorf("discord: the destination belongs to the channel %q", to.Channel)
	case to.Thread != "":
		return fmt.Errorf("discord: a thread is a channel of its own here: list its id %s under channels", to.Thread)
	case !c.channels[to.Conversation]:
		return fmt.Errorf("discord: the channel %q is not listed under channels", to.Conversation)
	}
	return nil
}

// nonce names one card in one channel, in at most 25 characters. It is keyed so
// that it says nothing of the code.
func (c *Channel) nonce(to approver.Destination, card approver.Card) string {
	m := hmac.New(sha256.New, c.nonceKey)
	for _, part := range []string{card.Request, to.Conversation, card.Code.Reveal()} {
		m.Write([]byte(part + "\x00"))
	}
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)[:16])
}

// files returns the attachment of the view, if any, to be read once.
func (v view) files() []*discordgo.File {
	if v.file.name == "" {
		return nil
	}
	return []*discordgo.File{v.file.attachment()}
}

func (f file) attachment() *discordgo.File {
	return &discordgo.File{Name: f.name, ContentType: "text/plain; charset=utf-8", Reader: strings.NewReader(f.content)}
}
