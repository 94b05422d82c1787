// Package sqlitestore keeps approver's records in one local file, through SQLite (as Go code,
// github.com/ncruces/go-sqlite3): the store for a single process, with nothing to set up.
//
// Every write is on disk (fdatasync of the write-ahead log) when Put returns. One goroutine
// writes. Whatever waits for it goes into one transaction, so that many writers share the cost
// of a sync and a single one waits for no other. A crash at any moment loses nothing that was
// acknowledged; a failed write (disk full) leaves the file as it was. After a failed sync, or a
// failed commit of which all is in the log, it is unknown what is on disk, so the store refuses to
// write until it is opened again.
//
// The file belongs to one process at a time. So a lease of a former process is void as soon as
// this one has the file; its fence numbers continue. While it is open, its latest commits are in
// a second file, -wal, and a third, -shm, holds where they are.
//
// Each page has a checksum. A damaged page is never taken for what was written: a record that
// lies on one is unreadable, and the others are not; if more than records is damaged, the file is
// refused. Of a log that a crash left behind, a damage is found unless it is in the last commit.
//
// Records whose time is over are gone for readers at once. Their space is freed in small steps
// and reused, but the file does not shrink. Records are not signed: the file has mode 0600, and
// whoever can write to it could also read a signing key beside it.
//
// config.go is what is configured, file.go how a file is made, found and locked, damage.go and
// wal.go what is checked before anything is believed. write.go is the one writer, checkpoint.go
// who moves what the log has into the file. convert.go reads and writes files of former versions.
package sqlitestore

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3/vfs"

	"approver.example"
	"approver.example/store/internal/arg"
	"approver.example/store/internal/hint"
)

// gcEvery is how often an idle store looks for expired records.
const gcEvery = 30 * time.Second

// readers is how many reads there are at once.
const readers = 2

// never is the time of what never happens; it sorts last.
const never = math.MaxInt64

// A Store is an approver.KV in a file. Make one with Open. All methods are safe
// for concurrent use.
type Store struct {
	path  string
	log   *slog.Logger
	lock  *os.File    // the file, for as long as it is locked
	file  fs.FileInfo // of the file that is open
	disk  *disk
	clock *clock
	hub   hint.Hub

	recents recents
	ops     chan []*op
	readers chan *conn
	opened  int // readers
	close   sync.Once
	stop    chan struct{} // closed by Close
	done    chan struct{} // closed when the writer has ended

	checkpoints checkpointer

	// The writer's own.
	conn    *conn
	batch   batch
	held    map[string]approver.Fence // leases of this process
	skip    map[int64]bool            // rows that are over and cannot be read, so that they stay
	broken  error                     // what is on disk is unknown
	gcEvery time.Duration
}

var (
	_ approver.KV      = (*Store)(nil)
	_ approver.Batcher = (*Store)(nil)
	_ approver.Meter   = (*Store)(nil)
	_ approver.Sweeper = (*Store)(nil)
	_ approver.Lister  = (*Store)(nil)

	_ approver.RevReader = (*Store)(nil)
	_ approver.Inspected = (*Store)(nil)
)

// options are what only tests change.
type options struct {
	gcEvery  time.Duration
	wall     func() time.Time
	below    vfs.VFSFilename
	logPages int64
}

func usual() options {
	return options{gcEvery: gcEvery, wall: time.Now, below: vfs.Find("").(vfs.VFSFilename), logPages: logPages}
}

// Open opens the store, or makes it. A file of a former version is converted. It fails if another
// process has it, if others may read it, or if it is damaged. Close the store after use.
func Open(c Config, log *slog.Logger) (*Store, error) { return open(c, log, usual()) }

func open(c Config, log *slog.Logger, o options) (_ *Store, err error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	path, err := place(c.Path)
	if err != nil {
		return nil, err
	}
	f, err := take(path, log)
	if err != nil {
		return nil, err
	}
	s := &Store{
		path: path, log: log, lock: f, disk: &disk{below: o.below}, gcEvery: o.gcEvery,
		ops: make(chan []*op, maxBatch), readers: make(chan *conn, readers),
		stop: make(chan struct{}), done: make(chan struct{}),
		held: make(map[string]approver.Fence), skip: make(map[int64]bool),
	}
	s.checkpoints.begin = o.logPages
	vfs.Register(path, s.disk)
	mark, err := s.connect()
	if err != nil {
		return nil, errors.Join(explain(path, because(err, s.disk.failure())), s.release())
	}
	s.clock = newClock(o.wall, mark)
	if ahead := time.Duration(mark - o.wall().UnixNano()); ahead > time.Minute {
		log.Warn("the system's clock was set back; the store's own goes on from where it was",
			"store", path, "ahead", ahead.Round(time.Second))
	}
	s.checkpoints.start(s)
	go s.write()
	return s, nil
}

// connect opens the connections, and checks the file with the first one.
func (s *Store) connect() (mark int64, err error) {
	defer guard(s.path, &err)()
	if s.file, err = s.lock.Stat(); err != nil {
		return 0, err
	}
	if s.conn, err = connect(s.path, s.path, writing...); err != nil {
		return 0, err
	}
	s.conn.WALHook(s.checkpoints.committed)
	lost, mark, err := check(s.conn, s.path)
	if err != nil {
		return 0, err
	}
	for _, r := range lost {
		s.log.Error("the daemon goes on without a record of its store", "store", s.path, "error", r.Cause)
	}
	if err := s.conn.prepare(s.conn.writes()); err != nil {
		return 0, err
	}
	for range readers {
		c, err := connect(s.path, s.path, reading...)
		if err != nil {
			return 0, err
		}
		s.readers <- c
		s.opened++
		if err := c.prepare(c.reads()); err != nil {
			return 0, err
		}
	}
	s.checkpoints.conn, err = connect(s.path, s.path, writing...)
	return mark, err
}

// release closes the connections and gives the file back. The last connection to be closed moves
// what is left of the log into the file and removes it.
func (s *Store) release() error {
	defer vfs.Unregister(s.path)
	var errs []error
	for range s.opened {
		errs = append(errs, (<-s.readers).shut()) // once the read that is under way is done
	}
	errs = append(errs, s.checkpoints.conn.shut())
	if s.conn != nil && s.conn.dead == nil && (s.broken != nil || s.file == nil || s.there() != nil) {
		// The log may not be on the disk as this process sees it, or another one is in its place, which
		// SQLite would remove by its name; the next process reads what is there.
		errs = append(errs, leaveLog(s.conn))
	}
	return errors.Join(append(errs, s.conn.shut(), s.lock.Close())...)
}

// Close ends every watch, finishes the write that is under way, and releases the file.
func (s *Store) Close() error {
	var err error
	s.close.Do(func() {
		close(s.stop)
		<-s.done
		s.hub.Close()
		s.checkpoints.wait()
		err = s.release()
	})
	return err
}

// begin refuses calls that must not reach the file. odd says what is wrong with the call's
// arguments, if anything.
func (s *Store) begin(ctx context.Context, odd error) error {
	if err := cmp.Or(odd, ctx.Err()); err != nil {
		return err
	}
	select {
	case <-s.stop:
		return arg.ErrClosed
	default:
		return nil
	}
}

// view reads the file through a connection that nobody else uses meanwhile.
func (s *Store) view(ctx context.Context, odd error, f func(c *conn) error) (err error) {
	if err := s.begin(ctx, odd); err != nil {
		return err
	}
	var c *conn
	select {
	case c = <-s.readers:
	case <-s.done:
		return arg.ErrClosed
	}
	defer func() { s.readers <- c }()
	if c.dead != nil {
		return c.dead
	}
	defer guard(s.path, &err, &c.dead)()
	return f(c)
}

// Get implements approver.KV.
func (s *Store) Get(ctx context.Context, key string) (value []byte, rev approver.Rev, err error) {
	return s.GetUnless(ctx, key, "")
}

// GetUnless implements approver.RevReader: the value of a record that the caller knows is not even
// read from the file.
func (s *Store) GetUnless(ctx context.Context, key string, known approver.Rev) (value []byte, rev approver.Rev,
	err error) {
	if err := s.begin(ctx, arg.Key(key)); err != nil {
		return nil, "", err
	}
	r, ok := s.recents.get(key, known)
	if !ok {
		err = s.view(ctx, nil, func(c *conn) (err error) {
			r, err = s.read(c, key, known, s.recents.now())
			return err
		})
	}
	now, _ := s.clock.read()
	switch {
	case err != nil:
		return nil, "", err
	case r.rev == "" || r.keep <= now:
		return nil, "", approver.ErrNotFound
	case r.rev == known:
		return nil, known, nil
	}
	return append([]byte{}, r.value...), r.rev, nil
}

// read reads a record from the file. since is the moment of the recents at which that began.
func (s *Store) read(c *conn, key string, known approver.Rev, since uint64) (r recentRecord, err error) {
	got, found, err := lookup(c.get, key, known)
	if found {
		r = recentRecord{got.rev, got.keep, append([]byte{}, got.value...), known == "" || got.rev != known}
	}
	_ = c.get.Reset() // its error is that of the step
	if err == nil {
		r.whole = r.whole || !found
		s.recents.add(key, r, since)
	}
	return r, err
}

// Due implements approver.KV. It returns at most 1,000 keys.
func (s *Store) Due(ctx context.Context, shard, limit int) ([]string, error) {
	return s.scheduled(ctx, shard, limit, false)
}

// DueAll implements approver.Sweeper: all shards in one look at the file, at most
// 1,000 keys of each.
func (s *Store) DueAll(ctx context.Context, limit int) ([]string, error) {
	limit, err := arg.Due(0, limit)
	var keys []string
	err = s.view(ctx, err, func(c *conn) error {
		for shard := range approver.Shards {
			var err error
			if keys, err = s.listed(c, keys, shard, limit, false); err != nil {
				return err
			}
		}
		return nil
	})
	return keys, err
}

// Scheduled implements approver.Lister.
func (s *Store) Scheduled(ctx context.Context, shard, limit int) ([]string, error) {
	return s.scheduled(ctx, shard, limit, true)
}

// scheduled lists a shard's records by due time, up to now or all of them.
func (s *Store) scheduled(ctx context.Context, shard, limit int, later bool) ([]string, error) {
	limit, err := arg.Due(shard, limit)
	var keys []string
	err = s.view(ctx, err, func(c *conn) (err error) {
		keys, err = s.listed(c, nil, shard, limit, later)
		return err
	})
	return keys, err
}

func (s *Store) listed(c *conn, keys []string, shard, limit int, later bool) ([]string, error) {
	now, _ := s.clock.read()
	until := now
	if later {
		until = never
	}
	st := c.list
	err := errors.Join(st.BindInt(1, shard), st.BindInt64(2, until), st.BindInt64(3, now), st.BindInt(4, limit))
	for err == nil && st.Step() {
		keys = append(keys, st.ColumnText(0))
	}
	if err = done(st, err); pageDamaged(err) {
		err = damaged(s.path, err)
	}
	return keys, err
}

// Watch implements approver.KV.
func (s *Store) Watch(ctx context.Context, key string) (<-chan struct{}, error) {
	if err := s.begin(ctx, arg.Key(key)); err != nil {
		return nil, err
	}
	return s.hub.Watch(ctx, key)
}

// Work implements approver.Meter.
func (s *Store) Work() approver.Work { return approver.Work{Syncs: s.disk.syncs.Load()} }
