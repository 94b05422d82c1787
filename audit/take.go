package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"approver.example"
	"approver.example/display"
)

// stopGrace is how long after the end of its context the record of a denial may still be written.
const stopGrace = 3 * time.Second

// stopEvents release nothing. They are recorded even if nobody waits any more: neither an
// agent that gave up nor a slow store may keep a denial out of the audit.
var stopEvents = []approver.Event{
	approver.EventDenied, approver.EventExpired, approver.EventWithdrawn, approver.EventRefused, approver.EventRan,
	approver.EventResult, approver.EventDisowned, approver.EventMisplaced,
	approver.EventAlarm, approver.EventFrozen,
}

// denies reports whether a record is the verdict that denied a call.
func denies(r approver.Record) bool {
	return r.Event == approver.EventVerdict && r.Verdict.Decision == approver.Deny
}

// Record writes a record and returns its hash once it is durable. It fails if ctx
// ends, or if the log has failed or is closed. After an error the record may still
// have been written, but the caller must not release anything because of it. A record
// that releases nothing, such as a denial, gets some seconds more after ctx has ended.
func (l *Log) Record(ctx context.Context, r approver.Record) (string, error) {
	if denies(r) || slices.Contains(stopEvents, r.Event) {
		var cancel context.CancelFunc
		ctx, cancel = extendDeadline(ctx)
		defer cancel()
	}
	hash, err := l.encodeAndPut(ctx, r)
	if err != nil && denies(r) && errors.Is(err, ErrFailed) {
		l.mu.Lock()
		l.unrecorded++
		l.mu.Unlock()
	}
	return hash, err
}

// extendDeadline returns a context that ends some seconds after ctx does.
func extendDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		late := time.AfterFunc(stopGrace, cancel)
		context.AfterFunc(out, func() { late.Stop() })
	})
	return out, func() {
		stop()
		cancel()
	}
}

func (l *Log) encodeAndPut(ctx context.Context, r approver.Record) (string, error) {
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
	body, err := display.EncodeJSON(line)
	if err != nil {
		return "", fmt.Errorf("audit record: %w", err)
	}
	if len(body)+sealLength > MaxLine {
		return "", fmt.Errorf("audit record: it has %d bytes, more than a line may have", len(body))
	}
	var at time.Time
	if l.o.KV != nil {
		at = lagTime(line)
	}
	return l.put(ctx, body, at)
}

// put adds a line and waits until it is durable. at is its lagTime.
func (l *Log) put(ctx context.Context, body []byte, at time.Time) (string, error) {
	b, hash, err := l.add(body, at)
	for wait := (laggingError{}); errors.As(err, &wait); b, hash, err = l.add(body, at) {
		if err := l.awaitHead(ctx, wait.advanced); err != nil {
			return "", err
		}
	}
	if err != nil {
		return "", err
	}
	if err := b.wait(ctx); err != nil {
		return "", err
	}
	return hash.String(), nil
}

// wait waits until the batch is durable.
func (b *batch) wait(ctx context.Context) error {
	select {
	case <-b.done:
		return b.err
	case <-ctx.Done():
		return fmt.Errorf("audit record: not known to be durable: %w", ctx.Err())
	}
}

// awaitHead waits until the store has a newer head.
func (l *Log) awaitHead(ctx context.Context, headed <-chan struct{}) error {
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

// storedUpTo is the last line that the head in the store is known to cover.
func (l *Log) storedUpTo() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lag.storedSeq
}

// stopWait is how long an orderly stop waits for the store.
const stopWait = 2 * time.Second

// flushHead waits up to stopWait until the store's head covers every line, and reports
// whether it does. Nil means that it is not known: Accept was not called.
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
		signal(l.lag.urgent)
		if l.awaitHead(ctx, headed) != nil {
			return &told
		}
	}
}
