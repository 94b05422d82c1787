package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"approver.example"
	"approver.example/channels/terminal"
	"approver.example/configs"
	"approver.example/fingerprint"
	"approver.example/httpapi"
	"approver.example/shieldcore/quota"
)

type serveCmd struct {
	Config    string             `help:"Configuration file." short:"c" placeholder:"FILE"`
	LogLevel  *configs.Level     `help:"debug, info, warn or error, whatever the configuration says." placeholder:"LEVEL"`
	LogFormat *configs.LogFormat `help:"text or json, whatever the configuration says." placeholder:"FORMAT"`
}

// Help is the long text.
func (serveCmd) Help() string {
	return `Runs until SIGINT or SIGTERM. Open requests outlive it: hooks wait, and go on with the next daemon.
Its log, on standard error, has a line for each question and for each answer.

Example:
  approver serve --config ~/.approver/approver.yaml
  approver serve --log-format json --log-level debug`
}

// Run runs the daemon.
func (c serveCmd) Run(ctx context.Context) error {
	cfg, err := configs.LoadOrDefault(c.Config)
	if err != nil {
		return err
	}
	if c.LogLevel != nil {
		cfg.Log.Level = *c.LogLevel
	}
	if c.LogFormat != nil {
		cfg.Log.Format = *c.LogFormat
	}
	log := newLog(os.Stderr, cfg.Log)
	libraryLog(log)
	return diskCure(serve(ctx, cfg, log))
}

// diskCure says what helps against an error of the disk, which by itself names
// only the place. What is said already is not said twice.
func diskCure(err error) error {
	cure := ""
	switch {
	case errors.Is(err, syscall.ENOSPC) && !strings.Contains(err.Error(), "make room"):
		cure = "the disk is full: make room there, then start again"
	case errors.Is(err, syscall.EROFS):
		cure = "the daemon has to write there: mount it writable, or name another place in the configuration"
	case errors.Is(err, fs.ErrPermission):
		cure = fmt.Sprintf("the daemon runs as uid %d: give it the place, or name another in the configuration", os.Geteuid())
	}
	if cure == "" || strings.Contains(err.Error(), cure) {
		return err
	}
	return fmt.Errorf("%w: %s", err, cure)
}

// serve is the one place where the parts meet: what everything stands on, what judges,
// who is asked, and the doors.
func serve(ctx context.Context, cfg configs.Config, log *slog.Logger) (err error) {
	started := time.Now()
	var read readOnce
	read.add("configuration", cfg.File)
	read.add("secret", cfg.ReadOnce()...)
	// First what may be wrong in the configuration, then what leaves traces.
	files, err := readFiles(cfg, log)
	if err = errors.Join(err, standing(cfg)); err != nil {
		return err
	}
	if err := limping(cfg); err != nil {
		log.Error("a configured part will not work, so calls are blocked that need it", "error", err)
	}
	base, err := openGround(ctx, cfg, log)
	defer base.close(ctx, &err)
	if err != nil {
		return err
	}
	cfg, records := base.cfg, base.records

	tier2, err := openShield(cfg, base.store, records, log.With("part", "shield"))
	if err != nil {
		return err
	}
	defer closing(&err, "shield", tier2.close)
	rules, err := openJudgement(ctx, judgeDeps{base.cfg, base.store, base.records, base.older, base.trust.mark, base.trust.doubt}, files, log)
	if err != nil {
		return err
	}
	asks, err := quota.NewAsks(base.store, cfg.AsksPerMinute)
	if err != nil {
		return err
	}
	defer asks.Close()
	people, err := newBroadcaster(base, rules, asks, log)
	if err == nil {
		err = base.trust.settle(ctx, people, records)
	}
	if err == nil {
		tier2.model, err = addModel(cfg.Shield.Sidecar, rules.screens)
	}
	if err != nil {
		return err
	}

	watching := &observer{people: people, log: log.With("part", "observe")}
	gate := newGate(base, rules, tier2, people, watching, log)
	decide, err := newDecide(base, rules, gate, people, log)
	if err != nil {
		return err
	}
	read.add("key", cfg.AuditKey())
	if cfg.Store.Redis == nil {
		read.add("key", codeKeyFile(cfg))
	}
	desk := &desk{
		read:   read,
		people: people, channels: base.channels, authority: base.authority, audit: records, observer: watching, budgets: gate.Budgets, shield: tier2, asks: asks, rules: rules,
		config: cfg.File, store: storeName(cfg), storeFile: storeFile(cfg), shared: cfg.Store.Redis != nil, notice: base.house.Notice(), policy: cfg.Policy, started: started, output: outputLine(base.inForce()), hooks: decide.hooks, log: log.With("part", "desk"),
	}
	doors, err := openSockets(cfg.Sockets, base.house, decide, asker{*gate}, base.local, desk, log)
	if err != nil {
		return err
	}

	note := base.house.note() + watching.note(ctx) + base.trust.note()
	admit := func(ctx context.Context) error { return base.authority.run(ctx, people.Ask) }
	run := append(doors, people.Run, admit, watching.run, decide.hooks.run, tier2.run, base.trust.watch(people, records))
	return runAll(ctx, base, started, note, log, append(run, rules.runs(cfg, people.Ask)...))
}

// runAll runs all parts until ctx ends, or one fails, and records start and stop. Who is told
// to stop while starting still stops in order.
func runAll(ctx context.Context, base *ground, started time.Time, note string, log *slog.Logger, run []func(context.Context) error) error {
	record := func(e approver.Event, at time.Time, note string) error {
		_, err := base.records.Record(context.WithoutCancel(ctx), approver.Record{Event: e, At: at, Note: note})
		return err
	}
	if err := record(approver.EventStarted, started, note); err != nil {
		return fmt.Errorf("the audit: %w", err)
	}
	log.Info("ready", "isolated", base.house.Isolated, "submit", base.cfg.Sockets.Submit, "resolve", base.cfg.Sockets.Resolve,
		"channels", names(base.channels), "took_ms", time.Since(started).Milliseconds())
	debug.FreeOSMemory() // what was only needed to start
	err := together(ctx, run...)
	log.Info("stopped", "ran", time.Since(started).Round(time.Second))
	return errors.Join(err, record(approver.EventStopped, time.Now(), ""))
}

// newGate judges what both doors let in, and puts before people what needs them.
func newGate(base *ground, rules *judgement, tier2 *shield, people *approver.Broadcaster, watching *observer, log *slog.Logger) *approver.Gate {
	cfg := base.cfg
	return &approver.Gate{
		Stages: rules.stages(base.store, base.trust.mark), Tiers: approver.TierScreen,
		Evaluator: tier2.evaluator(), Again: rules.again(base.store, base.trust.mark), Fresh: rules.fresh(),
		FailOpen: cfg.FailMode == configs.FailOpen, OnFailOpen: tier2.opening,
		Ask: people.Ask, Observe: watching.observe, Paused: people.PausedFor, Rewrite: rewrite, Weak: cfg.Reflex.Gatekeeper.Weak,
		Budgets: cfg.Reflex.Gate(), Turns: base.calls, Audit: base.told(log), Log: log.With("part", "gate"),
		Appeals: &approver.Appeals{People: people, Within: cfg.Reflex.Gatekeeper.AppealWithin},
	}
}

// newDecide answers hooks: it knows what ran before, and watches over the hooks themselves.
func newDecide(base *ground, rules *judgement, gate *approver.Gate, people *approver.Broadcaster, log *slog.Logger) (*decider, error) {
	cfg, records := base.cfg, base.records
	d := &decider{
		gate: gate, calls: base.calls, reports: approver.NewTurns(runtime.GOMAXPROCS(0)), audit: base.told(log), log: log.With("part", "hook"), agents: cfg.Agents, remember: rules.reflex.Ran,
		known: outcomes{store: base.store}, project: rules.reflex.ProjectOf, hold: people.Hold, became: people.Became, missed: people.Missed, began: people.Began,
		stands: people.Stands, rules: rules.version,
		hooks: &hookWatch{cfg: cfg, managed: claudeFile{}.managed(), audit: records, log: log.With("part", "hooks")},
	}
	var err error
	if d.former, err = base.trust.released(records); err != nil {
		return nil, err
	}
	if cfg.FreezeOnBypass {
		d.freeze = people.Freeze
	}
	d.outputs, err = newOutputs(base.inForce(), rules.reflex.Told, records, log.With("part", "output"))
	if d.outputs != nil {
		d.outputs.turns = d.reports
	}
	return d, err
}

// limit counts questions to people. notice is what cards say of the installation.
func limit(asks *quota.Asks, notice string, project func(dir string) string) func(context.Context, string, approver.ToolCall) error {
	return func(ctx context.Context, question string, call approver.ToolCall) error {
		switch {
		case call.Control != "" && noAgent(notice, call.Peer):
			return nil
		case call.Control != "":
			return asks.TakeOwn(ctx, call.Peer, question)
		}
		return asks.Take(ctx, quota.Asker{Who: quota.Who{Peer: call.Peer, Agent: call.Agent}, Project: project(call.Dir)}, question)
	}
}

// newBroadcaster asks those whose answers count. What they approve is bound to the
// version of the rules.
func newBroadcaster(base *ground, rules *judgement, asks *quota.Asks, log *slog.Logger) (*approver.Broadcaster, error) {
	cfg := base.cfg
	codeKeys, err := openCodeKeys(cfg)
	if err != nil {
		return nil, err
	}
	binder := fingerprint.New(rules.reflex)
	b, err := approver.NewBroadcaster(approver.Options{
		Store: base.store, Audit: learner{base.told(log), rules.reflex, log.With("part", "precedents")}, People: base.people(), Channels: base.channels, Destinations: cfg.Destinations(),
		Fingerprint: func(ctx context.Context, call approver.ToolCall) (approver.Binding, error) {
			if err := base.calls.Take(ctx, call.Peer.UID); err != nil {
				return approver.Binding{}, err
			}
			defer base.calls.Give(call.Peer.UID)
			return binder.Of(ctx, call, rules.version())
		},
		Limit: limit(asks, base.house.Notice(), rules.reflex.ProjectOf),
		Rule:  exactRule, CodeKey: codeKeys[0], OldCodeKeys: codeKeys[1:], CodeLength: cfg.CodeLength, TTL: cfg.TTL, KeepFor: cfg.Store.KeepFor,
		Mark: base.trust.mark, Host: hostname(), Notice: base.house.Notice(), Log: log.With("part", "people"),
	})
	if err != nil {
		return nil, err
	}
	base.authority.admitted = b.SetPeople
	return b, nil
}

// openSockets listens on both sockets and returns what serves each.
func openSockets(at configs.Sockets, h house, decide *decider, ask asker, local *terminal.Channel, desk *desk, log *slog.Logger) ([]func(context.Context) error, error) {
	submit := &httpapi.Submit{Hook: decide.hook, Ack: desk.people.Acknowledge, Missed: desk.people.Missed, Ask: ask.ask, Appeal: ask.appeal, Admit: h.submit, Log: log.With("part", "submit")}
	resolve := &httpapi.Resolve{Admit: h.resolve, Operator: porter{desk, local}, Log: log.With("part", "resolve")}
	if local != nil {
		resolve.Resolver = porter{desk, local}
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
	desk.doors = []*httpapi.Listener{submitOn, resolveOn}
	kept := func(l *httpapi.Listener) func(context.Context) error {
		return func(ctx context.Context) error { l.Keep(ctx, log); return nil }
	}
	return []func(context.Context) error{
		func(ctx context.Context) error { return submit.Serve(ctx, submitOn) },
		func(ctx context.Context) error { return resolve.Serve(ctx, resolveOn) },
		kept(submitOn), kept(resolveOn),
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
