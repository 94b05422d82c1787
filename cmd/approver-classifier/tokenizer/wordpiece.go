package tokenizer

import (
	"encoding/json"
	"unicode/utf8"
)

// A model turns a word into ids.
type model interface {
	encode(word string, ids []int) ([]int, error)
	id(piece string) (int, bool)
	size() int
}

// wordPiece takes the longest piece of the vocabulary that a word begins with,
// then the longest that its rest begins with, and so on. A word with a rest that
// no piece begins is unknown as a whole.
type wordPiece struct {
	vocab   map[string]int
	unk     int
	prefix  string // before every piece but the first
	maxWord int    // characters; a longer word is unknown
	longest int    // bytes of the longest piece
}

const maxWordBound = 1000 // characters; what a word of n takes grows with n²

func newWordPiece(at string, raw json.RawMessage) (model, error) {
	m := &wordPiece{}
	var unk string
	err := object(at, raw, keys{
		"type": nil, "unk_token": need(&unk), "continuing_subword_prefix": need(&m.prefix),
		"max_input_chars_per_word": need(&m.maxWord), "vocab": need(&m.vocab),
	})
	if err != nil {
		return nil, err
	}
	if m.maxWord < 1 || m.maxWord > maxWordBound {
		return nil, wrong(at+".max_input_chars_per_word", "it is %d: 1 to %d are possible", m.maxWord, maxWordBound)
	}
	if len(m.vocab) == 0 || len(m.vocab) > maxVocab {
		return nil, wrong(at+".vocab", "it has %d pieces: 1 to %d are possible", len(m.vocab), maxVocab)
	}
	used := make([]bool, len(m.vocab))
	for piece, id := range m.vocab {
		if id < 0 || id >= len(used) || used[id] {
			return nil, wrong(at+".vocab", "the id %d of %q is taken, or not below the %d pieces", id, clip(piece), len(used))
		}
		used[id] = true
		m.longest = max(m.longest, len(piece))
	}
	var ok bool
	if m.unk, ok = m.vocab[unk]; !ok {
		return nil, wrong(at+".unk_token", "%q is not in the vocabulary", clip(unk))
	}
	return m, nil
}

func (m *wordPiece) encode(word string, ids []int) ([]int, error) {
	if utf8.RuneCountInString(word) > m.maxWord {
		return append(ids, m.unk), nil
	}
	start := len(ids)
	for rest, prefix := word, ""; rest != ""; prefix = m.prefix {
		n, id := m.first(prefix, rest)
		if n == 0 {
			return append(ids[:start], m.unk), nil
		}
		ids = append(ids, id)
		rest = rest[n:]
	}
	return ids, nil
}

// first finds the longest piece that rest begins with: how many bytes of rest it
// takes, 0 if there is none.
func (m *wordPiece) first(prefix, rest string) (n, id int) {
	key := append(make([]byte, 0, 64), prefix...)
	key = append(key, rest[:min(len(rest), max(m.longest-len(prefix), 0))]...)
	for n := len(key) - len(prefix); n > 0; n-- {
		if !boundary(rest, n) {
			continue
		}
		if id, ok := m.vocab[string(key[:len(prefix)+n])]; ok {
			return n, id
		}
	}
	return 0, 0
}

func (m *wordPiece) id(piece string) (int, bool) {
	id, ok := m.vocab[piece]
	return id, ok
}

func (m *wordPiece) size() int { return len(m.vocab) }
