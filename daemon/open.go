package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"approver.example"
	"approver.example/audit"
	"approver.example/configs"
	"approver.example/daemon/sealed"
	"approver.example/internal/section"
)

// OpenStore opens the configured store.
func OpenStore(ctx context.Context, cfg configs.Config, log *slog.Logger) (approver.ClosableKV, error) {
	return cfg.OpenStore(ctx, log.With("part", cfg.Storage().Part))
}

func openAudit(
	ctx context.Context, cfg configs.Config, kv approver.KV, t *trust, log *slog.Logger,
) (*audit.Log, error) {
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

// OpenChannels makes every configured channel. Waiting are the lines of
// [configs.Config.Authority] that people have not granted.
func OpenChannels(
	cfg configs.Config, isolated bool, waiting []string, log *slog.Logger,
) (channels []approver.Channel, err error) {
	var errs []error
	used := cfg.Channels.InUse()
	for _, section := range used {
		ch, err := section.Open(installation(section.Name, len(used), isolated, waiting), log.With("channel", section.Name))
		if err != nil {
			errs = append(errs, fmt.Errorf("channel %s: %w", section.Name, err))
			continue
		}
		channels = append(channels, ch)
	}
	if len(used) == 0 {
		log.Warn("no channel is configured: every call that needs people will be denied")
	}
	return channels, errors.Join(errs...)
}

// installation is what a channel may need to know of this daemon, which has so many.
func installation(channel string, channels int, isolated bool, waiting []string) section.Installation {
	return section.Installation{
		Isolated: isolated, Alone: channels == 1, Owner: os.Getuid() != 0, Waits: configs.SettingWaits(channel, waiting),
	}
}
