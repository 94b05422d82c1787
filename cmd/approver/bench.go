package main

import (
	"context"
	"os"

	"approver.example/cmd/approver/bench"
)

type benchCmd struct {
	Store string `help:"embedded, redis, or both." enum:"embedded,redis,both" default:"both"`
	Short bool   `help:"Fewer runs, for CI: about a minute."`
	JSON  bool   `help:"Print one JSON object."`
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
	return bench.Run(ctx, bench.Options{Stores: stores, Short: c.Short, JSON: c.JSON, Out: os.Stdout, Say: os.Stderr,
		Program: program})
}
