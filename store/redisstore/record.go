package redisstore

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"approver.example"
	"approver.example/internal/secret"
)

// A record in Redis is one string: a format byte, the revision, the signature, the value. The
// script put.lua knows these widths.
const (
	format  = 1
	revLen  = 36
	macLen  = sha256.Size
	headLen = 1 + revLen + macLen
)

// minHubKey is the least length of a hub key in bytes.
const minHubKey = 32

// A sealer signs records, so that nobody who can only write to Redis can make
// or change one.
type sealer struct {
	key []byte
	old []sealer // of the hub keys that this one replaced: they only verify
}

// newSealers returns the sealer of the first hub key, which also verifies with the others.
func newSealers(hubKeys []secret.Text) (sealer, error) {
	if len(hubKeys) == 0 {
		return newSealer("")
	}
	s, err := newSealer(hubKeys[0].Reveal())
	if err != nil {
		return sealer{}, err
	}
	for i, key := range hubKeys[1:] {
		old, err := newSealer(key.Reveal())
		if err != nil {
			return sealer{}, fmt.Errorf("line %d: %w", i+2, err)
		}
		s.old = append(s.old, old)
	}
	return s, nil
}

// newSealer derives the signing key, which serves nothing else, from the hub key.
func newSealer(hubKey string) (sealer, error) {
	if len(hubKey) < minHubKey {
		return sealer{}, fmt.Errorf("hub_key_file: the key has %d bytes, but needs at least %d: make one with `openssl "+
			"rand -hex 32`", len(hubKey), minHubKey)
	}
	key, err := hkdf.Key(sha256.New, []byte(hubKey), nil, "approver redisstore record 1", sha256.Size)
	if err != nil {
		return sealer{}, fmt.Errorf("hub_key_file: %w", err)
	}
	return sealer{key: key}, nil
}

// sign computes the signature over key, revision and value. Each is preceded by
// its length, so that no two triples give the same bytes.
func (s sealer) sign(key string, rev approver.Rev, value []byte) []byte {
	h := hmac.New(sha256.New, s.key)
	for _, part := range [][]byte{[]byte(key), []byte(rev), value} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	return h.Sum(nil)
}

// seal returns the record for Redis. rev must have revLen bytes.
func (s sealer) seal(key string, rev approver.Rev, value []byte) []byte {
	b := make([]byte, 0, headLen+len(value))
	b = append(b, format)
	b = append(b, rev...)
	b = append(b, s.sign(key, rev, value)...)
	return append(b, value...)
}

// open checks a record from Redis and returns its parts. The value shares b.
func (s sealer) open(key string, b []byte) ([]byte, approver.Rev, error) {
	if len(b) < headLen || b[0] != format {
		return nil, "", fmt.Errorf("%w: %s is not a record of format %d", approver.ErrTampered, key, format)
	}
	rev, mac, value := approver.Rev(b[1:1+revLen]), b[1+revLen:headLen], b[headLen:]
	if s.made(mac, key, rev, value) ||
		slices.ContainsFunc(s.old, func(o sealer) bool { return o.made(mac, key, rev, value) }) {
		return value, rev, nil
	}
	return nil, "", fmt.Errorf("%w: %s", approver.ErrTampered, key)
}

func (s sealer) made(mac []byte, key string, rev approver.Rev, value []byte) bool {
	return hmac.Equal(mac, s.sign(key, rev, value))
}
