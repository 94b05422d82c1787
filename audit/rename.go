package audit

import (
	"context"
	"errors"
	"fmt"

	"approver.example"
)

// This file carries over what the store knows of a log that gets another id, as where
// the host's name changed.

// carryHead makes the store's word on a log its word on it under its id of now. It does
// nothing for a log that the store does not know under its former id, and where the id of
// now is another log's.
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
	default: // of the time before it had the former id
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
