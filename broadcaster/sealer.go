package broadcaster

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"approver.example"
)

// ErrSealed means that a stored request is sealed under a key that is not known
// here.
var ErrSealed = errors.New("the request is sealed under another key: list the old key behind the new one in its file")

// A Sealer encrypts, with AES-256-GCM, what the store keeps and nobody is to read or
// change there: of a request what the agent wants to run and what was said of it, and whole
// texts such as the policy in force. Whoever reads the store, a copy of it or its disk
// learns ids, times and who answered, and no command. The rest of a request has to be
// readable for the clock and is signed by the store where others could write to it.
//
// Each record names its key, so that keys can be replaced: a new sealer seals
// under its first key and opens under every one. The zero value seals nothing.
type Sealer struct {
	current string // id of the key to seal with
	keys    map[string]cipher.AEAD
}

// NewSealer derives the sealing keys, which serve nothing else, from a key
// of at least 32 bytes and from those that it replaced.
func NewSealer(key []byte, old ...[]byte) (*Sealer, error) {
	c := &Sealer{keys: map[string]cipher.AEAD{}}
	for i, k := range append([][]byte{key}, old...) {
		if len(k) < minCodeKey {
			return nil, fmt.Errorf("a key to seal requests has %d bytes, but needs at least %d", len(k), minCodeKey)
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

// minCodeKey is the least length of Options.CodeKey in bytes.
const minCodeKey = 32

// A payload is the part of a request that is sealed.
type payload struct {
	Call    approver.ToolCall `json:"tool_call"`
	Verdict approver.Verdict  `json:"verdict"`
}

// storedRequest is a Request whose payload stands apart. Its own fields hide
// those of the same name in Request, which are never written.
type storedRequest struct {
	Request
	Call    *approver.ToolCall `json:"tool_call,omitempty"`
	Verdict *approver.Verdict  `json:"verdict,omitempty"`
	KeyID   string             `json:"key_id"`
	Sealed  []byte             `json:"sealed"`
}

// bound is what a payload belongs to. It opens nowhere else.
func (s storedRequest) bound() []byte {
	return bytes.Join([][]byte{
		[]byte("approver request"), []byte(s.ID), []byte(s.CallID), []byte(s.Fingerprint),
	}, []byte{0})
}

// Encode returns the record of r.
func (c *Sealer) Encode(r Request) ([]byte, error) {
	aead := c.keys[c.current]
	if aead == nil {
		return nil, ErrSealed
	}
	plain, err := json.Marshal(payload{r.Call, r.Verdict})
	if err != nil {
		return nil, err
	}
	s := storedRequest{Request: r, KeyID: c.current}
	s.Sealed = aead.Seal(nil, nil, plain, s.bound())
	return json.Marshal(s)
}

// Decode reads a record. One whose payload is in the clear, was changed, or
// belongs to another request is ErrTampered.
func (c *Sealer) Decode(value []byte) (Request, error) {
	var s storedRequest
	if err := json.Unmarshal(value, &s); err != nil {
		return Request{}, err
	}
	if s.Call != nil || s.Verdict != nil || len(s.Sealed) == 0 {
		return Request{}, fmt.Errorf("its payload is not sealed: %w", approver.ErrTampered)
	}
	aead := c.keys[s.KeyID]
	if aead == nil {
		return Request{}, fmt.Errorf("key %q: %w", s.KeyID, ErrSealed)
	}
	plain, err := aead.Open(nil, nil, s.Sealed, s.bound())
	if err != nil {
		return Request{}, fmt.Errorf("its payload does not open: %w", approver.ErrTampered)
	}
	var p payload
	if err := json.Unmarshal(plain, &p); err != nil {
		return Request{}, err
	}
	r := s.Request
	r.Call, r.Verdict = p.Call, p.Verdict
	return r, nil
}

// A sealedText is the record of a text that is no request.
type sealedText struct {
	KeyID  string `json:"key_id"`
	Sealed []byte `json:"sealed"`
}

// SealText returns the record of a text other than a request, such as the policy
// in force. what says what it is and whose; it opens as nothing else.
func (c *Sealer) SealText(what string, text []byte) ([]byte, error) {
	aead := c.keys[c.current]
	if aead == nil {
		return nil, ErrSealed
	}
	return json.Marshal(sealedText{c.current, aead.Seal(nil, nil, text, boundText(what))})
}

// OpenText reads what SealText made. A text that was changed, or is of something
// else, is ErrTampered; one under a key that is not known here is ErrSealed.
func (c *Sealer) OpenText(what string, value []byte) ([]byte, error) {
	var s sealedText
	if err := json.Unmarshal(value, &s); err != nil {
		return nil, err
	}
	aead := c.keys[s.KeyID]
	if aead == nil {
		return nil, fmt.Errorf("key %q: %w", s.KeyID, ErrSealed)
	}
	text, err := aead.Open(nil, nil, s.Sealed, boundText(what))
	if err != nil {
		return nil, fmt.Errorf("it does not open: %w", approver.ErrTampered)
	}
	return text, nil
}

// boundText cannot be what a request's payload is bound to.
func boundText(what string) []byte { return []byte("approver text\x00" + what) }
