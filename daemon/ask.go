package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"approver.example"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/words"
	"approver.example/gate"
	"approver.example/httpapi/wire"
	"approver.example/shieldcore"
)

// An asker puts actions of scripts before people. Rules judge them as they judge
// an agent's: one that denies is heard first, and one that is stricter holds.
type asker struct{ gate gate.Gate }

// atLeast is a stage that asks.
type atLeast approver.Verdict

func (v atLeast) Judge(context.Context, approver.ToolCall) (approver.Verdict, error) {
	return approver.Verdict(v), nil
}

// ask is httpapi.Submit's Ask.
func (a asker) ask(ctx context.Context, peer approver.Peer, body json.RawMessage) (json.RawMessage, error) {
	var doc adminapi.Ask
	if err := json.Unmarshal(body, &doc); err != nil {
		return nil, err
	}
	if !wire.IsCall(doc.ID) || len(doc.Argv) == 0 || doc.Argv[0] == "" {
		return nil, errors.New("the question needs an id of 32 hex digits and a command")
	}
	if doc.TTL != 0 && (doc.TTL < shieldcore.MinTTL || doc.TTL > shieldcore.MaxTTL) {
		return nil, fmt.Errorf("a ttl is %v to %v", shieldcore.MinTTL, shieldcore.MaxTTL)
	}
	command := words.ShellLine(doc.Argv)
	args, err := json.Marshal(map[string]string{"command": command}) // as a shell tool's, so that a card shows it once
	if err != nil {
		return nil, err
	}
	gate := a.gate
	// A script that asks wants people's word: a pause or observe mode does not give it.
	gate.Paused, gate.Observe = nil, nil
	// First, so that its time holds unless a rule is stricter.
	gate.Stages = append([]approver.Stage{atLeast{
		Decision: approver.Ask, By: "approver", Rule: "ask", Severity: doc.Severity, TTL: doc.TTL,
		Detail: "a script asks with approver ask",
	}}, gate.Stages...)
	v := gate.Decide(ctx, approver.ToolCall{
		ID: doc.ID, Agent: "script", Tool: "approver ask", Command: command, Args: args, Dir: doc.Dir, Claimed: doc.Reason,
		Peer: peer, At: time.Now(),
	})
	return json.Marshal(adminapi.Asked{Approved: v.Decision == approver.Allow, Reason: v.Reason})
}

// appeal is httpapi.Submit's Appeal.
func (a asker) appeal(ctx context.Context, peer approver.Peer, body json.RawMessage) (json.RawMessage, error) {
	var doc adminapi.Appeal
	if err := json.Unmarshal(body, &doc); err != nil {
		return nil, err
	}
	if !wire.IsCall(doc.Call) {
		return nil, errors.New("an appeal needs the 32 hex digits of the call, which its denial names")
	}
	r, err := a.gate.Appeal(ctx, peer, doc.Call, doc.Reason)
	if err != nil {
		return nil, err
	}
	return json.Marshal(adminapi.Appealed{Request: r.Request, Until: r.Until})
}
