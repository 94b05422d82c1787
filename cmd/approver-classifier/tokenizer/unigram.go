package tokenizer

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// unigram finds the most probable sequence of pieces for a text, from the logarithms of
// their probabilities: Viterbi's algorithm, as in EncodeOptimized of SentencePiece's
// unigram_model.cc.
type unigram struct {
	vocab   map[string]int
	scores  []float64
	longest int // bytes of the longest piece
	unk     int // none if negative
	bytes   bool

	unkScore float64
}

// unkPenalty is how much less probable an unknown character is than the least
// probable piece: kUnkPenalty of unigram_model.cc.
const unkPenalty = 10

// A scored is an entry of the vocabulary: [PIECE, SCORE].
type scored struct {
	piece string
	score float64
}

// UnmarshalJSON reads a pair.
func (s *scored) UnmarshalJSON(data []byte) error {
	var pair []json.RawMessage
	if err := json.Unmarshal(data, &pair); err != nil || len(pair) != 2 {
		return fmt.Errorf("an entry of the vocabulary must be [PIECE, SCORE]")
	}
	if err := json.Unmarshal(pair[0], &s.piece); err != nil {
		return err
	}
	return json.Unmarshal(pair[1], &s.score)
}

func newUnigram(at string, raw json.RawMessage) (model, error) {
	m := &unigram{unk: -1, vocab: map[string]int{}}
	var vocab []scored
	var unk *int
	if err := object(at, raw, keys{"type": nil, "unk_id": may(&unk), "vocab": need(&vocab),
		"byte_fallback": may(&m.bytes)}); err != nil {
		return nil, err
	}
	if len(vocab) == 0 || len(vocab) > maxVocab {
		return nil, wrong(at+".vocab", "it has %d pieces: 1 to %d are possible", len(vocab), maxVocab)
	}
	least := math.Inf(1)
	for i, v := range vocab {
		if len(v.piece) > maxPiece {
			return nil, wrong(index(at+".vocab", i), "the piece has %d bytes: at most %d are possible", len(v.piece), maxPiece)
		}
		m.vocab[v.piece] = i // the last of equal ones, as in the reference
		m.scores = append(m.scores, v.score)
		m.longest = max(m.longest, len(v.piece))
		least = min(least, v.score)
	}
	m.unkScore = least - unkPenalty
	if unk != nil {
		if *unk < 0 || *unk >= len(vocab) {
			return nil, wrong(at+".unk_id", "it is %d, and there are %d pieces", *unk, len(vocab))
		}
		m.unk = *unk
	}
	return m, nil
}

// A node is the best path to a place of the text.
type node struct {
	score float64
	from  int // where its last piece starts; none if negative
	id    int
}

func (m *unigram) encode(text string, ids []int) ([]int, error) {
	nodes := make([]node, len(text)+1)
	for i := range nodes {
		nodes[i].from = -1
	}
	for i, n := 0, 0; i < len(text); i += n {
		_, n = utf8.DecodeRuneInString(text[i:])
		reach := func(end, id int, score float64) {
			if to := &nodes[end]; to.from < 0 || nodes[i].score+score > to.score {
				*to = node{nodes[i].score + score, i, id}
			}
		}
		single := false
		for end := i + n; end <= min(len(text), i+m.longest); end++ {
			if !boundary(text, end) {
				continue
			}
			if id, ok := m.vocab[text[i:end]]; ok {
				reach(end, id, m.scores[id])
				single = single || end == i+n
			}
		}
		if !single {
			if m.unk < 0 {
				return nil, fmt.Errorf("tokenizer: %q is in no piece, and the model has no unk_id", text[i:i+n])
			}
			reach(i+n, m.unk, m.unkScore)
		}
	}
	return m.collect(text, nodes, ids), nil
}

// collect walks the best path from its end. Unknown neighbors become one unknown piece,
// or their bytes.
func (m *unigram) collect(text string, nodes []node, ids []int) []int {
	start := len(ids)
	for end := len(text); end > 0; {
		n := nodes[end]
		from := n.from
		if n.id != m.unk {
			ids = append(ids, n.id)
			end = from
			continue
		}
		for from > 0 && nodes[from].id == m.unk {
			from = nodes[from].from
		}
		ids = append(ids, m.unknown(text[from:end])...)
		end = from
	}
	slices.Reverse(ids[start:])
	return ids
}

// unknown returns the ids of a text that no piece covers, the last first.
func (m *unigram) unknown(s string) []int {
	if id, ok := m.vocab[s]; ok {
		return []int{id}
	}
	if !m.bytes {
		return []int{m.unk}
	}
	var ids []int
	for i := range len(s) {
		id, ok := m.vocab[fmt.Sprintf("<0x%02X>", s[i])]
		if !ok {
			return []int{m.unk}
		}
		ids = append(ids, id)
	}
	slices.Reverse(ids)
	return ids
}

func (m *unigram) id(piece string) (int, bool) {
	id, ok := m.vocab[piece]
	return id, ok
}

func (m *unigram) size() int { return len(m.scores) }
