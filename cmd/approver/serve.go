package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"approver.example"
	"approver.example/audit"
	"approver.example/channels/discord"
	"approver.example/channels/slack"
	"approver.example/channels/telegram"
	"approver.example/channels/terminal"
	"approver.example/configs"
	"approver.example/httpapi"
	"approver.example/reflexcore"
	"approver.example/reflexcore/memory"
	"approver.example/reflexcore/precedent"
	"approver.example/shieldcore"
	"approver.example/store/boltstore"
	"approver.example/store/redisstore"
)

type serveCmd struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE"`
}

// Help is the long text.
func (serveCmd) Help() string {
	return `Runs until SIGINT or SIGTERM. Open requests outlive it: hooks wait, and go on with the next daemon.

Example:
  approver serve --config ~/.approver/approver.yaml`
}

// Run runs the daemon.
func (c serveCmd) Run(ctx context.Context) error {
	cfg, err := configs.LoadOrDefault(c.Config)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: cfg.Log.Level}))
	return diskCure(serve(ctx, cfg, log))
}

// diskCure says what helps against an error of the disk, which by itself names
// only the place.
func diskCure(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC) && !strings.Contains(err.Error(), "make room"):
		return fmt.Errorf("%w: the disk is full: make room there, then start again", err)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: the daemon has to write there: mount it writable, or name another place in the configuration", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: the daemon runs as uid %d: give it the place, or name another in the configuration", err, os.Geteuid())
	}
	return err
}

// serve is the one place where the parts meet.
func serve(ctx context.Context, cfg configs.Config, log *slog.Logger) (err error) {
	started := time.Now()
	// First what may be wrong in the configuration, then what leaves traces.
	file, err := openPolicy(cfg, log)
	if err != nil {
		return err
	}
	rules, err := openRules(cfg, log)
	if err != nil {
		return err
	}
	// The engine's tables are read while store and audit are opened.
	asRead := cfg // without what people have to approve first, it becomes another
	loadReflex := sync.OnceValues(func() (*reflexcore.Engine, error) { return newReflex(asRead, rules) })
	screens := sync.OnceValues(loadScreens)
	go func() { _, _ = loadReflex() }() // the errors are looked at below
	go func() { _, _ = screens() }()
	house, err := openHouse(cfg, log)
	if err != nil {
		return err
	}
	channels, local, err := openChannels(cfg, house.Isolated, log)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return fmt.Errorf("the data folder: %w", err)
	}
	store, err := openStore(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer closing(&err, "store", store.Close)

	records, err := openAudit(ctx, cfg, store, log)
	if err != nil {
		return err
	}
	defer closing(&err, "audit", func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return records.Close(ctx)
	})

	policyRecord, err := newSealed(cfg, store, "policy")
	if err != nil {
		return err
	}
	policy := &shieldcore.Live{}
	standing := holdPolicy(policyRecord, policy, records, log.With("part", "policy"))
	standing.older = records.Head().Seq > 0
	authority, err := holdAuthority(ctx, cfg, store, records, house.Isolated, log.With("part", "approvers"))
	if err != nil {
		return err
	}
	if len(authority.waiting()) > 0 {
		granted := cfg.HeldTo(authority.counting())
		cfg.FailMode, cfg.Shield = granted.FailMode, granted.Shield
		if channels, local, err = openChannels(granted, house.Isolated, log); err != nil {
			return err
		}
	}
	tier2, err := openShield(cfg, store, records, log.With("part", "shield"))
	if err != nil {
		return err
	}
	defer closing(&err, "shield", tier2.close)
	if err := standing.start(ctx, file); err != nil {
		return err
	}
	reflex, err := loadReflex()
	if err != nil {
		return err
	}
	tier1, err := screens()
	if err != nil {
		return err
	}
	rulesRecord, err := newSealed(cfg, store, "rules")
	if err != nil {
		return err
	}
	ruling := &liveRules{engine: reflex}
	standingRules := holdRules(rulesRecord, ruling, records, log.With("part", "rules"))
	if err := standingRules.start(ctx, rules); err != nil {
		return err
	}
	flowing := &liveFlow{engine: reflex}
	standingFlow, err := startFlow(ctx, cfg, store, flowing, records, log.With("part", "flow"))
	if err != nil {
		return err
	}
	projects := newProjectReporter(records, log.With("part", "rules"))
	reflex.Project = projects.rules(cfg).For
	versions := func() string { return policy.Version() + ruling.Version() + flowing.Version() }
	broadcaster, err := newBroadcaster(cfg, versions, house.Notice(), store, learner{records, reflex, log.With("part", "precedents")}, channels, log.With("part", "people"))
	if err != nil {
		return err
	}
	broadcaster.SetPeople(cfg.PeopleHeldTo(authority.counting()))
	authority.admitted = broadcaster.SetPeople
	reflex.Precedents = precedent.New(store, cfg.Reflex.Precedents.Limits())
	remembered := memory.New(store, cfg.Reflex.Loop.Limits(), log.With("part", "memory"))
	reflex.Memory = func(approver.ToolCall) *memory.Memory { return remembered }
	watching := &observer{people: broadcaster, log: log.With("part", "observe")}
	budgets := cfg.Reflex.Gate()
	screening := tier1(cfg.Shield.Classifier)
	if tier2.model, err = addModel(cfg.Shield.Sidecar, screening); err != nil {
		return err
	}
	gate := &approver.Gate{
		Stages: append([]approver.Stage{approver.FreezeStage{Store: store}, reflex, policy}, screening...), Tiers: approver.TierScreen,
		Evaluator: tier2.evaluator(), Again: []approver.Stage{approver.FreezeStage{Store: store}, policy}, FailOpen: cfg.FailMode == configs.FailOpen, OnFailOpen: tier2.opening, Ask: broadcaster.Ask,
		Observe: watching.observe, Paused: broadcaster.PausedFor, Rewrite: rewrite, Weak: cfg.Reflex.Gatekeeper.Weak, Budgets: budgets,
		Appeals: &approver.Appeals{People: broadcaster, Within: cfg.Reflex.Gatekeeper.AppealWithin}, Audit: records, Log: log.With("part", "gate"),
	}
	decide := &decider{gate: gate, audit: records, log: log.With("part", "hook"), started: started, agents: cfg.Agents, remember: reflex.Ran}
	if cfg.FreezeOnBypass {
		decide.freeze = broadcaster.Freeze
	}
	inForce := cfg.HeldTo(authority.counting())
	if decide.outputs, err = newOutputs(inForce, reflex.Told, records, log.With("part", "output")); err != nil {
		return err
	}

	desk := &desk{
		people: broadcaster, channels: channels, authority: authority, audit: records, observer: watching, budgets: budgets, shield: tier2, store: storeName(cfg), notice: house.Notice(), policy: cfg.Policy, started: started,
		output: outputLine(inForce), log: log.With("part", "desk"),
	}

	serveSockets, err := openSockets(cfg.Sockets, house, decide, asker{*gate}, local, desk, log)
	if err != nil {
		return err
	}
	// Who is told to stop while starting still stops in order.
	if _, err := records.Record(context.WithoutCancel(ctx), approver.Record{Event: approver.EventStarted, At: started, Note: house.note() + watching.note(ctx)}); err != nil {
		return fmt.Errorf("the audit: %w", err)
	}
	log.Info("ready", "isolated", house.Isolated, "submit", cfg.Sockets.Submit, "resolve", cfg.Sockets.Resolve, "channels", names(channels), "took", time.Since(started).Round(time.Millisecond))
	debug.FreeOSMemory() // what was only needed to start
	reload := reloadPolicy(cfg, standing, broadcaster.Ask)
	reloadRuleSet := reloadRules(cfg, standingRules, broadcaster.Ask)
	reloadFlow := proposeFlow(cfg, standingFlow, broadcaster.Ask)
	admit := func(ctx context.Context) error { return authority.run(ctx, broadcaster.Ask) }
	err = together(ctx, append(serveSockets, broadcaster.Run, reload.run, reloadRuleSet.run, reloadFlow.run, projects.run, admit, watching.run, remembered.Run, tier2.run)...)
	_, recordErr := records.Record(context.WithoutCancel(ctx), approver.Record{Event: approver.EventStopped, At: time.Now()})
	return errors.Join(err, recordErr)
}

// openPolicy reads the configured policy, and warns of rules in it that do nothing.
func openPolicy(cfg configs.Config, log *slog.Logger) (*shieldcore.Policy, error) {
	policy, err := cfg.LoadPolicy()
	if err != nil {
		return nil, err
	}
	for _, w := range policy.Warnings() {
		log.Warn("the policy has a rule that does nothing", "what", w.Pos.String()+": "+w.Text)
	}
	return policy, nil
}

// holdAuthority finds out whose answers count.
func holdAuthority(ctx context.Context, cfg configs.Config, kv approver.KV, records *audit.Log, isolated bool, log *slog.Logger) (*heldAuthority, error) {
	record, err := newSealed(cfg, kv, "approvers")
	if err != nil {
		return nil, err
	}
	h := &heldAuthority{sealed: record, cfg: cfg, isolated: isolated, audit: records, older: records.Head().Seq > 0, log: log}
	return h, h.start(ctx)
}

func newBroadcaster(
	cfg configs.Config, rules func() string, notice string, kv approver.KV, records approver.Recorder, channels []approver.Channel, log *slog.Logger,
) (*approver.Broadcaster, error) {
	codeKeys, err := openCodeKeys(cfg)
	if err != nil {
		return nil, err
	}
	var files approver.FileHasher
	return approver.NewBroadcaster(approver.Options{
		Store: kv, Audit: records, People: cfg.People(), Channels: channels, Destinations: cfg.Destinations(),
		Fingerprint: func(ctx context.Context, call approver.ToolCall) (approver.Fingerprint, error) {
			hashes, err := files.Of(ctx, call)
			if err != nil {
				return "", err
			}
			return approver.FingerprintOf(call, rules(), hashes)
		},
		Rule: exactRule, CodeKey: codeKeys[0], OldCodeKeys: codeKeys[1:], CodeLength: cfg.CodeLength, TTL: cfg.TTL, KeepFor: cfg.Store.KeepFor,
		Host: hostname(), Notice: notice, Log: log,
	})
}

// openSockets listens on both sockets and returns what serves each.
func openSockets(at configs.Sockets, h house, decide *decider, ask asker, local *terminal.Channel, desk *desk, log *slog.Logger) ([]func(context.Context) error, error) {
	submit := &httpapi.Submit{Hook: decide.hook, Ask: ask.ask, Appeal: ask.appeal, Admit: h.submit, Log: log.With("part", "submit")}
	resolve := &httpapi.Resolve{Admit: h.resolve, Operator: desk, Log: log.With("part", "resolve")}
	if local != nil {
		resolve.Resolver = local
	}
	if err := h.reachable(at.Submit); err != nil {
		return nil, err
	}
	submitOn, err := httpapi.Listen(at.Submit, h.submitMode)
	if err != nil {
		return nil, err
	}
	resolveOn, err := httpapi.Listen(at.Resolve, h.resolveMode)
	if err != nil {
		return nil, errors.Join(err, submitOn.Close())
	}
	return []func(context.Context) error{
		func(ctx context.Context) error { return submit.Serve(ctx, submitOn) },
		func(ctx context.Context) error { return resolve.Serve(ctx, resolveOn) },
	}, nil
}

// together runs all until ctx ends, or one fails, and waits for every one.
func together(ctx context.Context, run ...func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	errs := make([]error, len(run))
	for i, f := range run {
		all.Go(func() {
			if errs[i] = f(ctx); errs[i] != nil {
				cancel(errs[i])
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// closing closes a part and joins its error to that of the whole.
func closing(err *error, name string, f func() error) {
	if closeErr := f(); closeErr != nil {
		*err = errors.Join(*err, fmt.Errorf("close the %s: %w", name, closeErr))
	}
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

func openAudit(ctx context.Context, cfg configs.Config, kv approver.KV, log *slog.Logger) (*audit.Log, error) {
	key, err := audit.LoadOrCreateKey(cfg.AuditKey())
	if err != nil {
		return nil, err
	}
	o := cfg.Audit.Options()
	o.Dir, o.ID, o.Key, o.KV, o.Log = cfg.AuditDir(), cfg.AuditID(), key, kv, log.With("part", "audit")
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
		ch, err := terminal.New(own, log.With("channel", terminal.Name))
		add(terminal.Name, ch, err)
		local = ch
	}
	if len(channels) == 0 && len(errs) == 0 {
		log.Warn("no channel is configured: every call that needs people will be denied")
	}
	return channels, local, errors.Join(errs...)
}

func names(channels []approver.Channel) string {
	var out []string
	for _, c := range channels {
		out = append(out, c.Name())
	}
	return strings.Join(out, ",")
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown host"
	}
	return name
}
