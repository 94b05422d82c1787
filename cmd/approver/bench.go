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

// Help is the long text.
func (benchCmd) Help() string {
	return `Measures this build on this machine: the hook as a process, the policy, and whole approvals through real
daemons in a temporary folder, with every step durable. Everything stays on this machine, and everything that it
starts it ends. It needs redis-server for the store redis, and a Go toolchain for the empty program that the hook is
compared with. A slow machine is no failure; exit code 1 means that something did not work.

Example:
  approver bench
  approver bench --short --json
  approver bench --store embedded`
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
