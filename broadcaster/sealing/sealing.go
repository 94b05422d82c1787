// Package sealing encrypts what is kept in the store and nobody is to read or change there.
// A [Sealer] seals single values, which their owner stores as part of a record, and whole
// texts. It knows nothing of what it seals.
package sealing

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"approver.example"
)

// ErrUnknownKey means that a value is sealed under a key that is not known here.
var ErrUnknownKey = errors.New("the request is sealed under another key: list the old key behind the new one in " +
	"its file")

// MinKey is the least length in bytes of a key that sealing keys are derived from.
const MinKey = 32

// A Sealer encrypts with AES-256-GCM. Whoever reads the store, a copy of it or its disk
// learns nothing of what it sealed, and whoever writes there cannot change it unseen.
//
// Each value names its key, so that keys can be replaced: a new sealer seals
// under its first key and opens under every one. The zero value seals nothing.
type Sealer struct {
	current string // id of the key to seal with
	keys    map[string]cipher.AEAD
}

// New derives the sealing keys, which serve nothing else, from a key of at least [MinKey]
// bytes and from those that it replaced.
func New(key []byte, old ...[]byte) (*Sealer, error) {
	c := &Sealer{keys: map[string]cipher.AEAD{}}
	for i, k := range append([][]byte{key}, old...) {
		if len(k) < MinKey {
			return nil, fmt.Errorf("a key to seal requests has %d bytes, but needs at least %d", len(k), MinKey)
		}
		derived, err := hkdf.Key(sha256.New, k, nil, "approver request payload 1", 32)
		if err != nil {
			return nil, err
		}
		id, err := hkdf.Key(sha256.New, k, nil, "approver request payload key id 1", 8)
		if err != nil {
			return nil, err
		}
		block, err := aes.NewCipher(derived)
		if err != nil {
			return nil, err
		}
		// 96 random bits as nonce: good for 2³² writes under one key.
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			c.current = hex.EncodeToString(id)
		}
		c.keys[hex.EncodeToString(id)] = aead
	}
	return c, nil
}

// A Value is a sealed value as it is stored.
type Value struct {
	KeyID  string `json:"key_id"`
	Sealed []byte `json:"sealed"`
}

// A Mark is the beginning of a key's id. What bears it was most likely made by whoever has the key.
type Mark [3]byte

// Mark returns that of the key that seals.
func (c *Sealer) Mark() (m Mark) {
	_, _ = hex.Decode(m[:], []byte(c.current[:min(2*len(m), len(c.current))]))
	return m
}

// Knows reports whether a mark is that of a key that is known here.
func (c *Sealer) Knows(m Mark) bool {
	for id := range c.keys {
		if strings.HasPrefix(id, hex.EncodeToString(m[:])) {
			return true
		}
	}
	return false
}

// IsCurrent reports whether a key is the one that seals.
func (c *Sealer) IsCurrent(keyID string) bool { return c.current != "" && keyID == c.current }

// Seal encrypts a value. It opens only together with context, which says what the value
// belongs to.
func (c *Sealer) Seal(plain, context []byte) (Value, error) {
	aead := c.keys[c.current]
	if aead == nil {
		return Value{}, ErrUnknownKey
	}
	return Value{c.current, aead.Seal(nil, nil, plain, context)}, nil
}

// Open decrypts what Seal made. A value that was changed, or that belongs to something else,
// is [approver.ErrTampered]. One under a key that is not known here is [ErrUnknownKey].
func (c *Sealer) Open(v Value, context []byte) ([]byte, error) {
	aead := c.keys[v.KeyID]
	if aead == nil {
		return nil, fmt.Errorf("key %q: %w", v.KeyID, ErrUnknownKey)
	}
	plain, err := aead.Open(nil, nil, v.Sealed, context)
	if err != nil {
		return nil, approver.ErrTampered
	}
	return plain, nil
}

// SealText returns the record of a whole text, such as the policy in force. name says what
// text it is and whose. It opens under no other name.
func (c *Sealer) SealText(name string, text []byte) ([]byte, error) {
	v, err := c.Seal(text, textContext(name))
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// OpenText reads what SealText made. Its errors are those of [Sealer.Open].
func (c *Sealer) OpenText(name string, record []byte) ([]byte, error) {
	var v Value
	if err := json.Unmarshal(record, &v); err != nil {
		return nil, err
	}
	text, err := c.Open(v, textContext(name))
	if errors.Is(err, approver.ErrTampered) {
		err = fmt.Errorf("it does not open: %w", err)
	}
	return text, err
}

// textContext differs from every context that a value other than a text is sealed with.
func textContext(name string) []byte { return []byte("approver text\x00" + name) }
