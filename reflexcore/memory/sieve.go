package memory

import (
	"crypto/sha256"
	"encoding/binary"
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// A sieve is a Bloom filter for the files that no longer fit into a record. It never forgets a file,
// and may mistake another file for one. So an agent cannot drop a taint by downloading a thousand
// more files: that only leads to more questions.
type sieve []byte

const sieveBytes = 8 << 10

// The kinds of keys of a sieve.
const (
	sieveFile   = 'f' // it came from elsewhere
	sieveTree   = 't' // so did all that is below it
	sieveIn     = 'd' // a file in it did
	sieveSecret = 's' // it holds a secret, or something below it does
	sieveVault  = 'v' // all that is below it does
)

// bits returns the positions of a key.
func (s sieve) bits(kind byte, p string) (out [4]uint64) {
	sum := sha256.Sum256(append([]byte{kind}, p...))
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(sum[8*i:]) % (sieveBytes * 8)
	}
	return out
}

func (s sieve) put(kind byte, p string) {
	for _, b := range s.bits(kind, p) {
		s[b/8] |= 1 << (b % 8)
	}
}

func (s sieve) has(kind byte, p string) bool {
	for _, b := range s.bits(kind, p) {
		if s[b/8]&(1<<(b%8)) == 0 {
			return false
		}
	}
	return true
}

// with returns the sieve with more files.
func (s sieve) with(files []file) sieve {
	if len(files) == 0 {
		return s
	}
	out := slices.Clone(s)
	if out == nil {
		out = make(sieve, sieveBytes)
	}
	for _, f := range files {
		if f.Taint&(effect.Network|effect.Decoded) != 0 {
			out.put(sieveFile, f.Path)
			out.put(sieveIn, path.Dir(f.Path))
			if f.Tree {
				out.put(sieveTree, f.Path)
			}
		}
		if f.Taint&effect.Secret != 0 {
			out.above(f)
		}
	}
	return out
}

// withLabeled is [sieve.with] for files that have a label. They have a sieve of their own, because a
// file that is mistaken for one of them could be blocked without a question.
func (s sieve) withLabeled(files []file) sieve {
	var labeled []file
	for _, f := range files {
		if f.Taint&effect.Labels != 0 {
			f.Taint = effect.Secret
			labeled = append(labeled, f)
		}
	}
	return s.with(labeled)
}

// above adds a file and the folders above it. For a tree it adds that everything below has the
// taint.
func (s sieve) above(f file) {
	for at := f.Path; len(at) > 1; at = path.Dir(at) {
		s.put(sieveSecret, at)
	}
	if f.Tree {
		s.put(sieveVault, f.Path)
	}
}

// of returns the taint that a path, or a file that a pattern matches, may have.
func (s sieve) of(p string) effect.Taint {
	if len(s) == 0 {
		return 0
	}
	dir := path.Dir(p)
	if i := strings.IndexAny(p, "*?["); i >= 0 {
		if i < len(dir) || s.has(sieveIn, dir) {
			return effect.Network // of a pattern of folders nothing is known
		}
		p = dir
	}
	var out effect.Taint
	if s.has(sieveFile, p) {
		out |= effect.Network
	}
	if s.has(sieveSecret, p) {
		out |= effect.Secret
	}
	for at := p; len(at) > 1; at = path.Dir(at) {
		if s.has(sieveTree, at) {
			out |= effect.Network
		}
		if s.has(sieveVault, at) {
			out |= effect.Secret
		}
	}
	return out
}
