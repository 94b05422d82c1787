package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"approver.example"
)

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
		"channels", channelNames(base.channels), "took_ms", time.Since(started).Milliseconds())
	debug.FreeOSMemory() // what was only needed to start
	err := together(ctx, run...)
	log.Info("stopped", "ran", time.Since(started).Round(time.Second))
	return errors.Join(err, record(approver.EventStopped, time.Now(), ""))
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

func channelNames(channels []approver.Channel) string {
	var out []string
	for _, c := range channels {
		out = append(out, c.Name())
	}
	return strings.Join(out, ",")
}
