package main

import (
	"context"
	"os"

	"approver.example/cmd/approver/demo"
	"approver.example/cmd/approver/internal/term"
)

type demoCmd struct {
	Store       string `help:"embedded, or redis for a private redis-server." enum:"embedded,redis" default:"embedded"`
	Interactive bool   `help:"Let you answer once more at the end."`
	JSON        bool   `help:"Print one event per line."`
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
