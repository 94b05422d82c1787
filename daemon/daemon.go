// Package daemon is what approver serve runs: it wires the store, the judges, the people
// with their channels, and the two sockets, and runs them until its context ends.
//
// Read run.go first: it shows all parts and how they are connected. deps.go has what they depend
// on: isolation, store, audit, trust in both, whose answers count, channels. admin_routes.go
// lists what operators may do on the resolve socket; the other admin files implement it.
// What judges is in daemon/judges, what answers hooks in daemon/hooks.
package daemon

import (
	"log/slog"

	"approver.example/configs"
)

// A Daemon is the approval service of one configuration.
type Daemon struct {
	cfg   configs.Config
	log   *slog.Logger
	ready chan struct{}
}

// New returns a daemon that has not touched anything yet. The configuration says which store,
// sockets and audit it uses.
func New(cfg configs.Config, log *slog.Logger) *Daemon {
	return &Daemon{cfg: cfg, log: log, ready: make(chan struct{})}
}

// Ready returns a channel that is closed when both sockets accept connections. If the start
// fails, it is never closed.
func (d *Daemon) Ready() <-chan struct{} { return d.ready }
