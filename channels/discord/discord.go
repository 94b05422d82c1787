// Package discord shows cards in Discord channels and takes answers there, as
// an ordinary bot.
//
// # Answers
//
// A person approves by a button, by the code dialog that a button opens, or
// by the registered commands /approve and /deny. A token that can only post
// messages can do none of these. A typed message may deny, in the thread of a card too; it approves only with
// [Config.TextApprovals].
//
// # Identity
//
// Every event is checked first for who sent it: a person, by the stable id that Discord
// authenticated, on the approver list, in one of the configured channels. Bots, webhooks, and
// forwarded or edited messages never count.
//
// # Connection
//
// Events come over the gateway WebSocket. Run backs off from one to sixty seconds, keeps within
// the number of sessions that Discord allows in a day, notices a connection that is dead, and
// ends only when Discord has refused the bot twice in a row. It resumes the session, so that
// Discord delivers what people did in between, and begins a new one if that fails. Cards are sent
// over REST. Of several replicas, only the holder of the lease [Channel.LeaseName] is connected;
// all may post. The next holder resumes the session too, from the last event that was handled.
//
// Two daemons with separate stores must not share a bot: Discord delivers every answer to both.
// A daemon that does not know a card's request leaves the answer to the other one for a second,
// and the logs of both say what to do.
//
// With receive: webhook Discord brings interactions, signed, to the daemon's listener, and no messages:
// there is no gateway connection and no lease.
//
// # Reading order
//
// Settings: config.go, pair.go. Cards: discord.go, post.go, render.go. Answers: gateway.go, connection.go,
// webhook.go, journal.go, identity.go, answer.go, read.go, dialog.go, text.go, thread.go, tell.go,
// workers.go, commands.go. The way to Discord: wire.go, health.go.
package discord

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/pairing"
	"approver.example/channels/internal/receiving"
)

// A Channel is one Discord bot. Use New to make one.
type Channel struct {
	receiving.Speech
	receiving.Overheard
	cfg       Config
	log       *slog.Logger
	token     *calls.Token
	key       string // the token of the start: what is derived from it must not change
	people    approver.People
	wire      *wire
	rest      *discordgo.Session // for requests only: it is never opened
	seen      *receiving.Seen[string]
	outage    receiving.Outage
	contest   atomic.Bool     // another daemon was reported in the log
	memory    approver.Memory // guarded by mu; nil if nothing is kept for the next process
	pairing   pairing.Waiting
	pairsOnly bool                 // made by ForPairing
	told      calls.Pauses[string] // who was told lately why their messages do not count
	hints     receiving.Hints[string]
	threads   threads
	begun     calls.Pauses[struct{}] // since when the last session is, for sparedFor
	hook      *hook                  // where Discord brings interactions; nil with the gateway

	// Times, changed by tests only.
	ackWithin time.Duration // Discord voids an interaction that is not acknowledged in 3 s
	hello     time.Duration // how long the gateway may be silent before it is ready
	silence   time.Duration // how long it may take to acknowledge a heartbeat
	backoff   calls.Backoff // before a new connection
	settled   time.Duration // a connection that lasted this long was a good one
	soon      time.Duration // how long an answer may take before it is acknowledged without a decision
	leave     time.Duration // how long another daemon has to take an answer that is not ours
	look      time.Duration // with a webhook, from one look at the application to the next
	handover  time.Duration // how long a replica that lost the lease may still answer

	mu      sync.Mutex
	app     string            // our application's id
	bot     string            // our bot user's id
	guilds  map[string]string // the server of each channel, according to Discord
	applied bool              // the commands are registered
	homes   []string          // the servers that the bot is in; with pairsOnly
}

// New returns a channel for a valid configuration. It reads the token file and makes no
// connection. The error names every problem of cfg at once. Entries in log should name the
// channel.
func New(cfg Config, log *slog.Logger) (*Channel, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	token, err := calls.NewToken("token", cfg.Token, cfg.TokenFile, checkToken)
	if err != nil {
		return nil, fmt.Errorf("discord: %w", err)
	}
	base, err := cfg.base()
	if err != nil {
		return nil, err
	}
	c := &Channel{
		cfg: cfg, log: log, token: token, key: token.Reveal(), outage: receiving.Outage{Log: log, Platform: "Discord"},
		people: approver.People{}, guilds: map[string]string{},
		wire: newWire(base, token), seen: receiving.NewSeen[string](4096),
		ackWithin: 2500 * time.Millisecond, hello: 15 * time.Second, silence: 20 * time.Second,
		// Discord allows a thousand sessions a day.
		backoff: calls.Backoff{First: time.Second, Last: time.Minute}, settled: 90 * time.Second,
		soon: 400 * time.Millisecond, leave: time.Second, handover: 2 * approver.LeaseTTL,
		look: 15 * time.Second,
	}
	c.people.Add(Name, cfg.Approvers)
	if c.rest, err = discordgo.New("Bot " + token.StandIn()); err != nil {
		return nil, fmt.Errorf("discord: %w", err)
	}
	c.rest.LogLevel = -1 // the library bypasses our logger, and logs whole payloads
	c.rest.Client = &http.Client{Transport: c.wire}
	c.hook = newHook(cfg, c)
	return c, nil
}

// Name returns "discord".
func (c *Channel) Name() string { return Name }

// LeaseName names the lease that the receiving process holds: Discord sends every event to
// every connection of a bot, and each needs only one answer. The name contains a keyed hash
// that identifies the bot without revealing its token. It is empty with a webhook: Discord brings each
// interaction to one replica.
func (c *Channel) LeaseName() string {
	if c.hook != nil {
		return ""
	}
	return Name + ":" + hex.EncodeToString(c.keyed("approver: who receives from this bot")[:8])
}

// keyed is a hash of some texts under the token: the same in every process that has the token,
// and meaningless to everybody else.
func (c *Channel) keyed(parts ...string) []byte {
	m := hmac.New(sha256.New, []byte(c.key))
	for i, part := range parts {
		if i > 0 {
			m.Write([]byte("\x00"))
		}
		m.Write([]byte(part))
	}
	return m.Sum(nil)
}

// Reception says whether the gateway brings answers now.
func (c *Channel) Reception() approver.Reception { return c.outage.Reception() }

// self returns the ids of our application and bot; empty before the first
// connection.
func (c *Channel) self() (app, bot string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.app, c.bot
}
