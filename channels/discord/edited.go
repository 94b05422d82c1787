package discord

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bwmarrin/discordgo"

	"approver.example"
	"approver.example/channels/intent"
	"approver.example/channels/internal/cards"
	"approver.example/channels/internal/receiving"
	"approver.example/display"
)

// lateEdit is how old an edit may be that counts: Discord sends a message again for other reasons too.
const lateEdit = 2 * time.Minute

// edited handles a message of an approver who has changed it. It answers nothing, because others may have read it
// as it was, and they are told. To stop everything only tightens.
func (in *intake) edited(ctx context.Context, m *discordgo.Message) {
	defer receiving.Recovered(in.log, "an event handler panicked")
	if m == nil || m.EditedTimestamp == nil || time.Since(*m.EditedTimestamp) > lateEdit {
		return
	}
	now := *m
	now.EditedTimestamp = nil
	who, st := in.author(&now)
	edit := fmt.Sprintf("%s%02d", m.ID, m.EditedTimestamp.Unix()%100) // no longer than a nonce may be
	if st != listed && st != elsewhere || !in.seen.First("edit "+edit) {
		return
	}
	who.event = "edit " + edit
	_, bot := in.self()
	text, addressed := withoutMention(m.Content, bot)
	meant, err := intent.Parse(text)
	if asks, ok := intent.Wanted(text); addressed && ok && err != nil {
		meant, err = asks, nil
	}
	addressed = addressed || direct(m) || in.onOurs(m)
	says := func(text string) { in.answerBelow(ctx, m.ChannelID, m.ID, edit, note(text), cards.File{}) }
	switch {
	case err == nil && meant.Want == approver.WantFreeze:
		in.taken(ctx, m, who, func() { says(in.ask(ctx, who.says(meant.Freeze(), m.ChannelID)).Text) })
	case addressed && !errors.Is(err, intent.ErrNotAnAnswer):
		in.taken(ctx, m, who, func() { says(in.To(who.id, m.ChannelID).Message(display.Msg(textEdited))) })
	}
}
