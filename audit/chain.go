package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// MaxLine is the greatest length of a line in bytes, with its newline.
const MaxLine = 1 << 20

const (
	version    = 1
	hashLength = 2 * sha256.Size
	seqTag     = `,"seq":`
	prevTag    = `,"prev":"`
	hashTag    = `,"hash":"`
	lineEnd    = `"}`
	tailLength = len(prevTag) + hashLength + 1 + len(hashTag) + hashLength + len(lineEnd)
	// sealLength is the most that sealing adds to a body, for a log id of
	// maxID bytes.
	sealLength = len(`,"id":"`) + maxID + 1 + 20 + 1 + len(seqTag) + 20 + tailLength + 1

	checkpointStart = `{"checkpoint":`
	alarmStart      = `{"v":1,"event":"alarm",`
)

// A digest is a SHA-256 in hex, ready to be written.
type digest [hashLength]byte

// genesis is what the first line has for prev.
func genesis() (d digest) {
	for i := range d {
		d[i] = '0'
	}
	return d
}

func (d digest) String() string { return string(d[:]) }

// A place is a position in the chain: the number and hash of a line.
type place struct {
	seq  uint64
	hash digest
}

// seal appends body to buf as the line after at, and advances at. body is a
// JSON object with at least one member.
func seal(buf, body []byte, log string, at *place) []byte {
	start := len(buf)
	at.seq++
	buf = append(buf, body[:len(body)-1]...)
	buf = append(buf, `,"id":"`...)
	buf = append(buf, log...)
	buf = append(buf, ':')
	buf = strconv.AppendUint(buf, at.seq, 10)
	buf = append(buf, '"')
	buf = append(buf, seqTag...)
	buf = strconv.AppendUint(buf, at.seq, 10)
	buf = append(buf, prevTag...)
	buf = append(buf, at.hash[:]...)
	buf = append(buf, '"')
	sum := sha256.Sum256(buf[start:])
	hex.Encode(at.hash[:], sum[:])
	buf = append(buf, hashTag...)
	buf = append(buf, at.hash[:]...)
	return append(buf, lineEnd+"\n"...)
}

// A link is the place in the chain that a line states.
type link struct {
	place
	prev       digest
	checkpoint bool
}

// Errors of readLink.
var (
	errShape = errors.New("not a line of this log")
	errHash  = errors.New("the line's bytes do not fit its hash: it was changed")
)

// readLink reads a line, without its newline, and checks its own hash.
func readLink(line []byte) (link, error) {
	switch {
	case len(line) >= MaxLine:
		return link{}, fmt.Errorf("%w: it is longer than %d bytes", errShape, MaxLine)
	case len(line) < tailLength || !json.Valid(line):
		return link{}, fmt.Errorf("%w: bad JSON", errShape)
	}
	return sealOf(line)
}

// sealOf is readLink of a line that need not be valid JSON.
func sealOf(line []byte) (link, error) {
	var l link
	cut := len(line) - tailLength
	if cut < 0 || line[0] != '{' {
		return l, fmt.Errorf("%w: it is no object", errShape)
	}
	prev, rest, okPrev := readDigest(line[cut:], prevTag)
	hash, rest, okHash := readDigest(bytes.TrimPrefix(rest, []byte{'"'}), hashTag)
	if !okPrev || !okHash || string(rest) != lineEnd {
		return l, fmt.Errorf("%w: it does not end in seq, prev and hash", errShape)
	}
	digits := cut
	for digits > 0 && line[digits-1] >= '0' && line[digits-1] <= '9' {
		digits--
	}
	seq, err := strconv.ParseUint(string(line[digits:cut]), 10, 64)
	if err != nil || seq == 0 || line[digits] == '0' || !bytes.HasSuffix(line[:digits], []byte(seqTag)) {
		return l, fmt.Errorf("%w: it has no seq", errShape)
	}
	l = link{place: place{seq, hash}, prev: prev, checkpoint: isCheckpoint(line)}
	sum := sha256.Sum256(line[:cut+len(prevTag)+hashLength+1])
	var want digest
	hex.Encode(want[:], sum[:])
	if want != hash {
		return l, errHash
	}
	return l, nil
}

// readDigest reads tag and the digest after it.
func readDigest(b []byte, tag string) (d digest, rest []byte, ok bool) {
	if !bytes.HasPrefix(b, []byte(tag)) || len(b) < len(tag)+hashLength {
		return d, b, false
	}
	b = b[len(tag):]
	copy(d[:], b)
	other := 0 // negative if a byte is no digit: a branch per byte would be most of the work
	for _, c := range d {
		other |= (9 - int(c-'0')) & (5 - int(c-'a'))
	}
	return d, b[hashLength:], other >= 0
}

func isCheckpoint(line []byte) bool { return bytes.HasPrefix(line, []byte(checkpointStart)) }
