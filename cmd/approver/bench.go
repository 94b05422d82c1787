package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"approver.example/cmd/approver/bench"
	"approver.example/cmd/approver/internal/flags"
)

type benchCmd struct {
	Store string        `help:"embedded, redis, or both." enum:"embedded,redis,both" default:"both"`
	Short bool          `help:"Fewer runs, for CI: about a minute."`
	Soak  flags.HowLong `help:"Instead, what grows under a modest load for so long, 3s to 24h." placeholder:"1h"`
	JSON  bool          `help:"Print one JSON object."`
}

// Validate refuses what would measure nothing, or for ever.
func (c benchCmd) Validate() error {
	switch soak := time.Duration(c.Soak); {
	case soak != 0 && (soak < bench.MinSoak || soak > bench.MaxSoak):
		return fmt.Errorf("--soak is from %v to %.0fh", bench.MinSoak, bench.MaxSoak.Hours())
	case soak != 0 && c.Short:
		return errors.New("--short has no meaning with --soak: give a shorter time instead")
	}
	return nil
}

// Run measures and prints.
func (c benchCmd) Run(ctx context.Context) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	stores := []string{c.Store}
	if c.Store == "both" {
		stores = []string{bench.Embedded}
		if bench.HaveRedis() {
			stores = append(stores, bench.Redis)
		}
	}
	return bench.Run(ctx, bench.Options{Stores: stores, Short: c.Short, Soak: time.Duration(c.Soak), JSON: c.JSON,
		Out: os.Stdout, Say: os.Stderr, Program: program})
}
