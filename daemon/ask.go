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
	"approver.example/display"
	"approver.example/gate"
	"approver.example/httpapi/wire"
	"approver.example/shieldcore"
)

// An asker asks people about the actions of scripts. Rules judge them like an agent's calls: a
// denial needs no question, and a stricter verdict applies.
type asker struct{ gate gate.Gate }

// atLeast is a stage that always returns the same verdict.
type atLeast approver.Verdict

func (v atLeast) Judge(context.Context, approver.ToolCall) (approver.Verdict, error) {
	return approver.Verdict(v), nil
}

// ask implements the Ask function of [httpapi.Submit].
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
	args, err := json.Marshal(map[string]string{"command": command}) // like a shell tool, so that a card shows it once
	if err != nil {
		return nil, err
	}
	gate := a.gate
	// A script that asks wants a person's approval, which a pause or observe mode is not.
	gate.Paused, gate.Observe = nil, nil
	// It is the first stage, so that its TTL applies unless a rule is stricter.
	gate.Stages = append([]approver.Stage{atLeast{
		Decision: approver.Ask, By: "approver", Rule: "ask", Severity: doc.Severity, TTL: doc.TTL,
		Detail: "a script asks with approver ask",
		Says: display.Summary{Title: display.Phrase{Text: "%s", Args: []string{command}},
			Why: display.Sentence("a script asks before it goes on")},
	}}, gate.Stages...)
	v := gate.Decide(ctx, approver.ToolCall{
		ID: doc.ID, Agent: "script", Tool: "approver ask", Command: command, Args: args, Dir: doc.Dir, Claimed: doc.Reason,
		Peer: peer, At: time.Now(),
	})
	return json.Marshal(adminapi.Asked{Approved: v.Decision == approver.Allow, Reason: v.Reason})
}

// appeal implements the Appeal function of [httpapi.Submit].
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
