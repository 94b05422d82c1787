// Package boltstore keeps approver's records in one local file, through
// go.etcd.io/bbolt: the store for a single process, with nothing to set up.
//
// Every write is on disk (fdatasync) when Put returns. One goroutine writes. Whatever waits for
// it goes into one transaction, so that many writers share the cost of a sync and a single one
// waits for no other. A crash at any moment loses nothing that was acknowledged; a failed write
// (disk full) leaves the file as it was. After a failed sync it is unknown what is on disk, so
// the store refuses to write until it is opened again.
//
// The file belongs to one process at a time. So a lease of a former process is void as soon as
// this one has the file; its fence numbers continue.
//
// Records whose time is over are gone for readers at once. Their space is freed in small steps
// and reused, but the file does not shrink. Records are not signed: the file has mode 0600, and
// whoever can write to it could also read a signing key beside it.
package boltstore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"approver.example"
	"approver.example/internal/secret"
	"approver.example/internal/section"
	"approver.example/store/internal/arg"
	"approver.example/store/internal/hint"
)

// ErrLocked means that another process has the store's file.
// It is an [approver.ErrHeld].
var ErrLocked error = lockedError("another approver runs on this store")

type lockedError string

func (e lockedError) Error() string        { return string(e) }
func (e lockedError) Is(target error) bool { return target == approver.ErrHeld }

// lockTime is how long Open waits for a process that is just shutting down.
const lockTime = time.Second

// gcEvery is how often an idle store looks for expired records.
const gcEvery = 30 * time.Second

// The buckets of the file.
var (
	records = []byte("records") // key: record
	dues    = []byte("due")     // dueEntry: keep time
	keeps   = []byte("keep")    // keepEntry: nothing
	leases  = []byte("leases")  // name: last fence
	meta    = []byte("meta")    // formatName, markName

	buckets = [][]byte{records, dues, keeps, leases, meta}

	formatName = []byte("format")
	markName   = []byte("clock")
)

// Config says where the file is. The zero value is refused.
type Config struct {
	// Path is the file. It is made with mode 0600; its directory must exist.
	Path string `yaml:"path"`
}

// Validate returns every mistake that can be found without looking at the disk.
func (c Config) Validate() error {
	if c.Path == "" {
		return errors.New("path: name the file of the store, such as /var/lib/approver/approver.db")
	}
	return nil
}

// Storage says where the store is.
func (c *Config) Storage() section.Storage {
	return section.Storage{
		Title: "embedded", Part: "store", Where: "embedded " + c.Path, File: c.Path, Durable: true, Paths: []*string{&c.Path},
	}
}

// Secrets returns nothing: the file's mode protects it.
func (*Config) Secrets() []secret.Setting { return nil }

// CheckFiles is [CheckFile] of the configured file.
func (c Config) CheckFiles() error { return CheckFile(c.Path) }

// Open opens the store, see [Open].
func (c Config) Open(_ context.Context, log *slog.Logger) (approver.ClosableKV, error) {
	return Open(c, log)
}

// A Store is an approver.KV in a file. Make one with Open. All methods are safe
// for concurrent use.
type Store struct {
	path  string
	log   *slog.Logger
	db    *bbolt.DB
	file  fs.FileInfo // of the file that is open
	clock *clock
	hub   hint.Hub
	syncs atomic.Uint64

	ops   chan []*op
	close sync.Once
	stop  chan struct{} // closed by Close
	done  chan struct{} // closed when the writer has ended

	// The writer's own.
	held    map[string]approver.Fence // leases of this process
	broken  error                     // a sync failed: what is on disk is unknown
	gcEvery time.Duration
}

var (
	_ approver.KV      = (*Store)(nil)
	_ approver.Batcher = (*Store)(nil)
	_ approver.Meter   = (*Store)(nil)
)

// Open opens the store, or makes it. It fails if another process has it, if
// others may read it, or if it is damaged. Close the store after use.
func Open(c Config, log *slog.Logger) (*Store, error) {
	return open(c, log, gcEvery, time.Now)
}

func open(c Config, log *slog.Logger, gcEvery time.Duration, wall func() time.Time) (*Store, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	db, err := openFile(c.Path)
	if err != nil {
		return nil, err
	}
	mark, err := prepare(db, c.Path)
	var file fs.FileInfo
	if err == nil {
		file, err = os.Stat(c.Path)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &Store{
		path: c.Path, log: log, db: db, file: file, clock: newClock(wall, mark), gcEvery: gcEvery,
		ops: make(chan []*op, maxBatch), stop: make(chan struct{}), done: make(chan struct{}),
		held: make(map[string]approver.Fence),
	}
	if ahead := time.Duration(mark - wall().UnixNano()); ahead > time.Minute {
		log.Warn("the system's clock was set back; the store's own goes on from where it was",
			"store", c.Path, "ahead", ahead.Round(time.Second))
	}
	go s.write()
	return s, nil
}

// CheckFile says why Open would refuse the file at path. It changes nothing. It looks at the
// contents only while no daemon has the file: a running daemon has already accepted them.
func CheckFile(path string) (err error) {
	missing, err := look(path)
	if missing || err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0) // as whoever writes it opens it
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	info, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if info.Size() == 0 {
		return nil // Open makes a new store of it
	}
	defer guard(path, &err)()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: time.Millisecond, NoStatistics: true})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil
	case err != nil:
		return refused(path, err)
	}
	if err = whole(db, path); err == nil {
		err = db.View(func(tx *bbolt.Tx) error {
			if first, _ := tx.Cursor().First(); first == nil {
				return nil
			}
			return parts(tx, path)
		})
	}
	return errors.Join(err, db.Close())
}

// look checks the file of a store, and reports whether it is missing.
func look(path string) (missing bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("store: %w", err)
	case !info.Mode().IsRegular():
		return false, fmt.Errorf("store: %s is not a regular file", path)
	case info.Mode().Perm()&0o077 != 0:
		return false, fmt.Errorf("store: others may use %s (mode %04o): chmod 600 it", path, info.Mode().Perm())
	}
	return false, nil
}

// openFile opens the file, makes sure that only this user can read it, and makes the name of a
// new file durable.
func openFile(path string) (db *bbolt.DB, err error) {
	created, err := look(path)
	if err != nil {
		return nil, err
	}
	defer guard(path, &err)()
	if created {
		if err := create(path); err != nil {
			return nil, err
		}
	}
	db, err = bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout: lockTime, FreelistType: bbolt.FreelistMapType, NoStatistics: true,
		InitialMmapSize: 64 << 20, // address space only; growing has to wait for readers
	})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, fmt.Errorf("%w: %s is locked: stop it, or give this one a path of its own", ErrLocked, path)
	case err != nil:
		return nil, refused(path, err)
	}
	if err := whole(db, path); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// refused explains why a file could not be opened.
func refused(path string, err error) error {
	if errors.Is(err, berrors.ErrInvalid) || errors.Is(err, berrors.ErrChecksum) ||
		errors.Is(err, berrors.ErrVersionMismatch) ||
		strings.Contains(err.Error(), "file size too small") { // bbolt has no named error for this
		return damaged(path, err)
	}
	return fmt.Errorf("store %s: %w", path, err)
}

// create makes an empty store file, whole or not at all: half a file, as a full disk or a crash
// would leave it, would look like a damaged store. It also makes the file's name durable.
func create(path string) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".store-*") // mode 0600
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("store: make its directory first: mkdir -m 700 -p %s: %w", dir, err)
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", path, err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	db, err := bbolt.Open(f.Name(), 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType})
	if err == nil {
		err = db.Close() // bbolt has synced it
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Link(f.Name(), path)
	}
	if errors.Is(err, fs.ErrExist) {
		err = nil // another process was faster; the lock decides who gets the file
	}
	if err == nil {
		err = syncDir(dir)
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", path, err)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// Close ends every watch, finishes the write that is under way, and releases the file.
func (s *Store) Close() error {
	var err error
	s.close.Do(func() {
		close(s.stop)
		<-s.done
		s.hub.Close()
		if isDamaged(s.broken) {
			return // after a panic a lock may be held; the end of the process frees it
		}
		err = s.db.Close()
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

// view reads the file in one read transaction.
func (s *Store) view(ctx context.Context, odd error, f func(tx *bbolt.Tx) error) (err error) {
	if err := s.begin(ctx, odd); err != nil {
		return err
	}
	defer guard(s.path, &err)()
	err = s.db.View(f)
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return arg.ErrClosed
	}
	return err
}

// Get implements approver.KV.
func (s *Store) Get(ctx context.Context, key string) (value []byte, rev approver.Rev, err error) {
	err = s.view(ctx, arg.Key(key), func(tx *bbolt.Tx) error {
		now, _ := s.clock.read()
		r, found, err := lookup(tx, key, now)
		switch {
		case err != nil:
			return err
		case !found:
			return approver.ErrNotFound
		}
		// The file's memory is valid only during the transaction.
		value, rev = bytes.Clone(r.value), r.rev
		return nil
	})
	return value, rev, err
}

// lookup finds a record that is still kept. Its value lives as long as tx.
func lookup(tx *bbolt.Tx, key string, now int64) (record, bool, error) {
	b := tx.Bucket(records).Get([]byte(key))
	if b == nil {
		return record{}, false, nil
	}
	r, err := decode(b)
	if err != nil {
		return record{}, false, fmt.Errorf("%s: %w", key, err)
	}
	return r, r.keep > now, nil
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
	err = s.view(ctx, err, func(tx *bbolt.Tx) error {
		for shard := range approver.Shards {
			keys = append(keys, s.listed(tx, shard, limit, false)...)
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
	err = s.view(ctx, err, func(tx *bbolt.Tx) error {
		keys = s.listed(tx, shard, limit, later)
		return nil
	})
	return keys, err
}

func (s *Store) listed(tx *bbolt.Tx, shard, limit int, later bool) []string {
	var keys []string
	now, _ := s.clock.read()
	c := tx.Bucket(dues).Cursor()
	for k, keep := c.Seek([]byte{byte(shard)}); len(k) > 9 && k[0] == byte(shard) &&
		len(keys) < limit; k, keep = c.Next() {
		if !later && int64(binary.BigEndian.Uint64(k[1:])) > now {
			break
		}
		if len(keep) == 8 && int64(binary.BigEndian.Uint64(keep)) > now {
			keys = append(keys, string(k[9:]))
		}
	}
	return keys
}

// Watch implements approver.KV.
func (s *Store) Watch(ctx context.Context, key string) (<-chan struct{}, error) {
	if err := s.begin(ctx, arg.Key(key)); err != nil {
		return nil, err
	}
	return s.hub.Watch(ctx, key)
}
