package main

import (
	"context"
	"os"
	"runtime/debug"
	"time"

	"approver.example/configs"
	"approver.example/daemon"
	"approver.example/daemon/logging"
)

type serveCmd struct {
	Config    string             `help:"Configuration file." short:"c" placeholder:"FILE"`
	LogLevel  *configs.Level     `help:"debug, info, warn or error, whatever the configuration says." placeholder:"LEVEL"`
	LogFormat *configs.LogFormat `help:"text or json, whatever the configuration says." placeholder:"FORMAT"`
}

// Run runs the daemon.
func (c serveCmd) Run(ctx context.Context) error {
	collectLater()
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
	log := logging.New(os.Stderr, cfg.Log)
	logging.FromLibraries(log)
	return daemon.New(cfg, log).Run(ctx)
}

const (
	startTime = 400 * time.Millisecond // more than a start takes, as a rule
	startHeap = 128 << 20              // bytes
)

// collectLater turns the collection of garbage off for startTime, or until the heap has startHeap. A start
// makes tables that stay: the collector, which looks at them again and again while they grow, takes a third
// of its time.
func collectLater() {
	limit := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(limit, startHeap))
	percent := debug.SetGCPercent(-1)
	time.AfterFunc(startTime, func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
}
