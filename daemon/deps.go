package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"time"

	"approver.example"
	"approver.example/audit"
	"approver.example/configs"
	"approver.example/daemon/logging"
	"approver.example/daemon/sealed"
	"approver.example/gate"
	"approver.example/internal/section"
)

// A deps is what a daemon depends on: who may connect, the store, the audit, and the people
// who may answer.
type deps struct {
	// cfg contains only those settings of fail mode and shield that people have granted.
	cfg       configs.Config
	isolation isolation
	store     approver.ClosableKV
	records   *audit.Log
	older     bool // records was not empty before this start
	trust     *trust
	authority *authority
	channels  []approver.Channel
	calls     *gate.Turns // of the users whose calls are judged
}

// openDeps opens the dependencies. The caller must close the result, even after an error.
func openDeps(ctx context.Context, cfg configs.Config, log *slog.Logger) (g *deps, err error) {
	g = &deps{cfg: cfg, trust: &trust{}, calls: gate.NewTurns(runtime.GOMAXPROCS(0))}
	if g.isolation, err = openIsolation(cfg, log); err != nil {
		return g, err
	}
	if g.channels, err = OpenChannels(cfg, g.isolation.Isolated, nil, log); err != nil {
		return g, err
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return g, fmt.Errorf("the data folder: %w", err)
	}
	opened, err := OpenStore(ctx, cfg, log)
	if err != nil {
		return g, err // opened may be a nil pointer in an interface
	}
	g.store = opened
	g.trust.survives = cfg.Storage().Durable
	if g.records, err = openAudit(ctx, cfg, g.store, g.trust, log); err != nil {
		return g, err
	}
	g.older = g.records.Head().Seq > 0
	if err := g.trust.judge(ctx, g.store, g.records.Opened()); err != nil {
		return g, err
	}
	return g, g.hold(ctx, log.With("part", "approvers"), log)
}

// hold determines whose answers count, and removes from the configuration what nobody has
// granted yet.
func (g *deps) hold(ctx context.Context, log, channels *slog.Logger) (err error) {
	if g.authority, err = holdAuthority(ctx, g, log); err != nil {
		return err
	}
	if len(g.authority.waiting()) == 0 {
		return nil
	}
	granted := g.inForce()
	g.cfg.FailMode, g.cfg.Shield, g.cfg.Audit.Sync = granted.FailMode, granted.Shield, granted.Audit.Sync
	g.channels, err = OpenChannels(granted, g.isolation.Isolated, g.authority.waiting(), channels)
	return err
}

// inForce returns the configuration without the settings that wait for people.
func (g *deps) inForce() configs.Config { return g.cfg.HeldTo(g.authority.counting()) }

// answering returns those whose answers count now.
func (g *deps) answering() approver.People { return g.cfg.PeopleHeldTo(g.authority.counting()) }

// close closes what is open, and joins errors to err.
func (g *deps) close(ctx context.Context, err *error) {
	if g.records != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		closing(err, "audit", func() error { return g.records.Close(ctx) })
	}
	if g.store != nil {
		closing(err, "store", g.store.Close)
	}
}

// holdAuthority determines whose answers count.
func holdAuthority(ctx context.Context, g *deps, log *slog.Logger) (*authority, error) {
	record, err := sealed.New(g.cfg, g.store, "approvers", g.trust.mark)
	if err != nil {
		return nil, err
	}
	h := &authority{Record: record, cfg: g.cfg, isolated: g.isolation.Isolated, audit: g.records, older: g.older,
		doubt: g.trust.distrust, log: log}
	return h, h.start(ctx)
}

// told returns the audit for calls and requests, which also writes to the log.
func (g *deps) told(log *slog.Logger) approver.Recorder {
	return logging.Calls{Recorder: g.records, Log: log.With("part", "calls")}
}

// passed returns what records calls that run without a person; nil if it is told.
func (g *deps) passed(log *slog.Logger) func(context.Context, approver.Record) error {
	if g.cfg.Audit.Sync != configs.SyncGroup {
		return nil
	}
	return logging.Calls{Recorder: g.records, Log: log.With("part", "calls")}.Passing(g.records.Pass)
}

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

// A ChannelError is why a channel could not be made.
type ChannelError struct {
	Channel string
	Cause   error
}

// Error names the channel.
func (e *ChannelError) Error() string { return "channel " + e.Channel + ": " + e.Cause.Error() }

// Unwrap returns the cause.
func (e *ChannelError) Unwrap() error { return e.Cause }

// OpenChannels makes every configured channel. waiting are the lines of
// [configs.Config.Authority] that people have not granted. With an error it returns the
// channels that it could make.
func OpenChannels(
	cfg configs.Config, isolated bool, waiting []string, log *slog.Logger,
) (channels []approver.Channel, err error) {
	var errs []error
	used := cfg.Channels.InUse()
	for _, section := range used {
		in := installation(cfg, section.Name, isolated, waiting)
		in.Webhooks = cfg.Webhooks.URL
		ch, err := section.Open(in, log.With("channel", section.Name))
		if err != nil {
			errs = append(errs, &ChannelError{section.Name, err})
			continue
		}
		channels = append(channels, ch)
	}
	if len(used) == 0 {
		log.Warn("no channel is configured: every call that needs people will be denied")
	}
	return channels, errors.Join(errs...)
}

// installation returns what a channel may need to know about this daemon.
func installation(cfg configs.Config, channel string, isolated bool, waiting []string) section.Installation {
	others := slices.ContainsFunc(cfg.Channels.InUse(), func(ch configs.Channel) bool {
		return ch.Name != channel && !cfg.Channels.Pages(ch.Name)
	})
	return section.Installation{
		Isolated: isolated, Alone: !others, Owner: os.Getuid() != 0, Waits: configs.SettingWaits(channel, waiting),
	}
}

// closing closes a part and joins its error to err.
func closing(err *error, name string, f func() error) {
	if closeErr := f(); closeErr != nil {
		*err = errors.Join(*err, fmt.Errorf("close the %s: %w", name, closeErr))
	}
}
