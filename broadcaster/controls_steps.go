package broadcaster

import (
	"cmp"
	"slices"
	"time"
)

// This file has the pure steps that change the controls. The store takes each as one record.

// hold adds a freeze of one agent. A second one of the same agent keeps the first.
func (c *Controls) hold(h Hold, now time.Time) {
	c.merge(now)
	h.At, h.Burned, h.Who.Peer.PID = now, now, 0
	each, stand := 0, 0
	for _, old := range c.Holds {
		if old.At.IsZero() {
			continue
		}
		if stand++; h.Who.sameAgent(old.Who) && old.Who != h.Who {
			each++
		}
	}
	if each >= maxHoldsEach {
		h.Who.Project, h.Who.Session = "/", ""
		c.Holds = slices.DeleteFunc(c.Holds, func(old Hold) bool { return h.Who.sameAgent(old.Who) && old.Who != h.Who })
	}
	for i, old := range c.Holds {
		if old.Who == h.Who {
			if !old.At.IsZero() {
				h.Freeze = old.Freeze
			}
			c.Holds[i] = h
			return
		}
	}
	if stand < maxHolds {
		c.Holds = append(c.Holds, h)
		return
	}
	if !c.Frozen() {
		c.Freeze = h.Freeze
	}
	c.Burned, c.Pause, c.Observe = now, Pause{}, Observe{}
}

// merge removes lifted holds that are older than any yes. If too many are left, it replaces
// them by fewer that void at least as much: those of one agent by one for every project, and
// all of them by one for everything.
func (c *Controls) merge(now time.Time) {
	lifted := func(h Hold) bool { return h.At.IsZero() }
	c.Holds = slices.DeleteFunc(slices.Clone(c.Holds), func(h Hold) bool {
		return lifted(h) && now.Sub(h.Burned) > holdKeep
	})
	for i := range c.Holds {
		c.Holds[i].Who = c.Holds[i].Who.bounded()
	}
	count := func(f func(Hold) bool) (n int, newest time.Time) {
		for _, h := range c.Holds {
			if lifted(h) && f(h) {
				n++
				if h.Burned.After(newest) {
					newest = h.Burned
				}
			}
		}
		return n, newest
	}
	for _, of := range slices.Clone(c.Holds) {
		same := func(h Hold) bool { return of.Who.sameAgent(h.Who) }
		n, newest := count(same)
		if n <= maxHoldsEach {
			continue
		}
		c.Holds = slices.DeleteFunc(c.Holds, func(h Hold) bool { return lifted(h) && same(h) })
		everywhere := Who{Agent: of.Who.Agent, Peer: of.Who.Peer, Project: "/"}
		c.Holds = append(c.Holds, Hold{Who: everywhere, Burned: newest})
	}
	if n, newest := count(func(Hold) bool { return true }); n > maxHolds {
		c.Holds = slices.DeleteFunc(c.Holds, lifted)
		if newest.After(c.Burned) {
			c.Burned = newest
		}
	}
}

// lift ends every freeze. What each voided stays void.
func (c *Controls) lift(now time.Time) {
	if c.Frozen() {
		c.Freeze, c.Missing, c.Burned = Freeze{}, false, now
	}
	c.Holds = slices.Clone(c.Holds)
	for i := range c.Holds {
		if h := &c.Holds[i]; !h.At.IsZero() {
			h.Freeze, h.Burned = Freeze{}, now
		}
	}
}

// remove adds a removal, and ends a pause and observe mode, because the removed person may
// have begun them. A second removal of the same person adds accounts, and keeps the first and
// the last. There is always room for somebody who is on a list.
func (c *Controls) remove(gone Removal, now time.Time) error {
	if err := gone.check(); err != nil {
		return err
	}
	if !gone.ByRoot {
		var err error
		if gone, err = gone.sparesRoot(); err != nil {
			return err
		}
	}
	gone = gone.bounded()
	c.Removed = slices.DeleteFunc(slices.Clone(c.Removed), func(r Removal) bool {
		return !r.Back.IsZero() && now.Sub(r.Back) > holdKeep // no yes is that old
	})
	unlisted := 0
	for _, r := range c.Removed {
		if r.Stands() && r.Person == gone.Person {
			gone.Unlisted = gone.Unlisted && r.Unlisted
		} else if r.Stands() && r.Unlisted {
			unlisted++
		}
	}
	if gone.Unlisted && unlisted >= maxUnlisted {
		return errManyGone
	}
	gone.Ended = c.endLoosened(now)
	if i := placeOf(gone, c.Removed); i >= 0 {
		old := c.Removed[i]
		ids := slices.Clone(old.Identities) // in front, because of maxGoneAccounts
		for _, id := range gone.Identities {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		gone.Identities = ids
		if gone.At, gone.Back = now, (time.Time{}); old.Stands() {
			gone.Last, gone.LastBy, gone.LastReason = now, gone.By, gone.Reason
			gone.At, gone.By, gone.Reason = old.At, old.By, old.Reason
			gone.Ended = cmp.Or(gone.Ended, old.Ended)
		}
		c.Removed[i] = gone
		return nil
	}
	gone.At = now
	c.Removed = append(c.Removed, gone)
	return nil
}

// restore brings a person back if their removal is still the one that was seen.
func (c *Controls) restore(seen Removal, now time.Time) error {
	c.Removed = slices.Clone(c.Removed)
	for i, r := range c.Removed {
		switch {
		case !r.Stands() || r.Person != seen.Person:
			continue
		case !r.same(seen):
			return ErrRemovedAnew
		}
		c.Removed[i].Back, c.usesReserve = now, true
		return nil
	}
	return ErrNotRemoved
}

// bound shortens every text. Whether the controls stop a call or void an answer does not
// change.
func (c *Controls) bound() {
	c.Freeze = c.Freeze.bounded()
	c.Pause.By, c.Observe.By = cutText(c.Pause.By, maxBy), cutText(c.Observe.By, maxBy)
	c.Holds, c.Removed = slices.Clone(c.Holds), slices.Clone(c.Removed)
	for i, h := range c.Holds {
		c.Holds[i].Freeze, c.Holds[i].Who = h.bounded(), h.Who.bounded()
	}
	for i, r := range c.Removed {
		c.Removed[i] = r.bounded()
	}
}

// fits fails for a change that leaves no room for every freeze to come. Freezes and removals
// may use that room.
func (c *Controls) fits(value []byte) error {
	room := freezeRoom + max(0, mostHolds-len(c.Holds))*holdRoom + len(c.Removed)*backRoom
	if !c.usesReserve && len(value) > maxControls-room {
		return errFullControls
	}
	return nil
}
