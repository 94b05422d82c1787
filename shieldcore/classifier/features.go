package classifier

// Size is the number of weights: a feature is hashed to one of them.
const Size = 1 << 18

// Kinds of features, by which the trainer can leave some out.
const (
	Word      = iota // one word
	Separated        // one word and its separator from the one before
	Pair             // two words that follow each other
	Skip1            // two words with one between
	Skip2            // two words with two between
	Class            // the class of a word in the lexicon
	ClassPair        // the classes of two words of the lexicon that are near each other
	ClassTrio        // the classes of three such words
	ClassWord        // a word, and the class of the word of the lexicon before it
	Trio             // three words that follow each other
	Kinds
)

const (
	// reach is how far back, in words, the first word of a feature may lie.
	reach = 7
	// most is the number of features that can end at one word.
	most = 11
)

// A Feature is one that ends at a word of the text.
type Feature struct {
	Index uint32 // of its weight
	Back  uint8  // how many words before its last one its first one lies
	Kind  uint8
}

// A history has the last words: those that a feature may begin with.
type history struct {
	hash  [8]uint64 // of the last words, by their number mod 8
	class [3]uint8  // of the last words that have one, the newest first
	place [3]int    // their numbers
	n     int       // words so far
}

const mixer = 0x9e3779b97f4a7c15

func index(h uint64) uint32 {
	h *= mixer
	return uint32(h >> (64 - 18))
}

// add takes the next word and sets out to the features that end at it.
func (h *history) add(w word, out *[most]Feature) int {
	j := h.n
	n := 0
	put := func(x uint64, back int, kind uint8) {
		out[n] = Feature{index(x ^ x>>29 + uint64(kind)<<57), uint8(back), kind}
		n++
	}
	put(w.hash, 0, Word)
	if j > 0 {
		if w.separator != afterGap {
			// The feature begins at the word before. Otherwise text before a window would
			// count in it.
			put(w.hash+uint64(w.separator)*0x8f3a61c5d72b94e1, 1, Separated)
		}
		put(h.hash[(j-1)&7]*31+w.hash, 1, Pair)
	}
	if j > 1 {
		put(h.hash[(j-2)&7]*37+w.hash, 2, Skip1)
	}
	if j > 2 {
		put(h.hash[(j-3)&7]*41+w.hash, 3, Skip2)
	}
	if j > 1 {
		put((h.hash[(j-2)&7]*47+h.hash[(j-1)&7])*31+w.hash, 2, Trio)
	}
	if h.class[0] != 0 && j-h.place[0] <= 4 {
		put(w.hash*43+uint64(h.class[0])*mixer, j-h.place[0], ClassWord)
	}
	if c := classOf(&byHash, w.hash); c != 0 {
		put(uint64(c)*0xd6e8feb86659fd93, 0, Class)
		if h.class[0] != 0 && j-h.place[0] <= reach {
			put((uint64(h.class[0])<<8|uint64(c))*0xd6e8feb86659fd93, j-h.place[0], ClassPair)
			if h.class[1] != 0 && j-h.place[1] <= reach {
				put((uint64(h.class[1])<<8|uint64(c))*0xd6e8feb86659fd93, j-h.place[1], ClassPair)
				put((uint64(h.class[1])<<16|uint64(h.class[0])<<8|uint64(c))*0xd6e8feb86659fd93, j-h.place[1], ClassTrio)
			}
		}
		h.class[2], h.class[1], h.class[0] = h.class[1], h.class[0], c
		h.place[2], h.place[1], h.place[0] = h.place[1], h.place[0], j
	}
	h.hash[j&7] = w.hash
	h.n++
	return n
}

// Walk calls visit with the features that end at each word of a text. They are the
// ones that [Model.Score] uses; the trainer needs them.
func Walk(text string, visit func([]Feature)) {
	r := reader{text: text}
	var h history
	var out [most]Feature
	for {
		w, ok := r.next()
		if !ok {
			return
		}
		visit(out[:h.add(w, &out)])
	}
}
