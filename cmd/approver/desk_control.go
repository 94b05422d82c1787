package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"approver.example"
)

// The operations that change what calls may run.
const (
	opFreeze   = "freeze"
	opUnfreeze = "unfreeze"
	opPause    = "pause"
	opObserve  = "observe"
	opEnforce  = "enforce"
)

// A controlRequest is the body of them.
type controlRequest struct {
	Reason string        `json:"reason,omitempty"`
	For    time.Duration `json:"for,omitempty"` // of a pause, where zero ends it, and of observing
	All    bool          `json:"all,omitempty"` // of a pause: also CATASTROPHIC calls
}

// A controlDoc is their answer.
type controlDoc struct {
	Done   bool      `json:"done"`
	Text   string    `json:"text"`
	Denied int       `json:"denied,omitempty"` // open requests that a freeze denied
	Until  time.Time `json:"until,omitzero"`   // of a pause, and of observing
	Since  time.Time `json:"since,omitzero"`   // of the observing that enforce ended, or of the last
}

// control does an operation that changes what calls may run. What tightens is
// done at once; what loosens is put before people first.
func (d *desk) control(ctx context.Context, peer approver.Peer, op string, body json.RawMessage) (controlDoc, error) {
	var req controlRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return controlDoc{}, err
	}
	by := fmt.Sprintf("uid %d", peer.UID)
	switch {
	case op == opFreeze:
		denied, err := d.people.Freeze(context.WithoutCancel(ctx), by, req.Reason)
		return controlDoc{
			Done: true, Denied: denied,
			Text: fmt.Sprintf("frozen: every call is denied until approver unfreeze; %d open requests were denied", denied),
		}, err
	case op == opPause && req.For == 0:
		_, err := d.people.Pause(ctx, 0, false, by)
		return controlDoc{Done: true, Text: "not paused: people are asked"}, err
	case op == opPause:
		return d.pause(ctx, peer, req, by)
	case op == opObserve:
		return d.observe(ctx, peer, req, by)
	case op == opEnforce:
		return d.enforce(ctx, by)
	}
	return d.unfreeze(ctx, peer, req, by)
}

func (d *desk) unfreeze(ctx context.Context, peer approver.Peer, req controlRequest, by string) (controlDoc, error) {
	c, _, err := d.people.Controls(ctx)
	if err != nil {
		return controlDoc{}, err
	}
	if c.FrozenText() == "" {
		return controlDoc{}, approver.ErrNotFrozen
	}
	if !d.trusts(peer) {
		if by, err = d.ask(ctx, peer, opUnfreeze, req.args(), req.Reason, "lifts the freeze of "+c.FrozenText()+": calls run again"); err != nil {
			return controlDoc{}, err
		}
		if err := d.stillAs(ctx, c); err != nil {
			return controlDoc{}, err
		}
	}
	err = d.people.Unfreeze(context.WithoutCancel(ctx), by)
	return controlDoc{Done: true, Text: "the freeze is lifted; grants and answers from before stay burned"}, err
}

func (d *desk) pause(ctx context.Context, peer approver.Peer, req controlRequest, by string) (controlDoc, error) {
	if req.For < time.Minute || req.For > approver.MaxPause {
		return controlDoc{}, fmt.Errorf("a pause lasts 1m to %dm", int(approver.MaxPause.Minutes()))
	}
	c, _, err := d.people.Controls(ctx)
	switch {
	case err != nil:
		return controlDoc{}, err
	case c.Frozen():
		return controlDoc{}, approver.ErrFrozen
	}
	what := "HIGH calls are"
	if req.All {
		what = "EVERY call, also a CATASTROPHIC one, is"
	}
	who, err := d.ask(ctx, peer, opPause, req.args(), req.Reason, fmt.Sprintf("for %v %s let through without asking anybody", req.For, what))
	if err != nil {
		return controlDoc{}, err
	}
	if err := d.stillAs(ctx, c); err != nil {
		return controlDoc{}, err
	}
	p, err := d.people.Pause(context.WithoutCancel(ctx), req.For, req.All, who+", for "+by)
	return controlDoc{Done: true, Until: p.Until.UTC(), Text: "paused until " + p.Until.UTC().Format("15:04:05 UTC") + ", approved by " + who}, err
}

// stillAs fails if a freeze began or ended since people were asked about these
// controls, also one that has come and gone: they said yes to how it was before.
func (d *desk) stillAs(ctx context.Context, asked approver.Controls) error {
	now, _, err := d.people.Controls(ctx)
	if err == nil && !now.SameFreezes(asked) {
		err = errors.New("a freeze began or ended while people were asked, so their yes does not count: ask anew")
	}
	return err
}

// trusts reports a peer that no agent can be: on an isolated installation
// whoever the resolve socket admits, otherwise root, if approver is not root.
func (d *desk) trusts(peer approver.Peer) bool {
	return peer.Known && (d.notice == "" || peer.UID == 0 && os.Getuid() != 0)
}

// args is what the card shows of a request.
func (r controlRequest) args() map[string]any {
	return map[string]any{"reason": r.Reason, "for": r.For.String(), "catastrophic": r.All}
}

// ask puts a change of approver itself before people, as CATASTROPHIC, and
// returns who approved it. claimed is what the caller says of it, and effect what
// we know.
func (d *desk) ask(ctx context.Context, peer approver.Peer, op string, shown map[string]any, claimed, effect string) (string, error) {
	var args bytes.Buffer
	enc := json.NewEncoder(&args)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(shown); err != nil {
		return "", err
	}
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return "", err
	}
	v := d.people.Ask(ctx, approver.ToolCall{
		ID: hex.EncodeToString(id[:]), Agent: "approver", Tool: "approver " + op, Control: op, Args: bytes.TrimSpace(args.Bytes()), Claimed: claimed, Peer: peer, At: time.Now(),
	}, approver.Verdict{Decision: approver.Ask, By: "approver", Rule: op, Severity: approver.Catastrophic, Reason: effect, Detail: effect})
	if v.Decision != approver.Allow {
		return "", errors.New(v.Reason)
	}
	return strings.TrimPrefix(v.Reason, "approved by "), nil
}
