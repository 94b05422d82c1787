package broadcaster

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"approver.example"
)

// Times of a channel that ended by itself.
const (
	// maxRunAgain is how long it is left alone at most; at first it is DefaultRunAgain.
	maxRunAgain = 2 * time.Minute
	// steadyAfter is how long a channel that cannot say whether answers arrive must
	// have run to be back.
	steadyAfter = 10 * time.Second
)

// receivers runs the channels of this process.
type receivers struct {
	*Options
	answers   *Answers
	approvers *Approvers
	channels  *Channels
}

// supervise runs a channel until ctx ends, again and again if it ends before.
func (v *receivers) supervise(ctx context.Context, c approver.Channel) {
	said := ""
	for wait := v.RunAgain; ; wait = min(2*wait, max(v.RunAgain, maxRunAgain)) {
		v.channels.states.runs(c.Name())
		watch, stop := context.WithCancel(ctx)
		var watching sync.WaitGroup
		watching.Go(func() {
			if v.awaitBack(watch, c) {
				v.Log.Info("a channel that had ended is back", "channel", c.Name())
			}
		})
		err := v.runChannel(ctx, c)
		stop()
		watching.Wait()
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("it ended without an error")
		}
		if v.channels.states.of(c.Name()).Ended == nil {
			wait, said = v.RunAgain, "" // it worked in between
		}
		v.channels.states.ended(c.Name(), err)
		if said != err.Error() {
			v.Log.Error("a channel has ended; it is run again now and then", "channel", c.Name(), "error", err)
			said = err.Error()
		}
		if !v.channels.rest(ctx, c.Name(), jittered(wait)) {
			return
		}
	}
}

// awaitBack waits until a channel that had ended works again, and notes it. It returns false
// if ctx ends first.
func (v *receivers) awaitBack(ctx context.Context, c approver.Channel) bool {
	began := time.Now()
	for {
		s := v.channels.stateOf(c)
		if s.Ended == nil {
			return false
		}
		back := time.Since(began) >= steadyAfter
		if s.Receiver { // waiting for the lease does not count
			s.Ended = nil
			now := s.Hearing()
			back = now.Elsewhere || now.Here && !s.Good.Before(began)
		}
		if back {
			v.channels.states.ended(c.Name(), nil)
			return true
		}
		if !sleep(ctx, pollEvery) {
			return false
		}
	}
}

// runChannel runs a channel once, under its lease if it has one.
func (v *receivers) runChannel(ctx context.Context, c approver.Channel) error {
	return survived(func() error {
		if solo := soloOf(c); solo != nil {
			return v.runSolo(ctx, c, newLease(solo, v.Store, v.Log))
		}
		return v.run(ctx, c)
	})
}

// soloOf is a channel that receives under a lease, and nil for one that receives in each process.
func soloOf(c approver.Channel) approver.Solo {
	if solo, is := c.(approver.Solo); is && solo.LeaseName() != "" {
		return solo
	}
	return nil
}

// run runs a channel once.
func (v *receivers) run(ctx context.Context, c approver.Channel) error {
	v.channels.states.leads(c.Name(), true)
	defer v.channels.states.leads(c.Name(), false)
	return c.Run(ctx, v.answers.fromChannel)
}

// receiving is the state of a channel in this process, for the others.
func (v *receivers) receiving(c approver.Channel) (now Receiving) {
	now.Up = true
	if r, says := c.(approver.Receiver); says {
		s := r.Reception()
		now.Up, now.Since = s.Up, s.Since.UTC().Truncate(time.Second)
		if !s.Up {
			now.Problem = s.Problem
		}
	}
	for _, d := range v.Destinations {
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
	wordFor   = 3 * approver.LeaseTTL
)

// tellReceiver publishes the state of the channel while this process has the lease, and
// otherwise reads the state from the process that has it.
func (v *receivers) tellReceiver(ctx context.Context, c approver.Channel, l *lease) {
	process := string(approver.NewRev())
	defer v.channels.states.elsewhere(c.Name(), nil, "")
	var told Receiving
	var under string // the seat of which it was published
	var at time.Time // when that was; zero if it failed
	before, warned := "", ""
	for {
		mine := v.receiving(c)
		mine.Process = process
		if v.channels.states.of(c.Name()).Leads {
			seat := *l.seat.Load()
			if !mine.equal(told) || seat != under || time.Since(at) >= tellAnew {
				if told, under, at = mine, seat, time.Now(); !v.storeReceiving(ctx, noteKey(seat), mine) {
					at = time.Time{}
				}
			}
			before, warned = "", ""
			var there *Receiving
			if !mine.Up && len(l.seats) > 1 {
				there, _ = v.lookElsewhere(ctx, c, l.seats, mine)
			}
			v.channels.states.elsewhere(c.Name(), there, "")
		} else {
			told = Receiving{}
			there, trouble := v.lookElsewhere(ctx, c, l.seats, mine)
			v.channels.states.elsewhere(c.Name(), there, trouble)
			// One read is not enough: a process that has just got the lease has received nothing yet.
			if trouble != "" && before != "" && trouble != warned {
				warned = trouble
				v.Log.Error("answers to cards of this process may not count", "channel", c.Name(), "error", trouble)
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

// noteKey is where the process with a seat publishes its state.
func noteKey(seat string) string { return approver.Key("receiving", seat) }

// lookElsewhere reads the states of the processes that have the lease. It returns that of one that receives, if
// one does, and why answers to cards of this process may not count at one of them. It returns nil if no other
// process has published its state lately.
func (v *receivers) lookElsewhere(
	ctx context.Context, c approver.Channel, seats []string, mine Receiving,
) (best *Receiving, trouble string) {
	for _, seat := range seats {
		there, why := v.lookAt(ctx, c, seat, mine)
		switch {
		case there == nil:
		case best == nil, there.Up && !best.Up, there.Up && why != "" && trouble == "":
			best, trouble = there, why
		}
	}
	return best, trouble
}

// lookAt is lookElsewhere for one seat.
func (v *receivers) lookAt(
	ctx context.Context, c approver.Channel, seat string, mine Receiving,
) (*Receiving, string) {
	value, _, clock, err := approver.GetNow(ctx, v.Store, noteKey(seat))
	var there Receiving
	if err != nil || json.Unmarshal(value, &there) != nil || there.Process == mine.Process ||
		clock.Sub(there.At).Abs() > wordFor {
		return nil, ""
	}
	trouble := there.trouble(mine)
	if trouble != "" { // only the other process may know of a removal
		if _, err := readStored(ctx, v.Store, v.Mark); err == nil {
			mine.People = v.receiving(c).People
			trouble = there.trouble(mine)
		}
	}
	return &there, trouble
}

// storeReceiving publishes the state of a channel over whatever the store has. If it returns
// false, the caller tries again later.
func (v *receivers) storeReceiving(ctx context.Context, key string, now Receiving) bool {
	_, rev, clock, err := approver.GetNow(ctx, v.Store, key)
	if err != nil && !errors.Is(err, approver.ErrNotFound) {
		return false
	}
	now.At = clock
	value, err := json.Marshal(now)
	return err == nil && v.Store.Put(ctx, key, value, rev, approver.NewRev(), time.Time{}, clock.Add(controlsKeep)) == nil
}
