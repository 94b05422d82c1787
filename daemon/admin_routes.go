package daemon

import (
	"context"
	"encoding/json"

	"approver.example"
	"approver.example/daemon/adminapi"
	"approver.example/httpapi"
)

// An operation is one request that the daemon serves for an operator.
type operation func(*Admin, context.Context, approver.Peer, json.RawMessage) (any, error)

// asking returns an operation without a body.
func asking[A any](do func(*Admin, context.Context) (A, error)) operation {
	return func(d *Admin, ctx context.Context, _ approver.Peer, _ json.RawMessage) (any, error) {
		return do(d, ctx)
	}
}

// taking returns an operation whose body is a Q.
func taking[Q, A any](do func(*Admin, context.Context, approver.Peer, Q) (A, error)) operation {
	return func(d *Admin, ctx context.Context, peer approver.Peer, body json.RawMessage) (any, error) {
		var req Q
		if err := json.Unmarshal(body, &req); err != nil {
			return nil, err
		}
		return do(d, ctx, peer, req)
	}
}

// byOwner returns one of the two operations by which root approves.
func byOwner(op string) operation {
	return taking(func(
		d *Admin, ctx context.Context, peer approver.Peer, req adminapi.OwnerRequest,
	) (adminapi.OwnerAnswer, error) {
		return d.ownerAnswers(ctx, peer, op, req)
	})
}

// operations are all operations. One that tightens takes effect at once; one that loosens asks
// people first.
var operations = map[string]operation{
	adminapi.OpStatus:  asking((*Admin).status),
	adminapi.OpPending: asking((*Admin).pending),
	adminapi.OpShow:    taking((*Admin).show),
	adminapi.OpWork:    asking((*Admin).work),

	adminapi.OpFreeze:   taking((*Admin).freeze),
	adminapi.OpUnfreeze: taking((*Admin).unfreeze),
	adminapi.OpPause:    taking((*Admin).pause),
	adminapi.OpObserve:  taking((*Admin).observe),
	adminapi.OpEnforce:  taking((*Admin).enforce),

	adminapi.OpPair:   taking((*Admin).pair),
	adminapi.OpPassed: taking((*Admin).passed),
	adminapi.OpAdmit:  taking((*Admin).admit),

	adminapi.OpPeople:       taking((*Admin).listPeople),
	adminapi.OpRemove:       taking((*Admin).remove),
	adminapi.OpRestore:      taking((*Admin).restore),
	adminapi.OpRecover:      taking((*Admin).recover),
	adminapi.OpOwnerShow:    byOwner(adminapi.OpOwnerShow),
	adminapi.OpOwnerApprove: byOwner(adminapi.OpOwnerApprove),

	adminapi.OpGrants:  asking((*Admin).listGrants),
	adminapi.OpPropose: taking((*Admin).propose),
	adminapi.OpRevoke:  taking((*Admin).revoke),
}

// Operate implements [httpapi.Operator].
func (d *Admin) Operate(
	ctx context.Context, peer approver.Peer, op string, body json.RawMessage,
) (json.RawMessage, error) {
	out, err := d.do(ctx, peer, op, body)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

func (d *Admin) do(ctx context.Context, peer approver.Peer, op string, body json.RawMessage) (any, error) {
	if do, known := operations[op]; known {
		return do(d, ctx, peer, body)
	}
	return nil, httpapi.ErrNoOperation
}
