package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/display"
)

// The operations on grants.
const (
	opGrants  = "grants"
	opPropose = "propose"
	opRevoke  = "revoke"
)

// A grantsDoc is the answer of opGrants.
type grantsDoc struct {
	Now     time.Time  `json:"now"` // by the store's clock
	Grants  []grantDoc `json:"grants"`
	Trouble string     `json:"store_error,omitempty"` // why others may be missing
}

// A grantDoc is one yes that waits for calls.
type grantDoc struct {
	ID    string    `json:"id"`
	Kind  string    `json:"kind"` // once, session, or a time such as 15m
	Push  string    `json:"push"`
	By    string    `json:"by"`
	Until time.Time `json:"until"`
	Agent string    `json:"agent,omitempty"`
	Dir   string    `json:"dir,omitempty"`
}

func (d *desk) grants(ctx context.Context) (grantsDoc, error) {
	now, err := d.people.Store.Now(ctx)
	if err != nil {
		return grantsDoc{}, err
	}
	grants, err := d.people.Grants.List(ctx)
	doc := grantsDoc{Now: now.UTC(), Grants: []grantDoc{}}
	for _, g := range grants {
		doc.Grants = append(doc.Grants, grantDoc{
			ID: g.ID, Kind: g.Kind, Push: g.Push, By: g.By, Until: g.Until.UTC(), Agent: display.OneLine(g.Agent), Dir: display.OneLine(g.Dir),
		})
	}
	if errors.Is(err, broadcaster.ErrIncomplete) {
		doc.Trouble, err = incomplete(err), nil
	}
	return doc, err
}

// revoke needs nobody's yes: it only tightens.
func (d *desk) revoke(ctx context.Context, peer approver.Peer, which requestID) (controlDoc, error) {
	err := d.people.Grants.Revoke(context.WithoutCancel(ctx), which.Request, fmt.Sprintf("uid %d", peer.UID))
	return controlDoc{Done: err == nil, Text: "revoked"}, err
}

type grantsCmd struct {
	List    grantsListCmd    `cmd:"" default:"withargs" help:"List what may run without being asked again."`
	Propose grantsProposeCmd `cmd:"" help:"Show the policy rule that would allow a call without asking."`
	Revoke  grantsRevokeCmd  `cmd:"" help:"Take a grant back."`
}

// Help is the long text.
func (grantsCmd) Help() string {
	return `A grant is a yes that waits: for a parked call to come back once, or for the same call in a session or for some minutes
(/approve CODE session, /approve CODE 15m). It is bound to exactly what was shown.

Example:
  approver grants
  approver grants revoke 0192f3a1-7c1e-7b50-8f0e-3c8a3f6a2b11`
}

type grantsListCmd struct{ operatorCmd }

// Help is the long text.
func (grantsListCmd) Help() string {
	return `Lists the grants of every daemon that shares the store.
What cannot be read of the store is told in one line (store_error of --json) after what can, and fails.
` + exitCodes + `
Example:
  approver grants list
  approver grants list --json`
}

// Run prints the list.
func (c grantsListCmd) Run(ctx context.Context) error {
	var doc grantsDoc
	if err := c.operate(ctx, opGrants, struct{}{}, &doc); err != nil {
		return err
	}
	if c.JSON {
		return errors.Join(printJSON(doc), missing(doc.Trouble))
	}
	if len(doc.Grants) == 0 && doc.Trouble == "" {
		printed(0, "there are no grants\n")
	}
	for _, g := range doc.Grants {
		say(fmt.Sprintf("%s  %s  %s\n    %s · %s · approved by %s · %s", g.ID, g.Kind, g.Push, g.Agent, g.Dir, g.By, left(g.Until, doc.Now)))
	}
	return missing(doc.Trouble)
}

type grantsRevokeCmd struct {
	operatorCmd
	ID string `arg:"" help:"The grant's id, from approver grants."`
}

// Help is the long text.
func (grantsRevokeCmd) Help() string {
	return "Takes a grant back: the call is asked anew when it comes. Nobody is asked first.\n" + exitCodes + `
Example:
  approver grants revoke 0192f3a1-7c1e-7b50-8f0e-3c8a3f6a2b11`
}

// Run revokes.
func (c grantsRevokeCmd) Run(ctx context.Context) error {
	var doc controlDoc
	if err := c.operate(ctx, opRevoke, requestID{c.ID}, &doc); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(doc)
	}
	say(doc.Text)
	return nil
}
