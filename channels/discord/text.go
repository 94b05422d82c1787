package discord

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"approver.example"
	"approver.example/channels/intent"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/receiving"
)

// message handles a typed message. It waits only for introduced.
func (in *intake) message(ctx context.Context, m *discordgo.Message) {
	defer receiving.Recovered(in.log, "an event handler panicked")
	if !in.introduced(ctx) {
		return
	}
	who, st := in.author(m)
	if in.pairs(ctx, m, who, st) {
		return
	}
	if st != listed || !in.seen.First(m.ID) {
		return // the talk of strangers is ignored
	}
	_, bot := in.self()
	meant, err := intent.Parse(withoutMention(m.Content, bot))
	if errors.Is(err, intent.ErrNotAnAnswer) {
		return
	}
	if !in.workers.try(who.id, maxPerPerson, func() { in.said(ctx, m, who, meant, err) }) {
		in.log.Warn("an answer does not count: too many of this person are under way", "person", who.id, "most", maxPerPerson)
		in.workers.try("", maxRefusals, func() { in.answer(ctx, m, textBusy) })
	}
}

// said handles an answer that an approver typed.
func (in *intake) said(ctx context.Context, m *discordgo.Message, who person, meant intent.Intent, err error) {
	r := approver.Reply{
		Channel: Name, Conversation: m.ChannelID, Sender: who.id, Name: who.name,
		Approve: meant.Approve, Method: meant.Method, Code: meant.Code, Grant: meant.Grant, Sent: sentAt(m.ID),
	}
	if err == nil && meant.Method == approver.ByPlain {
		card := in.repliedTo(ctx, m)
		if card == nil {
			return // yes and no are ordinary words unless they answer a card
		}
		if r.Request, r.Message = requestOf(card), card.ID; r.Request == "" {
			return
		}
	}
	switch {
	case err != nil:
		in.answer(ctx, m, explain(err))
	case meant.Approve && !in.cfg.TextApprovals:
		in.answer(ctx, m, textNoYes)
	default:
		out := in.ask(ctx, r)
		if out.Kind != approver.OutcomeUnknown || !in.foreign(ctx, r) {
			in.answer(ctx, m, out.Text)
		}
	}
}

// foreign reports whether another daemon has taken, or will take, an answer that is not known
// here: everybody sees a reply to a message. It looks even if the daemon is ending, so that it
// says nothing wrong at the end.
func (in *intake) foreign(ctx context.Context, r approver.Reply) bool {
	if in.contest.Load() {
		return true
	}
	if r.Message == "" {
		return false
	}
	_ = calls.Sleep(ctx, in.leave)
	ctx, cancel := lingering(ctx, tellWithin)
	defer cancel()
	var card discordgo.Message
	err := in.call(ctx, "look at a card", http.MethodGet, "channels/"+r.Conversation+"/messages/"+r.Message, nil, nil,
		&card)
	return err == nil && requestOf(&card) == "" // the card is settled, and not by us
}

// repliedTo returns the card that a message replies to; nil if it is no reply, or not to a
// message of ours.
func (in *intake) repliedTo(ctx context.Context, m *discordgo.Message) *discordgo.Message {
	ref := m.MessageReference
	if m.Type != discordgo.MessageTypeReply || ref == nil || ref.ChannelID != m.ChannelID || !snowflake(ref.MessageID) {
		return nil
	}
	card := m.ReferencedMessage
	if card == nil {
		card = &discordgo.Message{}
		ctx, cancel := lingering(ctx, tellWithin)
		defer cancel()
		path := "channels/" + ref.ChannelID + "/messages/" + ref.MessageID
		if err := in.call(ctx, "read the card that was answered", http.MethodGet, path, nil, nil, card); err != nil {
			in.log.Warn("a typed answer is lost", "error", err)
			return nil
		}
	}
	if _, bot := in.self(); card.ID != ref.MessageID || !ownMessage(card, bot, m.ChannelID) {
		return nil
	}
	return card
}

// answer tells the author of a message something, as a reply to it: for messages Discord has no
// way to tell only them.
func (in *intake) answer(ctx context.Context, m *discordgo.Message, text string) {
	ctx, cancel := lingering(ctx, tellWithin)
	defer cancel()
	out := note(text)
	ifGone := false
	out.Reference = &discordgo.MessageReference{MessageID: m.ID, ChannelID: m.ChannelID, FailIfNotExists: &ifGone}
	out.Nonce, out.EnforceNonce = "re-"+m.ID, true
	err := in.twice(ctx, func() error {
		return in.call(ctx, "answer a message", http.MethodPost, "channels/"+url.PathEscape(m.ChannelID)+"/messages", out,
			nil, nil)
	})
	if err != nil {
		in.log.Warn("a person could not be told what became of their answer", "error", err)
	}
}

// withoutMention removes the mention of the bot that a message starts with. Discord shows the
// bot some messages only if they mention it.
func withoutMention(text, bot string) string {
	text = strings.TrimSpace(text)
	for _, mention := range []string{"<@" + bot + ">", "<@!" + bot + ">"} {
		if rest, ok := strings.CutPrefix(text, mention); ok {
			return strings.TrimSpace(rest)
		}
	}
	return text
}

// sentAt is when Discord made an id, which contains its time. It is zero for a text that is not
// an id.
func sentAt(id string) time.Time {
	at, err := discordgo.SnowflakeTimestamp(id)
	if err != nil {
		return time.Time{}
	}
	return at
}
