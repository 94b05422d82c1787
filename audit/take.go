package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"approver.example"
)

// This file is how a record comes into the log.

// outlives is how long the record of a denial may take when the call's own time is over.
const outlives = 3 * time.Second

// stops are the events that release nothing. They are recorded although nobody waits for
// that any more: an agent that gave up, or a store that took all of a call's time, must
// not keep a denial out of the audit.
var stops = []approver.Event{
	approver.EventDenied, approver.EventExpired, approver.EventWithdrawn, approver.EventRefused, approver.EventRan,
	approver.EventResult,
	approver.EventAlarm, approver.EventFrozen,
}

// denies reports that a record is of a call that the path denied.
func denies(r approver.Record) bool {
	return r.Event == approver.EventVerdict && r.Verdict.Decision == approver.Deny
}

// Record writes a record and returns its hash when it is durable. After any
// error nothing may be released on the strength of the record, although it may
// have been written: ctx ended, the log has failed, or it is closed. The record of what
// releases nothing, such as a denial, is written even if ctx has ended, within seconds.
func (l *Log) Record(ctx context.Context, r approver.Record) (string, error) {
	if denies(r) || slices.Contains(stops, r.Event) {
		var cancel context.CancelFunc
		ctx, cancel = longer(ctx)
		defer cancel()
	}
	hash, err := l.take(ctx, r)
	if err != nil && denies(r) && errors.Is(err, ErrFailed) {
		l.mu.Lock()
		l.missing++
		l.mu.Unlock()
	}
	return hash, err
}

// longer ends some seconds after ctx does.
func longer(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		late := time.AfterFunc(outlives, cancel)
		context.AfterFunc(out, func() { late.Stop() })
	})
	return out, func() {
		stop()
		cancel()
	}
}

func (l *Log) take(ctx context.Context, r approver.Record) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("audit record: %w", err)
	}
	if l == nil || l.red == nil {
		return "", ErrClosed
	}
	line := l.red.lineOf(r, l.o.Hostname, time.Now())
	if l.o.Controls != nil {
		line.Controls = l.o.Controls()
	}
	if l.o.KV != nil {
		line.Stored = l.storedUpTo()
		if r.Event == approver.EventStopped {
			line.Heard = l.flushHead(ctx)
		}
	}
	body, err := encode(line)
	if err != nil {
		return "", fmt.Errorf("audit record: %w", err)
	}
	if len(body)+sealLength > MaxLine {
		return "", fmt.Errorf("audit record: it has %d bytes, more than a line may have", len(body))
	}
	var at time.Time
	if l.o.KV != nil {
		at = counts(line)
	}
	return l.put(ctx, body, at)
}

// put waits until a line is durable. at is the time of one that counts for the
// store's lag.
func (l *Log) put(ctx context.Context, body []byte, at time.Time) (string, error) {
	b, hash, err := l.add(body, at)
	for wait := (laggingError{}); errors.As(err, &wait); b, hash, err = l.add(body, at) {
		if err := l.await(ctx, wait.advanced); err != nil {
			return "", err
		}
	}
	if err != nil {
		return "", err
	}
	select {
	case <-b.done:
		if b.err != nil {
			return "", b.err
		}
		return hash.String(), nil
	case <-ctx.Done():
		return "", fmt.Errorf("audit record: not known to be durable: %w", ctx.Err())
	}
}

// await waits until the store was told of more.
func (l *Log) await(ctx context.Context, headed <-chan struct{}) error {
	signal(l.lag.wake)
	select {
	case <-headed:
		return nil
	case <-l.closing:
		return ErrClosed
	case <-ctx.Done():
		return fmt.Errorf("audit record: the store does not take the audit's head: %w", ctx.Err())
	}
}

// storedUpTo is the last line that the store is known to have taken.
func (l *Log) storedUpTo() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lag.storedSeq
}

// stopWait is how long a stop in order waits for the store.
const stopWait = 2 * time.Second

// flushHead reports whether the store was told of every line, and waits a moment for it. Nil
// is not known, as before Accept.
func (l *Log) flushHead(ctx context.Context) *bool {
	if !l.lag.isAccepted() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	end := l.Head().Seq
	for told := false; ; {
		l.mu.Lock()
		headed := l.lag.advanced
		told = l.lag.storedSeq >= end
		l.mu.Unlock()
		if told {
			return &told
		}
		signal(l.lag.hurry)
		if l.await(ctx, headed) != nil {
			return &told
		}
	}
}
