package slack

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/cards"
)

// Post shows a new card. If its texts do not fit, the whole is attached as a file in the card's
// thread, and the Ref is Partial; if the file cannot be attached, the card says so. A
// conversation that is shared with another organization gets no card. If Post is repeated with
// the same card because the first answer was lost, it looks for that card first. What Slack refuses for what it
// is made of, it posts in a plainer form.
func (c *Channel) Post(ctx context.Context, to approver.Destination, card approver.Card) (approver.Ref, error) {
	if to.Channel != Name || !slices.Contains(c.cfg.Channels, to.Conversation) {
		return approver.Ref{}, calls.Final("slack: %q is not a configured conversation: add it to channels", to.Conversation)
	}
	if card.Request == "" || len(card.Request) > maxRequest {
		return approver.Ref{}, calls.Final("slack: a card needs a request id of 1 to %d bytes", maxRequest)
	}
	if err := c.vet(ctx, to.Conversation); err != nil {
		return approver.Ref{}, err
	}
	var first error
	for f := inBlocks; f <= asText; f++ {
		ref, err := c.postAs(ctx, to, card, f)
		if !refusesForm(err) {
			if errors.Is(err, approver.ErrFinal) {
				c.unvet(to.Conversation) // so that a cure is noticed at once
			}
			return ref, err
		}
		c.log.Warn("slack refuses what a card is made of", "request", card.Request, "conversation", to.Conversation,
			"error", err)
		if first == nil {
			first = err
		}
	}
	c.unvet(to.Conversation)
	return approver.Ref{}, calls.Final("%w", first)
}

// postAs posts a card in one form.
func (c *Channel) postAs(
	ctx context.Context, to approver.Destination, card approver.Card, f form,
) (approver.Ref, error) {
	mark := c.mark(to, card)
	m := c.render(f, card, cards.Fresh, mark)
	// The files are uploaded first and shared last, so that the card is without its files for
	// no longer than one call takes.
	uploads, err := c.upload(ctx, m.file)
	if ended := ctx.Err(); ended != nil {
		return approver.Ref{}, fmt.Errorf("slack: post a card: %w", ended)
	}
	if err != nil {
		c.log.Warn("a card is posted without its file", "request", card.Request, "conversation", to.Conversation, "error",
			err)
		m = c.render(f, card, cards.Missing, mark)
	}
	ts, err := c.once(ctx, to, card, mark, m)
	if err != nil {
		return approver.Ref{}, err
	}
	ref := approver.Ref{Destination: to, Message: ts, Partial: m.partial}
	if err := c.share(ctx, to, ts, uploads); err != nil {
		c.log.Warn("a card has no file", "request", card.Request, "conversation", to.Conversation, "error", err)
		if ref.Message, err = c.restate(ctx, ref, card, mark, c.render(f, card, cards.Missing, mark+newRev())); err != nil {
			return approver.Ref{}, err
		}
	}
	return ref, nil
}

// Fits reports whether a card will be shown whole, without a file beside it, in whichever form it is posted.
func (c *Channel) Fits(card approver.Card) bool {
	fits := func(f form) bool { return f.dialect(c.Commands()).Fits(card) }
	return fits(inBlocks) && fits(inSections) && fits(asText)
}

// mark identifies one card in one place. It is the same at every try. It is keyed, so that it
// reveals nothing of the code.
func (c *Channel) mark(to approver.Destination, card approver.Card) string {
	h := hmac.New(sha256.New, c.key[:])
	for _, part := range []string{card.Request, to.Conversation, to.Thread, card.Code.Reveal()} {
		h.Write([]byte(part + "\x00"))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:12])
}

// once posts a card unless an earlier try did, and returns the message's timestamp.
func (c *Channel) once(
	ctx context.Context, to approver.Destination, card approver.Card, mark string, m message,
) (string, error) {
	if c.doubts.Has(blockID(card.Request, mark)) {
		found, err := c.find(ctx, to, card, mark)
		if err != nil && !errors.Is(err, approver.ErrFinal) { // without the history scope nobody can look
			return "", err
		}
		if found != nil {
			if len(m.blocks) == 0 && unescape(found.Text) == m.text {
				return found.Timestamp, nil
			}
			// The earlier try may have had its file, or another form.
			return c.replace(ctx, approver.Ref{Destination: to, Message: found.Timestamp}, card, mark, m)
		}
	}
	return c.send(ctx, to, card, mark, m)
}

// send posts a card. If the answer is lost, it looks whether the card is there.
func (c *Channel) send(
	ctx context.Context, to approver.Destination, card approver.Card, mark string, m message,
) (string, error) {
	ts, err := c.trySend(ctx, to, m)
	if err == nil || certain(err) {
		return ts, err
	}
	c.doubts.First(blockID(card.Request, mark))
	if ctx.Err() != nil {
		return "", err
	}
	found, lookup := c.find(ctx, to, card, mark)
	if found != nil {
		return found.Timestamp, nil
	}
	if lookup != nil {
		c.log.Debug("could not look for a card that may have been posted", "error", lookup)
	}
	return "", err
}

// replace makes a card that waits, and that no person could answer yet, show m. Slack formats a text that is
// edited, whatever the call says, so a card without blocks is posted anew.
func (c *Channel) replace(
	ctx context.Context, ref approver.Ref, card approver.Card, mark string, m message,
) (string, error) {
	if len(m.blocks) > 0 {
		return ref.Message, c.edit(ctx, ref, m)
	}
	if err := c.delete(ctx, ref); err != nil {
		return "", err
	}
	return c.send(ctx, ref.Destination, card, mark, m)
}

// restate makes a card that names a file which is missing show m, or takes it back.
func (c *Channel) restate(
	ctx context.Context, ref approver.Ref, card approver.Card, mark string, m message,
) (string, error) {
	ts, err := c.replace(ctx, ref, card, mark, m)
	if err == nil {
		return ts, nil
	}
	if ts == "" { // it may be there still, or anew
		c.doubts.First(blockID(card.Request, mark))
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
	defer cancel()
	if err := c.delete(ctx, ref); err != nil {
		c.doubts.First(blockID(card.Request, mark))
		c.log.Warn("a card that has no file could not be taken back", "conversation", ref.Conversation, "error", err)
	}
	return "", err
}

func (c *Channel) delete(ctx context.Context, ref approver.Ref) error {
	return c.call(ctx, "chat.delete", func(ctx context.Context) error {
		_, _, err := c.api.DeleteMessageContext(ctx, ref.Conversation, ref.Message)
		return err
	})
}

// Update edits the message to show card. A card that waits keeps its buttons: it is not edited to a form without.
func (c *Channel) Update(ctx context.Context, ref approver.Ref, card approver.Card) error {
	if ref.Message == "" || ref.Channel != Name {
		return calls.Final("slack: nothing was posted that could be updated")
	}
	last := asText
	if card.State == approver.Pending {
		last = inSections
	}
	var first error
	for f := inBlocks; f <= last; f++ {
		m := c.renderAnew(f, card, ref.Partial, newRev())
		if m.partial && !ref.Partial && !card.State.Settled() {
			return fmt.Errorf("slack: update a card: %w", approver.ErrShowsLess)
		}
		err := c.edit(ctx, ref, m)
		if !refusesForm(err) {
			if errors.Is(err, approver.ErrFinal) {
				c.unvet(ref.Conversation)
			}
			return err
		}
		c.log.Warn("slack refuses what a card is made of", "request", card.Request, "conversation", ref.Conversation,
			"error", err)
		if first == nil {
			first = err
		}
	}
	c.unvet(ref.Conversation)
	return calls.Final("%w", first)
}

func (c *Channel) edit(ctx context.Context, ref approver.Ref, m message) error {
	return c.call(ctx, "chat.update", func(ctx context.Context) error {
		_, _, _, err := c.api.UpdateMessageContext(ctx, ref.Conversation, ref.Message,
			append(plainOptions(m.text), slack.MsgOptionBlocks(m.blocks...))...)
		return err
	})
}

// plainOptions are the options that every text is sent with: Slack parses, links and previews nothing in it.
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

func (c *Channel) trySend(ctx context.Context, to approver.Destination, m message) (ts string, err error) {
	opts := plainOptions(m.text)
	if len(m.blocks) > 0 {
		opts = append(opts, slack.MsgOptionBlocks(m.blocks...))
	}
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

// find looks for a card, whichever try or edit made it, in whatever form. It returns nil if the card is not there.
func (c *Channel) find(
	ctx context.Context, to approver.Destination, card approver.Card, mark string,
) (*slack.Message, error) {
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
		return nil, err
	}
	for i, m := range list {
		switch request, named := requestIn(&m); {
		case !named:
		case hasBlock(&m, blockID(card.Request, mark)):
			return &list[i], nil
		case request == card.Request && !hasBlock(&m, blockPrefix) && strings.Contains(m.Text, card.Code.Reveal()):
			me, err := c.me(ctx)
			if err != nil {
				return nil, err
			}
			if me.BotID == m.BotID { // anybody may write such a text
				return &list[i], nil
			}
		}
	}
	return nil, nil
}

// hasBlock reports whether a message has buttons in a block whose id begins so.
func hasBlock(m *slack.Message, id string) bool {
	return slices.ContainsFunc(m.Blocks.BlockSet, func(b slack.Block) bool {
		a, ok := b.(*slack.ActionBlock)
		return ok && strings.HasPrefix(a.BlockID, id)
	})
}

// upload sends a file to Slack without showing it to anybody yet. It takes at most half of the
// time that is left, and tries twice: the card matters more.
func (c *Channel) upload(ctx context.Context, f cards.File) ([]slack.FileSummary, error) {
	if f.Name == "" {
		return nil, nil
	}
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	one, err := c.uploadOne(ctx, f)
	if err != nil && !certain(err) && ctx.Err() == nil {
		one, err = c.uploadOne(ctx, f)
	}
	if err != nil {
		return nil, err
	}
	return []slack.FileSummary{one}, nil
}

func (c *Channel) uploadOne(ctx context.Context, f cards.File) (slack.FileSummary, error) {
	if len(f.Content) > maxUploadSize {
		return slack.FileSummary{}, calls.Final("slack: the card's %s has %d bytes, more than the %d that are attached",
			f.Name, len(f.Content), maxUploadSize)
	}
	var at *slack.GetUploadURLExternalResponse
	err := c.call(ctx, "files.getUploadURLExternal", func(ctx context.Context) (err error) {
		at, err = c.api.GetUploadURLExternalContext(ctx, slack.GetUploadURLExternalParameters{
			FileName: f.Name, FileSize: len(f.Content)})
		return err
	})
	if err != nil {
		return slack.FileSummary{}, err
	}
	err = c.call(ctx, "file upload", func(ctx context.Context) error {
		return c.api.UploadToURL(ctx, slack.UploadToURLParameters{
			UploadURL: at.UploadURL, Content: f.Content, Filename: f.Name})
	})
	return slack.FileSummary{ID: at.FileID, Title: f.Name}, err
}

// share shows uploaded files in the card's thread. A reply cannot have a thread
// of its own, so a card inside a thread has its files beside it.
func (c *Channel) share(ctx context.Context, to approver.Destination, ts string, files []slack.FileSummary) error {
	if len(files) == 0 {
		return nil
	}
	return c.call(ctx, "files.completeUploadExternal", func(ctx context.Context) error {
		_, err := c.api.CompleteUploadExternalContext(ctx, slack.CompleteUploadExternalParameters{
			Files: files, Channel: to.Conversation, ThreadTimestamp: cmp.Or(to.Thread, ts)})
		return err
	})
}
