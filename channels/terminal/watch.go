package terminal

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"approver.example"
)

const (
	maxWatchers = 64
	// maxBehind is how many cards a watcher may be behind before it is disconnected; it sees
	// all pending cards again when it reconnects. A new watcher starts behind by all pending
	// cards.
	maxBehind = 2 * maxCards
)

// A watcher is one connection. Its fields are guarded by Channel.mu.
type watcher struct {
	who   approver.Identity
	queue []*card        // cards that it has still to be shown, oldest first
	knows map[*card]bool // the cards that it was shown
	wake  chan struct{}  // holds a value if queue or ended changed
	ended error
}

// Watching returns how many terminals watch now: count by people whose answers count, and
// others.
func (c *Channel) Watching(counting approver.People) (count, others int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.watchers {
		if _, counts := counting[w.who]; counts {
			count++
		} else {
			others++
		}
	}
	return count, others
}

// Watches returns how many terminals watch now, and how many ever did.
func (c *Channel) Watches() (now, ever int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.watchers), c.joined
}

// spread puts a changed card into every watcher's queue. The caller must hold c.mu.
func (c *Channel) spread(k *card) {
	for w := range c.watchers {
		switch {
		case slices.Contains(w.queue, k): // its latest state is shown when its turn comes
		case len(w.queue) >= maxBehind:
			c.end(w, ErrSlow)
		default:
			w.queue = append(w.queue, k)
			w.rouse()
		}
	}
}

// end removes a watcher and makes its Watch return. The caller must hold c.mu.
func (c *Channel) end(w *watcher, why error) {
	if w.ended == nil {
		w.ended = why
	}
	if _, ok := c.watchers[w]; ok {
		delete(c.watchers, w)
		c.announce()
	}
	w.rouse()
}

// announce wakes every Post and Update. The caller must hold c.mu.
func (c *Channel) announce() {
	close(c.changed)
	c.changed = make(chan struct{})
}

func (w *watcher) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Watch streams events to one peer until ctx ends, emit fails, the channel stops (ErrStopped),
// or the peer falls too far behind (ErrSlow). The events are a hello, the pending cards in the
// order in which they were made, and then the changes. A peer that is not on the approver list
// gets ErrStranger and nothing else. emit is called in the caller's goroutine, never twice at a
// time; a slow emit holds up nobody else.
func (c *Channel) Watch(ctx context.Context, peer approver.Peer, emit func(json.RawMessage) error) error {
	person, ok := c.identify(peer)
	if !ok {
		c.log.Warn("refused a watcher who is not on the approver list", "uid", nameOf(peer))
		return ErrStranger
	}
	w, err := c.join(approver.Identity{Channel: Name, ID: person.ID})
	if err != nil {
		return err
	}
	c.log.Info("a terminal watches", "uid", person.ID)
	defer func() {
		c.mu.Lock()
		c.end(w, ErrStopped)
		c.mu.Unlock()
		c.log.Info("a terminal left", "uid", person.ID)
	}()
	send := func(e Event) error {
		body, err := e.MarshalJSON() // json.Marshal would read through all of it once more
		if err != nil {
			return fmt.Errorf("terminal: encode an event: %w", err)
		}
		if err := emit(body); err != nil {
			return fmt.Errorf("terminal: show an event: %w", err)
		}
		return nil
	}
	if err := send(c.hello()); err != nil {
		return err
	}
	for {
		k, event, err := c.next(ctx, w)
		if err != nil {
			return err
		}
		if err := send(event); err != nil {
			return err
		}
		c.mu.Lock()
		k.seen = max(k.seen, event.Rev)
		c.announce()
		c.mu.Unlock()
	}
}

func (c *Channel) join(who approver.Identity) (*watcher, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.watchers) >= maxWatchers {
		return nil, fmt.Errorf("terminal: %d terminals watch already: close one", maxWatchers)
	}
	w := &watcher{who: who, knows: map[*card]bool{}, wake: make(chan struct{}, 1)}
	c.watchers[w] = struct{}{}
	c.joined++
	for _, k := range c.cards {
		if !k.card.State.Settled() {
			w.queue = append(w.queue, k)
		}
	}
	slices.SortFunc(w.queue, func(a, b *card) int { return a.seq - b.seq })
	c.announce()
	return w, nil
}

// next waits for the next event of a watcher.
func (c *Channel) next(ctx context.Context, w *watcher) (*card, Event, error) {
	for {
		c.mu.Lock()
		if err := w.ended; err != nil {
			c.mu.Unlock()
			return nil, Event{}, err
		}
		for len(w.queue) > 0 && ctx.Err() == nil {
			k := w.queue[0]
			w.queue = w.queue[1:]
			shown := w.knows[k]
			if k.gone && !shown {
				continue
			}
			event := c.event(k, shown)
			w.knows[k] = true
			if k.gone || k.card.State.Settled() {
				delete(w.knows, k)
			}
			c.mu.Unlock()
			return k, event, nil
		}
		c.mu.Unlock()
		select {
		case <-w.wake:
		case <-ctx.Done():
			return nil, Event{}, ctx.Err()
		}
	}
}
