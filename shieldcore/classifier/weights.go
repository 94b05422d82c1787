package classifier

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // weights.bin
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
)

//go:embed weights.bin
var embedded []byte

// magic begins a file of weights; its last byte is the version of the format and
// of the features. Weights of one version mean nothing to another.
var magic = []byte("t1linear\x00\x00\x00\x01")

const (
	headerSize = 64
	fileSize   = headerSize + Size
)

// Weights are a model as its trainer makes it.
type Weights struct {
	Scale, Bias     float64 // a window's logit is Bias + Scale * the sum of its weights
	Default, Strict float64 // thresholds
	W               []int8  // Size of them
}

// Encode returns the weights as a file: a header of 64 bytes (magic, version,
// size, scale, bias and the two thresholds; little-endian) and a byte for each weight.
func (w *Weights) Encode() []byte {
	b := make([]byte, headerSize, fileSize)
	copy(b, magic)
	binary.LittleEndian.PutUint32(b[12:], uint32(len(w.W)))
	for i, x := range [...]float64{w.Scale, w.Bias, w.Default, w.Strict} {
		binary.LittleEndian.PutUint64(b[16+8*i:], math.Float64bits(x))
	}
	for _, x := range w.W {
		b = append(b, byte(x))
	}
	return b
}

// parse returns the model that has the weights of a file. It checks the file's
// form, not that it is the one of this program, as [Load] does.
func parse(b []byte) (*Model, error) {
	if len(b) != fileSize {
		return nil, fmt.Errorf("%w: %d bytes of weights, not %d", ErrUnavailable, len(b), fileSize)
	}
	if !bytes.HasPrefix(b, magic) || binary.LittleEndian.Uint32(b[12:]) != Size {
		return nil, fmt.Errorf("%w: the weights are of another format or version", ErrUnavailable)
	}
	var head [4]float64
	for i := range head {
		head[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[16+8*i:]))
		if math.IsNaN(head[i]) || math.IsInf(head[i], 0) {
			return nil, fmt.Errorf("%w: the weights' header has a number that is none", ErrUnavailable)
		}
	}
	m := &Model{weights: new([Size]int8), scale: head[0], bias: head[1], thresholds: [...]float64{0, head[2], head[3]}}
	if m.scale <= 0 || m.thresholds[Strict] <= 0 || m.thresholds[Default] < m.thresholds[Strict] ||
		m.thresholds[Default] >= 1 {
		return nil, fmt.Errorf("%w: the weights' header makes no sense", ErrUnavailable)
	}
	for i, x := range b[headerSize:] {
		m.weights[i] = int8(x)
	}
	return m, nil
}

// New returns a model of weights that are not those of this program, for the
// trainer and for measurements.
func New(w *Weights) (*Model, error) { return parse(w.Encode()) }

// Load returns the model of this program, after it has shown that it is: the
// SHA-256 of the weights and the scores of a dozen texts are those that the
// trainer wrote down. Any error is ErrUnavailable.
func Load() (*Model, error) { return load(embedded, weightsSHA256, goldenSums[:]) }

func load(b []byte, sum string, scores []int32) (*Model, error) {
	if got := hash(b); got != sum {
		return nil, fmt.Errorf("%w: the weights' SHA-256 is %s, not %s", ErrUnavailable, got, sum)
	}
	m, err := parse(b)
	if err != nil {
		return nil, err
	}
	if len(scores) != len(golden) {
		return nil, fmt.Errorf("%w: %d golden scores for %d texts", ErrUnavailable, len(scores), len(golden))
	}
	for i, text := range golden {
		s, err := m.Score(text)
		if err != nil || s.Sum != scores[i] {
			return nil, fmt.Errorf("%w: golden text %d has the score %d, not %d", ErrUnavailable, i+1, s.Sum, scores[i])
		}
	}
	return m, nil
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
