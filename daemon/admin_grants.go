package daemon

import (
	"context"
	"errors"
	"fmt"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/daemon/adminapi"
	"approver.example/display"
)

func (d *Admin) listGrants(ctx context.Context) (adminapi.Grants, error) {
	now, err := d.People.Store.Now(ctx)
	if err != nil {
		return adminapi.Grants{}, err
	}
	grants, err := d.People.Grants.List(ctx)
	doc := adminapi.Grants{Now: now.UTC(), Grants: []adminapi.Grant{}}
	for _, g := range grants {
		doc.Grants = append(doc.Grants, adminapi.Grant{
			ID: g.ID, Kind: g.Kind, Push: g.Push, By: g.By, Until: g.Until.UTC(), Agent: display.OneLine(g.Agent), Dir: display.OneLine(g.Dir),
		})
	}
	if errors.Is(err, broadcaster.ErrIncomplete) {
		doc.Trouble, err = incomplete(err, d.cfg.Storage()), nil
	}
	return doc, err
}

// revoke needs nobody's yes: it only tightens.
func (d *Admin) revoke(ctx context.Context, peer approver.Peer, which adminapi.RequestID) (adminapi.ControlAnswer, error) {
	err := d.People.Grants.Revoke(context.WithoutCancel(ctx), which.Request, fmt.Sprintf("uid %d", peer.UID))
	return adminapi.ControlAnswer{Done: err == nil, Text: "revoked"}, err
}
