package main

import (
	"context"
	"os"
	"strings"

	"approver.example/cmd/approver/demo"
	"approver.example/cmd/approver/internal/term"
)

type demoCmd struct {
	Store       string `help:"embedded, or redis for a private redis-server." enum:"embedded,redis" default:"embedded"`
	Interactive bool   `help:"Let you answer once more at the end."`
	JSON        bool   `help:"Print one event per line."`
}

// Help is the long text.
func (demoCmd) Help() string {
	return `A real daemon, real hook processes with a recorded payload, and three fake chat apps on loopback. It takes
less than 20 s and leaves nothing behind. Exit code 0 only if every step was as it should be.

Example:
  approver demo
  approver demo --store redis --json
  approver demo --interactive

The events of --json:

` + "  " + strings.ReplaceAll(demo.Events, "\n", "\n  ")
}

// Run shows the demo.
func (c demoCmd) Run(ctx context.Context) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return demo.Run(ctx, demo.Options{
		Redis: c.Store == "redis", Interactive: c.Interactive, JSON: c.JSON, Width: term.Width(os.Stdout), In: os.Stdin,
		Out: os.Stdout, Program: program,
	})
}
