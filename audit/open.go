package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"approver.example"
)

// Open opens the log in o.Dir, or starts one. It repairs what a crash left
// behind and compares the log's end with the store's head. If something is wrong,
// the log still opens: its first records are alarms, which Alarms returns too. Open
// fails if another process writes the log, if there is no key, and if the store
// does not answer. The caller must call Close.
func Open(ctx context.Context, o Options) (*Log, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	lock, err := lockFile(filepath.Join(o.Dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	l := build(o, lock)
	alarms, err := l.begin(ctx)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	// The new end goes to the store only after the alarms are durable. Otherwise a
	// crash in between would make a truncated log look complete.
	if err := l.writeAlarms(alarms); err != nil {
		return nil, errors.Join(fmt.Errorf("audit log: %w", explain(o.Dir, err)), l.active.file.Close(), lock.Close())
	}
	l.opening.Lost, l.healing.loss = l.healing.loss, ""
	l.open = true
	headCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	retainCtx, cancelRetain := context.WithCancel(context.WithoutCancel(ctx))
	l.cancelHead, l.cancelRetain = cancel, cancelRetain
	if !o.Hold {
		l.Accept()
	}
	go l.write()
	go l.keepHead(headCtx)
	go l.retain(retainCtx)
	return l, nil
}

// build makes a Log that has read nothing yet.
func build(o Options, lock *os.File) *Log {
	dir := logDir(o.Dir)
	return &Log{
		o: o, red: newRedactor(o.Redact), lock: lock, lag: newLag(), olderStore: make(chan string, 1),
		queue: queue{key: o.Key, log: o.ID, every: o.CheckpointEvery, wake: make(chan struct{}, 1),
			follow: make(chan struct{}, 1), soon: make(chan struct{}, 1)},
		active:  activeFile{dir: dir, key: o.Key, sync: o.sync, fileBegun: make(chan struct{}, 1)},
		head:    headKeeper{kv: o.KV, log: o.ID, controls: o.Controls, lineExists: dir.hasLine},
		check:   make(chan chan struct{}),
		closing: make(chan struct{}), writeEnded: make(chan struct{}), headEnded: make(chan struct{}),
		retainEnded: make(chan struct{}),
	}
}

// begin repairs the files and compares their end with the store's head.
func (l *Log) begin(ctx context.Context) (alarms []alarm, err error) {
	if l.o.KV == nil {
		return l.resume(nil, false)
	}
	if err := carryHead(ctx, l.o); err != nil {
		return nil, err
	}
	var known *Head
	var note string
	head, rev, err := readHead(ctx, l.o.KV, l.o.ID)
	unknown := errors.Is(err, approver.ErrNotFound)
	switch {
	case err == nil:
		known = &head
	case errors.Is(err, approver.ErrTampered):
		note = err.Error()
	case unknown:
		note = "the store knows no end of this log: it lost its data, or the log was written without it"
	default:
		return nil, err
	}
	if alarms, err = l.resume(known, false); err != nil {
		return nil, err
	}
	l.opening = Opening{Seq: l.durable.Seq, Head: known}
	if l.lag.pending, err = l.opening.compare(l.active.dir, l.o.Volatile); err != nil {
		return nil, err
	}
	if unknown && l.durable.Seq > 0 {
		if l.opening.Renamed, err = l.active.dir.renamed(l.durable.Seq, l.o.ID); err != nil {
			return nil, err
		}
	}
	l.head.rev = rev
	switch {
	case unknown && l.durable.Seq == 0: // a new log is known to nobody
		// So if a log has lines and its store has no head, the store has lost it.
		if err := l.head.write(ctx, Head{Hash: genesis().String()}); err != nil { // it follows with the first line
			l.o.Log.Warn("the store did not take the beginning of the audit log", "error", err)
		}
	case note != "":
		alarms = append(alarms, alarm{kind: lossAlarm, text: note})
	}
	if known != nil && len(alarms) == 0 {
		l.head.stored = known.Seq
	}
	// Any other closed head stays until the caller has handled it, see Accept.
	if known != nil && known.Closed && l.healing.loss == "" && known.Seq == l.durable.Seq {
		head.Closed = false // before the first line is written: a crash can leave lines after the store's head
		if err := l.head.write(ctx, head); err != nil {
			return nil, err
		}
	}
	return alarms, nil
}

func (l *Log) close(ctx context.Context) error {
	l.cancelRetain()
	l.mu.Lock()
	var err error
	if l.open && l.err == nil && l.queue.since > 0 {
		err = l.queue.sign()
	}
	l.open = false
	l.mu.Unlock()
	close(l.closing)
	l.cancelHead()
	for _, ended := range []chan struct{}{l.retainEnded, l.writeEnded, l.headEnded} {
		select {
		case <-ended:
		case <-ctx.Done():
			return fmt.Errorf("close the audit log: %w", ctx.Err())
		}
	}
	l.mu.Lock()
	err = errors.Join(err, l.err)
	l.mu.Unlock()
	if l.o.KV != nil && l.lag.isAccepted() { // else the caller has not handled what Opened returned
		head := l.Head()
		if head.Closed = err == nil; head.Closed {
			l.head.stored = 0 // write again: the store may have this end, but not marked as closed
		}
		err = errors.Join(err, l.head.put(ctx, head))
	}
	if l.active.file != nil {
		err = errors.Join(err, l.active.file.Close())
	}
	return errors.Join(err, l.lock.Close())
}
