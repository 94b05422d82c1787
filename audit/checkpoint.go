package audit

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// MaxCheckpointEvery is the greatest number of lines between two checkpoints
// that Verify accepts.
const MaxCheckpointEvery = 1024

const signingContext = "approver audit checkpoint v1\n"

// A Checkpoint vouches for every line of a log up to Seq. The fields are in the
// order of RFC 8785.
type Checkpoint struct {
	Hash  string    `json:"hash"`   // of the line Seq
	KeyID string    `json:"key_id"` // whose signature it is
	Log   string    `json:"log"`    // the log's id
	Seq   uint64    `json:"seq"`
	Time  time.Time `json:"time"` // UTC, when it was signed
}

// appendCheckpoint appends the body of a checkpoint line, before sealing.
func appendCheckpoint(buf []byte, key Key, log string, at place, now time.Time) ([]byte, error) {
	// The log's id is limited to characters that JSON does not escape.
	object, err := json.Marshal(Checkpoint{
		Hash: at.hash.String(), KeyID: key.ID(), Log: log, Seq: at.seq, Time: now.UTC().Truncate(time.Millisecond),
	})
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	sig := ed25519.Sign(key.private, append([]byte(signingContext), object...))
	buf = append(buf, checkpointStart...)
	buf = append(buf, object...)
	buf = append(buf, `,"sig":"`...)
	buf = base64.StdEncoding.AppendEncode(buf, sig)
	return fmt.Appendf(buf, `","v":%d}`, version), nil
}

// Errors of readCheckpoint.
var (
	errSignature = errors.New("the checkpoint's signature does not fit: what it vouches for was changed, or it was")
	errUnknown   = errors.New("the checkpoint is signed by a key that is not listed")
)

// readCheckpoint reads a checkpoint line and checks its signature. It does not
// compare the checkpoint with the chain.
func readCheckpoint(line []byte, keys Keys) (Checkpoint, error) {
	var parts struct {
		Checkpoint json.RawMessage `json:"checkpoint"`
		Sig        []byte          `json:"sig"`
	}
	var c Checkpoint
	if err := json.Unmarshal(line, &parts); err != nil {
		return c, fmt.Errorf("%w: %w", errShape, err)
	}
	d := json.NewDecoder(bytes.NewReader(parts.Checkpoint))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, fmt.Errorf("%w: checkpoint: %w", errShape, err)
	}
	public, ok := keys[c.KeyID]
	switch {
	case !ok || len(public) != ed25519.PublicKeySize:
		return c, fmt.Errorf("%w (%s)", errUnknown, c.KeyID)
	case !ed25519.Verify(public, append([]byte(signingContext), parts.Checkpoint...), parts.Sig):
		return c, errSignature
	}
	return c, nil
}
