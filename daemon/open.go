package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"approver.example"
	"approver.example/audit"
	"approver.example/channels/discord"
	"approver.example/channels/slack"
	"approver.example/channels/telegram"
	"approver.example/channels/terminal"
	"approver.example/configs"
	"approver.example/daemon/sealed"
	"approver.example/store/boltstore"
	"approver.example/store/redisstore"
)

// A ClosableKV is a KV that can be closed.
type ClosableKV interface {
	approver.KV
	Close() error
}

// OpenStore opens the configured store.
func OpenStore(ctx context.Context, cfg configs.Config, log *slog.Logger) (ClosableKV, error) {
	if cfg.Store.Redis != nil {
		return redisstore.Open(ctx, *cfg.Store.Redis, log.With("part", "redis"))
	}
	return boltstore.Open(cfg.Bolt(), log.With("part", "store"))
}

func openAudit(ctx context.Context, cfg configs.Config, kv approver.KV, t *trust, log *slog.Logger) (*audit.Log, error) {
	key, err := audit.LoadOrCreateKey(cfg.AuditKey())
	if err != nil {
		return nil, err
	}
	o := cfg.Audit.Options()
	o.Dir, o.ID, o.Key, o.KV, o.Log = cfg.AuditDir(), cfg.AuditID(), key, kv, log.With("part", "audit")
	o.Hold, o.Controls, o.Changed = true, func() uint64 { return t.mark.Version() }, t.changed
	o.Volatile = !t.survives
	o.Renamed = func(ctx context.Context, former string) error { return sealed.Carry(ctx, cfg, kv, former) }
	records, err := audit.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, alarm := range records.Alarms() {
		log.Error("AUDIT ALARM", "what", alarm)
	}
	return records, nil
}

// OpenChannels makes every configured channel: the list of all there are.
func OpenChannels(cfg configs.Config, isolated bool, log *slog.Logger) (channels []approver.Channel, local *terminal.Channel, err error) {
	var errs []error
	add := func(name string, c approver.Channel, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("channel %s: %w", name, err))
			return
		}
		channels = append(channels, c)
	}
	if c := cfg.Channels.Telegram; c != nil {
		ch, err := telegram.New(*c, log.With("channel", telegram.Name))
		add(telegram.Name, ch, err)
	}
	if c := cfg.Channels.Discord; c != nil {
		ch, err := discord.New(*c, log.With("channel", discord.Name))
		add(discord.Name, ch, err)
	}
	if c := cfg.Channels.Slack; c != nil {
		ch, err := slack.New(*c, log.With("channel", slack.Name))
		add(slack.Name, ch, err)
	}
	if c := cfg.Channels.Terminal; c != nil {
		own := *c
		own.Isolated = isolated
		own.Alone, own.Owner = len(channels) == 0 && len(errs) == 0, os.Getuid() != 0
		ch, err := terminal.New(own, log.With("channel", terminal.Name))
		add(terminal.Name, ch, err)
		local = ch
	}
	if len(channels) == 0 && len(errs) == 0 {
		log.Warn("no channel is configured: every call that needs people will be denied")
	}
	return channels, local, errors.Join(errs...)
}
