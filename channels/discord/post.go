package discord

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/cards"
)

// maxFile is the greatest file that is attached to a card, in bytes. It is
// below what Discord takes in a server without boosts.
const maxFile = 8 << 20

// sent is what Discord returns for a message that it accepted.
type sent struct {
	ID          string `json:"id"`
	ChannelID   string `json:"channel_id"`
	Content     string `json:"content"`
	Embeds      []any  `json:"embeds"`
	Components  []any  `json:"components"`
	Attachments []any  `json:"attachments"`
}

// Post shows a new card. If Post is repeated with the same card because the first answer was
// lost, the card is not shown twice: for some minutes Discord recognizes it by its nonce. If
// Discord rejects the card's file, the card is shown without it, says so, and takes no one-tap
// approval. What Discord refuses for what it is made of is posted in a plainer form.
func (c *Channel) Post(ctx context.Context, to approver.Destination, card approver.Card) (approver.Ref, error) {
	if err := ctx.Err(); err != nil {
		return approver.Ref{}, fmt.Errorf("discord: post a card: %w", err)
	}
	if err := c.place(to); err != nil {
		return approver.Ref{}, err
	}
	var first error
	for _, f := range []form{embedded, bare, c.plainest()} {
		ref, err := c.postAs(ctx, to, card, f)
		if !refusesForm(err) {
			return ref, err
		}
		c.log.Warn("discord refuses what a card is made of", "request", card.Request, "conversation", to.Conversation,
			"error", err)
		if first == nil {
			first = err
		}
	}
	return approver.Ref{}, first
}

// plainest is the form that asks least of Discord.
func (c *Channel) plainest() form {
	if c.hook != nil {
		return toCommands
	}
	return asText
}

// postAs posts a card in one form.
func (c *Channel) postAs(
	ctx context.Context, to approver.Destination, card approver.Card, f form,
) (approver.Ref, error) {
	v, err := f.render(card, cards.Fresh)
	if err != nil {
		return approver.Ref{}, err
	}
	var got sent
	fits := len(v.file.Content) <= maxFile
	if n := len(v.file.Content); !fits {
		err = fmt.Errorf("discord: its %s has %d bytes, more than the %d that can be attached", v.file.Name, n, maxFile)
	} else {
		got, err = c.send(ctx, to, card, v)
	}
	if err != nil && v.file.Name != "" && withoutFile(ctx, err) {
		c.log.Warn("a card is posted without its file", "request", card.Request, "conversation", to.Conversation, "error",
			err)
		if v, err = f.render(card, cards.Missing); err == nil {
			got, err = c.send(ctx, to, card, v)
		}
	}
	if err != nil {
		return approver.Ref{}, err
	}
	ref := approver.Ref{Destination: to, Message: got.ID, Partial: v.partial}
	if !got.has(v) { // what an earlier try posted in another form has the same nonce
		files := got.Attachments
		shown := showsCall(len(got.Embeds), got.Content)
		err := c.edit(ctx, ref, v, &got)
		switch {
		case err == nil && len(got.Embeds) < len(v.Embeds), err != nil && !shown:
			return approver.Ref{}, c.takeBack(ctx, ref)
		case err != nil:
			return approver.Ref{}, err
		}
		got.Attachments = files
	}
	if v.file.Name != "" && fits && len(got.Attachments) == 0 { // whichever of two tries this is
		if !v.fileless { // otherwise the cause was logged before
			c.log.Warn("a card has no file: give the bot Attach Files", "request", card.Request, "conversation", to.Conversation)
		}
		return c.ownUp(ctx, ref, card, f)
	}
	return ref, nil
}

// showsCall reports whether a message with buttons shows the call: in its embed, or in its text behind the headline
// and the time. Without the permission Embed Links Discord drops the embed and keeps the buttons.
func showsCall(embeds int, content string) bool {
	return embeds > 0 || strings.Count(content, "\n") > 1
}

// has reports whether a message has the parts of a card.
func (s sent) has(v view) bool {
	return len(s.Embeds) == len(v.Embeds) && (len(s.Components) == 0) == (len(v.Components) == 0)
}

// send posts a rendered card.
func (c *Channel) send(ctx context.Context, to approver.Destination, card approver.Card, v view) (got sent, err error) {
	v.Nonce, v.EnforceNonce = c.nonce(to, card), true
	err = c.twice(ctx, func() error {
		got = sent{}
		err := c.call(ctx, "post a card", http.MethodPost, "channels/"+to.Conversation+"/messages", v.message, v.files(),
			&got)
		if err == nil && !snowflake(got.ID) {
			err = errors.New("discord: post a card: the answer has no message id")
		}
		return err
	})
	return got, err
}

// withoutFile reports whether a card that was refused with a file may be accepted without one:
// unless Discord's reason has nothing to do with the file, or Discord wants us to wait.
func withoutFile(ctx context.Context, err error) bool {
	if k := calls.KindOf(err); ctx.Err() != nil || k == calls.Revoked || k == calls.Limited {
		return false
	}
	e, ok := errors.AsType[*calls.Error](err)
	return !ok || e.Status != http.StatusUnauthorized && e.Status != http.StatusNotFound
}

// takeBack deletes a card that does not show what it asks about. Without the permission Embed
// Links a bot's message loses its embed, and people would be asked to approve what they cannot
// see.
func (c *Channel) takeBack(ctx context.Context, ref approver.Ref) error {
	lost := calls.Final("discord: post a card: Discord dropped the command from the message: give the bot Embed "+
		"Links in channel %s", ref.Conversation)
	err := c.call(ctx, "take the card back", http.MethodDelete, "channels/"+ref.Conversation+"/messages/"+ref.Message, nil,
		nil, nil)
	if err != nil && !isAPI(err, discordgo.ErrCodeUnknownMessage) {
		return fmt.Errorf("%w; and it is still there: %w", lost, err)
	}
	return lost
}

// ownUp makes a card say that its file is missing. If that fails, the card counts as not
// posted: the next try finds it by its nonce, and makes it say so.
func (c *Channel) ownUp(ctx context.Context, ref approver.Ref, card approver.Card, f form) (approver.Ref, error) {
	v, err := f.render(card, cards.Missing)
	if err == nil {
		err = c.edit(ctx, ref, v, nil)
	}
	if err != nil {
		return approver.Ref{}, err
	}
	ref.Partial = true
	return ref, nil
}

// Update changes the card's message. Attachments stay. A card in a channel that was removed
// from the configuration is changed too; otherwise its buttons would stay for ever. A card that waits keeps its
// buttons: it is not edited to a form without.
func (c *Channel) Update(ctx context.Context, ref approver.Ref, card approver.Card) error {
	switch {
	case ref.Channel != Name:
		return calls.Final("discord: update a card: it belongs to the channel %q", ref.Channel)
	case !snowflake(ref.Conversation) || !snowflake(ref.Message):
		return calls.Final("discord: update a card: %q in %q is not the id of a message in a channel", ref.Message,
			ref.Conversation)
	}
	var first error
	for f := embedded; f <= bare; f++ { // a card that takes no answer has no buttons in either form
		err := c.updateAs(ctx, ref, card, f)
		if !refusesForm(err) {
			return err
		}
		c.log.Warn("discord refuses what a card is made of", "request", card.Request, "conversation", ref.Conversation,
			"error", err)
		if first == nil {
			first = err
		}
	}
	return first
}

// updateAs changes the card's message to one form.
func (c *Channel) updateAs(ctx context.Context, ref approver.Ref, card approver.Card, f form) error {
	v, err := f.renderAnew(card, ref.Partial)
	if err != nil {
		return err
	}
	if v.partial && !ref.Partial && !card.State.Settled() {
		return fmt.Errorf("discord: update a card: %w", approver.ErrShowsLess)
	}
	if card.State != approver.Pending || v.file.Name == "" || !ref.Partial {
		return c.edit(ctx, ref, v, nil)
	}
	var got sent
	if err := c.edit(ctx, ref, v, &got); err != nil || len(got.Attachments) > 0 {
		return err
	}
	_, err = c.ownUp(ctx, ref, card, f) // the card names a file that was never attached
	return err
}

// edit replaces the contents of a message with a rendered card.
func (c *Channel) edit(ctx context.Context, ref approver.Ref, v view, got *sent) error {
	var out any
	if got != nil {
		out = got
	}
	return c.twice(ctx, func() error {
		return c.call(ctx, "update a card", http.MethodPatch, "channels/"+ref.Conversation+"/messages/"+ref.Message,
			v.message, nil, out)
	})
}

// Fits reports whether a card will be shown whole, without a file beside it, in whichever form it is posted.
func (c *Channel) Fits(card approver.Card) bool {
	return embedded.dialect().Fits(card) && bare.dialect().Fits(card) && c.plainest().dialect().Fits(card)
}

// place refuses to post to a conversation that is not configured.
func (c *Channel) place(to approver.Destination) error {
	switch {
	case to.Channel != Name:
		return calls.Final("discord: the destination belongs to the channel %q", to.Channel)
	case to.Thread != "":
		return calls.Final("discord: a thread is a channel of its own here: list its id %s under channels", to.Thread)
	case !slices.Contains(c.cfg.Channels, to.Conversation):
		return calls.Final("discord: the channel %q is not listed under channels", to.Conversation)
	}
	return nil
}

// nonce identifies one card in one channel, in at most 25 characters. It is the same at every
// try and in every process. It is keyed, so that it reveals nothing of the code.
func (c *Channel) nonce(to approver.Destination, card approver.Card) string {
	sum := c.keyed("approver: a card", card.Request, to.Conversation, card.Code.Reveal())
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// files returns the attachment of the view, if any, to be read once.
func (v view) files() []*discordgo.File {
	if v.fileless {
		return nil
	}
	return attachments(v.file)
}

// attachments returns a file as it is uploaded, to be read once; none for a file without a name.
func attachments(f cards.File) []*discordgo.File {
	if f.Name == "" {
		return nil
	}
	return []*discordgo.File{{Name: f.Name, ContentType: "text/plain; charset=utf-8",
		Reader: strings.NewReader(f.Content)}}
}
