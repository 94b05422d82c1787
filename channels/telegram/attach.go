package telegram

import (
	"context"
	"strings"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"approver.example"
	"approver.example/channels/internal/calls"
	"approver.example/channels/internal/cards"
)

// attachTries bounds how often a file is tried before its card says that it failed.
const attachTries = 4

// complete attaches what a card does not show. If that fails, the card says so: it must not ask
// people to read a file that does not exist.
func (c *Channel) complete(ctx context.Context, at place, id int, card approver.Card, f cards.File) {
	err := c.attachPatiently(ctx, at, id, f)
	if err == nil {
		return
	}
	c.log.Warn("a card is without its file; Details on the card sends it again",
		"chat", at.chat, "message", id, "error", err)
	m, err := render(card, cards.Missing)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.pace.saying)
		defer cancel()
		err = c.edit(ctx, at, id, m)
	}
	if err != nil {
		c.log.Warn("nor can the card say so", "chat", at.chat, "message", id, "error", err)
	}
}

// attachPatiently tries while ctx lasts, but leaves time to say that it failed.
func (c *Channel) attachPatiently(ctx context.Context, at place, id int, f cards.File) error {
	if end, ok := ctx.Deadline(); ok {
		short, cancel := context.WithDeadline(ctx, end.Add(-c.pace.saying))
		defer cancel()
		ctx = short
	}
	for try := 0; ; try++ {
		err := c.attach(ctx, at, id, f)
		if k := calls.KindOf(err); err == nil || k == calls.Refused || k == calls.Limited || try == attachTries-1 ||
			calls.Sleep(ctx, c.pace.retry.After(try, nil)) != nil {
			return err
		}
	}
}

// attach sends what a card does not show, as a reply to it.
func (c *Channel) attach(ctx context.Context, at place, card int, f cards.File) error {
	var caption page
	caption.add(code, f.Caption)
	return c.call(ctx, at.chat, "sendDocument", func(ctx context.Context) error {
		_, err := c.api.SendDocument(ctx, &bot.SendDocumentParams{
			ChatID: at.chat, MessageThreadID: at.thread, DisableNotification: true,
			Document: &models.InputFileUpload{Filename: f.Name, Data: strings.NewReader(f.Content)},
			Caption:  caption.html(), ParseMode: models.ParseModeHTML, DisableContentTypeDetection: true,
			ReplyParameters: &models.ReplyParameters{MessageID: card},
		})
		return err
	})
}
