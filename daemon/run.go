package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"approver.example"
	"approver.example/daemon/codekeys"
	"approver.example/daemon/judges"
	"approver.example/daemon/shield"
	"approver.example/shieldcore/quota"
)

// Run runs the daemon, once, until ctx ends or a part of it fails. It returns after all parts
// have ended.
func (d *Daemon) Run(ctx context.Context) error { return diskCure(d.run(ctx)) }

// run is the one place that connects the parts: the dependencies, the judges, the people who
// are asked, and the sockets.
func (d *Daemon) run(ctx context.Context) (err error) {
	cfg, log, started := d.cfg, d.log, time.Now()
	var read ReadOnce
	read.Add("configuration", cfg.File)
	read.Add("secret", cfg.ReadOnce()...)
	// First check the configuration, then do what leaves traces.
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

	tier2, err := shield.Open(cfg, base.store, records, log.With("part", "shield"))
	if err != nil {
		return err
	}
	defer closing(&err, "shield", tier2.Close)
	rules, err := judges.Open(ctx,
		judges.Deps{Config: base.cfg, Store: base.store, Audit: base.records, Older: base.older, Mark: base.trust.mark,
			Doubt: base.trust.distrust}, files, log)
	if err != nil {
		return err
	}
	asks, err := quota.NewAsks(base.store, cfg.AsksPerMinute)
	if err != nil {
		return err
	}
	defer asks.Close()
	if asks.Fresh = time.Second; !cfg.Storage().Shared {
		asks.Fresh = math.MaxInt64
	}
	people, err := newBroadcaster(base, rules, asks, log)
	if err == nil {
		err = base.trust.settle(ctx, people, records)
	}
	if err == nil {
		err = endUnstored(ctx, base.store, records, !base.trust.survives)
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
	if !cfg.Storage().Shared {
		read.Add("key", codekeys.File(cfg))
	}
	admin := newAdmin(base, people, log)
	admin.read, admin.started, admin.observer, admin.times = read, started, watching, gate.Times
	admin.shield, admin.asks, admin.rules, admin.hooks = tier2, asks, rules, decide.Hooks
	doors, err := openSockets(cfg.Sockets, base.isolation, decide, asker{*gate}, localOf(base.channels), admin, log)
	if err != nil {
		return err
	}

	platforms, err := openWebhooks(ctx, base.cfg.Webhooks.Listen, base.channels, log)
	if err != nil {
		return errors.Join(err, admin.closeDoors())
	}
	doors = append(doors, platforms...)

	note := base.isolation.note() + watching.note(ctx) + base.trust.note()
	admit := func(ctx context.Context) error { return base.authority.run(ctx, people.Ask) }
	run := append(doors, people.Run, admit, watching.run, decide.Hooks.Run, tier2.Run, base.trust.watch(people, records),
		settle(rules))
	close(d.ready)
	return runAll(ctx, base, started, note, log, append(run, rules.Runs(cfg, people.Ask)...))
}

// runAll runs all parts until ctx ends or one fails, and records start and stop. A daemon that
// is told to stop while it starts still stops in order.
func runAll(
	ctx context.Context, base *deps, started time.Time, note string, log *slog.Logger, run []func(context.Context) error,
) error {
	record := func(e approver.Event, at time.Time, note string) error {
		_, err := base.records.Record(context.WithoutCancel(ctx), approver.Record{Event: e, At: at, Note: note})
		return err
	}
	if err := record(approver.EventStarted, started, note); err != nil {
		return fmt.Errorf("the audit: %w", err)
	}
	log.Info("ready", "isolated", base.isolation.Isolated, "submit", base.cfg.Sockets.Submit, "resolve",
		base.cfg.Sockets.Resolve,
		"channels", channelNames(base.channels), "took_ms", time.Since(started).Milliseconds())
	err := together(ctx, run...)
	log.Info("stopped", "ran", time.Since(started).Round(time.Second))
	return errors.Join(err, record(approver.EventStopped, time.Now(), ""))
}

// settleAfter is how long the daemon must have had little to do before it settles, and littleCPU what it may
// have used of the processors in that time.
const (
	settleAfter = 250 * time.Millisecond
	littleCPU   = settleAfter / 20
)

// settle makes what the first call would wait for, and returns to the system what only the start needed: free
// memory of the heap, and the parts of the program's own file that were read. No answer waits for it: that
// takes some 10 ms, so it comes when the daemon has little to do.
func settle(rules *judges.Judges) func(context.Context) error {
	return func(ctx context.Context) error {
		look := time.NewTicker(settleAfter)
		defer look.Stop()
		for last, err := cpuTime(); err == nil; {
			select {
			case <-ctx.Done():
				return nil
			case <-look.C:
			}
			was := last
			if last, err = cpuTime(); last-was > littleCPU {
				continue
			}
			rules.Warm(ctx)
			debug.FreeOSMemory()
			dropProgram()
			return nil
		}
		return nil
	}
}

// together runs all functions until ctx ends or one fails, and waits for all of them.
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

func channelNames(channels []approver.Channel) string {
	var out []string
	for _, c := range channels {
		out = append(out, c.Name())
	}
	return strings.Join(out, ",")
}
