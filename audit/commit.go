package audit

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// A haste says how soon a line is written.
type haste uint8

const (
	atOnce    haste = iota // somebody waits for it
	inGroup                // nobody waits, and the call that it is about runs meanwhile: within groupWithin
	following              // nobody waits, and the store has it: within followWithin
)

// add puts a line into the queue, and a checkpoint if one is due. It gives the line
// its place in the chain, so that hashing goes on while the disk is busy.
func (l *Log) add(body []byte, at time.Time, when haste) (*batch, digest, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.open:
		return nil, digest{}, ErrClosed
	case l.err != nil:
		return nil, digest{}, l.err
	case l.lag.lagging(at):
		return nil, digest{}, laggingError{l.lag.advanced}
	}
	if l.queue.size > 0 && l.queue.size+int64(len(body)+sealLength) > l.o.MaxSize {
		if err := l.queue.endFile(); err != nil {
			return nil, digest{}, err
		}
	}
	if !at.IsZero() {
		l.lag.pending = append(l.lag.pending, pendingLine{l.queue.end.seq + 1, at})
	}
	b, hash, err := l.queue.line(body)
	if err != nil {
		return nil, digest{}, err
	}
	switch when {
	case atOnce:
		b.waited = true
		signal(l.queue.wake)
	case following:
		if b.since.IsZero() {
			b.since = time.Now()
			signal(l.queue.follow)
		}
	case inGroup:
		if b.passes++; b.passes == 1 {
			b.passed = time.Now()
			signal(l.queue.soon)
		}
	}
	return b, hash, nil
}

// write is the writing goroutine: it commits the queue until the log is closed, and
// heals a log that has failed.
func (l *Log) write() {
	defer close(l.writeEnded)
	tick := time.NewTicker(l.o.CheckpointAfter)
	defer tick.Stop()
	guard := time.NewTicker(guardEvery)
	defer guard.Stop()
	var later, soon <-chan time.Time
	for {
		select {
		case <-l.queue.follow:
			if later == nil {
				later = time.After(followWithin)
			}
			continue
		case <-l.queue.soon:
			if soon == nil {
				soon = time.After(groupWithin)
			}
			continue
		case <-later:
		case <-soon:
		case <-l.queue.wake:
		case <-tick.C:
			l.signRest()
		case <-guard.C:
			l.checkFile()
		case done := <-l.check:
			l.checkFile()
			close(done)
		case <-l.closing:
			l.commit(true)
			return
		}
		later, soon = nil, nil // all that came before is in the commit
		l.commit(false)
		l.heal()
	}
}

// signRest adds a checkpoint if lines are not signed yet.
func (l *Log) signRest() {
	var err error
	l.mu.Lock()
	if l.open && l.err == nil && l.queue.since > 0 {
		err = l.queue.sign()
	}
	l.mu.Unlock()
	if err != nil {
		l.fail(nil, err)
	}
}

// commit writes all batches that are in the queue, and then those that came meanwhile and that
// somebody waits for, or all if the log is closed: for the others a signal has come.
func (l *Log) commit(all bool) {
	l.mu.Lock()
	left := len(l.queue.batches)
	l.mu.Unlock()
	for ; ; left-- {
		// Callers that the last commit woke may have a next record: let them join
		// this batch.
		runtime.Gosched()
		l.mu.Lock()
		var b *batch
		if l.err == nil && (all || left > 0 || l.queue.hurries()) {
			b = l.queue.first()
			l.queue.writing = b
		}
		l.mu.Unlock()
		if b == nil {
			return
		}

		if err := l.writeBatch(b); err != nil {
			l.fail(b, err)
			return
		}
		l.mu.Lock()
		l.markDurable(b)
		l.mu.Unlock()

		if b.rotate {
			if err := l.active.beginNext(b.end, l.Head()); err != nil {
				l.fail(nil, err)
				return
			}
		}
	}
}

// markDurable releases everybody who waits for a batch. The caller holds mu.
func (l *Log) markDurable(b *batch) {
	l.durable = Head{Log: l.o.ID, Seq: b.end.seq, Hash: b.end.hash.String(), First: l.active.first}
	l.queue.reuse(b)
	l.queue.writing = nil
	close(b.done)
	signal(l.lag.wake)
}

// fail fails the log, and with it b and everything in the queue.
func (l *Log) fail(b *batch, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = fmt.Errorf("%w: %w", ErrFailed, explain(l.o.Dir, err))
	queue := l.queue.batches
	if b != nil {
		queue = append([]*batch{b}, queue...)
	}
	for _, b := range queue {
		l.lostPasses += b.passes
	}
	// Log first: callers that get the error may log it too, and this line explains it. The calls that ran are
	// in no log if the daemon stops before this one works again.
	args := []any{"error", l.err}
	if l.lostPasses > 0 {
		args = append(args, "ran_unrecorded", l.lostPasses)
	}
	l.o.Log.Error("the audit log has failed: every call is denied until it works again; trying on", args...)
	for _, b := range queue {
		b.err = l.err
		close(b.done)
	}
	l.queue.batches, l.queue.writing = nil, nil
	l.lag.pending = slices.DeleteFunc(l.lag.pending, func(c pendingLine) bool { return c.seq > l.durable.Seq })
}

// checkFile fails the log if somebody changed its file while nothing was written.
func (l *Log) checkFile() {
	l.mu.Lock()
	works := l.open && l.err == nil
	l.mu.Unlock()
	if !works {
		return
	}
	if err := l.active.intact(l.Head()); err != nil {
		l.fail(nil, err)
	}
}

// writeBatch makes a batch durable, or reports an error and leaves the rest to heal.
func (l *Log) writeBatch(b *batch) error {
	if len(b.buf) == 0 {
		return nil
	}
	if err := l.active.intact(l.Head()); err != nil {
		return err
	}
	return l.active.write(b.buf)
}
