package classifier

import (
	"errors"
	"math"
)

// Limits of a text. Text beyond them is not scored, and [Score.Truncated] is set.
const (
	MaxBytes  = 1 << 20
	MaxTokens = 1 << 16
)

// Window is the number of words that a window has at most.
const Window = 24

// ErrUnavailable means that there is no score, because the weights are missing or
// are not those of this program.
var ErrUnavailable = errors.New("classifier unavailable")

// A Point is an operating point.
type Point uint8

// Operating points. The zero Point is none: every score reaches its threshold.
const (
	_       Point = iota
	Default       // about 0.1 % of the benign texts that agents read are above
	Strict        // about 1 % of them
)

// A Model scores texts. It may be used by many goroutines. The zero Model is
// unavailable.
type Model struct {
	weights    *[Size]int8
	scale      float64
	bias       float64
	thresholds [3]float64 // by Point
}

// A Score is the result for a text.
type Score struct {
	// Value is from 0 to 1; higher means more like an injection. It is no
	// probability: compare it to a threshold.
	Value float64
	// Sum is the sum of the strongest window's weights, from which Value is computed.
	Sum int32
	// Window is where the strongest window begins and ends in the text, in bytes.
	Window [2]int
	// Tokens is the number of words that were scored.
	Tokens int
	// Truncated says that the text is longer than MaxBytes or MaxTokens, and that
	// the rest was not scored.
	Truncated bool
}

// Threshold returns the value from which a text counts as an injection at p. It is 0
// for a model that is unavailable and for an unknown point.
func (m *Model) Threshold(p Point) float64 {
	if m == nil || m.weights == nil || int(p) >= len(m.thresholds) {
		return 0
	}
	return m.thresholds[p]
}

// Score scores a text. The error is ErrUnavailable, and then there is no score.
// A text without words has the value 0.
func (m *Model) Score(text string) (Score, error) {
	if m == nil || m.weights == nil {
		return Score{}, ErrUnavailable
	}
	var s Score
	if len(text) > MaxBytes {
		text, s.Truncated = text[:MaxBytes], true
	}
	if r := (reader{text: text}); m.scan(&r, &s) {
		// What tag characters spell is another text within this one.
		m.scan(&reader{text: text, hidden: true}, &s)
	}
	if s.Tokens > 0 {
		s.Value = 1 / (1 + math.Exp(-(m.bias + m.scale*float64(s.Sum))))
	}
	if math.IsNaN(s.Value) {
		return Score{}, ErrUnavailable
	}
	return s, nil
}

// scan reads all words and raises the score to that of the strongest window. It
// reports whether the text has tag characters.
func (m *Model) scan(r *reader, s *Score) (tags bool) {
	var (
		h     history
		out   [most]Feature
		upTo  [reach + 1]int32
		begin [32]int // where the last words begin in the text, by word mod 32
		ws    windows
	)
	for n := 0; ; n++ {
		w, ok := r.next()
		if !ok {
			return r.tags
		}
		if s.Tokens == MaxTokens {
			s.Truncated = true
			return r.tags
		}
		// upTo[b] is the sum of the features that begin at most b words back.
		upTo = [reach + 1]int32{}
		for _, f := range out[:h.add(w, &out)] {
			upTo[f.Back&reach] += int32(m.weights[f.Index%Size])
		}
		sum := upTo[0]
		for b := 1; b <= reach; b++ {
			sum += upTo[b]
			upTo[b] = sum
		}
		begin[n&31] = w.start
		sum, first := ws.add(n, &upTo)
		if s.Tokens == 0 || sum > s.Sum {
			s.Sum, s.Window = sum, [2]int{begin[first&31], w.end}
		}
		s.Tokens++
	}
}

// windows has the sums of all runs of at most Window words that end at the last
// word. A feature can begin in the last few words only, so those runs are summed one
// by one. All older runs grow by the same amount. Of these, only the ones that can
// still become the maximum are kept, in falling order.
type windows struct {
	young      [8]int32 // of the last reach runs, by first word mod 8
	old        [32]int32
	first      [32]int // the first words of old
	head, tail int     // of old, mod 32
	grown      int32   // by which old has grown: it is kept without
}

// add takes word n and the sums of the features that end at it, and returns the
// strongest of the runs that end there and its first word.
func (ws *windows) add(n int, upTo *[reach + 1]int32) (top int32, first int) {
	ws.young[n&7] = 0
	top = math.MinInt32
	for b := range min(n+1, reach) {
		sum := ws.young[(n-b)&7] + upTo[b]
		ws.young[(n-b)&7] = sum
		if sum > top {
			top, first = sum, n-b
		}
	}
	if n < reach {
		return top, first
	}
	aged := ws.young[(n-reach)&7] - ws.grown
	ws.grown += upTo[reach]
	for ws.tail != ws.head && ws.old[(ws.tail-1)&31] <= aged {
		ws.tail--
	}
	ws.old[ws.tail&31], ws.first[ws.tail&31] = aged, n-reach
	ws.tail++
	if ws.first[ws.head&31] <= n-Window {
		ws.head++
	}
	if sum := ws.old[ws.head&31] + ws.grown; sum > top {
		top, first = sum, ws.first[ws.head&31]
	}
	return top, first
}
