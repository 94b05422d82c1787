package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/daemon/adminapi"
	"approver.example/display"
	"approver.example/tokens"
)

// ownerAnswers lets root approve what nobody else can. The kernel says who root is. Only root
// may, and only if the daemon is not root as well, because an agent may run as the daemon's
// user.
func (d *Admin) ownerAnswers(
	ctx context.Context, peer approver.Peer, op string, req adminapi.OwnerRequest,
) (none adminapi.OwnerAnswer, err error) {
	if !peer.Known || peer.UID != 0 {
		return none, errors.New("only root may approve here what nobody else can: run it with sudo")
	}
	r, err := d.People.Requests.Get(ctx, req.Request)
	if errors.Is(err, approver.ErrNotFound) && op == adminapi.OpOwnerShow {
		return none, nil // the usual answer says so
	}
	if errors.Is(err, approver.ErrNotFound) {
		return none, fmt.Errorf("there is no request %q: approver pending lists those that are open",
			display.OneLine(req.Request))
	} else if err != nil {
		return none, err
	}
	if r.State.Settled() {
		return none, errors.New("the request is over: " + d.People.Cards.Of(r).Result)
	}
	why := d.People.Approvers.OwnerMay(ctx, r)
	if os.Getuid() == 0 {
		why = "the daemon runs as root, so root may be an agent here and its yes proves nothing: " +
			"give the daemon a user of its own (docs/isolated.md), or pair a chat"
	}
	if why != "" {
		if op == adminapi.OpOwnerShow && d.audience().ownerAnswers(r.Verdict.Severity) {
			return none, nil
		}
		return none, errors.New("root cannot approve it: " + why)
	}
	if op == adminapi.OpOwnerShow {
		return d.ownerShow(ctx, peer, r)
	}
	upto, ok := d.owner.take(r.ID, req.Code, time.Now())
	if !ok {
		d.log.Warn("root typed a wrong code", "request", r.ID)
		return none, errors.New("that was not the code, and it is void: nothing was approved. Run it again for another")
	}
	out := d.People.Answers.OwnerApproves(context.WithoutCancel(ctx), r.ID, upto)
	good := out.Kind == approver.OutcomeApproved || out.Kind == approver.OutcomeRecorded
	return adminapi.OwnerAnswer{Done: good, Text: out.Text}, nil
}

func (d *Admin) ownerShow(
	ctx context.Context, peer approver.Peer, r broadcaster.Request,
) (adminapi.OwnerAnswer, error) {
	shown, err := d.show(ctx, peer, adminapi.RequestID{Request: r.ID})
	if err != nil {
		return adminapi.OwnerAnswer{}, err
	}
	code, err := d.owner.mint(r.ID, shown.Upto, time.Now())
	return adminapi.OwnerAnswer{Shown: shown, Code: code.Reveal()}, err
}

// challenges are the codes that root was shown, each valid for one attempt. The zero value has
// none.
type challenges struct {
	mu  sync.Mutex
	all map[string]challenge // by request
}

type challenge struct {
	code tokens.Code
	upto int // the last identical call that root was shown with the code
	due  time.Time
}

// Bounds of challenges.
const (
	challengeFor    = 2 * time.Minute
	maxChallenges   = 64
	challengeLength = 8
)

// mint makes a new code for a request, of which root is shown the identical calls up to number
// upto. It replaces an earlier code for the request.
func (c *challenges) mint(request string, upto int, now time.Time) (tokens.Code, error) {
	code, err := tokens.Mint(challengeLength)
	if err != nil {
		return code, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, old := range c.all {
		if !now.Before(old.due) {
			delete(c.all, id)
		}
	}
	if c.all == nil {
		c.all = map[string]challenge{}
	}
	if len(c.all) >= maxChallenges {
		return tokens.Code{}, errors.New("too many requests are shown to root at once: wait two minutes")
	}
	c.all[request] = challenge{code, upto, now.Add(challengeFor)}
	return code, nil
}

// take reports whether typed is the code for the request, and returns the number of the last
// call that was shown with it. The code is void afterwards, right or wrong.
func (c *challenges) take(request, typed string, now time.Time) (upto int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was, ok := c.all[request]
	delete(c.all, request)
	code, err := tokens.Parse(typed)
	return was.upto, ok && err == nil && now.Before(was.due) && code.Equal(was.code)
}
