package telegram

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"approver.example"
	"approver.example/tokens"
)

// Pair waits until somebody sends code to the bot, and returns who and where.
// Only a person's own, new message counts: not a forwarded one, not one of a
// channel or an anonymous admin. approvers and chats of cfg are not looked at,
// and whoever it is has no rights by that. No daemon may listen for the same
// bot meanwhile.
func Pair(ctx context.Context, cfg Config, code tokens.Code, log *slog.Logger) (approver.Paired, error) {
	if code.IsZero() {
		return approver.Paired{}, errors.New("telegram: no code to wait for")
	}
	// Chats and approvers are what is to be found: these stand in for them.
	cfg.Chats, cfg.Approvers = []Chat{{ID: "1"}}, []approver.Approver{{ID: "1"}}
	c, err := New(cfg, log)
	if err != nil {
		return approver.Paired{}, err
	}
	if _, err := c.Health(ctx); err != nil {
		return approver.Paired{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	found := make(chan approver.Paired, 1)
	api, err := bot.New(c.token, bot.WithSkipGetMe(), bot.WithServerURL(c.url), bot.WithHTTPClient(c.pace.poll, doer{c.client}),
		bot.WithWorkers(1), bot.WithNotAsyncHandlers(),
		bot.WithErrorsHandler(func(err error) { c.log.Debug("telegram library", "error", c.scrub(err.Error())) }),
		bot.WithDefaultHandler(func(_ context.Context, _ *bot.Bot, u *models.Update) {
			if p, ok := pairedBy(u, code); ok {
				select {
				case found <- p:
					cancel()
				default: // the first counts
				}
			}
		}))
	if err != nil {
		return approver.Paired{}, fmt.Errorf("telegram: %s", c.scrub(err.Error()))
	}
	api.Start(ctx)
	c.client.CloseIdleConnections()
	select {
	case p := <-found:
		return p, nil
	default:
		return approver.Paired{}, fmt.Errorf("telegram: nobody sent the code: %w", context.Cause(ctx))
	}
}

// pairedBy reports whether an update is a person's message with the code.
func pairedBy(u *models.Update, code tokens.Code) (approver.Paired, bool) {
	m := u.Message
	if m == nil || m.From == nil || m.From.IsBot || m.SenderChat != nil || m.ForwardOrigin != nil || m.ViaBot != nil {
		return approver.Paired{}, false
	}
	sent, err := tokens.Find(m.Text)
	if err != nil || !sent.Equal(code) {
		return approver.Paired{}, false
	}
	p := approver.Paired{ID: strconv.FormatInt(m.From.ID, 10), Name: strings.TrimSpace(m.From.FirstName + " " + m.From.LastName), Chat: strconv.FormatInt(m.Chat.ID, 10), Title: m.Chat.Title}
	if m.IsTopicMessage {
		p.Thread = m.MessageThreadID
	}
	return p, true
}
