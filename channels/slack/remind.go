package slack

import (
	"context"
	"errors"
	"slices"

	"github.com/slack-go/slack"

	"approver.example"
	"approver.example/channels/internal/calls"
)

// Remind sends a text to the thread of a card, and shows it in the conversation too: who has not written in a
// thread is not told of it. The card is not changed.
func (c *Channel) Remind(ctx context.Context, ref approver.Ref, text string) (approver.Ref, error) {
	if ref.Channel != Name || !slices.Contains(c.cfg.Channels, ref.Conversation) || ref.Message == "" {
		return approver.Ref{}, calls.Final("slack: %q has no card of a configured conversation", ref.Conversation)
	}
	if err := c.vet(ctx, ref.Conversation); err != nil {
		return approver.Ref{}, err
	}
	sent := approver.Ref{Destination: ref.Destination}
	opts := append(plainOptions(clip(text)), slack.MsgOptionTS(ref.Message), slack.MsgOptionBroadcast())
	err := c.call(ctx, "chat.postMessage", func(ctx context.Context) (err error) {
		_, sent.Message, err = c.api.PostMessageContext(ctx, ref.Conversation, opts...)
		return err
	})
	if err == nil && sent.Message == "" {
		err = errors.New("slack: the answer to a reminder has no timestamp")
	}
	return sent, err
}

// Unremind deletes a message of Remind.
func (c *Channel) Unremind(ctx context.Context, ref approver.Ref) error {
	if ref.Channel != Name || !slices.Contains(c.cfg.Channels, ref.Conversation) || ref.Message == "" {
		return calls.Final("slack: %q has no reminder of a configured conversation", ref.Conversation)
	}
	err := c.delete(ctx, ref)
	if calls.Coded(err, "message_not_found") {
		return nil
	}
	return err
}
