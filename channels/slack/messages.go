package slack

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"

	"approver.example"
	"approver.example/channels/intent"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/receiving"
	"approver.example/display"
)

// A heard is a message that may be for us.
type heard struct {
	*slackevents.MessageEvent
	here      bool   // in a conversation that gets cards
	addressed bool   // it is for the bot and nobody else
	edited    bool   // it was another one before
	leaks     bool   // others can read a code in it where none counts
	event     string // its id, by which a repeat is known
	in        intent.Intent
	err       error // why the text is no answer
}

// message handles an ordinary message. It leaves the talk of people alone.
func (s *session) message(
	ctx context.Context, a *ack, outer *slackevents.EventsAPIEvent, ev *slackevents.MessageEvent,
) {
	late := time.AfterFunc(ackIn, func() { a.done(nil) })
	defer late.Stop()
	g := s.who()
	ev, edited := current(ev)
	from := messageOrigin(outer, ev)
	from.special = from.special || edited
	refused := g.admit(from)
	told := errors.Is(refused, errStranger) || errors.Is(refused, errNotPlain)
	if s.pairsByMessage(ctx, ev, refused) || refused != nil && !told {
		return
	}
	text, mentioned := strings.CutPrefix(strings.TrimSpace(unescape(ev.Text)), "<@"+s.bot+">")
	m := heard{MessageEvent: ev, here: g.place(ev.Channel) == nil, addressed: mentioned || isDirect(ev.Channel),
		edited: edited, event: eventID(outer)}
	if m.in, m.err = s.read(text); m.addressed && errors.Is(m.err, intent.ErrNotAnAnswer) {
		if in, ok := intent.Wanted(text); ok {
			m.in, m.err = in, nil
		}
	}
	m.leaks = !errors.Is(refused, errStranger) && !m.here && !isDirect(ev.Channel) && receiving.HasCode(text)
	if errors.Is(refused, errStranger) || !m.here {
		s.Note(ctx, text, approver.Reply{Channel: Name, Conversation: ev.Channel, Sender: ev.User})
	}
	stops := m.err == nil && m.in.Want == approver.WantFreeze
	answers := m.err == nil && m.in.Want == approver.WantAnswer && m.ThreadTimeStamp != ""
	if !m.here && !m.addressed && !answers && !stops && !m.leaks {
		return
	}
	if refused != nil && (!stops || !errors.Is(refused, errNotPlain)) { // to stop everything only tightens
		s.unheard(ctx, m, refused)
		return
	}
	s.said(ctx, a, m)
}

// lateEdit is how old an edit may be that freezes: Slack may deliver it late.
const lateEdit = 2 * time.Minute

// current is what a message says after its author edited it, which they did just now; any other event is left as it
// is. Slack sends the event of an edit for other reasons too, such as the preview of a link.
func current(ev *slackevents.MessageEvent) (now *slackevents.MessageEvent, edited bool) {
	m, before := ev.Message, ev.PreviousMessage
	if ev.SubType != slack.MsgSubTypeMessageChanged || m == nil || before == nil || m.Edited == nil ||
		m.User == "" || m.Edited.User != m.User || before.User != m.User || m.Text == before.Text || m.SubType != "" ||
		m.BotID != "" || m.BotProfile != nil || m.WorkflowID != "" || m.Username != "" ||
		time.Since(sentAt(m.Edited.Timestamp)) > lateEdit {
		return ev, false
	}
	out := *ev
	out.SubType, out.User, out.Text = "", m.User, m.Text
	out.TimeStamp, out.ThreadTimeStamp = m.Timestamp, m.ThreadTimestamp
	out.UserTeam, out.Message = cmp.Or(m.Team, ev.UserTeam), nil
	return &out, true
}

// said handles a message of an approver.
func (s *session) said(ctx context.Context, a *ack, m heard) {
	at := place{Channel: m.Channel, Thread: m.ThreadTimeStamp}
	tell := func(says display.Message) { s.tell(ctx, at, m.User, says) }
	talk := errors.Is(m.err, intent.ErrNotAnAnswer)
	plain := m.err == nil && m.in.Method == approver.ByPlain
	switch {
	case m.leaks:
		if left, ok := s.mayHint(m); ok {
			tell(receiving.Hint(display.Msg(receiving.LeakedText), left))
		}
		return
	case talk && m.addressed:
		tell(s.sayHint())
		return
	case talk:
		s.hint(ctx, at, m)
		return
	case m.err != nil:
		tell(s.formHelp(m.err))
		return
	case m.in.Want == approver.WantAnswer && !m.here:
		if _, ours := s.parent(ctx, m.MessageEvent); ours || m.addressed {
			tell(display.Msg(textElsewhere))
		}
		return
	}
	r := asked(m.in, m.Channel, m.here)
	r.Sender, r.Sent, r.Event = m.User, sentAt(m.TimeStamp), m.event
	if r.Want == approver.WantAnswer {
		request, ours, err := s.card(ctx, m.MessageEvent)
		switch {
		case err != nil && plain:
			tell(display.Msg(textUnread))
			return
		case plain && !ours:
			if m.addressed {
				tell(display.Msg(textWhich))
			}
			return // a bare yes or no that answers no card of ours is talk
		case plain && request == "":
			tell(display.Msg(textOver))
			return
		case r.Approve && !s.cfg.TextApprovals:
			tell(s.sayNoYes())
			return
		case request != "": // a code in the thread of a card has to be that card's
			at.Request, at.Message = request, m.ThreadTimeStamp
		}
	}
	r.Request, r.Message = at.Request, at.Message
	s.settle(ctx, a, at, r)
}

// hint tells somebody who wrote below a card how to answer it, a few times a minute for each card.
func (s *session) hint(ctx context.Context, at place, m heard) {
	left, ok := 0, false
	if at.Thread != "" {
		left, ok = s.mayHint(m)
	}
	if !ok {
		return
	}
	switch _, ours, err := s.card(ctx, m.MessageEvent); {
	case err != nil:
		s.tell(ctx, at, m.User, receiving.Hint(display.Msg(textUnread), left))
	case ours:
		s.tell(ctx, at, m.User, receiving.Hint(s.sayHint(), left))
	}
}

// mayHint reports whether an approver is given one more hint in a thread, or in a conversation outside of its
// threads, and how many are left.
func (s *session) mayHint(m heard) (left int, ok bool) {
	return s.hints.Take(strings.Join([]string{m.User, m.Channel, m.ThreadTimeStamp}, " "), receiving.HintsEvery)
}

// unheard tells somebody why their message does not count, if it was surely meant for us: it is to the bot alone,
// answers a card, or is an approver's with a command or a code. A stranger is told once in a while; an approver, a
// few times a minute.
func (s *session) unheard(ctx context.Context, m heard, refused error) {
	below, meant, why := m.err == nil && m.ThreadTimeStamp != "", m.addressed, display.Msg(textStranger)
	if errors.Is(refused, errNotPlain) {
		if why = display.Msg(textEdited); !m.edited {
			below, why = m.ThreadTimeStamp != "", display.Msg(textPlain)
		}
		meant = meant || m.leaks || m.err == nil && m.in.Method != approver.ByPlain ||
			m.err != nil && !errors.Is(m.err, intent.ErrNotAnAnswer)
	}
	if m.leaks {
		why = display.Msg(receiving.LeakedText)
	}
	if !meant && !below {
		return
	}
	if errors.Is(refused, errNotPlain) {
		left, ok := s.mayHint(m)
		if !ok {
			return
		}
		why = receiving.Hint(why, left)
	} else if !s.refusals.Begin("message "+m.User, refuseEvery) {
		return
	}
	if !meant {
		if _, ours := s.parent(ctx, m.MessageEvent); !ours {
			return
		}
	}
	s.log.Info("slack message refused", "user", m.User, "conversation", m.Channel, "reason", refused)
	s.tell(ctx, place{Channel: m.Channel, Thread: m.ThreadTimeStamp}, m.User, why)
}

// parent is card, for what is left alone where the thread cannot be read.
func (s *session) parent(ctx context.Context, ev *slackevents.MessageEvent) (request string, ours bool) {
	request, ours, _ = s.card(ctx, ev)
	return request, ours
}

// The lookups of the card that a message answers, and the pause after the first one that failed.
const (
	lookups     = 3
	lookupPause = 300 * time.Millisecond
)

// card finds the card that a message replies to: the first message of its thread. ours reports whether
// that is a message of ours, and request is that of a card which is still pending. It has an error if nobody
// can know that.
func (s *session) card(ctx context.Context, ev *slackevents.MessageEvent) (request string, ours bool, err error) {
	if ev.ThreadTimeStamp == "" || ev.ThreadTimeStamp == ev.TimeStamp {
		return "", false, nil
	}
	var list []slack.Message
	for try := range lookups {
		if try > 0 && calls.Sleep(ctx, lookupPause<<(try-1)) != nil {
			break
		}
		err = s.call(ctx, "conversations.replies", func(ctx context.Context) (err error) {
			list, _, _, err = s.api.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
				ChannelID: ev.Channel, Timestamp: ev.ThreadTimeStamp, Limit: 1, Inclusive: true})
			return err
		})
		if err == nil {
			break
		}
	}
	if err != nil {
		s.log.Warn("could not read the card that a message answers", "error", err)
		return "", false, err
	}
	if len(list) == 0 || list[0].Timestamp != ev.ThreadTimeStamp {
		return "", false, nil
	}
	g := s.who()
	if !g.ours(&list[0]) {
		return "", false, nil
	}
	request, _ = requestIn(&list[0])
	return request, true, nil
}
