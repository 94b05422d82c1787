package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"approver.example"
	"approver.example/audit"
	"approver.example/configs"
	"approver.example/httpapi"
	"approver.example/httpapi/socketpath"
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
	budgets   *approver.Budgets
	shield    *shield
	store     string // where requests are kept, for people
	policy    string // the configured one: a file, or a preset
	output    string // what becomes of what tools return
	notice    string // what cards and audit say of this installation
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
	Up       bool             `json:"up"`
	Error    string           `json:"error,omitempty"` // why it is not up
	Version  string           `json:"version,omitempty"`
	PID      int              `json:"pid,omitempty"`
	Started  time.Time        `json:"started,omitzero"`
	Now      time.Time        `json:"now,omitzero"` // by the store's clock
	Isolated bool             `json:"isolated"`
	Notice   string           `json:"notice,omitempty"`
	Store    string           `json:"store,omitempty"`
	Output   string           `json:"output,omitempty"` // what becomes of what tools return
	Trouble  string           `json:"store_error,omitempty"`
	Channels []channelStatus  `json:"channels,omitempty"`
	Waiting  []string         `json:"waiting_approvers,omitempty"` // in the configuration, and not counting yet
	Hooks    []string         `json:"hooks_weakened,omitempty"`    // why installed hooks do not hold
	Open     int              `json:"open_requests"`
	Freeze   *approver.Freeze `json:"freeze,omitempty"`  // while frozen
	Pause    *approver.Pause  `json:"pause,omitempty"`   // while paused
	Observe  *observeStatus   `json:"observe,omitempty"` // while rules are not enforced
	Control  string           `json:"control,omitempty"` // any of them, in a sentence
	// Calls since the start that took more than a budget, by its name.
	OverBudget map[string]uint64 `json:"over_budget,omitempty"`
	Shield     *shieldStatus     `json:"shield,omitempty"`
	Audit      *audit.Head       `json:"audit,omitempty"`
	AuditErr   string            `json:"audit_error,omitempty"` // why nothing can be recorded
}

// A channelStatus says whether a channel receives answers.
type channelStatus struct {
	Name     string `json:"name"`
	Receives bool   `json:"receives"`
	Error    string `json:"error,omitempty"`
}

func (d *desk) status(ctx context.Context) (statusDoc, error) {
	head := d.audit.Head()
	doc := statusDoc{
		Up: true, Version: buildVersion(), PID: os.Getpid(), Started: d.started.UTC(), Isolated: d.notice == "", Notice: d.notice,
		Store: d.store, Output: d.output, Audit: &head, Waiting: d.authority.waiting(), OverBudget: d.budgets.Over(), Shield: d.shield.status(ctx),
	}
	if d.hooks != nil {
		doc.Hooks = d.hooks.now()
	}
	if err := d.audit.Err(); err != nil {
		doc.AuditErr = err.Error()
	}
	for _, c := range d.channels {
		s := channelStatus{Name: c.Name(), Receives: true}
		if err := d.people.Deaf(c.Name()); err != nil {
			s.Receives, s.Error = false, err.Error()
		}
		doc.Channels = append(doc.Channels, s)
	}
	open, err := d.people.Requests(ctx)
	doc.Open = len(open)
	if err == nil {
		var c approver.Controls
		c, doc.Now, err = d.people.Controls(ctx)
		if doc.Control = c.Notice(doc.Now); c.Frozen() {
			doc.Freeze = &c.Freeze
		} else if c.Paused(approver.High, doc.Now) {
			doc.Pause = &c.Pause
		}
		doc.Observe = d.observer.status(c, doc.Now)
	}
	if err == nil { // reading may go on where nothing can be written, as when its disk is full
		if full := d.audit.StoreErr(); full != nil {
			err = fmt.Errorf("it takes no writes, so every call that needs people is denied: %w", full)
		}
	}
	if err != nil {
		doc.Trouble = err.Error()
		if c := d.people.Mark.Held(); c.Frozen() && doc.Freeze == nil {
			doc.Freeze, doc.Control = &c.Freeze, c.Notice(time.Now())
		}
	}
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
		doc.Trouble, err = approver.OneLine(err.Error()), nil
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
}

func (d *desk) show(ctx context.Context, which requestID) (shownRequest, error) {
	r, err := d.people.Request(ctx, which.Request)
	if errors.Is(err, approver.ErrNotFound) {
		return shownRequest{}, fmt.Errorf("there is no request %q: approver pending lists those that are open", which.Request)
	} else if err != nil {
		return shownRequest{}, err
	}
	c := d.people.Card(r)
	return shownRequest{
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

// An operatorCmd is what the commands that ask the daemon have in common.
type operatorCmd struct {
	daemonAt
	JSON bool `help:"Print one JSON object."`
}

// daemonAt says where the daemon is.
type daemonAt struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE" xor:"where"`
	Socket string `help:"The daemon's resolve socket, for a user who cannot read the configuration." placeholder:"PATH" xor:"where"`
}

// client finds the daemon.
func (c daemonAt) client() (httpapi.ResolveClient, error) {
	if c.Socket != "" {
		path, err := filepath.Abs(c.Socket)
		return httpapi.ResolveClient{Socket: path}, err
	}
	cfg, err := configs.LoadOrDefault(c.Config)
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w: name the daemon's socket instead, such as --socket %s", err, filepath.Join(socketpath.SystemDir, socketpath.Resolve))
	}
	return httpapi.ResolveClient{Socket: cfg.Sockets.Resolve}, err
}

// operate asks the daemon for one operation.
func (c operatorCmd) operate(ctx context.Context, op string, body, out any) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	return notRunning(client.Operate(ctx, op, body, out))
}

// notRunning tells what to do about a daemon that is not there.
func notRunning(err error) error {
	if err != nil && !errors.Is(err, httpapi.ErrRefused) && (errors.Is(err, os.ErrNotExist) || isRefused(err)) {
		return fmt.Errorf("approver is not running: start it with approver serve (%w)", err)
	}
	return err
}

// printJSON prints one object on one line.
func printJSON(doc any) error { return json.NewEncoder(os.Stdout).Encode(doc) }

const exitCodes = `
Exit codes: 0 it was done, 1 it failed, 2 the command line is not understood.
`
