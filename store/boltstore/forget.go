package boltstore

import (
	"encoding/binary"

	"go.etcd.io/bbolt"

	"approver.example"
)

// forget frees the space of records whose time is over, in one small step, and
// reports whether there may be more.
func (s *Store) forget() bool {
	n := 0
	err := s.transact(0, func(tx *bbolt.Tx) (bool, error) {
		now, _ := s.clock.read()
		var err error
		n, err = collect(tx, now, gcWhenIdle)
		return n > 0, err
	})
	if err != nil {
		s.log.Warn("could not forget old records", "error", err)
		return false
	}
	return n == gcWhenIdle
}

// collect removes up to limit records whose time is over, oldest first.
func collect(tx *bbolt.Tx, now int64, limit int) (int, error) {
	var over []string
	c := tx.Bucket(keeps).Cursor()
	for k, _ := c.First(); len(k) > 8 && len(over) < limit; k, _ = c.Next() {
		if int64(binary.BigEndian.Uint64(k)) > now {
			break
		}
		over = append(over, string(k))
	}
	for _, entry := range over {
		key := entry[8:]
		if err := tx.Bucket(keeps).Delete([]byte(entry)); err != nil {
			return 0, err
		}
		shard, err := approver.ShardOfKey(key)
		if err != nil {
			return 0, err
		}
		r, err := decode(tx.Bucket(records).Get([]byte(key)))
		if err != nil {
			continue // damaged: it stays, for Get to say so
		}
		if err := unlist(tx, shard, key, r); err != nil {
			return 0, err
		}
		if err := tx.Bucket(records).Delete([]byte(key)); err != nil {
			return 0, err
		}
	}
	return len(over), nil
}
