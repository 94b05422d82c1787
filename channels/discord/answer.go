package discord

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/cards"
	"approver.example/channels/internal/receiving"
	"approver.example/display"
)

// Texts for one person.
//
//approver:texts
const (
	textStranger  = "You are not on the approver list of this channel. Your answer does not count."
	textElsewhere = "This is not a channel that approver uses. Answer where the card is."
	textBusy      = "Too many of your answers are still being handled. Wait a moment and try again; this one does not " +
		"count."
	textUnread    = "This button or command is not one that approver knows. It may come from an older version."
	textNoSuch    = "The dialog is empty. Type the code that the card shows."
	textNoWhy     = "The dialog is empty, so nothing was changed. Type why the call is denied, or press Deny."
	textNoCommand = "The dialog is empty, so nothing was changed. Type the command, or press Deny."
	textTerm      = "That does not say for how long. Nothing was changed: choose once, 15m or session."
	textHelp      = "approver shows its questions as cards. Press a button on a card, reply to it with no and your " +
		"reason, or use /approve or /deny with the code on it. /pending, /status, /grants and /freeze show and stop what " +
		"there is."
	textWhich   = "That does not say which card you mean, so nothing was changed. Reply to the card itself."
	textUnknown = "approver cannot see the message that you reply to, so nothing was changed. Answer again, or press a " +
		"button of the card."
	textOver   = "That message takes no answer. Nothing was changed."
	textUnseen = "Discord does not show approver what you wrote, so nothing was changed. Leave the @ of your reply on, " +
		"or press a button."
	textEdited    = "An edited message does not count. Send your answer as a new message."
	textCopied    = "Only what you write here yourself counts. Nothing was changed."
	textInPrivate = "Everybody here would read the answer. Use approver's command of that name from Discord's list: its " +
		"answer is for you alone."
	textNoMessages = "Messages do not reach approver here, not even replies to a card: use the buttons and the commands."
	textNoYes      = "A typed message cannot approve here. Press the card's button, or use the /approve command."
)

// replyWithin bounds how long the core may take to decide on an answer.
const replyWithin = time.Minute

// An intake handles the events of one connection.
type intake struct {
	*Channel
	workers *workers
	reply   approver.ReplyFunc
	since   atomic.Pointer[time.Time] // when the connection became ready
	desk    *desk                     // with a webhook: where its requests wait for their answers
}

func newIntake(c *Channel, workers *workers, reply approver.ReplyFunc) *intake {
	return &intake{Channel: c, workers: workers, reply: reply}
}

// interaction handles a press, a dialog or a command. It waits for nothing.
func (in *intake) interaction(ctx context.Context, i *discordgo.Interaction) {
	defer receiving.Recovered(in.log, "an event handler panicked")
	who, st := in.presser(i)
	if st == nobody || !in.seen.First(i.ID) {
		return
	}
	who.event = i.ID
	if text, ok := pairCommand(i); ok {
		in.paired(ctx, i, who, text)
		return
	}
	if d, is := i.Data.(discordgo.ApplicationCommandInteractionData); is && st == stranger {
		code, _ := option(d, codeOption)
		in.workers.try(overheard, maxRefusals, func() { in.Note(ctx, code, who.says(approver.Reply{}, i.ChannelID)) })
	}
	switch st {
	case listed, elsewhere:
		handle := in.pressed
		if st == elsewhere {
			handle = in.strayedCommand
		}
		if !in.workers.try(who.id, maxPerPerson, func() { handle(ctx, i, who) }) {
			in.log.Warn("an answer does not count: too many of this person are under way", "person", who.id, "most",
				maxPerPerson)
			in.refuse(ctx, i, who, display.Msg(textBusy))
		}
	default:
		in.refuse(ctx, i, who, display.Msg(textStranger))
	}
}

// refuse tells a person at once that an interaction has no effect.
func (in *intake) refuse(ctx context.Context, i *discordgo.Interaction, who person, why display.Message) {
	in.workers.try("", maxRefusals, func() { in.whisper(ctx, i, who, why) })
}

// whisper tells a person alone something of the channel's own.
func (in *intake) whisper(ctx context.Context, i *discordgo.Interaction, who person, says display.Message) {
	_ = in.respond(ctx, i, whisper, private(in.To(who.id, i.ChannelID).Message(says)))
}

// pressed handles an interaction of an approver.
func (in *intake) pressed(ctx context.Context, i *discordgo.Interaction, who person) {
	a := read(i)
	switch {
	case a.problem.Format != "":
		in.whisper(ctx, i, who, a.problem)
	case a.opens == cards.Edit:
		in.openEdit(ctx, i, a, who)
	case a.opens != 0:
		_ = in.respond(ctx, i, discordgo.InteractionResponseModal, dialog(in.To(who.id, i.ChannelID), a.request,
			a.opens, a.reply.Shown, headlineOf(i.Message), "", coveredBy(in.To(who.id, i.ChannelID), i.Message)))
	case a.reply.Approve && a.reply.Method == approver.ByTap && i.Message != nil &&
		!showsCall(len(i.Message.Embeds), i.Message.Content):
		in.whisper(ctx, i, who, display.Msg("This card does not show its command, so it takes no yes. Deny works here."))
	default:
		r := who.says(a.reply, i.ChannelID)
		if i.Message != nil {
			r.Request, r.Message = a.request.String(), i.Message.ID
		}
		if r.Method == approver.ByCommand {
			r.Sent = sentAt(i.ID)
		}
		in.decide(ctx, i, r)
	}
}

// openEdit opens the dialog for the command of a card, which the core knows.
func (in *intake) openEdit(ctx context.Context, i *discordgo.Interaction, a ask, who person) {
	r := who.says(approver.Reply{Want: approver.WantEdit, Method: approver.ByTap, Shown: a.reply.Shown}, i.ChannelID)
	if i.Message != nil {
		r.Request, r.Message = a.request.String(), i.Message.ID
	}
	soon, cancel := context.WithTimeout(ctx, in.soon)
	defer cancel()
	out := in.reply(soon, r)
	switch {
	case out.Kind == approver.OutcomeShown && out.Details != "":
		_ = in.respond(ctx, i, discordgo.InteractionResponseModal, dialog(in.To(who.id, i.ChannelID), a.request,
			a.opens, a.reply.Shown, headlineOf(i.Message), out.Details, ""))
	default:
		_ = in.respond(ctx, i, whisper, private(out.Text))
	}
}

// says adds to a reply who gives it, and where.
func (p person) says(r approver.Reply, channel string) approver.Reply {
	r.Channel, r.Conversation, r.Sender, r.Name, r.Event = Name, channel, p.id, p.name, p.event
	return r
}

// decide passes a reply to the core and tells the person the outcome. The answer counts even
// if the person cannot be told, and even if another process acknowledged it first: the core
// counts each answer once. An answer that the core does not know is left for a while to another
// daemon, which may be the one that asked.
func (in *intake) decide(ctx context.Context, i *discordgo.Interaction, r approver.Reply) {
	done := make(chan approver.Outcome, 1)
	go func() { done <- in.ask(ctx, r) }() // awaited below; it recovers from its own panics
	soon := time.NewTimer(in.soon)
	defer soon.Stop()
	select {
	case out := <-done:
		if out.Kind == approver.OutcomeUnknown && in.desk == nil {
			_ = calls.Sleep(ctx, in.leave)
		}
		if out.Details == "" {
			_ = in.respond(ctx, i, whisper, private(out.Text))
		} else if in.respond(ctx, i, later, private("")) == nil {
			in.show(ctx, i, out)
		}
	case <-soon.C:
		untold := in.respond(ctx, i, later, private(""))
		if out := <-done; untold == nil {
			in.show(ctx, i, out)
		}
	}
}

// ask passes a reply to the core.
func (in *intake) ask(ctx context.Context, r approver.Reply) approver.Outcome {
	ctx, cancel := context.WithTimeout(ctx, replyWithin)
	defer cancel()
	out := in.reply(ctx, r)
	if r.Want == approver.WantHelp && in.desk != nil {
		out.Details += "\n" + in.To(r.Sender, r.Conversation).Text(textNoMessages)
	}
	return out
}
