// Package adminapi is the protocol between commands and the daemon: the operations of the
// resolve socket with their documents, the documents of ask and appeal, and the sentences
// in which status and doctor report them to people.
//
// Read status.go first; each other file has the documents of one group of operations.
package adminapi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/agents/facts"
	"approver.example/audit"
	"approver.example/broadcaster"
	"approver.example/display"
	"approver.example/shieldcore/quota"
)

// The operations, one word each.
const (
	OpStatus  = "status"
	OpPending = "pending"
	OpShow    = "show"
	OpWork    = "work"
)

// A RequestID names the request that an operation is about.
type RequestID struct {
	Request string `json:"request"`
}

// A Status is the answer of OpStatus.
type Status struct {
	Up    bool   `json:"up"`
	Error string `json:"error,omitempty"` // why it is not up, or cannot be reached
	// Unseen says that the daemon answers on Submit, but that this user may not see more.
	Unseen bool   `json:"unseen,omitempty"`
	Submit string `json:"submit,omitempty"` // the socket where agents and scripts ask
	// SubmitRefused is why Submit takes no calls from this user.
	SubmitRefused string `json:"submit_refused,omitempty"`
	Silent        bool   `json:"silent,omitempty"` // it listens but does not answer
	// Config is the file that the daemon read at its start; empty if there was none.
	Config string `json:"config,omitempty"`
	// ConfigError is why the command cannot load that file now.
	ConfigError string    `json:"config_error,omitempty"`
	Version     string    `json:"version,omitempty"`
	PID         int       `json:"pid,omitempty"`
	Started     time.Time `json:"started,omitzero"`
	Now         time.Time `json:"now,omitzero"` // by the store's clock
	Isolated    bool      `json:"isolated"`
	Notice      string    `json:"notice,omitempty"`
	Store       string    `json:"store,omitempty"`
	Output      string    `json:"output,omitempty"` // how the output of tools is treated
	Trouble     string    `json:"store_error,omitempty"`
	// StoreChanged is what others did to the store: it was set to drop or lose records, or removed.
	StoreChanged string    `json:"store_changed,omitempty"`
	Lost         []string  `json:"sockets_lost,omitempty"` // why nobody can connect to a socket
	Channels     []Channel `json:"channels,omitempty"`
	Waiting      []string  `json:"waiting_approvers,omitempty"`  // in the configuration, but not counting yet
	Removed      []string  `json:"removed_approvers,omitempty"`  // removed, whatever the configuration says
	Refused      []string  `json:"refused_approvers,omitempty"`  // on a list, but refused by the resolve socket
	Nobody       string    `json:"nobody_can_approve,omitempty"` // which requests, why, and what helps
	Hooks        []string  `json:"hooks_weakened,omitempty"`     // why installed hooks are not effective
	// NotInForce are the files that differ from what calls are judged by.
	NotInForce []NotInForce        `json:"not_in_force,omitempty"`
	InForce    *Versions           `json:"in_force,omitempty"`      // what calls are judged by
	Held       []broadcaster.Hold  `json:"frozen_agents,omitempty"` // the freezes of single agents
	Open       int                 `json:"open_requests"`
	Freeze     *broadcaster.Freeze `json:"freeze,omitempty"`  // while frozen
	Pause      *broadcaster.Pause  `json:"pause,omitempty"`   // while paused
	Observe    *Observe            `json:"observe,omitempty"` // while rules are not enforced
	Control    string              `json:"control,omitempty"` // the freeze, pause or observe mode, in a sentence
	// OverBudget counts the calls since the start that exceeded a time budget, by its name.
	OverBudget map[string]uint64 `json:"over_budget,omitempty"`
	// Took is a histogram for each part of judging: the number of calls by the upper bound of
	// their time.
	Took   map[string]map[string]uint64 `json:"took,omitempty"`
	Shield *Shield                      `json:"shield,omitempty"`
	// Asks counts the questions to people since the start, and those that were too many.
	Asks     quota.AsksSnapshot `json:"asks"`
	Audit    *audit.Head        `json:"audit,omitempty"`
	AuditErr string             `json:"audit_error,omitempty"` // why nothing can be recorded
	// AuditSync is the setting audit.sync.
	AuditSync string `json:"audit_sync,omitempty"`

	// AuditChanged says that AuditErr is because somebody moved, cut or edited the audit.
	AuditChanged bool `json:"audit_changed,omitempty"`

	Root bool `json:"runs_as_root,omitempty"`

	// Work is what the daemon has done since its start, to be compared with what it did for how many calls.
	Work Work `json:"work"`
}

// A Work counts what a daemon has done since its start.
type Work struct {
	approver.Work         // of the store and the audit
	CPUMS         float64 `json:"cpu_ms"` // of the process, in milliseconds
	Allocated     uint64  `json:"allocated_bytes"`
	Allocations   uint64  `json:"allocations"`
	// What there is now: a leak shows there first.
	Live       uint64 `json:"live_bytes"` // of the heap, after the last collection
	Goroutines uint64 `json:"goroutines"`
}

// A Pending is the answer of OpPending.
type Pending struct {
	Now      time.Time     `json:"now"` // by the store's clock
	Requests []OpenRequest `json:"requests"`
	Trouble  string        `json:"store_error,omitempty"` // why requests may be missing from the list
}

// An OpenRequest is one request on the list. It contains no code, and its texts are masked.
type OpenRequest struct {
	ID       string            `json:"id"`
	Severity approver.Severity `json:"severity"`
	Created  time.Time         `json:"created"`
	Due      time.Time         `json:"due"`
	Agent    string            `json:"agent,omitempty"`
	Session  string            `json:"session,omitempty"`
	Dir      string            `json:"dir,omitempty"`
	Push     string            `json:"push"`
	// Call is the beginning of the call on one line.
	Call string `json:"call,omitempty"`
}

// A Shown is the answer of OpShow: the whole card, without a code.
type Shown struct {
	State    approver.State    `json:"state"`
	Severity approver.Severity `json:"severity"`
	// Headline says what would happen, and Blocks are all that is known of it.
	Headline string          `json:"headline"`
	Blocks   []display.Block `json:"blocks"`
	// NotTaken is why this terminal takes no approval of the request, and what helps.
	NotTaken string `json:"not_taken,omitempty"`
	Upto     int    `json:"upto,omitempty"` // to repeat in the answer: the last identical call that a warning counts
}

// An Observe is the status of observe mode.
type Observe struct {
	broadcaster.Observe
	WouldAsk  int64 `json:"would_have_asked"` // since this daemon started
	WouldDeny int64 `json:"would_have_denied"`
}

// HeldLine says since when an agent is frozen, by whom, and why.
func HeldLine(h broadcaster.Hold) string {
	text := fmt.Sprintf("%s: since %s by %s", h.Who, h.At.UTC().Format(time.DateTime+" UTC"), h.By)
	if h.Reason != "" {
		text += ", because " + h.Reason
	}
	return text
}

// mute reports whether every call that needs people is denied because nobody can approve any.
// In observe mode no call needs people.
func (s Status) mute() bool {
	return strings.HasPrefix(s.Nobody, "nobody can approve "+AnyRequest) && s.Observe == nil
}

// Well reports whether the daemon works, as far as it can tell.
func (s Status) Well() bool {
	return s.Up && s.SubmitRefused == "" && len(s.Troubles()) == 0
}

// Troubles returns everything that does not work, as far as the daemon can tell.
func (s Status) Troubles() (all []trouble) {
	for _, why := range s.Lost {
		all = append(all, trouble{PartSocket, "a socket of it is LOST, so that nobody can connect", why,
			"restart the daemon, once what is in its place is gone"})
	}
	if s.Trouble != "" {
		all = append(all, trouble{PartStore, "its store fails", s.Trouble, "approver doctor tells more of the store"})
	}
	if s.StoreChanged != "" {
		all = append(all, trouble{PartStore, "its store was changed under it", s.StoreChanged,
			"do what it says, and find out who changed it: the daemon notices within a minute"})
	}
	for _, c := range s.Channels {
		if c.Fails() {
			all = append(all, trouble{PartChannel, "", c.Says(),
				"see docs/channels/" + c.Name + ".md"})
		}
	}
	if s.mute() {
		why, cure, _ := strings.Cut(s.Nobody, ". ") // it ends with what helps
		all = append(all, trouble{PartPeople, "", why, cure})
	}
	for _, weak := range s.Hooks {
		why, cure, _ := strings.Cut(weak, FixMark)
		what := "the hooks that it watches are weakened"
		if strings.HasPrefix(why, CannotLook) {
			what = ""
		}
		all = append(all, trouble{PartHooks, what, why, cmp.Or(cure, "approver install "+facts.Example())})
	}
	if s.Freeze != nil && s.Freeze.By == "approver" { // until people look into it
		all = append(all, trouble{PartMode, "", s.ModeText(), s.ModeCure()})
	}
	for _, u := range s.NotInForce {
		if strings.HasPrefix(u.Why, BrokenFiles) { // the next start is refused
			all = append(all, trouble{PartFiles, "", u.String(), "mend the file: approver check"})
		}
	}
	all = append(all, s.Shield.troubles()...)
	if s.AuditErr != "" {
		all = append(all, trouble{PartAudit, "its audit fails, and every call is denied", s.AuditErr, s.auditCure()})
	}
	return all
}

// auditCure says what helps if the audit cannot be written. The daemon keeps retrying.
func (s Status) auditCure() string {
	const itself = "the daemon tries again by itself, at least twice a minute, and needs no restart"
	if s.AuditChanged {
		return "find out who moved, cut or edited it, and look with approver audit verify: " + itself +
			"; everything is frozen then, until approver unfreeze"
	}
	return "mend what it says, such as a full disk or the rights of the folder: " + itself
}

// TroublesOf returns the troubles of one part.
func (s Status) TroublesOf(part string) []trouble {
	return slices.DeleteFunc(s.Troubles(), func(t trouble) bool { return t.Part != part })
}
