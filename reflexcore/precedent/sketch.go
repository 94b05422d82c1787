// Package precedent remembers what people said no to, so that a call like it is
// put before people, too, although no rule asks about it. A call is kept as a
// sketch: the groups of three words in it, hashed into 10,000 numbers. Two calls
// are as similar as the cosine of their sketches.
package precedent

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	"approver.example/internal/match"
)

const (
	dimensions = 10_000
	maxText    = 16 << 10 // bytes of a call that are looked at
	maxWords   = 256      // of them
	shortDims  = 4        // numbers that stand for a call without a group of three
)

// A Sketch is what is compared of a call. The zero value is like no other.
type Sketch struct {
	// Short says that the call has fewer than three words: it is like another only
	// if both have the same set of words.
	Short bool
	// Dims are the numbers of the groups, in order, each once.
	Dims []uint16
}

// Of returns the sketch of a call of a tool: of its command, or of its arguments.
// It is the same in every process, whatever the case, quotes and look-alike
// characters.
func Of(tool, command string, args []byte) Sketch {
	words := wordsOf(tool, command, args)
	switch n := len(words); {
	case n == 0:
		return Sketch{}
	case n < 3:
		return short(words)
	}
	dims := make([]uint16, 0, len(words))
	for i := range len(words) - 2 {
		h := fnv.New64a()
		for j, word := range words[i : i+3] {
			if j > 0 {
				_, _ = h.Write([]byte{' '})
			}
			_, _ = h.Write(word)
		}
		dims = append(dims, uint16(h.Sum64()%dimensions)) //nolint:gosec // below 10,000
	}
	slices.Sort(dims)
	return Sketch{Dims: slices.Compact(dims)}
}

// wordsOf are the first words of a call, in folded letters. A tool that is no shell
// is the first word of its own calls.
func wordsOf(tool, command string, args []byte) [][]byte {
	text := command
	if text == "" {
		if len(args) == 0 {
			return nil
		}
		text = tool + " " + string(args[:min(len(args), maxText)])
	}
	folded := match.Fold(nil, text[:min(len(text), maxText)])
	var words [][]byte
	start := -1
	for i := 0; i <= len(folded) && len(words) < maxWords; i++ {
		switch between := i == len(folded) || isBetween(folded[i]); {
		case !between && start < 0:
			start = i
		case between && start >= 0:
			words = append(words, folded[start:i])
			start = -1
		}
	}
	return words
}

// isBetween reports whether a byte is between words: what a shell or JSON writes
// around them says little of what they are.
func isBetween(b byte) bool {
	return b <= ' ' || strings.IndexByte("'\"`\\;,=()[]{}<>|&", b) >= 0
}

// short is the sketch of a set of one or two words. The numbers stand for all of
// it, so that other words have others.
func short(words [][]byte) Sketch {
	set := make([]string, len(words))
	for i, w := range words {
		set[i] = string(w)
	}
	slices.Sort(set)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(set), " ")))
	dims := make([]uint16, shortDims)
	for i := range dims {
		dims[i] = uint16(binary.LittleEndian.Uint64(sum[8*i:]) % dimensions) //nolint:gosec // below 10,000
	}
	slices.Sort(dims)
	return Sketch{Short: true, Dims: slices.Compact(dims)}
}

// Similarity is the cosine of two sketches, 0 to 1. Short ones are the same or not.
func Similarity(a, b Sketch) float64 {
	if len(a.Dims) == 0 || len(b.Dims) == 0 || a.Short != b.Short {
		return 0
	}
	if a.Short {
		if slices.Equal(a.Dims, b.Dims) {
			return 1
		}
		return 0
	}
	both := 0
	for i, j := 0, 0; i < len(a.Dims) && j < len(b.Dims); {
		switch x, y := a.Dims[i], b.Dims[j]; {
		case x < y:
			i++
		case x > y:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	return float64(both) / math.Sqrt(float64(len(a.Dims)*len(b.Dims)))
}

// A Text stands for exactly what a call says.
type Text [16]byte

// TextOf returns what stands for a call. Calls that differ in one byte have others.
func TextOf(tool, command string, args []byte) Text {
	h := sha256.New()
	for _, p := range []string{tool, command, string(args)} {
		_, _ = h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	return Text(h.Sum(nil)[:16])
}
