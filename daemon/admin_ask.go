package daemon

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
	"sync"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/daemon/adminapi"
	"approver.example/display"
)

// stillAs fails if a freeze began or ended, or somebody was removed, since people were asked
// with the controls as they are in asked.
func (d *Admin) stillAs(ctx context.Context, asked broadcaster.Controls) error {
	now, _, err := d.People.Controls.Load(ctx)
	if err == nil {
		err = now.StillAs(&asked)
	}
	return err
}

// trusts reports whether a peer cannot be an agent: on an isolated installation anybody whom
// the resolve socket admits, otherwise root, if the daemon does not run as root.
func (d *Admin) trusts(peer approver.Peer) bool { return noAgent(d.notice, peer) }

// noAgent is trusts for a given notice, which is empty if the installation is isolated.
func noAgent(notice string, peer approver.Peer) bool {
	return peer.Known && (notice == "" || peer.UID == 0 && os.Getuid() != 0)
}

// notHeldUp adds to the refusal of a question that root can ask instead. Questions are limited
// by uid, and an agent may use up the limit of the owner, whose uid it may have.
func (d *Admin) notHeldUp(peer approver.Peer, op string, err error) error {
	if peer.UID == 0 || op == adminapi.OpAdmit || d.trusts(peer) || os.Getuid() == 0 {
		return err
	}
	return fmt.Errorf("%w; questions of root are counted apart: %s", err, display.AsRoot(ownCommand(op)))
}

// An effect is what a change to approver itself does: in one text, and in words for people.
type effect struct {
	text string
	says display.Summary
}

// effectOf returns an effect with a title, whose words are args, and a sentence on why people are
// asked.
func effectOf(text, why, title string, args ...string) effect {
	for i := range args {
		args[i] = display.OneLine(args[i])
	}
	return effect{text, display.Summary{Title: display.Phrase{Text: title, Args: args}, Why: display.Sentence(why)}}
}

// ask asks people about a change to approver itself, as CATASTROPHIC, and returns who approved
// it. claimed is what the caller says about it, does what approver knows.
func (d *Admin) ask(
	ctx context.Context, peer approver.Peer, op string, shown map[string]any, claimed string, does effect,
) (string, error) {
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
		ID: hex.EncodeToString(id[:]), Agent: "approver", Tool: "approver " + op, Control: op,
		Args: bytes.TrimSpace(args.Bytes()), Claimed: claimed, Peer: peer, At: time.Now(),
	}, approver.Verdict{Decision: approver.Ask, By: "approver", Rule: op, Severity: approver.Catastrophic,
		Reason: does.text, Detail: does.text, Says: does.says})
	switch {
	case v.Decision != approver.Allow && v.By == approver.LimitedBy:
		return "", d.notHeldUp(peer, op, errors.New(v.Reason))
	case v.Decision != approver.Allow:
		return "", errors.New(v.Reason)
	}
	return strings.TrimPrefix(v.Reason, "approved by "), nil
}

// ownCommand returns the command for an operation that people are asked about.
func ownCommand(op string) string {
	switch op {
	case adminapi.OpRestore:
		return "people restore"
	case adminapi.OpAdmit:
		return "pair"
	}
	return op
}

// questions are the open questions about approver itself, by operation and uid. The zero value
// has none.
type questions struct{ open sync.Map }

// begin registers a question. It fails if the same user has one about the same operation open.
// end must be called.
func (q *questions) begin(op string, peer approver.Peer) (end func(), err error) {
	key := fmt.Sprintf("%s %t %d", op, peer.Known, peer.UID)
	if _, asked := q.open.LoadOrStore(key, true); asked {
		return nil, fmt.Errorf("people are being asked about approver %s by uid %d already: wait for their answer "+
			"(approver pending lists the question)", ownCommand(op), peer.UID)
	}
	return func() { q.open.Delete(key) }, nil
}
