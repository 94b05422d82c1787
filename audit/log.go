package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"

	"approver.example"
)

// Errors of a Log.
var (
	ErrClosed = errors.New("the audit log is closed")
	// ErrFailed means that something could not be written. Nothing is recorded
	// until the log has healed itself, which it tries again and again.
	ErrFailed = errors.New("the audit log has failed")
)

// A Log is an audit log that is open for writing. It implements
// approver.Recorder; all methods are safe for concurrent use. The zero value
// records nothing.
type Log struct {
	o    Options
	red  *redactor
	lock *os.File

	mu     sync.Mutex
	open   bool
	err    error // why nothing is recorded, when open
	queue  queue
	alarms []string

	durable    Head  // under mu
	lag        lag   // under mu, but for its channels
	storeErr   error // under mu: head.err
	unrecorded int   // under mu: denied calls that a log which failed did not take
	lostPasses int   // under mu: calls that ran, and whose lines a log which failed took and lost

	opening    Opening     // of Open
	olderStore chan string // see Older

	// Of the writing goroutine, and of Open and Close while it does not run.
	active  activeFile
	healing healing

	check                              chan chan struct{} // each is closed when the file was looked at
	closing                            chan struct{}
	writeEnded, headEnded, retainEnded chan struct{} // closed when the goroutines have ended
	cancelHead, cancelRetain           context.CancelFunc
	closed                             sync.Once
	closeErr                           error

	// Of the head goroutine, and of Close when that has ended.
	head headKeeper
}

var _ approver.Recorder = (*Log)(nil)

// Head returns the last durable line.
func (l *Log) Head() Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.durable
}

// Work returns how often lines were synced since Open.
func (l *Log) Work() approver.Work { return approver.Work{Syncs: l.active.syncs.Load()} }

// Alarms returns the texts of the newest hundred alarms since Open, oldest first.
// Each alarm is also a record.
func (l *Log) Alarms() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.alarms)
}

// Err says why nothing can be recorded; nil means that the log works.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open {
		return ErrClosed
	}
	return l.err
}

// noRoom reports an error that ends when somebody makes room.
func noRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// explain adds a hint to an error of the disk.
func explain(dir string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("the disk is full: make room in %s: %w", dir, err)
	case errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("the disk quota is used up: make room in %s: %w", dir, err)
	case errors.Is(err, syscall.EFBIG):
		return fmt.Errorf("a file in %s is larger than the limit of the process allows: %w", dir, err)
	}
	return err
}

// Opened returns what Open found.
func (l *Log) Opened() Opening { return l.opening }

// Accept lets the log write its head to the store. With Options.Hold the caller
// must call it once it has handled what Opened returned.
func (l *Log) Accept() { l.lag.accept.Do(func() { close(l.lag.accepted) }) }

// Close writes a last checkpoint, waits until everything is durable and the
// store has the head, and releases the log. It returns early if ctx ends
// while the disk does not answer. A second call does nothing.
func (l *Log) Close(ctx context.Context) error {
	if l == nil || l.red == nil {
		return nil
	}
	l.closed.Do(func() { l.closeErr = l.close(ctx) })
	return l.closeErr
}

// Older receives the reason when the log finds, while it runs, that the store is
// older than the log.
func (l *Log) Older() <-chan string { return l.olderStore }

// StoreErr says why the store rejects the log's head; nil means that it accepts it.
func (l *Log) StoreErr() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.storeErr
}
