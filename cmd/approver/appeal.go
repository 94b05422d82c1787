package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"approver.example"
	"approver.example/httpapi/wire"
)

// An appealDoc names a call that was denied.
type appealDoc struct {
	Call   string `json:"call"` // 32 hex digits
	Reason string `json:"reason,omitempty"`
}

// An appealedDoc is the answer: people are being asked.
type appealedDoc struct {
	Request string    `json:"request"`
	Until   time.Time `json:"until"` // the last moment in which a yes lets the call run
}

// appeal is httpapi.Submit's Appeal.
func (a asker) appeal(ctx context.Context, peer approver.Peer, body json.RawMessage) (json.RawMessage, error) {
	var doc appealDoc
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
	return json.Marshal(appealedDoc{Request: r.Request, Until: r.Until})
}

type appealCmd struct {
	Config string `help:"Configuration file." short:"c" placeholder:"FILE"`
	JSON   bool   `help:"Print one JSON object."`
	Reason string `help:"Why it is needed; people see it as claimed." placeholder:"WHY"`
	Socket string `help:"The daemon's submit socket; left out: the one that couriers are pinned to, or the configured one." placeholder:"PATH"`
	Call   string `arg:"" help:"The call, by the id that its denial names."`
}

// Help is the long text.
func (appealCmd) Help() string {
	return `Asks people whether a call that a rule denied may run all the same. It returns at once; if they say yes, the very same call runs once when
it is made again. Only some rules can be appealed, only by the user whose call it was, once, and within ten minutes. The denial names the call.

Exit codes: 0 people are asked; 1 they are not, and why; 2 the command line is not understood.

Example:
  approver appeal 5f0c6a7e2b9d4a1c8e3f7a6b5c4d3e2f --reason needed-by-the-release`
}

// Run appeals.
func (c appealCmd) Run(ctx context.Context) error {
	client, err := askPlace(ctx, c.Config, c.Socket)
	if err != nil {
		return err
	}
	var out appealedDoc
	if err := client.Appeal(ctx, appealDoc{Call: c.Call, Reason: c.Reason}, &out); err != nil {
		return notRunning(err)
	}
	if c.JSON {
		return printJSON(out)
	}
	printed(0, "People are asked (request %s). Make the very same call again later: if they say yes, it runs, once, until %s.\n", visibly(out.Request), out.Until.UTC().Format("15:04 UTC"))
	return nil
}
