// Package daemon is what approver serve runs: it wires the store, the judges, the people
// with their channels, and the two sockets, and runs them until its context ends.
//
// Read run.go first: it shows all parts and how they meet. deps.go has what they stand
// on: isolation, store, audit, trust in both, whose answers count, channels. admin_routes.go
// lists what operators may do on the resolve socket, and the other admin files do it.
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

// New returns a daemon that has touched nothing yet. Its store, its sockets and its audit
// are those of the configuration.
func New(cfg configs.Config, log *slog.Logger) *Daemon {
	return &Daemon{cfg: cfg, log: log, ready: make(chan struct{})}
}

// Ready is closed when both sockets take connections. It never is if the start fails.
func (d *Daemon) Ready() <-chan struct{} { return d.ready }
