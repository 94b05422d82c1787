package classifier

import (
	_ "embed" // lexicon.txt
	"strings"
)

// lexicon has a row for each group of words with one meaning, in several languages, so
// that the model learns one weight for all of them. The classes are the numbers of the rows.
//
//go:embed lexicon.txt
var lexicon string

const lexiconSlots = 1 << 12

// byHash finds the class of a word, which is the number of its row from 1 on: the
// upper bits of its hash and the class, in the slot that the lower bits name or
// one of those after it.
var byHash = func() (t [lexiconSlots]uint32) {
	class := uint32(0)
	for line := range strings.Lines(lexicon) {
		switch line[0] {
		case '#':
			continue
		case ' ': // goes on
		default:
			class++
		}
		for spelled := range strings.FieldsSeq(line) {
			r := reader{text: spelled}
			w, ok := r.next()
			if !ok || classOf(&t, w.hash) != 0 {
				continue
			}
			slot := w.hash % lexiconSlots
			for t[slot] != 0 {
				slot = (slot + 1) % lexiconSlots
			}
			t[slot] = uint32(w.hash>>40)<<8 | class
		}
	}
	return t
}()

func classOf(t *[lexiconSlots]uint32, hash uint64) uint8 {
	for slot := hash % lexiconSlots; t[slot] != 0; slot = (slot + 1) % lexiconSlots {
		if t[slot]>>8 == uint32(hash>>40) {
			return uint8(t[slot])
		}
	}
	return 0
}
