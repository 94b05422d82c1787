package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"time"

	"approver.example"
	"approver.example/audit"
	"approver.example/channels/discord"
	"approver.example/channels/slack"
	"approver.example/channels/telegram"
	"approver.example/channels/terminal"
	"approver.example/configs"
	"approver.example/gate"
	"approver.example/store/boltstore"
	"approver.example/store/redisstore"
)

// A ground is what a daemon stands on: its users, its memory, its record, and the
// people who may answer.
type ground struct {
	// cfg has no fail mode and no shield setting that people have not granted.
	cfg       configs.Config
	house     house
	store     store
	records   *audit.Log
	older     bool // records had something before this start
	trust     *trust
	authority *heldAuthority
	channels  []approver.Channel
	local     *terminal.Channel // one of channels; nil where there is none
	calls     *gate.Turns       // of those whose calls are judged
}

// openGround opens it. Whatever it returns is to be closed.
func openGround(ctx context.Context, cfg configs.Config, log *slog.Logger) (g *ground, err error) {
	g = &ground{cfg: cfg, trust: &trust{}, calls: gate.NewTurns(runtime.GOMAXPROCS(0))}
	if g.house, err = openHouse(cfg, log); err != nil {
		return g, err
	}
	if g.channels, g.local, err = openChannels(cfg, g.house.Isolated, log); err != nil {
		return g, err
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return g, fmt.Errorf("the data folder: %w", err)
	}
	opened, err := openStore(ctx, cfg, log)
	if err != nil {
		return g, err // opened may be a nil pointer in an interface
	}
	g.store = opened
	_, g.trust.survives = g.store.(*boltstore.Store)
	if g.records, err = openAudit(ctx, cfg, g.store, g.trust, log); err != nil {
		return g, err
	}
	g.older = g.records.Head().Seq > 0
	if err := g.trust.judge(ctx, g.store, g.records.Opened()); err != nil {
		return g, err
	}
	return g, g.hold(ctx, log.With("part", "approvers"), log)
}

// hold finds out whose answers count, and leaves out of the configuration what nobody
// has granted yet.
func (g *ground) hold(ctx context.Context, log, channels *slog.Logger) (err error) {
	if g.authority, err = holdAuthority(ctx, g, log); err != nil {
		return err
	}
	if len(g.authority.waiting()) == 0 {
		return nil
	}
	granted := g.inForce()
	g.cfg.FailMode, g.cfg.Shield = granted.FailMode, granted.Shield
	if c, file := granted.Channels.Terminal, g.cfg.Channels.Terminal; c != nil && file.AllowAnswers && !c.AllowAnswers {
		own := *c
		own.Waits, granted.Channels.Terminal = true, &own
	}
	g.channels, g.local, err = openChannels(granted, g.house.Isolated, channels)
	return err
}

// inForce is the configuration with nothing in it that waits for people.
func (g *ground) inForce() configs.Config { return g.cfg.HeldTo(g.authority.counting()) }

// people are those whose answers count now.
func (g *ground) people() approver.People { return g.cfg.PeopleHeldTo(g.authority.counting()) }

// close closes what is open, and joins what goes wrong to err.
func (g *ground) close(ctx context.Context, err *error) {
	if g.records != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		closing(err, "audit", func() error { return g.records.Close(ctx) })
	}
	if g.store != nil {
		closing(err, "store", g.store.Close)
	}
}

// holdAuthority finds out whose answers count.
func holdAuthority(ctx context.Context, g *ground, log *slog.Logger) (*heldAuthority, error) {
	record, err := newSealed(g.cfg, g.store, "approvers", g.trust.mark)
	if err != nil {
		return nil, err
	}
	h := &heldAuthority{sealed: record, cfg: g.cfg, isolated: g.house.Isolated, audit: g.records, older: g.older, doubt: g.trust.doubt, log: log}
	return h, h.start(ctx)
}

// A store is a KV that can be closed.
type store interface {
	approver.KV
	Close() error
}

func openStore(ctx context.Context, cfg configs.Config, log *slog.Logger) (store, error) {
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
	o.Renamed = func(ctx context.Context, former string) error { return carrySealed(ctx, cfg, kv, former) }
	records, err := audit.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, alarm := range records.Alarms() {
		log.Error("AUDIT ALARM", "what", alarm)
	}
	return records, nil
}

// openChannels makes every configured channel: the list of all there are.
func openChannels(cfg configs.Config, isolated bool, log *slog.Logger) (channels []approver.Channel, local *terminal.Channel, err error) {
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
