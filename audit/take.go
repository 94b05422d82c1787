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
	body, at, err := l.encode(ctx, r)
	if err != nil {
		return "", err
	}
	return l.put(ctx, body, at)
}

// encode makes the line of a record, and returns its lagTime.
func (l *Log) encode(ctx context.Context, r approver.Record) (body []byte, at time.Time, err error) {
	if l == nil || l.red == nil {
		return nil, at, ErrClosed
	}
	line := l.red.lineOf(r, l.o.Hostname, time.Now())
	if l.o.Controls != nil {
		line.Controls = l.o.Controls()
	}
	if l.o.KV != nil {
		at, line.Stored = lagTime(line), l.storedUpTo()
		if r.Event == approver.EventStopped {
			line.Heard = l.flushHead(ctx)
		}
	}
	if body, err = display.EncodeJSON(line); err != nil {
		return nil, at, fmt.Errorf("audit record: %w", err)
	}
	if len(body)+sealLength > MaxLine {
		return nil, at, fmt.Errorf("audit record: it has %d bytes, more than a line may have", len(body))
	}
	return body, at, nil
}

// MaxBehind is how far the log may be behind the store, and behind calls that run. Beyond that, nothing
// is released.
const MaxBehind = time.Second

// followWithin is how long a line that follows the store may wait for others to be written with it.
const followWithin = MaxBehind / 20

// MaxPassBehind is how far the log may be behind the calls that it let run, see [Log.Pass]. Half of it
// is for the disk.
const (
	MaxPassBehind = 10 * time.Millisecond
	groupWithin   = MaxPassBehind / 2
)

// ErrBehind means that lines which nobody waits for are not durable in time.
var ErrBehind = fmt.Errorf("the audit log is more than %s behind: its disk does not keep up", MaxBehind)

// Ready implements approver.Follower.
func (l *Log) Ready() error {
	if l == nil || l.red == nil {
		return ErrClosed
	}
	err := l.ready()
	if err == nil && !l.active.glance() {
		err = l.lookNow()
	}
	return err
}

// lookNow has the writing goroutine look at the file, which may be changed.
func (l *Log) lookNow() error {
	give := time.NewTimer(MaxBehind)
	defer give.Stop()
	done := make(chan struct{})
	select {
	case l.check <- done:
		<-done
		return l.ready()
	case <-l.closing:
		return ErrClosed
	case <-give.C:
		return ErrBehind
	}
}

// ready is Ready without a look at the file.
func (l *Log) ready() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.open:
		return ErrClosed
	case l.err != nil:
		return l.err
	case isLate(l.queue.behind(), MaxBehind) || isLate(l.queue.passBehind(), MaxBehind):
		return ErrBehind
	}
	return nil
}

// isLate reports whether a line that came then, if there is one, waits for longer than most.
func isLate(since time.Time, most time.Duration) bool {
	return !since.IsZero() && time.Since(since) > most
}

// Follow implements approver.Follower. It waits only if the store did not take the log's head
// for long, at most MaxBehind.
func (l *Log) Follow(r approver.Record) (approver.Written, error) {
	body, at, err := l.encode(context.Background(), r)
	if err != nil {
		return nil, err
	}
	if err := l.Ready(); err != nil {
		return nil, fmt.Errorf("audit record: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), MaxBehind)
	defer cancel()
	b, _, err := l.place(ctx, body, at, following)
	if err != nil {
		return nil, fmt.Errorf("audit record: %w", err)
	}
	return func(ctx context.Context, hurry bool) error {
		if hurry {
			signal(l.queue.wake)
		}
		return b.wait(ctx)
	}, nil
}

// Pass records a verdict that lets a call run without a person, and does not wait for the disk: the
// record is written within MaxPassBehind, together with others. Until the disk keeps up again, Pass
// waits as Record does, so a power failure takes no more than what was recorded in MaxPassBehind.
// After an error the call must not run. A verdict that stops the call is recorded as by Record.
func (l *Log) Pass(ctx context.Context, r approver.Record) error {
	if r.Event != approver.EventVerdict || r.Verdict.Decision <= approver.Ask {
		_, err := l.Record(ctx, r)
		return err
	}
	err := ctx.Err()
	var body []byte
	var at time.Time
	if err == nil {
		body, at, err = l.encode(ctx, r)
	}
	if err == nil {
		err = l.Ready()
	}
	if err != nil {
		return fmt.Errorf("audit record: %w", err)
	}
	b, _, err := l.place(ctx, body, at, inGroup)
	if err != nil {
		return fmt.Errorf("audit record: %w", err)
	}
	l.mu.Lock()
	behind := isLate(l.queue.passBehind(), MaxPassBehind)
	if behind { // the call does not run before its record is durable
		b.passes, b.waited = b.passes-1, true
	}
	l.mu.Unlock()
	if behind {
		signal(l.queue.wake)
		return b.wait(ctx)
	}
	select {
	case <-b.done: // already, or it failed
		if b.err != nil { // the call does not run
			l.mu.Lock()
			l.lostPasses--
			l.mu.Unlock()
		}
		return b.err
	default:
		return nil
	}
}

// place is add that waits if the store's head is too far behind, which is seldom.
func (l *Log) place(ctx context.Context, body []byte, at time.Time, when haste) (*batch, digest, error) {
	b, hash, err := l.add(body, at, when)
	for wait := (laggingError{}); errors.As(err, &wait); b, hash, err = l.add(body, at, when) {
		signal(l.queue.wake) // a head is of durable lines only
		signal(l.lag.urgent)
		if err := l.awaitHead(ctx, wait.advanced); err != nil {
			return nil, digest{}, err
		}
	}
	return b, hash, err
}

// put adds a line and waits until it is durable. at is its lagTime.
func (l *Log) put(ctx context.Context, body []byte, at time.Time) (string, error) {
	b, hash, err := l.place(ctx, body, at, atOnce)
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
	}
	select {
	case <-b.done: // it is known, although the time is over
		return b.err
	default:
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
