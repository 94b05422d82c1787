package broadcaster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"approver.example"
	"approver.example/tokens"
)

// This file shows people's programs what is open. It changes nothing, and no
// code is in what it returns.

// ErrNoList means that the store cannot say what is open.
var ErrNoList = errors.New("this store cannot list what is open")

// ErrIncomplete means that records of some requests cannot be read. Those that
// can are listed beside it.
var ErrIncomplete = errors.New("some requests cannot be read")

// maxListed bounds how many records of one shard are listed.
const maxListed = 1000

// Open lists the open requests of all daemons that share the store, the
// oldest first, up to 1000 in each of the store's shards. With ErrIncomplete the
// list has all others.
func (q *Requests) Open(ctx context.Context) ([]Request, error) {
	ids, err := q.records.listed(ctx, "req")
	if err != nil {
		return nil, err
	}
	found := make([]*Request, len(ids))
	err = inParallel(min(len(ids), 8), func(worker int) (err error) {
		for i := worker; i < len(ids); i += 8 {
			r, _, loadErr := q.load(ctx, ids[i])
			switch {
			case errors.Is(loadErr, approver.ErrNotFound):
			case loadErr != nil:
				err = errors.Join(err, loadErr) // one that cannot be read hides no other
			case !r.State.Settled():
				found[i] = &r
			}
		}
		return err
	})
	var open []Request
	for _, r := range found {
		if r != nil {
			open = append(open, *r)
		}
	}
	slices.SortFunc(open, func(a, b Request) int { return a.Created.Compare(b.Created) })
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	return open, err
}

// Get returns a request as it is stored. ErrNotFound means that there is
// none with this id.
func (q *Requests) Get(ctx context.Context, id string) (Request, error) {
	r, _, err := q.load(ctx, id)
	return r, err
}

// Of is a request as people see it, without a code.
func (v *Cards) Of(r Request) approver.Card { return v.card(r, tokens.Code{}) }

// Shown is Card for somebody who may answer what they read there: it says how many calls
// wait, and what a yes does. The number is for their answer: see [Reply.Shown].
func (v *Cards) Shown(r Request) (approver.Card, int) {
	c := v.Of(r)
	if !r.State.Settled() && !r.Parked {
		c.Notice = strings.TrimSpace(r.callersNotice(Posting{}) + " " + c.Notice)
	}
	return c, r.Joined
}
