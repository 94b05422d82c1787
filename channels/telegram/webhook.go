package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"approver.example/channels/internal/calls"
	"approver.example/display"
	"approver.example/internal/secret"
	"approver.example/internal/section"
	"approver.example/internal/webhooks"
)

// This file takes the updates that Telegram brings, in the place of polls: what a poll brings and what
// a webhook brings is handled by the same code.

// secretHeader has the secret of a webhook, in each request of Telegram.
const secretHeader = "X-Telegram-Bot-Api-Secret-Token"

// A hook is where Telegram brings updates.
type hook struct {
	*Channel
	at     string // its address as Telegram sees it
	text   secret.Text
	secret webhooks.Secret
	gate   webhooks.Gate[run]
}

// A run is a listener that receives until its context ends.
type run struct {
	*listener
	ctx context.Context
}

// newHook makes the hook of a channel; nil if it is to poll.
func newHook(cfg Config, c *Channel) (*hook, error) {
	if cfg.Receive != section.ByWebhook {
		return nil, nil //nolint:nilnil // there is none
	}
	text, err := secret.From("webhook_secret", cfg.WebhookSecret, cfg.WebhookSecretFile)
	if err != nil {
		return nil, fmt.Errorf("telegram: %w", err)
	}
	if err := checkSecret(text); err != nil {
		return nil, err
	}
	return &hook{Channel: c, text: text, secret: webhooks.NewSecret(text.Reveal())}, nil
}

// Webhook returns where Telegram brings updates; nil if it is polled.
func (c *Channel) Webhook() webhooks.Hook {
	if c.hook == nil {
		return nil
	}
	return c.hook
}

// Head wants the secret: it is all that tells Telegram from others.
func (h *hook) Head(header http.Header) error {
	switch given := header.Get(secretHeader); {
	case given == "":
		return webhooks.ErrUnsigned
	case !h.secret.Matches(given):
		return errors.New("it has another secret than webhook_secret")
	}
	return nil
}

// Verify is Head: the secret covers no part of a request.
func (h *hook) Verify(header http.Header, _ []byte) error { return h.Head(header) }

// Judged counts requests.
func (h *hook) Judged(refused error) { h.meter.Judged(refused) }

// Take handles one update. Telegram hears that it was taken once it is done, as far as that takes no
// longer than pace.hold: Telegram holds back what else is said in the chat until then, and a yes that
// waits for its agent must not hold back a no. An update that comes again, because a crash or a lost
// answer left it open, is handled once.
func (h *hook) Take(ctx context.Context, _ http.Header, body []byte) webhooks.Answer {
	var head struct {
		ID int64 `json:"update_id"`
	}
	_ = json.Unmarshal(body, &head) // take says what is wrong with it
	var ledger *ledger
	if !h.gate.Enter(func(r *run) {
		ledger = r.ledger
		r.take(r.ctx, body)
	}) {
		return webhooks.Away
	}
	ledger.await(ctx, head.ID, h.pace.hold)
	return webhooks.Answer{}
}

// meet learns the bot's name.
func (l *listener) meet(ctx context.Context) error {
	return l.persist(ctx, func() error { return l.whoami(ctx) })
}

// attend takes what Telegram brings until ctx ends or the token turns out not to be valid. It sets
// the webhook, and looks now and then whether it is still set, and whether Telegram reaches it.
func (l *listener) attend(ctx context.Context) error {
	defer l.hook.gate.Open(&run{l, ctx})()
	set := false
	for failures := 0; ctx.Err() == nil; {
		if err := l.keepWebhook(ctx, &set); err != nil {
			if err := l.outlive(ctx, err, failures); err != nil {
				return err
			}
			failures++
			continue
		}
		failures = 0
		if err := calls.Sleep(ctx, l.pace.look); err != nil {
			return err
		}
	}
	return nil
}

// keepWebhook looks at the webhook, and sets it if it is not ours or was not yet set here: only then
// is it certain that it has our secret.
func (l *listener) keepWebhook(ctx context.Context, set *bool) error {
	info, err := l.webhookInfo(ctx)
	if err != nil {
		return err
	}
	if info.URL != l.hook.at || !*set {
		if *set {
			l.complain(slog.LevelWarn, webhookMoved, "another program has changed the webhook of this bot: setting it again. "+
				"Give each its own bot, or stop that program", nil)
		}
		if err := l.setWebhook(ctx); err != nil {
			return err
		}
		*set = true
		l.arrived()
		return nil
	}
	if err := l.hook.problem(info); err != nil {
		l.meter.Failed(err)
		l.complain(slog.LevelWarn, undelivered, "telegram cannot bring updates", err)
		return nil
	}
	l.arrived()
	return nil
}

// stillFailing is how long a failure of Telegram to reach us counts: it tries again every two minutes at
// least, and what it brought since may have gone to another replica.
const stillFailing = 3 * time.Minute

// Causes for the log.
const (
	webhookMoved = "moved"
	undelivered  = "undelivered"
)

// maxParallel is how many updates Telegram may bring at once.
const maxParallel = 40

func (l *listener) setWebhook(ctx context.Context) error {
	return l.call(ctx, 0, "setWebhook", func(ctx context.Context) error {
		_, err := l.api.SetWebhook(ctx, &bot.SetWebhookParams{URL: l.hook.at, SecretToken: l.hook.text.Reveal(),
			AllowedUpdates: allowedUpdates, MaxConnections: maxParallel})
		return err
	})
}

func (c *Channel) webhookInfo(ctx context.Context) (info *models.WebhookInfo, err error) {
	err = c.call(ctx, 0, "getWebhookInfo", func(ctx context.Context) error {
		info, err = c.api.GetWebhookInfo(ctx)
		return err
	})
	return info, err
}

// problem says why updates do not arrive, as far as Telegram knows. What it could not bring while
// nothing waits any more is over.
func (h *hook) problem(info *models.WebhookInfo) error {
	switch failed := time.Unix(int64(info.LastErrorDate), 0); {
	case info.URL == "":
		return errors.New("telegram: no webhook is set for the bot: the daemon sets it when it starts. If it went " +
			"away since, another program polls the same bot")
	case info.URL != h.at:
		return fmt.Errorf("telegram: the webhook of the bot is at %s, not at %s: another program uses the same bot",
			display.OneLine(info.URL), h.at)
	case info.LastErrorDate == 0 || info.PendingUpdateCount == 0 || time.Since(failed) > stillFailing ||
		h.Reception().Brought.After(failed):
		return nil
	}
	return fmt.Errorf("telegram: Telegram cannot bring updates to %s, and %d wait: %s: look at the proxy in front of "+
		"webhooks.listen, and at its certificate", h.at, info.PendingUpdateCount, display.OneLine(info.LastErrorMessage))
}
