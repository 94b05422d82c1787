package audit

import (
	"context"
	"errors"
	"fmt"

	"approver.example"
)

// carryHead copies the store's head of a log from its former id to its present one. The id
// changes, for example, with the host's name. carryHead does nothing if the store has no
// head under the former id, or if the present id belongs to another log.
func carryHead(ctx context.Context, o Options) error {
	dir := logDir(o.Dir)
	former, err := dir.formerID()
	if err != nil || former == "" || former == o.ID {
		return err
	}
	head, _, err := readHead(ctx, o.KV, former)
	if errors.Is(err, approver.ErrNotFound) || errors.Is(err, approver.ErrTampered) {
		return nil
	}
	ours := false
	if err == nil {
		ours, err = dir.hasLine(head)
	}
	if err != nil || !ours || head.Seq == 0 {
		return err
	}
	there, rev, err := readHead(ctx, o.KV, o.ID)
	switch {
	case errors.Is(err, approver.ErrNotFound):
	case errors.Is(err, approver.ErrTampered):
		return nil
	case err != nil:
		return err
	default: // the log may have had the present id before the former one
		if ours, err := dir.hasLine(there); err != nil || !ours || there.Seq == 0 {
			return err
		}
	}
	if o.Renamed != nil {
		if err := o.Renamed(ctx, former); err != nil {
			return fmt.Errorf("the audit's id was %s and is %s now, and what the store knows of it could not be carried over: "+
				"%w", former, o.ID, err)
		}
	}
	keeper := headKeeper{kv: o.KV, log: o.ID, rev: rev}
	if err := keeper.write(ctx, head); err != nil {
		return err
	}
	o.Log.Warn("the audit has another id now: what the store knows of it was carried over; set audit.id where the "+
		"host's name changes", "was", former, "is", o.ID)
	return nil
}
