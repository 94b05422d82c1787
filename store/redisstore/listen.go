package redisstore

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// errDeaf ends a subscription whose connection is open but that gets no messages.
var errDeaf = errors.New("published messages do not arrive")

// listen keeps the one subscription of this process until ctx ends. It closes subscribed when
// the first one is established.
func (s *Store) listen(ctx context.Context, subscribed chan struct{}) {
	var lost bool
	pause := 50 * time.Millisecond
	for ctx.Err() == nil {
		began := time.Now()
		err := s.listenOnce(ctx, func() {
			if subscribed != nil {
				close(subscribed)
				subscribed = nil
			}
			if lost {
				s.log.Info("redis: wake-ups arrive again")
				lost = false
			}
		})
		if ctx.Err() != nil {
			return
		}
		if !lost {
			lost = true
			s.log.Warn("redis: lost the wake-up subscription; subscribing anew", "error", err)
		}
		if time.Since(began) > s.pulse {
			pause = 50 * time.Millisecond
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, time.Second)
	}
}

// listenOnce passes on hints until the subscription fails. An open connection proves nothing:
// its server may be cut off from the one that is written to. So the process publishes a pulse
// the same way that records are written, and must receive it.
func (s *Store) listenOnce(ctx context.Context, standing func()) error {
	ctx, cancel := context.WithCancel(ctx)
	sub := s.rdb.Subscribe(ctx)
	pulses := make(chan struct{})
	go func() {
		defer close(pulses)
		s.publishPulses(ctx)
	}()
	// Closing the subscription is what ends a Receive early.
	stop := context.AfterFunc(ctx, func() { _ = sub.Close() })
	defer func() {
		cancel()
		stop()
		_ = sub.Close() // waits for a Close that is under way
		<-pulses
	}()
	if err := sub.Subscribe(ctx, wakeChannel); err != nil {
		return err
	}
	patience := 5 * s.pulse / 2
	heard := time.Now()
	for {
		message, err := sub.ReceiveTimeout(ctx, patience)
		if err != nil {
			return err
		}
		switch m := message.(type) {
		case *redis.Subscription:
			standing()
			heard = time.Now()
			// What was published before now was not heard.
			s.hub.WakeAll()
		case *redis.Message:
			if m.Payload == s.holder {
				heard = time.Now()
			} else if strings.HasPrefix(m.Payload, "ap:") {
				s.hub.Wake(m.Payload)
			}
		}
		if time.Since(heard) > patience {
			return errDeaf
		}
	}
}

// publishPulses publishes this process's name until ctx ends. It ignores errors: then no pulse
// arrives.
func (s *Store) publishPulses(ctx context.Context) {
	tick := time.NewTicker(s.pulse)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			bounded, cancel := context.WithTimeout(ctx, s.bound())
			_ = s.rdb.Publish(bounded, wakeChannel, s.holder).Err()
			cancel()
		}
	}
}
