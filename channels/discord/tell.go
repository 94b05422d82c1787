package discord

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/cards"
)

// The kinds of response to an interaction.
const (
	whisper = discordgo.InteractionResponseChannelMessageWithSource
	later   = discordgo.InteractionResponseDeferredChannelMessageWithSource
)

// private is a text that only the person of the interaction sees.
func private(text string) message {
	m := note(text)
	m.Flags |= discordgo.MessageFlagsEphemeral
	return m
}

// respond sends the first response to an interaction, which Discord wants within three seconds.
// It logs its error: after one, the person sees nothing.
func (in *intake) respond(
	ctx context.Context, i *discordgo.Interaction, kind discordgo.InteractionResponseType, data any,
) error {
	if in.desk != nil {
		err := in.desk.respond(i.ID, map[string]any{"type": kind, "data": data})
		if err != nil {
			in.log.Warn("a person cannot be told what became of their answer", "interaction", i.ID, "error", err)
		}
		return err
	}
	ctx, cancel := lingering(ctx, in.ackWithin)
	defer cancel()
	path := "interactions/" + url.PathEscape(i.ID) + "/" + url.PathEscape(i.Token) + "/callback"
	err := in.call(ctx, "acknowledge an answer", http.MethodPost, path, map[string]any{"type": kind, "data": data}, nil,
		nil)
	switch {
	case isAPI(err, discordgo.ErrCodeInteractionHasAlreadyBeenAcknowledged):
		in.contested()
	case err != nil:
		in.log.Warn("a person cannot be told what became of their answer", "interaction", i.ID, "error", err)
	}
	return err
}

// contested notes that another process has acknowledged an answer. Just after a change of the
// lease that is a replica of ours. Otherwise it is a daemon that does not share our store, and
// people may be told something wrong.
func (in *intake) contested() {
	since := in.since.Load()
	if since == nil || time.Since(*since) < in.handover {
		return
	}
	const what = "another daemon receives with this Discord bot, and has a store of its own: answers may be met with " +
		"the wrong words"
	const cure = "give each daemon a bot of its own, or have them share one Redis store"
	in.outage.Contested(what + ": " + cure)
	if in.contest.CompareAndSwap(false, true) {
		in.log.Error(what, "cure", cure)
	}
}

// finish fills in a response that was announced before, and is for the person alone if that was. It
// reports whether Discord took it.
func (in *intake) finish(ctx context.Context, i *discordgo.Interaction, m message, f cards.File) bool {
	ctx, cancel := lingering(ctx, tellWithin)
	defer cancel()
	path := "webhooks/" + url.PathEscape(i.AppID) + "/" + url.PathEscape(i.Token) + "/messages/@original"
	tell := func() error {
		return in.call(ctx, "tell a person what became of their answer", http.MethodPatch, path, m, attachments(f), nil)
	}
	err := in.twice(ctx, tell)
	// The answer that announced this may still be on its way to Discord.
	for wait := soonAgain; in.desk != nil && isAPI(err, discordgo.ErrCodeUnknownWebhook) && wait <= lastAgain; wait *= 2 {
		if calls.Sleep(ctx, wait) != nil {
			break
		}
		err = tell()
	}
	if err != nil {
		in.log.Warn("a person could not be told what became of their answer", "error", err)
	}
	return err == nil
}

// How long the tries to fill in a response wait while Discord has not got the announcement yet: at first,
// and at most.
const (
	soonAgain = 50 * time.Millisecond
	lastAgain = 2 * time.Second
)

// tellWithin bounds how long telling a person the outcome may take.
const tellWithin = 15 * time.Second

// lingering returns a context that lasts at most for most, and at most a second longer than
// ctx, so that a person still hears the outcome of an answer that was decided at the end.
func lingering(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	stop := context.AfterFunc(ctx, func() {
		_ = calls.Sleep(out, time.Second)
		cancel()
	})
	return out, func() {
		stop()
		cancel()
	}
}

// show tells a person an outcome with what they wanted to see. What is too long for a message is a
// file, or is cut if Discord does not take the file.
func (in *intake) show(ctx context.Context, i *discordgo.Interaction, out approver.Outcome) {
	m, f := detailed(out)
	if !in.finish(ctx, i, m, f) && f.Name != "" {
		in.finish(ctx, i, note(out.Text+"\n"+out.Details), cards.File{})
	}
}

// detailed is an outcome with what a person wanted to see.
func detailed(out approver.Outcome) (message, cards.File) {
	m := note(out.Text)
	text := "```\n" + out.Details + "\n```"
	switch {
	case out.Details == "":
	case cards.Units(text)+cards.Units(out.Text) < tellRoom && !fenced(out.Details):
		m.Content = strings.TrimPrefix(m.Content+"\n"+text, "\n")
	default:
		return m, cards.File{Name: "details.txt", Content: out.Details}
	}
	return m, cards.File{}
}
