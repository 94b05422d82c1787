package audit

import (
	"context"
	"errors"
	"time"
)

// keepHead is the head goroutine: it writes the log's end to the store, after the commits,
// until ctx ends.
func (l *Log) keepHead(ctx context.Context) {
	defer close(l.headEnded)
	if l.o.KV == nil {
		return
	}
	select {
	case <-ctx.Done():
		return
	case <-l.lag.accepted:
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.lag.wake:
		}
		l.mu.Lock()
		if l.lag.rewound {
			l.lag.rewound, l.head.stored = false, 0
		}
		l.mu.Unlock()
		putCtx, cancel := context.WithTimeout(ctx, headTimeout)
		err := l.head.put(putCtx, l.Head())
		cancel()
		if err == nil {
			l.mu.Lock()
			l.lag.advance(l.head.stored)
			l.mu.Unlock()
		}
		if l.head.storeOlder != nil {
			select {
			case l.olderStore <- l.head.storeOlder.Error():
			default:
			}
			l.head.storeOlder = nil
		}
		l.noteHead(ctx, err)
		pause := time.NewTimer(headEvery)
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-pause.C:
		case <-l.lag.urgent:
			pause.Stop()
		}
		if err != nil { // try again without a new commit
			signal(l.lag.wake)
		}
	}
}

// noteHead reports trouble with the head once until it is over.
func (l *Log) noteHead(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
		return
	case errors.Is(err, errForeign):
		l.o.Log.Error("audit alarm", "error", err)
		if time.Since(l.head.foreignAt) < time.Minute { // two daemons would alarm for ever
			return
		}
		l.head.foreignAt = time.Now()
		if err := l.alarm(ctx, alarm{kind: lossAlarm, text: err.Error()}); err != nil {
			l.o.Log.Error("audit alarm not recorded", "error", err)
		}
	case err != nil && l.head.err == nil:
		l.o.Log.Warn("the store does not take the audit's head; trying on", "error", err)
	case err == nil && l.head.err != nil:
		l.o.Log.Info("the store has the audit's head again")
	}
	l.head.err = err
	l.mu.Lock()
	l.storeErr = err
	l.mu.Unlock()
}
