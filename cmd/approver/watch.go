package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"approver.example/channels/terminal"
	"approver.example/cmd/approver/internal/adminclient"
	"approver.example/cmd/approver/internal/term"
	"approver.example/httpapi"
)

type watchCmd struct {
	adminclient.At
	JSON bool `help:"Print one JSON event per line and take no answers."`
}

// Run watches until ctx ends or the person quits.
func (c watchCmd) Run(ctx context.Context) error {
	c.Told = new(adminclient.Told)
	client, err := c.Client(ctx)
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
			fmt.Println(term.VisibleJSON(raw))
		}
		return nil
	}
	if mode := (adminclient.Cmd{At: c.At}).Mode(ctx); mode != "" {
		term.Say(mode)
	}
	info, err := os.Stdout.Stat()
	ui := terminal.UI{In: os.Stdin, Out: os.Stdout,
		Color: err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == "", Now: time.Now,
		Width: func() int { return term.Width(os.Stdout) }}
	err = ui.Run(ctx, events, client.Answer)
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// reconnect and reconnectMax limit how long a watch waits before it connects again. After a
// lost connection the wait is short, because a restarting daemon is back soon. While the daemon
// refuses, the wait doubles each time, because only a change of the configuration can help.
const (
	reconnect    = 500 * time.Millisecond
	reconnectMax = time.Minute
)

// follow passes events on until ctx ends, and reconnects when the connection is lost.
func follow(ctx context.Context, client httpapi.ResolveClient, events chan<- json.RawMessage) {
	said, wait := false, reconnect
	for ctx.Err() == nil {
		err := adminclient.Hears(ctx, client)
		if err == nil {
			err = client.Watch(ctx, func(raw json.RawMessage) error {
				said, wait = false, reconnect
				select {
				case events <- raw:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			})
		}
		if errors.Is(err, httpapi.ErrRefused) || errors.Is(err, fs.ErrPermission) {
			wait = min(2*wait, reconnectMax)
		} else {
			wait = reconnect
		}
		if ctx.Err() == nil && !said {
			if errors.Is(err, fs.ErrPermission) {
				err = adminclient.Outsider(err, client.Socket)
			}
			term.PrintOn(os.Stderr, 10, "approver: not connected: %s; trying again, and Ctrl-C ends it\n",
				term.Visibly(err.Error()))
			said = true
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}
