// Package slack puts cards before people in Slack and brings their answers.
//
// It uses the Web API to post and edit cards, and Socket Mode to receive buttons, dialogs, slash
// commands, messages and visits of the app's Home; it opens no port. With receive: webhook Slack brings
// the same events, signed, to the daemon's listener. People approve by interactions,
// which a stolen message-posting token cannot forge: a message may only deny, unless the
// configuration says otherwise.
//
// Every event passes the guard in identity.go before anything else in it is
// looked at.
//
// The Slack app needs Socket Mode, interactivity, the two commands that approve and deny and, if
// messages are to deny, the message events of the kinds of conversation in use; [Config] names the
// scopes.
//
// Read config.go and pair.go for the settings, slack.go, post.go and render.go for the cards, run.go, socket.go,
// webhook.go, identity.go and events.go for the answers, dialogs.go, commands.go, messages.go and home.go for
// the ways to answer, tell.go for what people are told, and api.go and health.go for the way to Slack.
package slack

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slack-go/slack"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/pairing"
	"approver.example/channels/internal/receiving"
)

// Name is the channel's word in the configuration.
const Name = "slack"

const (
	vetFor        = 10 * time.Minute // how long a conversation's check holds
	cleanUp       = 2 * time.Second  // for taking back a half-posted card when ctx has ended
	maxHistory    = 50               // messages looked through for a card that may have been posted
	maxDoubts     = 1024             // cards remembered that may have been posted
	maxUploadSize = 16 << 20         // bytes of an attached file
)

// A Channel is one Slack app in one workspace. Make it with New.
type Channel struct {
	receiving.Speech
	receiving.Overheard
	cfg    Config
	log    *slog.Logger
	api    *slack.Client // holds both tokens
	http   *http.Client
	url    string               // of the Web API
	token  *calls.Token         // the bot's
	app    *calls.Token         // the app's, for connections
	pauses calls.Pauses[string] // by method
	dead   chan error           // the error of a call that was refused because of its token
	key    [32]byte             // keys the marks of cards, so that a mark reveals nothing of the code

	outage  receiving.Outage
	contest sync.Once     // another daemon was reported in the log
	leave   time.Duration // how long another daemon has to take a press that is not ours
	silence time.Duration // a connection without a ping of Slack's for so long is looked at twice, and then dead

	hook *hook         // where Slack brings events; nil with Socket Mode
	look time.Duration // with a webhook, from one look at Slack to the next

	pairing   pairing.Waiting
	pairsOnly bool         // made by ForPairing
	elsewhere atomic.Int32 // connections of other programs, according to Slack's last hello

	mu     sync.Mutex
	bot    string                  // who we are, with the workspace; empty before Slack has said so
	vetted map[string]time.Time    // when each conversation was found to be ours alone
	doubts *receiving.Seen[string] // cards that may have been posted although the call failed
}

// New makes the channel. Entries in log should name the channel. It reads the token files,
// refuses a configuration that Validate refuses, and makes no connection.
func New(cfg Config, log *slog.Logger) (*Channel, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("slack: %w", err)
	}
	bot, err := tokenOf("bot_token", botPrefix, cfg.BotToken, cfg.BotTokenFile)
	if err != nil {
		return nil, fmt.Errorf("slack: %w", err)
	}
	app, err := appToken(cfg)
	if err != nil {
		return nil, fmt.Errorf("slack: %w", err)
	}
	url, err := cfg.api()
	if err != nil {
		return nil, fmt.Errorf("slack: %w", err)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	client := newHTTPClient(url, bot, app)
	c := &Channel{
		cfg:  cfg,
		log:  log,
		http: client, url: url, token: bot, app: app,
		key:    sha256.Sum256([]byte("approver: cards in Slack\x00" + bot.Reveal())),
		outage: receiving.Outage{Log: log, Platform: "Slack"},
		leave:  5 * time.Second, silence: 30 * time.Second, look: 15 * time.Second,
		api: slack.New(bot.StandIn(), slack.OptionAppLevelToken(app.StandIn()), slack.OptionAPIURL(url),
			slack.OptionHTTPClient(client), slack.OptionLog(quiet())),
		dead:   make(chan error, 1),
		vetted: map[string]time.Time{},
		doubts: receiving.NewSeen[string](maxDoubts),
	}
	if c.hook, err = newHook(cfg, c); err != nil {
		return nil, fmt.Errorf("slack: %w", err)
	}
	return c, nil
}

// dial makes the connections of WebSockets as those of all calls are made.
func (c *Channel) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return c.http.Transport.(bounded).DialContext(ctx, network, addr)
}

// Name returns "slack".
func (c *Channel) Name() string { return Name }

// LeaseName names the lease of those that receive: one per app. The token of a real app names it.
func (c *Channel) LeaseName() string {
	if id := appOf(c.app.Reveal()); id != "" {
		return Name + ":" + id
	}
	return Name + ":" + cmp.Or(c.cfg.AppID, hex.EncodeToString(c.key[:8]))
}

const (
	mostSockets   = 10 // that Slack allows one app
	spareSockets  = 2  // while Slack still counts those of a process that died
	mostReceivers = 4  // more make nothing safer
)

// Seats is how many processes receive at once: each event comes to one of them, so they must share a store.
func (c *Channel) Seats() int {
	return max(min((mostSockets-spareSockets)/c.cfg.sockets(), mostReceivers), 1)
}

// vet makes sure that a conversation can get cards, and that it is not shared with another
// organization, whose members would read commands and codes. A good result holds for vetFor.
// What only people can cure is Fatal.
func (c *Channel) vet(ctx context.Context, conversation string) error {
	c.mu.Lock()
	fresh := time.Since(c.vetted[conversation]) < vetFor
	c.mu.Unlock()
	if fresh {
		return nil
	}
	var info *slack.Channel
	err := c.call(ctx, "conversations.info", func(ctx context.Context) (err error) {
		info, err = c.api.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: conversation})
		return err
	})
	if calls.KindOf(err) == calls.Refused {
		return fatal("%w (conversation %s)", err, conversation)
	}
	switch {
	case err != nil:
		return err
	case info.ID == "":
		return fmt.Errorf("slack: conversations.info says nothing of %s", conversation)
	case info.ID != conversation:
		return fatal("slack: the conversation %s has become %s: put that id under channels", conversation, info.ID)
	case info.IsExtShared || info.IsPendingExtShared:
		return fatal("slack: the conversation %s is shared with another organization (Slack Connect): cards are not shown "+
			"to outsiders, use another one", conversation)
	case info.IsArchived:
		return fatal("slack: the conversation %s is archived: unarchive it, or use another one", conversation)
	case info.IsChannel && !info.IsPrivate && !info.IsMember: // outsiders can look at public ones
		return fatal("slack: the bot is not in the conversation %s: type /invite @bot there", conversation)
	}
	c.mu.Lock()
	c.vetted[conversation] = time.Now()
	c.mu.Unlock()
	return nil
}

// unvet makes vet check a conversation again before its next card.
func (c *Channel) unvet(conversation string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.vetted, conversation)
}

// Reception says whether a connection brings answers now.
func (c *Channel) Reception() approver.Reception { return c.outage.Reception() }

// newRev makes the part of a block id that is new at each update.
func newRev() string { return strconv.FormatInt(time.Now().UnixNano(), 36) }
