package sqlitestore

import (
	"sync"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"
)

// logPages are the pages of the log at which a goroutine begins to move them into the file, while
// commits go on. At twice as many the writer moves what the goroutine has left, which is little,
// between two commits, so that the log begins anew: beside many writers it would never be empty
// otherwise. At four times as many it waits for the goroutine.
const logPages = 1000

// A checkpointer moves what the log has into the file, so that no commit waits for it.
type checkpointer struct {
	conn   *conn
	begin  int64        // pages
	pages  atomic.Int64 // that the log has
	wakeup chan struct{}
	stop   chan struct{}
	ended  chan struct{}

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
				k.moving.Lock()
				k.move(s, k.conn)
				k.moving.Unlock()
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

// committed is called with each commit.
func (k *checkpointer) committed(_ *sqlite3.Conn, _ string, pages int) error {
	k.pages.Store(int64(pages))
	if int64(pages) >= k.begin {
		k.wake()
	}
	return nil
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
	pages := k.pages.Load()
	if pages < 2*k.begin || s.broken != nil {
		return
	}
	if pages >= 4*k.begin {
		k.moving.Lock()
	} else if !k.moving.TryLock() {
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
			_, _, err = c.WALCheckpoint("main", sqlite3.CHECKPOINT_PASSIVE)
		}
	}()
	if err != nil && !k.failed {
		s.log.Warn("could not move the store's log into its file; it grows until this succeeds", "store", s.path,
			"error", err)
	}
	k.failed = err != nil
}
