package sqlitestore

import (
	"sync"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"
)

// logPages are the pages of the log at which a goroutine begins to move them into the file, while
// commits go on. When only a few are left, the writer moves those between two commits, so that the
// log begins anew: beside many writers it would never be empty otherwise. At four times as many
// it moves whatever is left.
const logPages = 1000

// A checkpointer moves what the log has into the file, so that no commit waits for it.
type checkpointer struct {
	conn   *conn
	begin  int64        // logPages
	pages  atomic.Int64 // that the log has
	moved  atomic.Int64 // of them
	wakeup chan struct{}
	stop   chan struct{}
	ended  chan struct{}

	roomy atomic.Bool // the log's file was made long enough, or that was tried

	moving sync.Mutex // one checkpoint at a time
	failed bool       // the last one; it was logged
}

// start starts the goroutine. It ends after wait.
func (k *checkpointer) start(s *Store) {
	k.wakeup, k.stop, k.ended = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(k.ended)
		for {
			select {
			case <-k.wakeup:
				if k.makeRoom(s) && k.left() < k.begin {
					continue
				}
				// What came meanwhile takes less time than what was there.
				for tries := 0; tries == 0 || tries < 3 && k.left() > k.few(); tries++ {
					k.moving.Lock()
					k.move(s, k.conn)
					k.moving.Unlock()
				}
			case <-k.stop:
				return
			}
		}
	}()
}

// wait ends the goroutine.
func (k *checkpointer) wait() {
	close(k.stop)
	<-k.ended
}

// few are so few pages that a commit may wait for them.
func (k *checkpointer) few() int64 { return k.begin / 4 }

// left are the pages of the log that are not in the file yet.
func (k *checkpointer) left() int64 {
	pages, moved := k.pages.Load(), k.moved.Load()
	if moved > pages { // of the log before
		return pages
	}
	return pages - moved
}

// committed is called with each commit.
func (k *checkpointer) committed(_ *sqlite3.Conn, _ string, pages int) error {
	if was := k.pages.Swap(int64(pages)); int64(pages) < was {
		k.moved.Store(0)
	}
	if k.left() >= k.begin || pages >= roomFrom && !k.roomy.Load() {
		k.wake()
	}
	return nil
}

// roomFrom are the pages of the log from which on it will have many.
const roomFrom = 64

// makeRoom makes the log's file as long as it will be, once, and reports whether it did.
func (k *checkpointer) makeRoom(s *Store) bool {
	if k.pages.Load() < roomFrom || k.roomy.Swap(true) {
		return false
	}
	if err := s.disk.makeRoom(s.path+"-wal", k.stop); err != nil {
		s.log.Debug("could not make room in the store's log beforehand", "store", s.path, "error", err)
	}
	return true
}

// wake lets the goroutine look at the log.
func (k *checkpointer) wake() {
	select {
	case k.wakeup <- struct{}{}:
	default:
	}
}

// keepUp keeps the log from growing for ever. The writer calls it between commits.
func (k *checkpointer) keepUp(s *Store) {
	pages, left := k.pages.Load(), k.left()
	switch {
	case s.broken != nil || pages < k.begin || left == 0:
		return
	case pages >= 4*k.begin:
		k.moving.Lock()
	case left > k.few() || !k.moving.TryLock():
		return
	}
	defer k.moving.Unlock()
	k.move(s, s.conn)
}

// move moves what it can without waiting for anybody. A failure is no commit's: what was
// committed is in the log, and stays there.
func (k *checkpointer) move(s *Store, c *conn) {
	var err error
	func() {
		defer guard(s.path, &err, &c.dead)()
		if err = c.dead; err == nil {
			err = s.there()
		}
		if err == nil {
			var moved int
			_, moved, err = c.WALCheckpoint("main", sqlite3.CHECKPOINT_PASSIVE)
			k.moved.Store(int64(max(moved, 0)))
		}
	}()
	if err != nil && !k.failed {
		s.log.Warn("could not move the store's log into its file; it grows until this succeeds", "store", s.path,
			"error", err)
	}
	k.failed = err != nil
}
