package daemon

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"approver.example"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/words"
)

// lifted says what the end of these freezes lifts, for people a line each.
func lifted(c approver.Controls) (doc adminapi.Lifted, text string) {
	if doc.Held = c.Held(); c.Frozen() {
		doc.Freeze = &c.Freeze
	}
	return doc, strings.Join(c.FreezeLines(), "\n")
}

// control does an operation that changes what calls may run. What tightens is
// done at once; what loosens is put before people first.
func (d *Admin) control(ctx context.Context, peer approver.Peer, op string, body json.RawMessage) (adminapi.ControlAnswer, error) {
	var req adminapi.ControlRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return adminapi.ControlAnswer{}, err
	}
	by := fmt.Sprintf("uid %d", peer.UID)
	switch {
	case op == adminapi.OpFreeze:
		denied, before, err := d.People.FreezeBeside(context.WithoutCancel(ctx), by, req.Reason)
		return adminapi.ControlAnswer{Done: true, Denied: denied, Text: frozenText(before, req.Reason, denied)}, err
	case op == adminapi.OpPause && req.For == 0:
		_, err := d.People.Pause(ctx, 0, false, by)
		return adminapi.ControlAnswer{Done: true, Text: "not paused: people are asked"}, err
	case op == adminapi.OpPause:
		return d.pause(ctx, peer, req, by)
	case op == adminapi.OpObserve:
		return d.observe(ctx, peer, req, by)
	case op == adminapi.OpEnforce:
		return d.enforce(ctx, by)
	}
	return d.unfreeze(ctx, peer, req, by)
}

// frozenText says what a freeze did, beside one that held before, if any.
func frozenText(before approver.Freeze, reason string, denied int) string {
	text := "frozen"
	if !before.At.IsZero() {
		text = fmt.Sprintf("frozen already since %s by %s: %s", before.At.UTC().Format(time.DateTime+" UTC"), approver.OneLine(before.By), cmp.Or(approver.OneLine(before.Reason), "no reason given"))
		if reason != "" && reason != before.Reason {
			text += "\nyour reason is recorded beside it"
		}
	}
	return fmt.Sprintf("%s: every call is denied until approver unfreeze; %s denied", text, words.CountWere(uint64(denied), "open request"))
}

func (d *Admin) unfreeze(ctx context.Context, peer approver.Peer, req adminapi.ControlRequest, by string) (adminapi.ControlAnswer, error) {
	c, _, err := d.People.Controls(ctx)
	if err != nil {
		return adminapi.ControlAnswer{}, err
	}
	if c.FrozenText() == "" {
		return adminapi.ControlAnswer{}, approver.ErrNotFrozen
	}
	if !d.trusts(peer) {
		if by, err = d.ask(ctx, peer, adminapi.OpUnfreeze, req.Args(""), req.Reason, "lifts the freeze of "+c.FrozenText()+": calls run again"); err != nil {
			return adminapi.ControlAnswer{}, err
		}
		if err := d.stillAs(ctx, c); err != nil {
			return adminapi.ControlAnswer{}, err
		}
	}
	err = d.People.UnfreezeAs(context.WithoutCancel(ctx), c, by)
	doc, lines := lifted(c)
	return adminapi.ControlAnswer{Done: true, Lifted: &doc, Text: "the freeze is lifted; grants and answers from before stay burned\n" + lines}, err
}

func (d *Admin) pause(ctx context.Context, peer approver.Peer, req adminapi.ControlRequest, by string) (adminapi.ControlAnswer, error) {
	if req.For < time.Minute || req.For > approver.MaxPause {
		return adminapi.ControlAnswer{}, fmt.Errorf("a pause lasts 1m to %dm", int(approver.MaxPause.Minutes()))
	}
	c, _, err := d.People.Controls(ctx)
	switch {
	case err != nil:
		return adminapi.ControlAnswer{}, err
	case c.Frozen():
		return adminapi.ControlAnswer{}, approver.ErrFrozen
	}
	what, which := "HIGH calls are", "HIGH calls"
	if req.All {
		what, which = "EVERY call, also a CATASTROPHIC one, is", "EVERY call, also a CATASTROPHIC one"
	}
	who, err := d.ask(ctx, peer, adminapi.OpPause, req.Args(which), req.Reason, fmt.Sprintf("for %v %s let through without asking anybody", req.For, what))
	if err != nil {
		return adminapi.ControlAnswer{}, err
	}
	if err := d.stillAs(ctx, c); err != nil {
		return adminapi.ControlAnswer{}, err
	}
	p, err := d.People.PauseAs(context.WithoutCancel(ctx), c, req.For, req.All, who+", for "+by)
	return adminapi.ControlAnswer{Done: true, Until: p.Until.UTC(), Text: "paused until " + p.Until.UTC().Format("15:04:05 UTC") + ", approved by " + who}, err
}

// stillAs fails if a freeze began or ended, or somebody was removed, since people were
// asked about these controls.
func (d *Admin) stillAs(ctx context.Context, asked approver.Controls) error {
	now, _, err := d.People.Controls(ctx)
	if err == nil {
		err = now.StillAs(asked)
	}
	return err
}

// trusts reports a peer that no agent can be: on an isolated installation
// whoever the resolve socket admits, otherwise root, if approver is not root.
func (d *Admin) trusts(peer approver.Peer) bool { return noAgent(d.notice, peer) }

// noAgent is trusts by what cards say of the installation: nothing, where it is isolated.
func noAgent(notice string, peer approver.Peer) bool {
	return peer.Known && (notice == "" || peer.UID == 0 && os.Getuid() != 0)
}

// questions are those about approver itself that people are asked at this moment, by
// operation and uid. The zero value has none.
type questions struct {
	mu   sync.Mutex
	open map[string]bool
}

// begin notes a question, unless the same user has one like it open. end must be called.
func (q *questions) begin(op string, peer approver.Peer) (end func(), err error) {
	key := fmt.Sprintf("%s %t %d", op, peer.Known, peer.UID)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open[key] {
		return nil, fmt.Errorf("people are being asked about approver %s by uid %d already: wait for their answer (approver pending lists the question)", ownCommand(op), peer.UID)
	}
	if q.open == nil {
		q.open = map[string]bool{}
	}
	q.open[key] = true
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.open, key)
	}, nil
}

// ownCommand is the command behind an operation that people are asked about.
func ownCommand(op string) string {
	switch op {
	case adminapi.OpRestore:
		return "people restore"
	case adminapi.OpAdmit:
		return "pair"
	}
	return op
}

// notHeldUp adds to the refusal of a question that root is not held up. An agent may have
// the uid of the owner, and then what it asks is counted as the owner's.
func (d *Admin) notHeldUp(peer approver.Peer, op string, err error) error {
	if peer.UID == 0 || op == adminapi.OpAdmit || d.trusts(peer) || os.Getuid() == 0 {
		return err
	}
	return fmt.Errorf("%w; questions of root are counted apart: %s", err, approver.AsRoot(ownCommand(op)))
}

// ask puts a change of approver itself before people, as CATASTROPHIC, and
// returns who approved it. claimed is what the caller says of it, and effect what
// we know.
func (d *Admin) ask(ctx context.Context, peer approver.Peer, op string, shown map[string]any, claimed, effect string) (string, error) {
	var args bytes.Buffer
	enc := json.NewEncoder(&args)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(shown); err != nil {
		return "", err
	}
	end, err := d.questions.begin(op, peer)
	if err != nil {
		return "", d.notHeldUp(peer, op, err)
	}
	defer end()
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return "", err
	}
	v := d.People.Ask(ctx, approver.ToolCall{
		ID: hex.EncodeToString(id[:]), Agent: "approver", Tool: "approver " + op, Control: op, Args: bytes.TrimSpace(args.Bytes()), Claimed: claimed, Peer: peer, At: time.Now(),
	}, approver.Verdict{Decision: approver.Ask, By: "approver", Rule: op, Severity: approver.Catastrophic, Reason: effect, Detail: effect})
	switch {
	case v.Decision != approver.Allow && v.By == approver.LimitedBy:
		return "", d.notHeldUp(peer, op, errors.New(v.Reason))
	case v.Decision != approver.Allow:
		return "", errors.New(v.Reason)
	}
	return strings.TrimPrefix(v.Reason, "approved by "), nil
}
