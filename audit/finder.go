package audit

import "bytes"

// A finder looks for several texts at once. From the bytes before a place it knows how far no text can end, and
// skips that (the algorithm of Wu and Manber). So it looks at few of the bytes if the texts are long.
type finder struct {
	texts [][]byte
	least int                    // how many bytes of each are looked at: the length of the shortest, at most maxSkip
	skip  *[1 << skipBits]uint16 // by the last blockSize bytes; nil looks at every byte
}

const (
	blockSize = 3
	skipBits  = 12
	minSkip   = 16   // bytes of a text for which skipping is faster
	maxSkip   = 1000 // fits into skip
)

// finders returns one finder for the long texts, and one for each short one.
func finders(texts [][]byte) (all []finder) {
	var long finder
	for _, t := range texts {
		if len(t) < minSkip {
			all = append(all, finder{texts: [][]byte{t}})
			continue
		}
		if long.least == 0 || len(t) < long.least {
			long.least = len(t)
		}
		long.texts = append(long.texts, t)
	}
	if long.texts == nil {
		return all
	}
	long.least = min(long.least, maxSkip)
	long.skip = new([1 << skipBits]uint16)
	for i := range long.skip {
		long.skip[i] = uint16(long.least - blockSize + 1)
	}
	for _, t := range long.texts {
		for end := blockSize; end <= long.least; end++ {
			s := &long.skip[blockHash(t[end-blockSize:end])]
			*s = min(*s, uint16(long.least-end))
		}
	}
	return append(all, long)
}

func blockHash(b []byte) uint32 {
	return (uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16) * 2654435761 >> (32 - skipBits)
}

// next returns where the first of the texts begins, at an offset or after it; -1 if there is none.
func (f finder) next(b []byte, from int) int {
	if f.skip == nil {
		if i := bytes.Index(b[from:], f.texts[0]); i >= 0 && from < len(b) {
			return from + i
		}
		return -1
	}
	for end := from + f.least; end <= len(b); {
		if s := f.skip[blockHash(b[end-blockSize:end])]; s > 0 {
			end += int(s)
			continue
		}
		for _, t := range f.texts {
			if bytes.HasPrefix(b[end-f.least:], t) {
				return end - f.least
			}
		}
		end++
	}
	return -1
}
