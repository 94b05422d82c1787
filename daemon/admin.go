package daemon

import (
	"log/slog"
	"time"

	"approver.example"
	"approver.example/audit"
	"approver.example/broadcaster"
	"approver.example/daemon/hookwatch"
	"approver.example/daemon/judges"
	"approver.example/daemon/shield"
	"approver.example/httpapi"
	"approver.example/shieldcore/quota"
)

// An Admin is the daemon's side of the operator's commands: httpapi.Operator on
// the resolve socket. It holds no rule of its own; answers go the way of every
// other answer, through the terminal channel.
type Admin struct {
	People    *broadcaster.Broadcaster
	channels  []approver.Channel
	authority *authority
	audit     *audit.Log
	observer  *observer
	hooks     *hookwatch.Watch
	doors     []*httpapi.Listener
	budgets   *approver.Budgets
	shield    *shield.Shield
	rules     *judges.Judges
	shared    bool // other daemons may have the same store
	asks      *quota.Asks
	config    string // the file that was read at the start
	read      ReadOnce
	store     string // where requests are kept, for people
	storeFile string // the embedded store's file; empty of Redis
	policy    string // the configured one: a file, or a preset
	output    string // what becomes of what tools return
	notice    string // what cards and audit say of this installation
	pairs     pairings
	owner     challenges
	questions questions
	started   time.Time
	log       *slog.Logger
}
