// Package precedent stores which calls people denied, so that a similar call needs people, too, even
// if no rule asks about it. A call is stored as a sketch: its groups of three words, hashed into
// 10,000 numbers. The similarity of two calls is the cosine of their sketches.
//
// Read sketch.go, record.go and precedent.go.
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
	shortDims  = 4        // numbers for a call without a group of three words
)

// A Sketch is what is compared of a call. The zero value is similar to nothing.
type Sketch struct {
	// Short says that the call has fewer than three words. It is similar to another call only if both
	// have the same set of words.
	Short bool
	// Dims are the numbers of the groups, sorted and without duplicates.
	Dims []uint16
}

// Of returns the sketch of a tool call, from its command or its arguments. It does not depend on the
// process, nor on case, quotes and look-alike characters.
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

// wordsOf returns the first words of a call, folded. For a tool that is no shell, the tool's name is
// the first word.
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
		switch between := i == len(folded) || isSeparator(folded[i]); {
		case !between && start < 0:
			start = i
		case between && start >= 0:
			words = append(words, folded[start:i])
			start = -1
		}
	}
	return words
}

// isSeparator reports whether a byte separates words. Quotes and brackets of a shell or of JSON
// separate, too, because they say little about the words.
func isSeparator(b byte) bool {
	return b <= ' ' || strings.IndexByte("'\"`\\;,=()[]{}<>|&", b) >= 0
}

// short returns the sketch of a set of one or two words. Its numbers depend on all words, so that
// another set has other numbers.
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

// Similarity returns the cosine of two sketches, 0 to 1. Short sketches are equal (1) or not (0).
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

// A Text identifies the exact text of a call.
type Text [16]byte

// TextOf returns the identity of a call's text: a single different byte gives another one.
func TextOf(tool, command string, args []byte) Text {
	h := sha256.New()
	for _, p := range []string{tool, command, string(args)} {
		_, _ = h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	return Text(h.Sum(nil)[:16])
}
