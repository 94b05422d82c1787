package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"approver.example"
	"approver.example/audit"
	"approver.example/configs"
	"approver.example/httpapi"
	"approver.example/httpapi/socketpath"
	"approver.example/shieldcore/quota"
)

// A desk is the daemon's side of the operator's commands: httpapi.Operator on
// the resolve socket. It holds no rule of its own; answers go the way of every
// other answer, through the terminal channel.
type desk struct {
	people    *approver.Broadcaster
	channels  []approver.Channel
	authority *heldAuthority
	audit     *audit.Log
	observer  *observer
	hooks     *hookWatch
	doors     []*httpapi.Listener
	budgets   *approver.Budgets
	shield    *shield
	rules     *judgement
	shared    bool // other daemons may have the same store
	asks      *quota.Asks
	config    string // the file that was read at the start
	read      readOnce
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

// The operations, one word each.
const (
	opStatus  = "status"
	opPending = "pending"
	opShow    = "show"
)

// Operate does one operation.
func (d *desk) Operate(ctx context.Context, peer approver.Peer, op string, body json.RawMessage) (json.RawMessage, error) {
	var out any
	var err error
	switch op {
	case opStatus:
		out, err = d.status(ctx)
	case opPending:
		out, err = d.pending(ctx)
	case opShow:
		var which requestID
		if err = json.Unmarshal(body, &which); err == nil {
			out, err = d.show(ctx, which)
		}
	case opFreeze, opUnfreeze, opPause, opObserve, opEnforce:
		out, err = d.control(ctx, peer, op, body)
	case opPair:
		var which pairRequest
		if err = json.Unmarshal(body, &which); err == nil {
			out, err = d.pair(ctx, which)
		}
	case opAdmit:
		var who admitRequest
		if err = json.Unmarshal(body, &who); err == nil {
			out, err = d.admit(ctx, peer, who)
		}
	case opPeople, opRemove, opRestore, opRecover, opOwnerShow, opOwnerApprove:
		out, err = d.persons(ctx, peer, op, body)
	case opGrants:
		out, err = d.grants(ctx)
	case opPropose:
		var which requestID
		if err = json.Unmarshal(body, &which); err == nil {
			out, err = d.propose(ctx, which)
		}
	case opRevoke:
		var which requestID
		if err = json.Unmarshal(body, &which); err == nil {
			out, err = d.revoke(ctx, peer, which)
		}
	default:
		err = httpapi.ErrNoOperation
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

type requestID struct {
	Request string `json:"request"`
}

// A statusDoc is the answer of opStatus.
type statusDoc struct {
	Up    bool   `json:"up"`
	Error string `json:"error,omitempty"` // why it is not up, or not seen
	// Unseen says that the daemon answers on Submit, and that this user may see no more.
	Unseen bool   `json:"unseen,omitempty"`
	Submit string `json:"submit,omitempty"` // where agents and scripts ask
	// SubmitRefused is why Submit takes no calls of this user.
	SubmitRefused string `json:"submit_refused,omitempty"`
	Silent        bool   `json:"silent,omitempty"` // it listens and does not answer
	// Config is the file that the daemon read at its start; empty if there was none.
	Config string `json:"config,omitempty"`
	// ConfigError is why that file cannot be taken any more, as the command finds it.
	ConfigError string          `json:"config_error,omitempty"`
	Version     string          `json:"version,omitempty"`
	PID         int             `json:"pid,omitempty"`
	Started     time.Time       `json:"started,omitzero"`
	Now         time.Time       `json:"now,omitzero"` // by the store's clock
	Isolated    bool            `json:"isolated"`
	Notice      string          `json:"notice,omitempty"`
	Store       string          `json:"store,omitempty"`
	Output      string          `json:"output,omitempty"` // what becomes of what tools return
	Trouble     string          `json:"store_error,omitempty"`
	Lost        []string        `json:"sockets_lost,omitempty"` // why nobody can connect to a socket
	Channels    []channelStatus `json:"channels,omitempty"`
	Waiting     []string        `json:"waiting_approvers,omitempty"`  // in the configuration, and not counting yet
	Removed     []string        `json:"removed_approvers,omitempty"`  // taken away, whatever the configuration says
	Refused     []string        `json:"refused_approvers,omitempty"`  // on a list, and kept from this machine's socket
	Nobody      string          `json:"nobody_can_approve,omitempty"` // which requests, why, and the way out
	Hooks       []string        `json:"hooks_weakened,omitempty"`     // why installed hooks do not hold
	// NotInForce are files that say something else than what calls are judged by.
	NotInForce []unheeded       `json:"not_in_force,omitempty"`
	InForce    *versions        `json:"in_force,omitempty"`      // what calls are judged by
	Held       []approver.Hold  `json:"frozen_agents,omitempty"` // the freezes of single agents
	Open       int              `json:"open_requests"`
	Freeze     *approver.Freeze `json:"freeze,omitempty"`  // while frozen
	Pause      *approver.Pause  `json:"pause,omitempty"`   // while paused
	Observe    *observeStatus   `json:"observe,omitempty"` // while rules are not enforced
	Control    string           `json:"control,omitempty"` // any of them, in a sentence
	// Calls since the start that took more than a budget, by its name.
	OverBudget map[string]uint64 `json:"over_budget,omitempty"`
	Shield     *shieldStatus     `json:"shield,omitempty"`
	// Asks are the questions to people since the start, with those that were too many.
	Asks     quota.AsksSnapshot `json:"asks"`
	Audit    *audit.Head        `json:"audit,omitempty"`
	AuditErr string             `json:"audit_error,omitempty"` // why nothing can be recorded

	// AuditChanged says that somebody moved, cut or edited it: that is why.
	AuditChanged bool `json:"audit_changed,omitempty"`

	Root bool `json:"runs_as_root,omitempty"`
}

func (d *desk) status(ctx context.Context) (statusDoc, error) {
	head := d.audit.Head()
	doc := statusDoc{
		Up: true, Version: buildVersion(), PID: os.Getpid(), Root: os.Getuid() == 0, Started: d.started.UTC(), Isolated: d.notice == "", Notice: d.notice,
		Store: d.store, Output: d.output, Audit: &head, Waiting: d.authority.waiting(), Refused: outOfReach(d.authority.cfg, uint32(os.Getuid())), OverBudget: d.budgets.Over(), Shield: d.shield.status(ctx),
		Asks: d.asks.Snapshot(), Config: d.config, Submit: d.authority.cfg.Sockets.Submit,
	}
	if d.hooks != nil {
		doc.Hooks = d.hooks.now()
	}
	for _, l := range d.doors {
		if err := l.Lost(); err != nil {
			doc.Lost = append(doc.Lost, err.Error())
		}
	}
	if d.rules != nil {
		doc.NotInForce, doc.InForce = d.rules.apart(), d.rules.versions()
	}
	doc.NotInForce = append(doc.NotInForce, d.read.changed()...)
	if err := d.audit.Err(); err != nil {
		doc.AuditErr, doc.AuditChanged = err.Error(), errors.Is(err, audit.ErrChanged)
	}
	open, err := d.people.Requests(ctx)
	doc.Open = len(open)
	doc.Nobody = d.nobody(ctx)
	if err == nil {
		var c approver.Controls
		c, doc.Now, err = d.people.Controls(ctx)
		doc.Removed = d.removed(c)
		if doc.Control = c.Notice(doc.Now); c.Frozen() {
			doc.Freeze = &c.Freeze
		} else if c.Paused(approver.High, doc.Now) {
			doc.Pause = &c.Pause
		}
		doc.Held, doc.Observe = c.Held(), d.observer.status(c, doc.Now)
	}
	if err == nil { // reading may go on where nothing can be written, as when its disk is full
		full := d.audit.StoreErr()
		if full == nil && d.storeFile != "" {
			full = roomFor(d.storeFile, 1)
		}
		if full != nil {
			err = fmt.Errorf("it takes no writes, so every call that needs people is denied: %w", full)
		}
	}
	if err != nil {
		doc.Trouble = once(err)
		if c := d.people.Mark.Held(); c.Frozen() && doc.Freeze == nil {
			doc.Freeze, doc.Control = &c.Freeze, c.Notice(time.Now())
		}
	}
	doc.Channels = d.channelStates(doc.Trouble)
	return doc, nil
}

// A pendingDoc is the answer of opPending.
type pendingDoc struct {
	Now      time.Time     `json:"now"` // by the store's clock
	Requests []openRequest `json:"requests"`
	Trouble  string        `json:"store_error,omitempty"` // why others may be missing
}

// An openRequest is one request on the list. It has no code; texts are masked.
type openRequest struct {
	ID       string            `json:"id"`
	Severity approver.Severity `json:"severity"`
	Created  time.Time         `json:"created"`
	Due      time.Time         `json:"due"`
	Agent    string            `json:"agent,omitempty"`
	Session  string            `json:"session,omitempty"`
	Dir      string            `json:"dir,omitempty"`
	Push     string            `json:"push"`
}

func (d *desk) pending(ctx context.Context) (pendingDoc, error) {
	now, err := d.people.Store.Now(ctx)
	if err != nil {
		return pendingDoc{}, err
	}
	open, err := d.people.Requests(ctx)
	doc := pendingDoc{Now: now.UTC(), Requests: []openRequest{}}
	for _, r := range open {
		c := d.people.Card(r)
		doc.Requests = append(doc.Requests, openRequest{
			ID: r.ID, Severity: c.Severity, Created: r.Created.UTC(), Due: r.Due.UTC(), Agent: c.Agent, Session: c.Session, Dir: c.Dir, Push: c.Push,
		})
	}
	if errors.Is(err, approver.ErrIncomplete) {
		doc.Trouble, err = incomplete(err), nil
	}
	return doc, err
}

// A shownRequest is the answer of opShow: the whole card, without a code.
type shownRequest struct {
	State    approver.State    `json:"state"`
	Severity approver.Severity `json:"severity"`
	Command  string            `json:"command"`
	Why      string            `json:"why,omitempty"`
	Rule     string            `json:"rule,omitempty"`
	Claimed  string            `json:"claimed,omitempty"`
	Agent    string            `json:"agent,omitempty"`
	Session  string            `json:"session,omitempty"`
	Dir      string            `json:"dir,omitempty"`
	Host     string            `json:"host,omitempty"`
	Env      string            `json:"environment,omitempty"`
	Notice   string            `json:"notice,omitempty"`
	Until    string            `json:"until,omitempty"`
	Result   string            `json:"result,omitempty"`
	NotTaken string            `json:"not_taken,omitempty"` // why this terminal takes no yes to a HIGH one, and the way out
	Upto     int               `json:"upto,omitempty"`      // for the answer: the last identical call that Notice counts
}

func (d *desk) show(ctx context.Context, which requestID) (shownRequest, error) {
	r, err := d.people.Request(ctx, which.Request)
	if errors.Is(err, approver.ErrNotFound) {
		return shownRequest{}, fmt.Errorf("there is no request %q: approver pending lists those that are open", which.Request)
	} else if err != nil {
		return shownRequest{}, err
	}
	c, upto := d.people.Shown(r)
	return shownRequest{
		Upto: upto, NotTaken: d.notTaken(r.ID),
		State: c.State, Severity: c.Severity, Command: c.Command, Why: c.Why, Rule: c.Rule, Claimed: c.Claimed, Agent: c.Agent,
		Session: c.Session, Dir: c.Dir, Host: c.Host, Env: c.Environment, Notice: c.Notice, Until: c.Until(), Result: c.Result,
	}, nil
}

// storeName says where requests are kept.
func storeName(cfg configs.Config) string {
	if r := cfg.Store.Redis; r != nil {
		return "redis " + strings.Join(r.Addrs, ",")
	}
	return "embedded " + cfg.Bolt().Path
}

// storeFile is the file of the embedded store.
func storeFile(cfg configs.Config) string {
	if cfg.Store.Redis != nil {
		return ""
	}
	return cfg.Bolt().Path
}

// An operatorCmd is what the commands that ask the daemon have in common.
type operatorCmd struct {
	daemonAt
	JSON bool `help:"Print one JSON object."`
}

// daemonAt says where the daemon is.
type daemonAt struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE" xor:"where"`
	Socket string `help:"The daemon's resolve socket, for a user who cannot read the configuration." placeholder:"PATH" xor:"where"`

	told *toldOf // nil: each connection of root says whom it speaks to
}

// cure is what to do where no daemon is at the usual place.
func (daemonAt) cure() string {
	if _, pinned, err := socketpath.ReadPin(socketpath.PinFile, 0); pinned && err == nil {
		return "start it with sudo systemctl start approver, or as it is started here"
	}
	usual, err := usualConfig()
	if err != nil {
		return startIt
	}
	if _, err := os.Stat(usual); errors.Is(err, fs.ErrNotExist) && os.Geteuid() == 0 {
		return "as root, name the socket of another user's daemon with --socket, or start one with approver init and approver serve"
	} else if errors.Is(err, fs.ErrNotExist) {
		return "write a configuration with approver init, and then start it with approver serve"
	}
	return startIt
}

// outsider tells a user who may not read the configuration, or not connect to the resolve
// socket, what they can do: name the socket, where it lets them in.
func outsider(err error, socket string) error {
	const w = 2 // W_OK, which connecting needs
	switch access := syscall.Access(socket, w); {
	case errors.Is(access, fs.ErrPermission):
		return fmt.Errorf("this user (uid %d) may not look at the daemon or steer it; who may: its own user, root, and sockets.resolve_uids (%w)", os.Geteuid(), err)
	default:
		return fmt.Errorf("%w: name the daemon's socket instead, such as --socket %s", err, socket)
	}
}

// notRunning tells what to do about a daemon that is not there.
func notRunning(err error) error {
	if err != nil && !errors.Is(err, httpapi.ErrRefused) && (errors.Is(err, os.ErrNotExist) || isRefused(err)) {
		return &downError{cure: startIt, err: err}
	}
	return err
}

const startIt = "start it with approver serve"

// A downError says that no daemon runs, and what to do.
type downError struct {
	cure string
	err  error
}

// Error names the place once.
func (d *downError) Error() string {
	why := d.err.Error()
	if op := (*net.OpError)(nil); errors.As(d.err, &op) && op.Addr != nil {
		why = op.Addr.String() + ": " + op.Err.Error()
	}
	return "approver is not running: " + d.cure + " (" + why + ")"
}

// Unwrap returns the cause.
func (d *downError) Unwrap() error { return d.err }

// printJSON prints one object on one line.
func printJSON(doc any) error {
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	_, err = fmt.Println(visibleJSON(text))
	return err
}

const exitCodes = `
Exit codes: 0 it was done, 1 it failed, 2 the command line is not understood.
`
