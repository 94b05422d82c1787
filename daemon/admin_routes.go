package daemon

import (
	"context"
	"encoding/json"

	"approver.example"
	"approver.example/daemon/adminapi"
	"approver.example/httpapi"
)

// Operate does one operation.
func (d *Admin) Operate(ctx context.Context, peer approver.Peer, op string, body json.RawMessage) (json.RawMessage, error) {
	var out any
	var err error
	switch op {
	case adminapi.OpStatus:
		out, err = d.status(ctx)
	case adminapi.OpPending:
		out, err = d.pending(ctx)
	case adminapi.OpShow:
		var which adminapi.RequestID
		if err = json.Unmarshal(body, &which); err == nil {
			out, err = d.show(ctx, which)
		}
	case adminapi.OpFreeze, adminapi.OpUnfreeze, adminapi.OpPause, adminapi.OpObserve, adminapi.OpEnforce:
		out, err = d.control(ctx, peer, op, body)
	case adminapi.OpPair:
		var which adminapi.PairRequest
		if err = json.Unmarshal(body, &which); err == nil {
			out, err = d.pair(ctx, which)
		}
	case adminapi.OpAdmit:
		var who adminapi.AdmitRequest
		if err = json.Unmarshal(body, &who); err == nil {
			out, err = d.admit(ctx, peer, who)
		}
	case adminapi.OpPeople, adminapi.OpRemove, adminapi.OpRestore, adminapi.OpRecover, adminapi.OpOwnerShow, adminapi.OpOwnerApprove:
		out, err = d.persons(ctx, peer, op, body)
	case adminapi.OpGrants:
		out, err = d.grants(ctx)
	case adminapi.OpPropose:
		var which adminapi.RequestID
		if err = json.Unmarshal(body, &which); err == nil {
			out, err = d.propose(ctx, which)
		}
	case adminapi.OpRevoke:
		var which adminapi.RequestID
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
