package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// A batch is what one write and one sync make durable.
type batch struct {
	buf    []byte
	end    place
	rotate bool          // the file is full after it
	done   chan struct{} // closed when it is durable, or err says why not
	err    error
}

// add puts a line into the queue, with the checkpoints that it calls for. The
// place in the chain is given here, so that hashing goes on while the disk is
// busy.
func (l *Log) add(body []byte, at time.Time) (*batch, digest, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.open:
		return nil, digest{}, ErrClosed
	case l.err != nil:
		return nil, digest{}, l.err
	case l.lagging(at):
		return nil, digest{}, laggingError{l.headed}
	}
	if l.size > 0 && l.size+int64(len(body)+sealLength) > l.o.MaxSize {
		if err := l.endFile(); err != nil {
			return nil, digest{}, err
		}
	}
	if !at.IsZero() {
		l.unheard = append(l.unheard, counted{l.end.seq + 1, at})
	}
	return l.line(body)
}

// line appends body, with the checkpoint that it calls for. The caller holds mu.
func (l *Log) line(body []byte) (*batch, digest, error) {
	b := l.append(body)
	hash := l.end.hash
	l.since++
	// The second line is a checkpoint, so that a log without any is no log.
	if l.since >= l.o.CheckpointEvery || l.end.seq == 1 {
		if err := l.sign(); err != nil {
			return nil, digest{}, err
		}
	}
	return b, hash, nil
}

// append seals body into the batch that is being filled. The caller holds mu.
func (l *Log) append(body []byte) *batch {
	if len(l.queue) == 0 || l.queue[len(l.queue)-1].rotate {
		l.queue = append(l.queue, &batch{buf: l.spare[:0], done: make(chan struct{})})
		l.spare = nil
	}
	b := l.queue[len(l.queue)-1]
	before := len(b.buf)
	b.buf = seal(b.buf, body, l.o.ID, &l.end)
	b.end = l.end
	l.size += int64(len(b.buf) - before)
	signal(l.wake)
	return b
}

// sign appends a checkpoint. The caller holds mu.
func (l *Log) sign() error {
	body, err := appendCheckpoint(nil, l.o.Key, l.o.ID, l.end, time.Now())
	if err != nil {
		return err
	}
	l.append(body)
	l.since = 0
	return nil
}

// endFile makes the queue go on in a new file. The caller holds mu.
func (l *Log) endFile() error {
	if l.since > 0 {
		if err := l.sign(); err != nil {
			return err
		}
	}
	if len(l.queue) == 0 || l.queue[len(l.queue)-1].rotate {
		l.queue = append(l.queue, &batch{end: l.end, done: make(chan struct{})})
	}
	l.queue[len(l.queue)-1].rotate = true
	l.size = 0
	return nil
}

// write makes the queue durable until the log is closed, and heals a log that
// has failed.
func (l *Log) write() {
	defer close(l.writing)
	tick := time.NewTicker(l.o.CheckpointAfter)
	defer tick.Stop()
	guard := time.NewTicker(guardEvery)
	defer guard.Stop()
	for {
		select {
		case <-l.wake:
		case <-tick.C:
			l.vouch()
		case <-guard.C:
			l.look()
		case <-l.closing:
			l.commit()
			return
		}
		l.commit()
		l.heal()
	}
}

// vouch signs what is not yet signed.
func (l *Log) vouch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open || l.err != nil || l.since == 0 {
		return
	}
	if err := l.sign(); err != nil {
		l.failQueue(nil, err)
	}
}

// commit writes batches until the queue is empty.
func (l *Log) commit() {
	for {
		// Whoever was woken by the last commit and has a record ready joins this
		// one. It costs nothing if nobody has.
		runtime.Gosched()
		l.mu.Lock()
		if len(l.queue) == 0 || l.err != nil {
			l.mu.Unlock()
			return
		}
		b := l.queue[0]
		l.queue = append(l.queue[:0], l.queue[1:]...)
		l.mu.Unlock()

		err := l.writeBatch(b)
		l.mu.Lock()
		if err != nil {
			l.failQueue(b, err)
			l.mu.Unlock()
			return
		}
		l.settle(b)
		l.mu.Unlock()

		if b.rotate {
			if err := l.rotate(b.end); err != nil {
				l.mu.Lock()
				l.failQueue(nil, err)
				l.mu.Unlock()
				return
			}
		}
	}
}

// settle tells everybody that a batch is durable. The caller holds mu.
func (l *Log) settle(b *batch) {
	l.durable = Head{Log: l.o.ID, Seq: b.end.seq, Hash: b.end.hash.String(), First: l.first}
	if l.spare == nil && cap(b.buf) <= MaxLine {
		l.spare = b.buf
	}
	b.buf = nil
	close(b.done)
	signal(l.headWake)
}

// writeBatch makes a batch durable, in a file that is as the last one left it. If it
// cannot, it takes back what it wrote, as far as the disk lets it, and heal does the
// rest: nobody was told of it.
func (l *Log) writeBatch(b *batch) error {
	if len(b.buf) == 0 {
		return nil
	}
	if err := l.intact(); err != nil {
		return err
	}
	_, err := l.file.Write(b.buf)
	if err == nil { // at once: what changes while the disk is busy is not our doing
		err = l.mark()
	}
	if err == nil {
		err = l.o.sync(l.file)
	}
	if err != nil {
		_ = l.file.Truncate(l.kept) // resume cuts off what this leaves
		return err
	}
	l.kept += int64(len(b.buf))
	return nil
}

// rotate gives the full file its name and starts a new one behind the line end.
func (l *Log) rotate(end place) error {
	path := filepath.Join(l.o.Dir, activeName)
	if err := l.owed(path); err != nil { // nobody looks at a full file again
		return err
	}
	err := l.file.Close()
	l.file = nil
	if err != nil {
		return err
	}
	full := filepath.Join(l.o.Dir, rotatedName(l.first))
	if _, err := os.Lstat(full); err == nil {
		return fmt.Errorf("%s is in the way of rotation", full)
	}
	if err := os.Rename(path, full); err != nil {
		return err
	}
	return l.create(end)
}

// create starts a new audit.jsonl behind the line end.
func (l *Log) create(end place) error {
	f, err := os.OpenFile(filepath.Join(l.o.Dir, activeName), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	l.file, l.first, l.kept = f, end.seq+1, 0
	l.origin, l.broken, l.parts, l.unread = scan{place: end, flaws: flaws{key: l.o.Key}}, "", nil, false
	if err := l.mark(); err != nil {
		return err
	}
	signal(l.rotatedWake)
	return syncDir(l.o.Dir)
}

// failQueue fails the log, and with it b and everything in the queue. The
// caller holds mu.
func (l *Log) failQueue(b *batch, err error) {
	l.err = fmt.Errorf("%w: %w", ErrFailed, explain(l.o.Dir, err))
	// Before anybody else can tell of it: it is one trouble, and this line says what it means.
	l.o.Log.Error("the audit log has failed: every call is denied until it works again; trying on", "error", l.err)
	queue := l.queue
	if b != nil {
		queue = append([]*batch{b}, queue...)
	}
	for _, b := range queue {
		b.err = l.err
		close(b.done)
	}
	l.queue = nil
	l.unheard = slices.DeleteFunc(l.unheard, func(c counted) bool { return c.seq > l.durable.Seq })
}
