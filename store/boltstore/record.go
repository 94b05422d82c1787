package boltstore

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"approver.example"
)

// A record in the file is a byte of format, the revision, when it is due, until
// when it is kept, and the value.
const (
	format  = 1
	revLen  = 36
	headLen = 1 + revLen + 8 + 8
)

// never is the time of what does not happen; it sorts last.
const never = math.MaxInt64

type record struct {
	rev   approver.Rev
	due   int64 // Unix nanoseconds, or never
	keep  int64 // the same
	value []byte
}

// nanos returns t in Unix nanoseconds; the zero time is never.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return never
	}
	return t.UnixNano()
}

// encode returns the record's bytes. The revision must have revLen bytes.
func (r record) encode() []byte {
	b := make([]byte, 0, headLen+len(r.value))
	b = append(b, format)
	b = append(b, r.rev...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.due))
	b = binary.BigEndian.AppendUint64(b, uint64(r.keep))
	return append(b, r.value...)
}

// decode reads a record. Its value shares b.
func decode(b []byte) (record, error) {
	if len(b) < headLen || b[0] != format {
		return record{}, fmt.Errorf("%w: it is not a record of format %d", approver.ErrTampered, format)
	}
	r := record{
		rev:   approver.Rev(b[1 : 1+revLen]),
		due:   int64(binary.BigEndian.Uint64(b[1+revLen:])),
		keep:  int64(binary.BigEndian.Uint64(b[1+revLen+8:])),
		value: b[headLen:],
	}
	if r.due < 0 || r.keep < 0 {
		return record{}, fmt.Errorf("%w: it has a time before 1970", approver.ErrTampered)
	}
	return r, nil
}

// dueEntry is the record's key in the due bucket: shard, time, key. Its value
// is the time until which the record is kept.
func dueEntry(shard int, due int64, key string) []byte {
	b := make([]byte, 0, 1+8+len(key))
	b = append(b, byte(shard))
	b = binary.BigEndian.AppendUint64(b, uint64(due))
	return append(b, key...)
}

// keepEntry is the record's key in the keep bucket: time, key.
func keepEntry(keep int64, key string) []byte {
	b := make([]byte, 0, 8+len(key))
	b = binary.BigEndian.AppendUint64(b, uint64(keep))
	return append(b, key...)
}
