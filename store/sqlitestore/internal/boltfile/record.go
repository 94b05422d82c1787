package boltfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"go.etcd.io/bbolt"
)

// A record in the file is a format byte, the revision, when it is due, until when it is kept,
// and the value.
const (
	format  = 1
	revLen  = 36
	headLen = 1 + revLen + 8 + 8
)

// A Record is one record. Its times are Unix nanoseconds; the greatest is never.
type Record struct {
	Key, Rev  string
	Due, Keep int64
	Value     []byte
}

// encode returns the record's bytes. The revision must have revLen bytes.
func (r Record) encode() []byte {
	b := make([]byte, 0, headLen+len(r.Value))
	b = append(b, format)
	b = append(b, r.Rev...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.Due))
	b = binary.BigEndian.AppendUint64(b, uint64(r.Keep))
	return append(b, r.Value...)
}

// decode reads a record without its key. Its value shares b.
func decode(b []byte) (Record, error) {
	if len(b) < headLen || b[0] != format {
		return Record{}, errors.New("it is not a record of format " + strconv.Itoa(format))
	}
	r := Record{
		Rev:   string(b[1 : 1+revLen]),
		Due:   int64(binary.BigEndian.Uint64(b[1+revLen:])),
		Keep:  int64(binary.BigEndian.Uint64(b[1+revLen+8:])),
		Value: b[headLen:],
	}
	if r.Due < 0 || r.Keep < 0 {
		return Record{}, errors.New("it has a time before 1970")
	}
	return r, nil
}

// An entry is what a list has of a record.
type entry struct{ key, value []byte }

// entries returns the entries of a record, by bucket.
func (r Record) entries(key string) map[string]entry {
	all := map[string]entry{}
	if r.Due != never {
		all[string(dues)] = entry{dueEntry(key, r.Due), binary.BigEndian.AppendUint64(nil, uint64(r.Keep))}
	}
	if r.Keep != never {
		all[string(keeps)] = entry{key: keepEntry(key, r.Keep)}
	}
	return all
}

// dueEntry is the record's key in the due bucket: shard, time, key. Its value
// is the time until which the record is kept.
func dueEntry(key string, due int64) []byte {
	shard, _ := strconv.Atoi(key[len("ap:{"):len("ap:{NN")])
	b := binary.BigEndian.AppendUint64([]byte{byte(shard)}, uint64(due))
	return append(b, key...)
}

// keepEntry is the record's key in the keep bucket: time, key.
func keepEntry(key string, keep int64) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(keep)), key...)
}

// A Writer writes a file.
type Writer struct{ tx *bbolt.Tx }

// Record adds a record.
func (w *Writer) Record(r Record) error {
	err := w.tx.Bucket(records).Put([]byte(r.Key), r.encode())
	for name, entry := range r.entries(r.Key) {
		err = errors.Join(err, w.tx.Bucket([]byte(name)).Put(entry.key, entry.value))
	}
	return err
}

// Lease adds the last fence of a lease.
func (w *Writer) Lease(name string, fence uint64) error {
	return w.tx.Bucket(leases).Put([]byte(name), binary.BigEndian.AppendUint64(nil, fence))
}

// Create makes a file, and syncs it. An earlier one is replaced.
func Create(path string, mark int64, fill func(*Writer) error) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType, NoStatistics: true})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range buckets {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		b := tx.Bucket(meta)
		if err := errors.Join(b.Put(formatName, []byte{format}),
			b.Put(markName, binary.BigEndian.AppendUint64(nil, uint64(mark)))); err != nil {
			return err
		}
		return fill(&Writer{tx})
	})
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, errors.Join(err, os.Remove(path)))
	}
	return nil
}
