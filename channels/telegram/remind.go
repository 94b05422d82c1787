package telegram

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"approver.example"
	"approver.example/channels/internal/calls"
)

// Remind sends a text as a reply to a card, which it does not change.
func (c *Channel) Remind(ctx context.Context, ref approver.Ref, text string) (approver.Ref, error) {
	at, n, err := c.messageOf(ref)
	if err != nil {
		return approver.Ref{}, err
	}
	var sent *models.Message
	var p page
	p.prose(shorten(text, maxText))
	err = c.call(ctx, at.chat, "sendMessage", func(ctx context.Context) error {
		sent, err = c.api.SendMessage(ctx, &bot.SendMessageParams{
			ChatID: at.chat, MessageThreadID: at.thread, Text: p.html(), ParseMode: models.ParseModeHTML,
			LinkPreviewOptions: noPreview(), ReplyParameters: &models.ReplyParameters{MessageID: n},
		})
		return err
	})
	switch {
	case err != nil:
		return approver.Ref{}, fmt.Errorf("%s: message %d: %w", at, n, err)
	case sent == nil || sent.ID <= 0:
		return approver.Ref{}, fmt.Errorf("%s: the answer to a reminder has no message id", at)
	}
	return approver.Ref{Destination: ref.Destination, Message: strconv.Itoa(sent.ID)}, nil
}

// Unremind deletes a message of Remind.
func (c *Channel) Unremind(ctx context.Context, ref approver.Ref) error {
	at, n, err := c.messageOf(ref)
	if err != nil {
		return err
	}
	err = c.call(ctx, at.chat, "deleteMessage", func(ctx context.Context) error {
		_, err := c.api.DeleteMessage(ctx, &bot.DeleteMessageParams{ChatID: at.chat, MessageID: n})
		return err
	})
	if err == nil || strings.Contains(strings.ToLower(err.Error()), "message to delete not found") {
		return nil
	}
	return fmt.Errorf("%s: message %d: %w", at, n, err)
}

// messageOf reads which message of which chat a card is.
func (c *Channel) messageOf(ref approver.Ref) (at place, message int, err error) {
	at, err = c.placeOf(ref.Destination)
	if err != nil {
		return at, 0, calls.Errorf(calls.Refused, "%w", err)
	}
	n, err := number(ref.Message)
	if err != nil || n <= 0 || n > 1<<31-1 {
		return at, 0, calls.Final("telegram: %q is not a message id", ref.Message)
	}
	return at, int(n), nil
}
