// Package slack puts cards before people in Slack and brings their answers.
//
// It talks to the Web API to post and edit cards, and to Socket Mode to hear of
// buttons, dialogues, the commands /approve and /deny, and messages; no port is
// opened. Approval is by interaction, which a stolen message-posting token
// cannot forge: a message may only deny, unless the configuration says
// otherwise.
//
// Every event passes the guard in identity.go before anything else in it is
// looked at.
//
// The Slack app needs Socket Mode, interactivity, the two commands registered
// by these names and, if messages are to deny, the message events of the kinds
// of conversation in use; [Config] names the scopes.
package slack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"approver.example"
)

// Name is the channel's word in the configuration.
const Name = "slack"

const (
	vetFor        = 10 * time.Minute // how long a conversation's check holds
	cleanUp       = 2 * time.Second  // for taking back a half-posted card when ctx has ended
	maxHistory    = 20               // messages looked through for a card that may have been posted
	maxUploadSize = 16 << 20         // bytes of an attached file
)

// A Channel is one Slack app in one workspace. Make it with New.
type Channel struct {
	cfg  Config
	log  *slog.Logger
	api  *slack.Client // holds both tokens
	http interface{ CloseIdleConnections() }
	pace pacer
	dead chan error // a call was refused for good: Run ends

	pairing   approver.Pairing
	pairsOnly bool // made by ForPairing

	mu     sync.Mutex
	vetted map[string]time.Time // conversations that were found to be our own alone
}

// New makes the channel. It reads the token files, refuses a configuration that
// Validate refuses, and makes no connection.
func New(cfg Config, log *slog.Logger) (*Channel, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("slack: %w", err)
	}
	bot, app, err := cfg.secrets()
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
	client := newHTTPClient()
	return &Channel{
		cfg:  cfg,
		log:  log.With("channel", Name),
		http: client,
		api: slack.New(bot.Reveal(), slack.OptionAppLevelToken(app.Reveal()), slack.OptionAPIURL(url),
			slack.OptionHTTPClient(client), slack.OptionLog(quiet())),
		dead:   make(chan error, 1),
		vetted: map[string]time.Time{},
	}, nil
}

// Name returns "slack".
func (c *Channel) Name() string { return Name }

// Post shows a new card. A card whose texts do not fit is posted with the whole
// as a file in its thread, and is Partial. A conversation that is shared with
// another organisation gets no card.
func (c *Channel) Post(ctx context.Context, to approver.Destination, card approver.Card) (approver.Ref, error) {
	if to.Channel != Name || !c.has(to.Conversation) {
		return approver.Ref{}, fmt.Errorf("slack: %q is not a configured conversation: add it to channels", to.Conversation)
	}
	if card.Request == "" || len(card.Request) > maxRequest {
		return approver.Ref{}, fmt.Errorf("slack: a card needs a request id of 1 to %d bytes", maxRequest)
	}
	if err := c.vet(ctx, to.Conversation); err != nil {
		return approver.Ref{}, err
	}
	rev := newRev()
	m := render(card, false, rev)
	// The files go up first and are shared last, so that no card stands without
	// its files for longer than one call takes.
	uploads, err := c.upload(ctx, m.files)
	if err != nil {
		return approver.Ref{}, err
	}
	ts, err := c.send(ctx, to, m)
	if err != nil && !certain(err) {
		ts, err = c.find(ctx, to, blockID(card.Request, rev), err)
	}
	if err != nil {
		return approver.Ref{}, err
	}
	if err := c.share(ctx, to, ts, uploads); err != nil {
		return approver.Ref{}, errors.Join(err, c.remove(ctx, to.Conversation, ts))
	}
	return approver.Ref{Destination: to, Message: ts, Partial: m.partial}, nil
}

// Update edits the message to show card.
func (c *Channel) Update(ctx context.Context, ref approver.Ref, card approver.Card) error {
	if ref.Message == "" || ref.Channel != Name {
		return errors.New("slack: nothing was posted that could be updated")
	}
	m := render(card, ref.Partial, newRev())
	return c.call(ctx, "chat.update", func(ctx context.Context) error {
		_, _, _, err := c.api.UpdateMessageContext(ctx, ref.Conversation, ref.Message, content(m)...)
		return err
	})
}

// content are the options that every card is sent with: nothing in it is
// parsed, linked or previewed.
func content(m message) []slack.MsgOption {
	return append(plainOptions(m.text), slack.MsgOptionBlocks(m.blocks...))
}

func plainOptions(text string) []slack.MsgOption {
	return []slack.MsgOption{
		slack.MsgOptionText(text, true),
		slack.MsgOptionDisableMarkdown(),
		slack.MsgOptionParse(false),
		slack.MsgOptionLinkNames(false),
		slack.MsgOptionDisableLinkUnfurl(),
		slack.MsgOptionDisableMediaUnfurl(),
	}
}

func (c *Channel) send(ctx context.Context, to approver.Destination, m message) (ts string, err error) {
	opts := content(m)
	if to.Thread != "" {
		opts = append(opts, slack.MsgOptionTS(to.Thread))
	}
	err = c.call(ctx, "chat.postMessage", func(ctx context.Context) error {
		_, ts, err = c.api.PostMessageContext(ctx, to.Conversation, opts...)
		return err
	})
	if err == nil && ts == "" {
		err = errors.New("slack: chat.postMessage: the answer names no message")
	}
	return ts, err
}

// find looks for a card whose posting ended in an ambiguous error. Finding
// it turns the failure into a success; else the failure stands.
func (c *Channel) find(ctx context.Context, to approver.Destination, block string, failure error) (string, error) {
	if ctx.Err() != nil {
		return "", failure
	}
	var list []slack.Message
	err := c.call(ctx, "conversations.history", func(ctx context.Context) (err error) {
		if to.Thread != "" {
			list, _, _, err = c.api.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
				ChannelID: to.Conversation, Timestamp: to.Thread, Limit: 10 * maxHistory})
			return err
		}
		h, err := c.api.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{
			ChannelID: to.Conversation, Limit: maxHistory})
		if err == nil {
			list = h.Messages
		}
		return err
	})
	if err != nil {
		c.log.Debug("could not look for a card that may have been posted", "error", err)
		return "", failure
	}
	for _, m := range list {
		for _, b := range m.Blocks.BlockSet {
			if a, ok := b.(*slack.ActionBlock); ok && a.BlockID == block {
				return m.Timestamp, nil
			}
		}
	}
	return "", failure
}

func (c *Channel) remove(ctx context.Context, conversation, ts string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
	defer cancel()
	return c.call(ctx, "chat.delete", func(ctx context.Context) error {
		_, _, err := c.api.DeleteMessageContext(ctx, conversation, ts)
		return err
	})
}

// upload sends files to Slack without showing them to anybody yet.
func (c *Channel) upload(ctx context.Context, files []file) ([]slack.FileSummary, error) {
	var done []slack.FileSummary
	for _, f := range files {
		if len(f.content) > maxUploadSize {
			return nil, fmt.Errorf("slack: the card's %s has %d bytes, more than the %d that are attached", f.name, len(f.content), maxUploadSize)
		}
		var at *slack.GetUploadURLExternalResponse
		err := c.call(ctx, "files.getUploadURLExternal", func(ctx context.Context) (err error) {
			at, err = c.api.GetUploadURLExternalContext(ctx, slack.GetUploadURLExternalParameters{
				FileName: f.name, FileSize: len(f.content)})
			return err
		})
		if err != nil {
			return nil, err
		}
		err = c.call(ctx, "file upload", func(ctx context.Context) error {
			return c.api.UploadToURL(ctx, slack.UploadToURLParameters{
				UploadURL: at.UploadURL, Content: f.content, Filename: f.name})
		})
		if err != nil {
			return nil, err
		}
		done = append(done, slack.FileSummary{ID: at.FileID, Title: f.name})
	}
	return done, nil
}

// share shows uploaded files in the card's thread. A reply cannot have a thread
// of its own, so a card inside a thread has its files beside it.
func (c *Channel) share(ctx context.Context, to approver.Destination, ts string, files []slack.FileSummary) error {
	if len(files) == 0 {
		return nil
	}
	return c.call(ctx, "files.completeUploadExternal", func(ctx context.Context) error {
		_, err := c.api.CompleteUploadExternalContext(ctx, slack.CompleteUploadExternalParameters{
			Files: files, Channel: to.Conversation, ThreadTimestamp: or(to.Thread, ts)})
		return err
	})
}

// vet makes sure that a conversation can get cards, and that it is not shared
// with another organisation, whose members would read commands and codes. A good
// answer holds for a while. What only people can cure is a fatalError.
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
	if e, ok := errors.AsType[slack.SlackErrorResponse](err); ok && (e.Err == "channel_not_found" || e.Err == "not_in_channel") {
		return fatal("%w: the conversation %s does not exist or the bot is not in it: type /invite @bot there", err, conversation)
	}
	switch {
	case err != nil:
		return err
	case info.ID == "":
		return fmt.Errorf("slack: conversations.info says nothing of %s", conversation)
	case info.ID != conversation:
		return fatal("slack: the conversation %s has become %s: put that id under channels", conversation, info.ID)
	case info.IsExtShared || info.IsPendingExtShared:
		return fatal("slack: the conversation %s is shared with another organisation (Slack Connect): cards are not shown to outsiders, use another one", conversation)
	case info.IsArchived:
		return fatal("slack: the conversation %s is archived: unarchive it, or use another one", conversation)
	case info.IsChannel && !info.IsPrivate && !info.IsMember: // of a public one Slack tells even outsiders
		return fatal("slack: the bot is not in the conversation %s: type /invite @bot there", conversation)
	}
	c.mu.Lock()
	c.vetted[conversation] = time.Now()
	c.mu.Unlock()
	return nil
}

func (c *Channel) has(conversation string) bool {
	for _, id := range c.cfg.Channels {
		if id == conversation {
			return true
		}
	}
	return false
}

// newRev makes the part of a block id that is new at each update.
func newRev() string { return strconv.FormatInt(time.Now().UnixNano(), 36) }
