package discord

import (
	"context"
	"errors"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"approver.example"
	"approver.example/channels/internal/calls"
)

// Remind sends a text as a reply to a card, which it does not change.
func (c *Channel) Remind(ctx context.Context, ref approver.Ref, text string) (approver.Ref, error) {
	if err := c.messageOf(ref); err != nil {
		return approver.Ref{}, err
	}
	m := note(text)
	m.Reference = &discordgo.MessageReference{MessageID: ref.Message}
	var got discordgo.Message
	err := c.call(ctx, "remind people", http.MethodPost, "channels/"+ref.Conversation+"/messages", m, nil, &got)
	if err == nil && !snowflake(got.ID) {
		err = errors.New("discord: remind people: the answer has no message id")
	}
	return approver.Ref{Destination: ref.Destination, Message: got.ID}, err
}

// Unremind deletes a message of Remind.
func (c *Channel) Unremind(ctx context.Context, ref approver.Ref) error {
	if err := c.messageOf(ref); err != nil {
		return err
	}
	err := c.call(ctx, "take a reminder away", http.MethodDelete, "channels/"+ref.Conversation+"/messages/"+ref.Message,
		nil, nil, nil)
	if isAPI(err, discordgo.ErrCodeUnknownMessage) {
		return nil
	}
	return err
}

// messageOf checks that a message is one of a configured channel.
func (c *Channel) messageOf(ref approver.Ref) error {
	if err := c.place(ref.Destination); err != nil {
		return err
	}
	if !snowflake(ref.Message) {
		return calls.Final("discord: %q is not the id of a message", ref.Message)
	}
	return nil
}
