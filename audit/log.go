package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
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
	shut   bool  // Close was called
	err    error // why nothing is recorded, when open
	queue  queue
	alarms []string

	durable  Head  // under mu
	lag      lag   // under mu, but for its channels
	storeErr error // under mu: head.err
	missing  int   // under mu: denied calls that a log which failed did not take

	opened Opening     // of Open
	older  chan string // see Older

	// Of the writing goroutine, and of Open and Close while it does not run.
	active  activeFile
	healing healing

	closing                     chan struct{}
	writing, heading, retaining chan struct{} // closed when the goroutines have ended
	cancelHead, cancelRetain    context.CancelFunc
	closed                      sync.Once
	closeErr                    error

	// Of the head goroutine, and of Close when that has ended.
	head headKeeper
}

var _ approver.Recorder = (*Log)(nil)

// Head is the last line that is durable.
func (l *Log) Head() Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.durable
}

// Alarms are what was found wrong since Open, the newest hundred, oldest first.
// Each is also a record.
func (l *Log) Alarms() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.alarms...)
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

// explain puts a hint to an error of the disk.
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

// Opened is what was found when the log was opened.
func (l *Log) Opened() Opening { return l.opened }

// Accept lets the store hear of the log's end, after what Opened says was judged. It
// is needed only with Options.Hold.
func (l *Log) Accept() { l.lag.accept.Do(func() { close(l.lag.accepted) }) }

// Close writes a last checkpoint, waits until everything is durable and the
// store has the head, and lets go of the log. It returns early when ctx ends
// while the disk does not answer. A second call does nothing.
func (l *Log) Close(ctx context.Context) error {
	if l == nil || l.red == nil {
		return nil
	}
	l.closed.Do(func() { l.closeErr = l.close(ctx) })
	return l.closeErr
}

// Older gets why the store is older than the log, when that is found while it runs.
func (l *Log) Older() <-chan string { return l.older }

// StoreErr says why the store does not take the log's head; nil means that it does.
func (l *Log) StoreErr() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.storeErr
}
