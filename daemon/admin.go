package daemon

import (
	"log/slog"
	"slices"
	"time"

	"approver.example"
	"approver.example/audit"
	"approver.example/broadcaster"
	"approver.example/configs"
	"approver.example/daemon/hookwatch"
	"approver.example/daemon/judges"
	"approver.example/daemon/shield"
	"approver.example/httpapi"
	"approver.example/internal/timing"
	"approver.example/shieldcore/quota"
)

// An Admin is the daemon's side of the operator's commands: it implements httpapi.Operator on
// the resolve socket. It has no approval rules of its own; answers go through the local
// channel like all others.
type Admin struct {
	People    *broadcaster.Broadcaster
	cfg       configs.Config // as read at the start, without what nobody has granted
	channels  []approver.Channel
	authority *authority
	audit     *audit.Log
	observer  *observer
	hooks     *hookwatch.Watch
	doors     []*httpapi.Listener
	times     *timing.Times
	shield    *shield.Shield
	rules     *judges.Judges
	asks      *quota.Asks
	read      ReadOnce
	output    string // how the output of tools is treated
	notice    string // what cards and the audit say about this installation; empty if it is isolated
	pairs     pairings
	owner     challenges
	questions questions
	started   time.Time
	log       *slog.Logger
}

// audience returns who could answer now.
func (d *Admin) audience() audience { return audience{d.channels, d.People.Approvers} }

// inUse reports whether a channel uses what a file of its tokens says now.
func (d *Admin) inUse(path string) bool {
	return slices.ContainsFunc(d.channels, func(c approver.Channel) bool {
		r, ok := c.(approver.Renewer)
		return ok && r.Holds(path)
	})
}
