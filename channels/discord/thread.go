package discord

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"approver.example"
	"approver.example/channels/intent"
	"approver.example/channels/internal/cards"
	"approver.example/channels/internal/receiving"
	"approver.example/display"
)

// This file is about what approvers do where no cards are, such as in a thread that somebody opened on a card.
// Nothing approves there. What only tightens counts: a no in the thread of its card, and /freeze anywhere.

// Texts for one person.
//
//approver:texts
const (
	textThread = "In a thread nothing approves. Answer in the channel itself: press a button of the card, reply to it, " +
		"or use /approve or /deny there. In the thread of a card only no and /freeze count."
	textThreadUnseen = "Discord does not show approver what you write in this thread, so nothing was changed. Answer in " +
		"the channel itself: press a button of the card, reply to it, or use /deny there."
)

const (
	// threadWithin bounds the look at a thread; Discord waits three seconds for a word on a command.
	threadWithin = time.Second
	// maxThreads is how many channels are remembered: whether each is a thread, and of what card.
	maxThreads = 256
	// talkEvery is how often a person who only talks in the thread of a card is told that nothing approves there.
	talkEvery = 10 * time.Minute
)

// A thread is one that was opened on a card, in a channel that gets cards.
type thread struct {
	parent, card, request string
}

// threadOf finds the card on which a thread was opened: the thread has the id of that message. Whatever else a
// channel is, it is looked at once. The thread is zero if it is no such one.
func (in *intake) threadOf(ctx context.Context, channel string) (thread, error) {
	if t, known := in.threads.get(channel); known {
		return t, nil
	}
	ctx, cancel := context.WithTimeout(ctx, threadWithin)
	defer cancel()
	t, err := in.readThread(ctx, channel)
	if err != nil {
		in.log.Warn("it is not known whether a channel is the thread of a card", "channel", channel, "error", err)
		return thread{}, err
	}
	in.threads.put(channel, t)
	return t, nil
}

// readThread asks Discord for a channel and, if it is a thread in a channel of ours, for the message that it was
// opened on. The thread is zero if that is no card of ours.
func (in *intake) readThread(ctx context.Context, id string) (thread, error) {
	var c discordgo.Channel
	err := in.call(ctx, "look at a channel", http.MethodGet, "channels/"+id, nil, nil, &c)
	if err != nil || c.ID != id || !c.IsThread() || !in.ours(c.ParentID, c.GuildID) {
		return thread{}, err
	}
	var card discordgo.Message
	path := "channels/" + c.ParentID + "/messages/" + id
	err = in.call(ctx, "read the card of a thread", http.MethodGet, path, nil, nil, &card)
	_, bot := in.self()
	switch {
	case isAPI(err, discordgo.ErrCodeUnknownMessage): // it was opened on no message, or that was deleted
		return thread{}, nil
	case err != nil || card.ID != id || !ownMessage(&card, bot, c.ParentID):
		return thread{}, err
	}
	return thread{c.ParentID, card.ID, requestOf(&card)}, nil
}

// strayed handles what an approver writes where no cards are.
func (in *intake) strayed(ctx context.Context, m *discordgo.Message, who person) {
	_, bot := in.self()
	text, addressed := withoutMention(m.Content, bot)
	meant, err := intent.Parse(text)
	if asks, ok := intent.Wanted(text); addressed && ok {
		meant, err = asks, nil
	}
	r := who.says(approver.Reply{Want: meant.Want, Method: meant.Method, Code: meant.Code, Reason: meant.Reason,
		Sent: sentAt(m.ID)}, m.ChannelID)
	if err == nil && meant.Want == approver.WantFreeze {
		in.look(ctx, m, who, r)
		return
	}
	unsure := false
	if !direct(m) {
		t, unread := in.threadOf(ctx, m.ChannelID)
		if t.card != "" {
			in.inThread(ctx, m, who, t, r, meant, err)
			return
		}
		unsure = unread != nil && !errors.Is(err, intent.ErrNotAnAnswer) // it may be an answer to the card of a thread
	}
	in.Note(ctx, m.Content, who.says(approver.Reply{}, m.ChannelID))
	says := display.Msg(textElsewhere)
	switch {
	case !direct(m) && receiving.HasCode(m.Content):
		says = display.Msg(receiving.LeakedText)
	case !direct(m) && !in.onOurs(m) && !addressed && !unsure:
		return
	}
	if left, ok := in.hints.Take(who.id+" "+m.ChannelID, receiving.HintsEvery); ok {
		in.say(ctx, m, who, receiving.Hint(says, left))
	}
}

// inThread handles what an approver writes in the thread of a card: a no is one to that card.
func (in *intake) inThread(
	ctx context.Context, m *discordgo.Message, who person, t thread, r approver.Reply, meant intent.Intent, err error,
) {
	if err == nil && meant.Want == approver.WantAnswer && !meant.Approve {
		r.Conversation, r.Request, r.Message = t.parent, t.request, t.card
		if t.request == "" { // the card was settled when it was looked at
			r.Message = ""
		}
		if t.request == "" && r.Code.IsZero() {
			in.sayInThread(ctx, m, who, t, display.Msg(textOver))
			return
		}
		if out := in.ask(ctx, r); out.Kind != approver.OutcomeUnknown || !in.foreign(ctx, r) {
			in.tellInThread(ctx, m, who, t, out.Text)
		}
		return
	}
	in.Note(ctx, m.Content, who.says(approver.Reply{}, m.ChannelID))
	if errors.Is(err, intent.ErrNotAnAnswer) {
		if !in.told.Begin(who.id+" "+m.ChannelID, talkEvery) {
			return
		}
		says := display.Msg(textThread)
		if m.Content == "" {
			says = display.Msg(textThreadUnseen)
		}
		in.sayInThread(ctx, m, who, t, says)
		return
	}
	if left, ok := in.hints.Take(who.id+" "+m.ChannelID, receiving.HintsEvery); ok {
		in.sayInThread(ctx, m, who, t, receiving.Hint(display.Msg(textThread), left))
	}
}

func (in *intake) sayInThread(ctx context.Context, m *discordgo.Message, who person, t thread, says display.Message) {
	in.tellInThread(ctx, m, who, t, in.To(who.id, m.ChannelID).Message(says))
}

// tellInThread tells a person something in a thread, or below its card if the bot may not write in the thread.
func (in *intake) tellInThread(ctx context.Context, m *discordgo.Message, who person, t thread, text string) {
	if in.answer(ctx, m, note(text), cards.File{}) {
		return
	}
	in.log.Warn("the bot could not answer in the thread of a card", "cure", "let it Send Messages in Threads there")
	in.answerBelow(ctx, t.parent, t.card, m.ID, note(who.name+": "+text), cards.File{})
}

// strayedCommand handles a command that an approver uses where no cards are.
func (in *intake) strayedCommand(ctx context.Context, i *discordgo.Interaction, who person) {
	a := read(i)
	r := who.says(a.reply, i.ChannelID)
	d, is := i.Data.(discordgo.ApplicationCommandInteractionData)
	denies := is && a.problem.Format == "" && r.Want == approver.WantAnswer && !r.Approve
	if denies {
		if t, _ := in.threadOf(ctx, i.ChannelID); t.card != "" {
			r.Conversation, r.Sent = t.parent, sentAt(i.ID)
			if t.request != "" {
				r.Request, r.Message = t.request, t.card
			}
			in.decide(ctx, i, r)
			return
		}
	}
	if is && a.problem.Format == "" && r.Want == approver.WantFreeze {
		in.decide(ctx, i, r)
		return
	}
	if is {
		code, _ := option(d, codeOption)
		in.Note(ctx, code, who.says(approver.Reply{}, i.ChannelID))
	}
	in.whisper(ctx, i, who, display.Msg(textElsewhere))
}

// threads remember what channels are. The zero value is ready.
type threads struct {
	mu   sync.Mutex
	of   map[string]thread
	keys []string // oldest first
}

func (k *threads) get(channel string) (thread, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, known := k.of[channel]
	return t, known
}

func (k *threads) put(channel string, t thread) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil {
		k.of = map[string]thread{}
	}
	if _, known := k.of[channel]; !known {
		k.keys = append(k.keys, channel)
	}
	k.of[channel] = t
	for len(k.keys) > maxThreads {
		delete(k.of, k.keys[0])
		k.keys = k.keys[1:]
	}
}
