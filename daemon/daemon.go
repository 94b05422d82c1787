// Package daemon is what approver serve runs: it wires the store, the judges, the people
// with their channels, and the two sockets, and runs them until its context ends.
//
// Read daemon.go first: it shows all parts and how they meet. deps.go has what they stand
// on: isolation, store, audit, trust in both, whose answers count, channels. admin_routes.go
// lists what operators may do on the resolve socket, and the other admin files do it.
// What judges is in daemon/judges, what answers hooks in daemon/hooks.
package daemon

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
	"approver.example/daemon/claudehooks"
	"approver.example/daemon/codekeys"
	"approver.example/daemon/hooks"
	"approver.example/daemon/hookwatch"
	"approver.example/daemon/judges"
	"approver.example/daemon/shield"
	"approver.example/fingerprint"
	"approver.example/httpapi"
	"approver.example/shieldcore/quota"
)

// DiskCure says what helps against an error of the disk, which by itself names
// only the place. What is said already is not said twice.
func DiskCure(err error) error {
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

// Run is the one place where the parts meet: what everything stands on, what judges,
// who is asked, and the doors.
func Run(ctx context.Context, cfg configs.Config, log *slog.Logger) (err error) {
	started := time.Now()
	var read ReadOnce
	read.Add("configuration", cfg.File)
	read.Add("secret", cfg.ReadOnce()...)
	// First what may be wrong in the configuration, then what leaves traces.
	files, err := judges.ReadFiles(cfg, log)
	if err = errors.Join(err, CheckStart(cfg)); err != nil {
		return err
	}
	if err := CheckParts(cfg); err != nil {
		log.Error("a configured part will not work, so calls are blocked that need it", "error", err)
	}
	base, err := openDeps(ctx, cfg, log)
	defer base.close(ctx, &err)
	if err != nil {
		return err
	}
	cfg, records := base.cfg, base.records

	tier2, err := shield.OpenShield(cfg, base.store, records, log.With("part", "shield"))
	if err != nil {
		return err
	}
	defer closing(&err, "shield", tier2.Close)
	rules, err := judges.Open(ctx, judges.Deps{Config: base.cfg, Store: base.store, Audit: base.records, Older: base.older, Mark: base.trust.mark, Doubt: base.trust.doubt}, files, log)
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
		tier2.Model, err = judges.AddModel(cfg.Shield.Sidecar, rules.Screens)
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
	read.Add("key", cfg.AuditKey())
	if cfg.Store.Redis == nil {
		read.Add("key", codekeys.CodeKeyFile(cfg))
	}
	desk := &Admin{
		read:   read,
		People: people, channels: base.channels, authority: base.authority, audit: records, observer: watching, budgets: gate.Budgets, shield: tier2, asks: asks, rules: rules,
		config: cfg.File, store: storeName(cfg), storeFile: storeFile(cfg), shared: cfg.Store.Redis != nil, notice: base.isolation.Notice(), policy: cfg.Policy, started: started, output: hooks.OutputLine(base.inForce()), hooks: decide.Hooks, log: log.With("part", "desk"),
	}
	doors, err := openSockets(cfg.Sockets, base.isolation, decide, asker{*gate}, base.local, desk, log)
	if err != nil {
		return err
	}

	note := base.isolation.note() + watching.note(ctx) + base.trust.note()
	admit := func(ctx context.Context) error { return base.authority.run(ctx, people.Ask) }
	run := append(doors, people.Run, admit, watching.run, decide.Hooks.Run, tier2.Run, base.trust.watch(people, records))
	return runAll(ctx, base, started, note, log, append(run, rules.Runs(cfg, people.Ask)...))
}

// runAll runs all parts until ctx ends, or one fails, and records start and stop. Who is told
// to stop while starting still stops in order.
func runAll(ctx context.Context, base *deps, started time.Time, note string, log *slog.Logger, run []func(context.Context) error) error {
	record := func(e approver.Event, at time.Time, note string) error {
		_, err := base.records.Record(context.WithoutCancel(ctx), approver.Record{Event: e, At: at, Note: note})
		return err
	}
	if err := record(approver.EventStarted, started, note); err != nil {
		return fmt.Errorf("the audit: %w", err)
	}
	log.Info("ready", "isolated", base.isolation.Isolated, "submit", base.cfg.Sockets.Submit, "resolve", base.cfg.Sockets.Resolve,
		"channels", names(base.channels), "took_ms", time.Since(started).Milliseconds())
	debug.FreeOSMemory() // what was only needed to start
	err := together(ctx, run...)
	log.Info("stopped", "ran", time.Since(started).Round(time.Second))
	return errors.Join(err, record(approver.EventStopped, time.Now(), ""))
}

// newGate judges what both doors let in, and puts before people what needs them.
func newGate(base *deps, rules *judges.Judges, tier2 *shield.Shield, people *approver.Broadcaster, watching *observer, log *slog.Logger) *approver.Gate {
	cfg := base.cfg
	return &approver.Gate{
		Stages: rules.Stages(base.store, base.trust.mark), Tiers: approver.TierScreen,
		Evaluator: tier2.Evaluator(), Again: rules.Again(base.store, base.trust.mark), Fresh: rules.Fresh(),
		FailOpen: cfg.FailMode == configs.FailOpen, OnFailOpen: tier2.Opening,
		Ask: people.Ask, Observe: watching.observe, Paused: people.PausedFor, Rewrite: hooks.Rewrite, Weak: cfg.Reflex.Gatekeeper.Weak,
		Budgets: cfg.Reflex.Gate(), Turns: base.calls, Audit: base.told(log), Log: log.With("part", "gate"),
		Appeals: &approver.Appeals{People: people, Within: cfg.Reflex.Gatekeeper.AppealWithin},
	}
}

// newDecide answers hooks: it knows what ran before, and watches over the hooks themselves.
func newDecide(base *deps, rules *judges.Judges, gate *approver.Gate, people *approver.Broadcaster, log *slog.Logger) (*hooks.Decider, error) {
	cfg, records := base.cfg, base.records
	d := &hooks.Decider{
		Gate: gate, Calls: base.calls, Reports: approver.NewTurns(runtime.GOMAXPROCS(0)), Audit: base.told(log), Log: log.With("part", "hook"), Agents: cfg.Agents, Remember: rules.Reflex.Ran,
		Told: hooks.Outcomes{Store: base.store}, Project: rules.Reflex.ProjectOf, Hold: people.Hold, Became: people.Became, Missed: people.Missed, Began: people.Began,
		Stands: people.Stands, Rules: rules.Version,
		Hooks: &hookwatch.Watch{Config: cfg, Managed: claudehooks.Target{}.ManagedDir(), Audit: records, Log: log.With("part", "hooks")},
	}
	var err error
	if d.Former, err = base.trust.released(records); err != nil {
		return nil, err
	}
	if cfg.FreezeOnBypass {
		d.Freeze = people.Freeze
	}
	d.Outputs, err = hooks.NewOutputs(base.inForce(), rules.Reflex.Told, records, log.With("part", "output"))
	if d.Outputs != nil {
		d.Outputs.Turns = d.Reports
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
func newBroadcaster(base *deps, rules *judges.Judges, asks *quota.Asks, log *slog.Logger) (*approver.Broadcaster, error) {
	cfg := base.cfg
	codeKeys, err := codekeys.OpenCodeKeys(cfg)
	if err != nil {
		return nil, err
	}
	binder := fingerprint.New(rules.Reflex)
	b, err := approver.NewBroadcaster(approver.Options{
		Store: base.store, Audit: learner{base.told(log), rules.Reflex, log.With("part", "precedents")}, People: base.people(), Channels: base.channels, Destinations: cfg.Destinations(),
		Fingerprint: func(ctx context.Context, call approver.ToolCall) (approver.Binding, error) {
			if err := base.calls.Take(ctx, call.Peer.UID); err != nil {
				return approver.Binding{}, err
			}
			defer base.calls.Give(call.Peer.UID)
			return binder.Of(ctx, call, rules.Version())
		},
		Limit: limit(asks, base.isolation.Notice(), rules.Reflex.ProjectOf),
		Rule:  exactRule, CodeKey: codeKeys[0], OldCodeKeys: codeKeys[1:], CodeLength: cfg.CodeLength, TTL: cfg.TTL, KeepFor: cfg.Store.KeepFor,
		Mark: base.trust.mark, Host: hostname(), Notice: base.isolation.Notice(), Log: log.With("part", "people"),
	})
	if err != nil {
		return nil, err
	}
	base.authority.admitted = b.SetPeople
	return b, nil
}

// openSockets listens on both sockets and returns what serves each.
func openSockets(at configs.Sockets, h isolation, decide *hooks.Decider, ask asker, local *terminal.Channel, desk *Admin, log *slog.Logger) ([]func(context.Context) error, error) {
	submit := &httpapi.Submit{Hook: decide.Hook, Ack: desk.People.Acknowledge, Missed: desk.People.Missed, Ask: ask.ask, Appeal: ask.appeal, Admit: h.submit, Log: log.With("part", "submit")}
	resolve := &httpapi.Resolve{Admit: h.resolve, Operator: doorkeeper{desk, local}, Log: log.With("part", "resolve")}
	if local != nil {
		resolve.Resolver = doorkeeper{desk, local}
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
