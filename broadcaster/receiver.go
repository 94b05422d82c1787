package broadcaster

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"approver.example"
)

// This file is about channels of which one process receives for all that share the
// store: it gives way to others while no answer reaches it, and says how it is.

// How long a process to which no answers come keeps the lease: at first, and at most,
// since nobody may do better. It then leaves it alone for asideFor, in which others ask
// several times.
const (
	deafFor    = 3 * approver.LeaseTTL
	maxDeafFor = 5 * time.Minute
	asideFor   = approver.LeaseTTL / 2
)

// errDeaf ends a run under the lease in which no answers came.
var errDeaf = errors.New("no answers come here")

// runSolo runs a channel under its lease. A process that hears nothing, as where its way
// to the platform is cut, gives the lease up: it would make all others deaf.
func (v *receivers) runSolo(ctx context.Context, c approver.Channel, lease string, run func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	var telling sync.WaitGroup
	telling.Go(func() { v.tellReceiver(ctx, c, lease) })
	defer telling.Wait()
	defer stop()
	for patience := deafFor; ; {
		heard := false
		err := Lead(ctx, v.store, lease, v.log, func(ctx context.Context) error {
			ctx, giveUp := context.WithCancelCause(ctx)
			var watching sync.WaitGroup
			watching.Go(func() {
				if heard = v.untilDeaf(ctx, c, patience); ctx.Err() == nil {
					v.channels.states.deaf(c.Name(), c.(approver.Receiver).Reception())
					giveUp(errDeaf)
				}
			})
			defer watching.Wait()
			defer giveUp(nil)
			if err := run(ctx); !errors.Is(context.Cause(ctx), errDeaf) {
				return err
			}
			return errDeaf
		})
		if !errors.Is(err, errDeaf) {
			return err
		}
		if patience = min(2*patience, maxDeafFor); heard {
			patience = deafFor
		}
		v.log.Debug("no answers come here, so other processes may receive them", "channel", c.Name())
		if !sleep(ctx, asideFor) {
			return ctx.Err()
		}
	}
}

// untilDeaf waits until no answers have come for so long, or ctx ends. It reports
// whether any came before. A channel that cannot say counts as hearing, for ever.
func (v *receivers) untilDeaf(ctx context.Context, c approver.Channel, patience time.Duration) (heard bool) {
	r, says := c.(approver.Receiver)
	for last := time.Now(); time.Since(last) < patience; {
		if !says || r.Reception().Up {
			if heard, last = true, time.Now(); says {
				v.channels.states.deaf(c.Name(), approver.Reception{})
			}
		}
		if !sleep(ctx, approver.LeaseTTL/4) {
			return heard
		}
	}
	return heard
}

// A Receiving is what the process that has a channel's lease says of itself to the
// others that share the store.
type Receiving struct {
	Process string    `json:"process"` // which one; another after each start
	At      time.Time `json:"at"`      // when it said so, by the store's clock
	Up      bool      `json:"up"`
	Since   time.Time `json:"since,omitzero"`
	Problem string    `json:"problem,omitempty"`
	// Places are the conversations in which it takes answers, and People the accounts
	// whose answers count there, sorted: nobody's who was removed.
	Places []string `json:"places"`
	People []string `json:"people"`
}

// equal reports that two notes say the same, whenever.
func (r Receiving) equal(o Receiving) bool {
	return r.Process == o.Process && r.Up == o.Up && r.Since.Equal(o.Since) && r.Problem == o.Problem && slices.Equal(r.Places, o.Places) && slices.Equal(r.People, o.People)
}

// trouble says why answers that this process waits for may not count where they come.
func (r Receiving) trouble(mine Receiving) string {
	missing := func(have, want []string) string {
		return strings.Join(slices.DeleteFunc(slices.Clone(want), func(s string) bool { return slices.Contains(have, s) }), ", ")
	}
	const cure = ": give all daemons that share the store the same chats and approvers"
	switch places, people := missing(r.Places, mine.Places), missing(r.People, mine.People); {
	case !r.Up && r.Problem == "":
		r.Problem = notReached
		fallthrough
	case !r.Up:
		return "the daemon that receives for all that share the store does not: " + r.Problem
	case places != "":
		return "the daemon that receives for all that share the store takes no answers in " + places + cure
	case people != "":
		return "the daemon that receives for all that share the store does not know the approvers " + people + cure
	}
	return ""
}

// receiving is how it is here.
func (v *receivers) receiving(c approver.Channel) (now Receiving) {
	now.Up = true
	if r, says := c.(approver.Receiver); says {
		s := r.Reception()
		now.Up, now.Since = s.Up, s.Since.UTC().Truncate(time.Second)
		if !s.Up {
			now.Problem = s.Problem
		}
	}
	for _, d := range v.destinations {
		if d.Channel == c.Name() && !slices.Contains(now.Places, d.Conversation) {
			now.Places = append(now.Places, d.Conversation)
		}
	}
	for id := range v.approvers.Counting() {
		if id.Channel == c.Name() {
			now.People = append(now.People, id.ID)
		}
	}
	slices.Sort(now.Places)
	slices.Sort(now.People)
	return now
}

// How often a process looks at how the one that receives is, how often that one says so
// anew, and for how long its word counts.
const (
	tellEvery = 2 * time.Second
	tellAnew  = approver.LeaseTTL
	fresh     = 3 * approver.LeaseTTL
)

// tellReceiver tells the others how it is here while the lease is here, and else looks
// how it is where the lease is.
func (v *receivers) tellReceiver(ctx context.Context, c approver.Channel, lease string) {
	key, process := approver.Key("receiving", lease), string(approver.NewRev())
	defer v.channels.states.elsewhere(c.Name(), nil, "")
	var told Receiving
	var at time.Time // when it was told; zero if that did not work
	before, warned := "", ""
	for {
		mine := v.receiving(c)
		mine.Process = process
		if v.channels.states.of(c.Name()).Leads {
			if !mine.equal(told) || time.Since(at) >= tellAnew {
				if told, at = mine, time.Now(); !v.storeReceiving(ctx, key, mine) {
					at = time.Time{}
				}
			}
			before, warned = "", ""
			v.channels.states.elsewhere(c.Name(), nil, "")
		} else {
			told = Receiving{}
			there, trouble := v.lookElsewhere(ctx, c, key, mine)
			v.channels.states.elsewhere(c.Name(), there, trouble)
			// One look is not enough: whoever has just got the lease has not heard anything yet.
			if trouble != "" && before != "" && trouble != warned {
				warned = trouble
				v.log.Error("answers to cards of this process may not count", "channel", c.Name(), "error", trouble)
			} else if trouble == "" {
				warned = ""
			}
			before = trouble
		}
		if !sleep(ctx, tellEvery) {
			return
		}
	}
}

// lookElsewhere reads how it is where the lease is, and why answers may not count there.
// Nothing is known where nobody else has said anything lately.
func (v *receivers) lookElsewhere(ctx context.Context, c approver.Channel, key string, mine Receiving) (*Receiving, string) {
	value, _, clock, err := approver.GetNow(ctx, v.store, key)
	var there Receiving
	if err != nil || json.Unmarshal(value, &there) != nil || there.Process == mine.Process || clock.Sub(there.At).Abs() > fresh {
		return nil, ""
	}
	trouble := there.trouble(mine)
	if trouble != "" { // somebody may have been removed whom only the other one knows to be
		if _, err := readStored(ctx, v.store, v.mark); err == nil {
			mine.People = v.receiving(c).People
			trouble = there.trouble(mine)
		}
	}
	return &there, trouble
}

// storeReceiving puts a note over whatever is there. It reports whether that worked: if
// not, it is tried again at the next look.
func (v *receivers) storeReceiving(ctx context.Context, key string, now Receiving) bool {
	_, rev, clock, err := approver.GetNow(ctx, v.store, key)
	if err != nil && !errors.Is(err, approver.ErrNotFound) {
		return false
	}
	now.At = clock
	value, err := json.Marshal(now)
	return err == nil && v.store.Put(ctx, key, value, rev, approver.NewRev(), time.Time{}, clock.Add(controlsKeep)) == nil
}
