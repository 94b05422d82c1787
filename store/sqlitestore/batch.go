package sqlitestore

import (
	"bytes"
	"errors"
	"slices"

	"approver.example"
)

// A part is one record of a write.
type part struct {
	key       string
	shard     int
	prev, rev approver.Rev
	due, keep int64
	value     []byte

	// What is in the file, as the transaction found it.
	id              int64 // 0: nothing
	wasDue, wasKeep int64
}

// A batch is what one transaction writes. Everything is looked at before anything is written:
// SQLite ends a transaction in which it finds a damaged page, and that one record cannot be read
// must not keep the others from being written.
type batch struct {
	s       *Store
	puts    []part
	at      map[string]int // of a key in puts
	fences  []string       // leases whose fence is written
	over    []int64        // rows to be removed
	failure error          // the transaction could not be begun
}

// begin begins the transaction.
func (b *batch) begin(s *Store) {
	b.s = s
	clear(b.puts) // the values are not needed any more
	b.puts, b.fences, b.over = b.puts[:0], b.fences[:0], b.over[:0]
	if b.at == nil {
		b.at = make(map[string]int)
	}
	clear(b.at)
	b.failure = s.conn.begin.Exec()
}

// again begins the transaction anew, if a damaged page has ended it. Nothing was written yet.
func (b *batch) again() {
	if b.failure == nil && b.s.conn.GetAutocommit() {
		b.failure = b.s.conn.begin.Exec()
	}
}

// rollback ends the transaction, unless SQLite has done so by itself, as it does on a full disk.
func (b *batch) rollback() error {
	if b.s.conn.GetAutocommit() {
		return nil
	}
	return b.s.conn.rollback.Exec()
}

// check finds the record that the part replaces, in the batch or in the file. done reports that
// it was written before.
func (b *batch) check(p *part, now int64) (done bool, err error) {
	if b.failure != nil {
		return false, b.failure
	}
	if i, ok := b.at[p.key]; ok {
		was := &b.puts[i]
		p.id, p.wasDue, p.wasKeep = was.id, was.wasDue, was.wasKeep
		return p.follows(row{rev: was.rev, keep: was.keep, value: was.value}, true, now)
	}
	st := b.s.conn.find
	r, found, err := lookup(st, p.key, p.prev) // the value that is replaced is not needed
	if err == nil {
		p.id = 0
		if found {
			p.id, p.wasDue, p.wasKeep = st.ColumnInt64(4), r.due, r.keep
		}
		done, err = p.follows(r, found, now)
	}
	_ = st.Reset() // its error is that of the step
	b.again()
	return done, err
}

// follows reports whether the part may be written over the row. done reports that the row is the
// part itself.
func (p *part) follows(old row, found bool, now int64) (done bool, err error) {
	found = found && old.keep > now
	switch {
	case found && old.rev == p.rev:
		if !bytes.Equal(old.value, p.value) {
			return false, approver.ErrConflict // a revision used twice
		}
		return true, nil
	case found && old.rev != p.prev, !found && p.prev != "":
		return false, approver.ErrConflict
	}
	return false, nil
}

// put adds a part that was checked. It takes the place of an earlier one with the same key.
func (b *batch) put(p *part) {
	if i, ok := b.at[p.key]; ok {
		b.puts[i] = *p
		return
	}
	b.at[p.key] = len(b.puts)
	b.puts = append(b.puts, *p)
}

// fence returns the last fence of a lease.
func (b *batch) fence(name string) (last approver.Fence, err error) {
	st := b.s.conn.fence
	if err = st.BindText(1, name); err == nil && st.Step() {
		last = approver.Fence(st.ColumnInt64(0))
	}
	return last, done(st, err)
}

// collect finds up to limit rows whose time is over, the oldest first. One that cannot be read
// stays, so that Get can report it.
func (b *batch) collect(now int64, limit int) []int64 {
	if len(b.over) > 0 || b.failure != nil {
		return b.over
	}
	c := b.s.conn
	err := errors.Join(c.over.BindInt64(1, now), c.over.BindInt(2, limit+len(b.s.skip)))
	for err == nil && len(b.over) < limit && c.over.Step() {
		if id := c.over.ColumnInt64(0); !b.s.skip[id] {
			b.over = append(b.over, id)
		}
	}
	b.failure = done(c.over, err)
	b.over = slices.DeleteFunc(b.over, func(id int64) bool {
		err := c.row.BindInt64(1, id)
		if err == nil && c.row.Step() {
			_, err = read(c.row, "")
		}
		if err = done(c.row, err); err != nil {
			b.s.skip[id] = true
			b.again()
		}
		return err != nil
	})
	return b.over
}

// write writes everything that was added, frees expired records and moves the clock's mark.
func (b *batch) write(now, mark int64, forget int) error {
	if forget > 0 {
		b.collect(now, forget)
	}
	if b.failure != nil {
		return b.failure
	}
	c := b.s.conn
	for i := range b.puts {
		if err := c.put(&b.puts[i]); err != nil {
			return err
		}
	}
	for _, name := range b.fences {
		err := errors.Join(c.setFence.BindText(1, name), c.setFence.BindInt64(2, int64(b.s.held[name])))
		if err = errors.Join(err, c.setFence.Exec()); err != nil {
			return err
		}
	}
	for _, id := range b.over {
		// Not if the batch has just replaced it.
		err := errors.Join(c.remove.BindInt64(1, id), c.remove.BindInt64(2, now))
		if err = errors.Join(err, c.remove.Exec()); err != nil {
			return err
		}
	}
	if mark == 0 {
		return nil
	}
	return errors.Join(c.setMark.BindInt64(1, mark), c.setMark.Exec())
}

// put writes a record over the row that it replaces.
func (c *conn) put(p *part) error {
	st := c.insert
	switch {
	case p.id != 0 && p.due == p.wasDue && p.keep == p.wasKeep:
		st = c.replace // the indexes stay as they are
	case p.id != 0:
		st = c.update
	}
	err := errors.Join(st.BindText(1, string(p.rev)), st.BindBlob(2, p.value))
	switch st {
	case c.insert:
		err = errors.Join(err, st.BindInt64(3, p.due), st.BindInt64(4, p.keep), st.BindText(5, p.key), st.BindInt(6, p.shard))
	case c.update:
		err = errors.Join(err, st.BindInt64(3, p.due), st.BindInt64(4, p.keep), st.BindInt64(5, p.id))
	case c.replace:
		err = errors.Join(err, st.BindInt64(3, p.id))
	}
	if err == nil {
		err = st.Exec()
	}
	return err
}
