package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"approver.example"
	"approver.example/display"
)

// Defaults and limits of Options.
const (
	DefaultMaxSize         = 64 << 20
	DefaultCheckpointEvery = 256
	DefaultCheckpointAfter = 10 * time.Second

	maxID     = 128
	headEvery = 250 * time.Millisecond // between two writes of the head to the store
)

// Options are the parts of a Log.
type Options struct {
	// Dir is the directory of the log. It is made with mode 0700.
	Dir string
	// ID names the log in its lines and in the store. Two logs with one store
	// need two ids. Empty means the host's name.
	ID string
	// Key signs the checkpoints; see LoadOrCreateKey.
	Key Key
	// KV keeps the head of the log; nil keeps none, and then a log that was cut
	// short at a checkpoint does not show.
	KV approver.KV
	// Controls is the version of the store's record of freezes that is known now. It
	// is kept with the head, so that neither can be taken back alone. Nil is none.
	Controls func() uint64
	// Volatile means that the store can lose the last seconds of what it took, as one
	// that fails over does. False is a store that never does: what is missing was taken out.
	Volatile bool
	// Hold keeps the store's head as it is until Accept is called, so that a store
	// which is found to be older shows again after a crash.
	Hold bool
	// Changed stops every call, until people act, because the log was changed while it
	// was written. Nothing is recorded before it has returned nil; why is for people. Nil
	// never does. Record returns an error meanwhile.
	Changed func(ctx context.Context, why string) error
	// Renamed carries over what else the store keeps under the id of a log that has another
	// id now. It is called again if the start is killed. Nil carries nothing.
	Renamed func(ctx context.Context, former string) error
	// Redact hides secrets in a text; nil means approver.Mask. Confirmation
	// codes are masked before and after it.
	Redact func(string) string
	// Log gets what no caller waits for: trouble with the head, and when the log
	// fails and when it works again. Nil is silent.
	Log *slog.Logger
	// Hostname is written in every record; empty means the host's name.
	Hostname string
	// MaxSize is the size in bytes at which a file is rotated, zero means 64
	// MiB. A file may exceed it by one checkpoint, and by alarms.
	MaxSize int64
	// CheckpointEvery is the number of lines after which a checkpoint is
	// written, zero means 256, at most MaxCheckpointEvery. CheckpointAfter is
	// the time after which lines are vouched for even if they are fewer, zero
	// means 10 s.
	CheckpointEvery int
	CheckpointAfter time.Duration
	// Keep says how much is kept; the zero value keeps everything.
	Keep Keep

	sync func(*os.File) error // for tests; nil is syncFile
}

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
	end    place // of what was given to the queue
	since  int   // lines behind the last checkpoint
	size   int64 // of the file that the next line goes to
	queue  []*batch
	spare  []byte // a buffer to use again
	alarms []string

	durable  Head          // under mu
	unheard  []counted     // under mu: lines that the store was not told of yet
	heardOf  uint64        // under mu: the last line that the store was told of in this life
	headed   chan struct{} // under mu; closed when the store was told of more
	again    bool          // under mu: the store is to be told of an end that is before its own
	storeErr error         // under mu: headErr
	missing  int           // under mu: denied calls that a log which failed did not take

	opened   Opening       // of Open
	older    chan string   // see Older
	accepted chan struct{} // closed by Accept
	accept   sync.Once

	// Of the writing goroutine, and of Open and Close while it does not run.
	file  *os.File
	first uint64 // seq of the first line of file
	kept  int64  // size of file, as far as it is durable
	seen  stamp  // of file, as this process has left it
	// What reading file anew begins with, when it was last read, and its first break.
	origin  scan
	reread  time.Time
	unread  bool // somebody touched file, and it was not read anew since
	broken  string
	parts   []Part  // all its broken parts
	changed bool    // somebody else changed the file
	lost    string  // what is gone from the log, or was changed; empty once it is recorded
	pace    pace    // of healing
	found   []alarm // while healing, not yet in the log

	wake, headWake, rotatedWake chan struct{}
	hurry                       chan struct{} // the head does not wait for its time
	closing                     chan struct{}
	writing, heading, retaining chan struct{} // closed when the goroutines have ended
	cancelHead, cancelRetain    context.CancelFunc
	closed                      sync.Once
	closeErr                    error

	// Of the head goroutine, and of Close when that has ended.
	head    headKeeper
	headErr error
	foreign time.Time // the last alarm about a foreign head
}

var _ approver.Recorder = (*Log)(nil)

// Open opens the log in o.Dir, or starts one. It repairs what a crash left
// behind and compares the log's end with the store's. What is wrong does not
// keep the log from opening: it becomes the first records (alarms) and is
// returned by Alarms. Open fails if another process writes the log, if there is
// no key, and if the store cannot say where the log ended. Close must be called.
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
	l := &Log{
		o: o, red: newRedactor(o.Redact), lock: lock,
		wake: make(chan struct{}, 1), headWake: make(chan struct{}, 1), rotatedWake: make(chan struct{}, 1), hurry: make(chan struct{}, 1), closing: make(chan struct{}),
		writing: make(chan struct{}), heading: make(chan struct{}), retaining: make(chan struct{}),
		head: headKeeper{kv: o.KV, log: o.ID, controls: o.Controls}, older: make(chan string, 1), accepted: make(chan struct{}), headed: make(chan struct{}),
	}
	l.head.has = l.has
	alarms, err := l.begin(ctx)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	// The store hears of the new end after the alarms are durable, so that no
	// crash in between makes a log that was cut short look whole.
	if err := l.declare(alarms); err != nil {
		return nil, errors.Join(fmt.Errorf("audit log: %w", explain(o.Dir, err)), l.file.Close(), lock.Close())
	}
	l.opened.Lost, l.lost = l.lost, ""
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

// begin repairs the files and compares their end with the store's word.
func (l *Log) begin(ctx context.Context) (alarms []alarm, err error) {
	if l.o.KV == nil {
		return l.resume(nil, false)
	}
	if err := l.carry(ctx); err != nil {
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
	l.opened = Opening{Seq: l.durable.Seq, Head: known}
	if err := l.compare(&l.opened); err != nil {
		return nil, err
	}
	if unknown && l.durable.Seq > 0 {
		if l.opened.Renamed, err = l.renamed(l.durable.Seq); err != nil {
			return nil, err
		}
	}
	l.head.rev = rev
	switch {
	case unknown && l.durable.Seq == 0: // a new log is known to nobody
		if err := l.head.start(ctx); err != nil { // it follows with the first line
			l.o.Log.Warn("the store did not take the beginning of the audit log", "error", err)
		}
	case note != "":
		alarms = append(alarms, alarm{kind: lossAlarm, text: note})
	}
	if known != nil && len(alarms) == 0 {
		l.head.stored = known.Seq
	}
	if known != nil && known.Closed && l.lost == "" && known.Seq == l.durable.Seq { // else it stays until that was judged, see Accept
		if err := l.head.reopen(ctx, head); err != nil {
			return nil, err
		}
	}
	return alarms, nil
}

// complete checks the options and fills in what may be left out.
func (o *Options) complete() error {
	host, err := os.Hostname()
	if err != nil && (o.ID == "" || o.Hostname == "") {
		return fmt.Errorf("audit log: the host's name: %w", err)
	}
	if o.ID == "" {
		o.ID = strings.Map(func(c rune) rune {
			if !idChar(c) {
				return '-'
			}
			return c
		}, host)
	}
	if o.Hostname == "" {
		o.Hostname = host
	}
	if o.MaxSize == 0 {
		o.MaxSize = DefaultMaxSize
	}
	if o.CheckpointEvery == 0 {
		o.CheckpointEvery = DefaultCheckpointEvery
	}
	if o.CheckpointAfter == 0 {
		o.CheckpointAfter = DefaultCheckpointAfter
	}
	if o.Redact == nil {
		o.Redact = display.Mask
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.sync == nil {
		o.sync = syncFile
	}
	switch {
	case o.Dir == "":
		return errors.New("audit log: no directory is given")
	case o.Key.private == nil:
		return errors.New("audit log: no signing key is given: LoadOrCreateKey makes one")
	case len(o.ID) > maxID || strings.ContainsFunc(o.ID, func(c rune) bool { return !idChar(c) }):
		return fmt.Errorf("audit log: the id %q must have at most %d letters, digits, dots, dashes and underscores", o.ID, maxID)
	case o.CheckpointEvery < 1 || o.CheckpointEvery > MaxCheckpointEvery:
		return fmt.Errorf("audit log: a checkpoint every %d lines: must be 1 to %d", o.CheckpointEvery, MaxCheckpointEvery)
	case o.CheckpointAfter < 0 || o.MaxSize < 0 || o.Keep.Age < 0 || o.Keep.Size < 0:
		return errors.New("audit log: sizes and times cannot be negative")
	}
	return nil
}

func idChar(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_'
}

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

func (l *Log) close(ctx context.Context) error {
	l.cancelRetain()
	l.mu.Lock()
	var err error
	if l.open && l.err == nil && l.since > 0 {
		err = l.sign()
	}
	l.open, l.shut = false, true
	l.mu.Unlock()
	close(l.closing)
	l.cancelHead()
	for _, ended := range []chan struct{}{l.retaining, l.writing, l.heading} {
		select {
		case <-ended:
		case <-ctx.Done():
			return fmt.Errorf("close the audit log: %w", ctx.Err())
		}
	}
	l.mu.Lock()
	err = errors.Join(err, l.err)
	l.mu.Unlock()
	select {
	case <-l.accepted:
		if l.o.KV != nil {
			head := l.Head()
			if head.Closed = err == nil; head.Closed {
				l.head.stored = 0 // the store has the end, but not that it is one
			}
			err = errors.Join(err, l.head.put(ctx, head))
		}
	default: // nobody has judged what Opened says
	}
	if l.file != nil {
		err = errors.Join(err, l.file.Close())
	}
	return errors.Join(err, l.lock.Close())
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
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
