package memory

import (
	"crypto/sha256"
	"encoding/binary"
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// A sieve is a Bloom filter of the files that there is no room for in a record. It
// forgets none, and may take another file for one of them: the more it holds, the
// more is asked about. So nobody gets rid of a taint by downloading a thousand
// files more.
type sieve []byte

const sieveBytes = 8 << 10

// What a key of a sieve says of a path.
const (
	sieveFile   = 'f' // it came from elsewhere
	sieveTree   = 't' // so did all that is below it
	sieveIn     = 'd' // a file in it did
	sieveSecret = 's' // it holds a secret, or something below it does
	sieveVault  = 'v' // all that is below it does
)

// bits are the places of a key.
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

// withLabelled is with for those that have a label, which have a sieve of their own:
// what is mistaken for one of them could be stopped without a question.
func (s sieve) withLabelled(files []file) sieve {
	var labelled []file
	for _, f := range files {
		if f.Taint&effect.Labels != 0 {
			f.Taint = effect.Secret
			labelled = append(labelled, f)
		}
	}
	return s.with(labelled)
}

// above notes a file with the folders that it lies in, and if it is a tree, that
// all below it is like it.
func (s sieve) above(f file) {
	for at := f.Path; len(at) > 1; at = path.Dir(at) {
		s.put(sieveSecret, at)
	}
	if f.Tree {
		s.put(sieveVault, f.Path)
	}
}

// of is what may have been left in a path, which may be a pattern.
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
