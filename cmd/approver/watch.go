package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"approver.example/channels/terminal"
	"approver.example/httpapi"
)

type watchCmd struct {
	daemonAt
	JSON bool `help:"Print one JSON event per line and take no answers."`
}

// Help is the long text.
func (watchCmd) Help() string {
	return `Shows every open request as its card, and takes answers where the configuration lets this terminal give them (channels.terminal).
It reconnects while the daemon restarts.

Example:
  approver watch
  approver watch --socket /run/approver/resolve.sock
  approver watch --json | jq .`
}

// Run watches until ctx ends or the person quits.
func (c watchCmd) Run(ctx context.Context) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events := make(chan json.RawMessage)
	var feed sync.WaitGroup
	feed.Go(func() { defer close(events); follow(ctx, client, events) })
	defer feed.Wait()
	defer cancel()
	if c.JSON {
		for raw := range events {
			fmt.Println(string(raw))
		}
		return nil
	}
	if mode := (operatorCmd{daemonAt: c.daemonAt}).mode(ctx); mode != "" {
		fmt.Println(mode)
	}
	info, err := os.Stdout.Stat()
	ui := terminal.UI{In: os.Stdin, Out: os.Stdout, Colour: err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == "", Now: time.Now}
	err = ui.Run(ctx, events, client.Answer)
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// follow passes events on until ctx ends, and connects again after a loss.
func follow(ctx context.Context, client httpapi.ResolveClient, events chan<- json.RawMessage) {
	said := false
	for ctx.Err() == nil {
		err := client.Watch(ctx, func(raw json.RawMessage) error {
			said = false
			select {
			case events <- raw:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if ctx.Err() == nil && !said {
			fmt.Fprintf(os.Stderr, "approver: not connected: %v; trying again\n", err)
			said = true
		}
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
}
