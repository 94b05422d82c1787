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
	"approver.example/channels/internal/cards"
	"approver.example/channels/internal/pairing"
	"approver.example/channels/internal/receiving"
	"approver.example/display"
)

// message handles a typed message. It waits for nothing.
func (in *intake) message(ctx context.Context, m *discordgo.Message) {
	defer receiving.Recovered(in.log, "an event handler panicked")
	who, st := in.author(m)
	if in.pairs(ctx, m, who, st) {
		return
	}
	if st != listed && st != elsewhere {
		in.unheard(ctx, m, who, st)
		return
	}
	if !in.seen.First(m.ID) {
		return
	}
	who.event = m.ID
	if st == elsewhere {
		in.taken(ctx, m, who, func() { in.strayed(ctx, m, who) })
		return
	}
	_, bot := in.self()
	text, addressed := withoutMention(m.Content, bot)
	meant, err := intent.Parse(text)
	addressed = addressed || direct(m)
	if asks, ok := intent.Wanted(text); addressed && ok && err != nil {
		meant, err = asks, nil
	}
	if !addressed && m.Type != discordgo.MessageTypeReply && talk(meant, err) {
		return
	}
	in.taken(ctx, m, who, func() { in.said(ctx, m, who, meant, err, addressed) })
}

// taken handles a message of an approver, unless too many of theirs are under way.
func (in *intake) taken(ctx context.Context, m *discordgo.Message, who person, handle func()) {
	if !in.workers.try(who.id, maxPerPerson, handle) {
		in.log.Warn("an answer does not count: too many of this person are under way", "person", who.id, "most", maxPerPerson)
		in.workers.try("", maxRefusals, func() { in.say(ctx, m, who, display.Msg(textBusy)) })
	}
}

// direct reports whether a message is in a direct conversation with the bot.
func direct(m *discordgo.Message) bool { return m.GuildID == "" }

// talk reports whether a text may be meant for other people: it is no answer, or it is a command that
// another bot may have too, or a yes or no, which are ordinary words unless they reply to a card. Who writes /freeze
// wants everything to stop, as anywhere else.
func talk(meant intent.Intent, err error) bool {
	if err != nil {
		return errors.Is(err, intent.ErrNotAnAnswer)
	}
	return meant.Want != approver.WantAnswer && meant.Want != approver.WantFreeze || meant.Method == approver.ByPlain
}

// said handles what an approver typed that may be meant for us. addressed says that it surely is.
func (in *intake) said(
	ctx context.Context, m *discordgo.Message, who person, meant intent.Intent, err error, addressed bool,
) {
	r := who.says(approver.Reply{
		Want: meant.Want, Approve: meant.Approve, Method: meant.Method, Code: meant.Code, Grant: meant.Grant,
		Reason: meant.Reason, Sent: sentAt(m.ID),
	}, m.ChannelID)
	card, unread := in.repliedTo(ctx, m)
	if card != nil { // a code that stands in a reply must be that card's
		r.Request, r.Message = requestOf(card), card.ID
	}
	plain := err == nil && meant.Method == approver.ByPlain
	if card == nil && !addressed && talk(meant, err) && (unread == nil || !plain) {
		return // a reply to somebody else
	}
	tell := func(says display.Message) { in.say(ctx, m, who, says) }
	switch {
	case unread != nil && plain:
		tell(display.Msg(textUnknown))
	case m.Content == "" && !direct(m) && !in.cfg.TextApprovals:
		tell(display.Msg(textUnseen))
	case errors.Is(err, intent.ErrNotAnAnswer):
		tell(display.Msg(textHelp))
	case err != nil:
		tell(explain(err))
	case meant.Want != approver.WantAnswer:
		in.look(ctx, m, who, r)
	case meant.Method == approver.ByPlain && card == nil:
		tell(display.Msg(textWhich))
	case meant.Method == approver.ByPlain && r.Request == "":
		tell(display.Msg(textOver))
	case meant.Approve && !in.cfg.TextApprovals:
		tell(display.Msg(textNoYes))
	default:
		if r.Request == "" { // the card is settled: only the code says what is meant
			r.Message = ""
		}
		out := in.ask(ctx, r)
		if out.Kind != approver.OutcomeUnknown || !in.foreign(ctx, r) {
			in.answer(ctx, m, note(out.Text), cards.File{})
		}
	}
}

// look takes a command that answers nothing, typed as a message. All members of a server's channel would
// read what it shows, so there it works as a registered command only.
func (in *intake) look(ctx context.Context, m *discordgo.Message, who person, r approver.Reply) {
	if !direct(m) && r.Want != approver.WantFreeze {
		in.say(ctx, m, who, display.Msg(textInPrivate))
		return
	}
	r.Request, r.Message = "", ""
	out := in.ask(ctx, r)
	shown, f := detailed(out)
	if !in.answer(ctx, m, shown, f) && f.Name != "" {
		in.answer(ctx, m, note(out.Text+"\n"+out.Details), cards.File{})
	}
}

// unheard tells a person why their message does not count, if it was surely meant for us: it is in a
// direct conversation, or replies to a message of ours. It does so once in a while.
func (in *intake) unheard(ctx context.Context, m *discordgo.Message, who person, st standing) {
	if st == stranger && pairing.HasCode(m.Content) {
		in.workers.try(overheard, maxRefusals, func() { in.Note(ctx, m.Content, who.says(approver.Reply{}, m.ChannelID)) })
	}
	var text display.Message
	switch st {
	case stranger:
		if text = display.Msg(textStranger); direct(m) {
			text = display.Msg(sayHow, display.Msg(pairing.WhoText))
		}
		if !direct(m) && !in.onOurs(m) {
			return
		}
	default:
		text = display.Msg(textCopied)
		if m == nil || m.WebhookID != "" || !forwarded(m) || !direct(m) {
			return
		}
		if who, st = in.standing(m.Author); st != listed {
			return
		}
	}
	if in.told.Begin(who.id, tellEvery) {
		in.workers.try("", maxRefusals, func() { in.say(ctx, m, who, text) })
	}
}

// say tells the author of a message something of the channel's own.
func (in *intake) say(ctx context.Context, m *discordgo.Message, who person, says display.Message) {
	in.answer(ctx, m, note(in.To(who.id, m.ChannelID).Message(says)), cards.File{})
}

// onOurs reports whether a message replies to a message of ours, as far as Discord sends a copy of it.
func (in *intake) onOurs(m *discordgo.Message) bool {
	_, bot := in.self()
	return m.Type == discordgo.MessageTypeReply && m.ReferencedMessage != nil &&
		ownMessage(m.ReferencedMessage, bot, m.ChannelID)
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
// message of ours. It has an error if nobody can know that.
func (in *intake) repliedTo(ctx context.Context, m *discordgo.Message) (*discordgo.Message, error) {
	ref := m.MessageReference
	if m.Type != discordgo.MessageTypeReply || ref == nil || ref.ChannelID != m.ChannelID || !snowflake(ref.MessageID) {
		return nil, nil
	}
	card := m.ReferencedMessage
	if card == nil {
		card = &discordgo.Message{}
		ctx, cancel := lingering(ctx, tellWithin)
		defer cancel()
		path := "channels/" + ref.ChannelID + "/messages/" + ref.MessageID
		err := in.twice(ctx, func() error {
			return in.call(ctx, "read the card that was answered", http.MethodGet, path, nil, nil, card)
		})
		if err != nil {
			in.log.Warn("the message that somebody replied to cannot be read, so a yes or no to it does not count", "error", err)
			return nil, err
		}
	}
	if _, bot := in.self(); card.ID != ref.MessageID || !ownMessage(card, bot, m.ChannelID) {
		return nil, nil
	}
	return card, nil
}

// answer tells the author of a message something, as a reply to it: for messages Discord has no
// way to tell only them. It reports whether Discord took it.
func (in *intake) answer(ctx context.Context, m *discordgo.Message, out message, f cards.File) bool {
	return in.answerBelow(ctx, m.ChannelID, m.ID, m.ID, out, f)
}

// answerBelow is answer as a reply to another message than the one that is answered.
func (in *intake) answerBelow(ctx context.Context, channel, to, answered string, out message, f cards.File) bool {
	ctx, cancel := lingering(ctx, tellWithin)
	defer cancel()
	ifGone := false
	out.Reference = &discordgo.MessageReference{MessageID: to, ChannelID: channel, FailIfNotExists: &ifGone}
	out.Nonce, out.EnforceNonce = "re-"+answered, true
	err := in.twice(ctx, func() error {
		return in.call(ctx, "answer a message", http.MethodPost, "channels/"+url.PathEscape(channel)+"/messages", out,
			attachments(f), nil)
	})
	if err != nil {
		in.log.Warn("a person could not be told what became of their answer", "error", err)
	}
	return err == nil
}

// withoutMention removes the mention of the bot that a message starts with, and reports whether there
// is one. Discord shows the bot some messages only if they mention it.
func withoutMention(text, bot string) (rest string, mentioned bool) {
	text = strings.TrimSpace(text)
	for _, mention := range []string{"<@" + bot + ">", "<@!" + bot + ">"} {
		if rest, ok := strings.CutPrefix(text, mention); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return text, false
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
