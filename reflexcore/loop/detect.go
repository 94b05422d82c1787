package loop

import (
	"fmt"
	"slices"
	"strings"
)

// Of these loops there is only one at a time. Of alternating calls, pairs and triples overlap, so
// one report is enough for all.
const (
	inTurn uint64 = iota + 1
	byReading
	inWalls
)

// A history is the finished calls of a window.
type history struct {
	calls  []Call
	fresh  []bool // a call that was not made before in the window
	anew   int    // index after the last new edit that succeeded: what was before is over
	limits Limits
}

func newHistory(calls []Call, l Limits) *history {
	h := &history{limits: l}
	seen := map[uint64]bool{}
	for _, c := range calls {
		if !c.Done {
			continue // it did not run, so it says nothing
		}
		h.calls = append(h.calls, c)
		h.fresh = append(h.fresh, !seen[c.Hash])
		if c.Kind == Edit && !c.Failed && !seen[c.Hash] {
			h.anew = len(h.calls)
		}
		seen[c.Hash] = true
	}
	if over := len(h.calls) - l.Window; over > 0 {
		h.calls, h.fresh, h.anew = h.calls[over:], h.fresh[over:], max(0, h.anew-over)
	}
	return h
}

// thresholdFor returns a higher threshold if some of the calls wait: polling repeats itself.
func thresholdFor(need int, waits bool) (threshold, step int) {
	if waits {
		return 3 * need, need
	}
	return need, 1
}

// same reports whether two calls, and their results, are the same.
func same(a, b *Call) bool { return a.Hash == b.Hash && a.Result == b.Result && a.Failed == b.Failed }

// repeat finds one call that is made several times in a row with the same result.
func repeat(h *history, now Call) sign {
	n := 0
	last := len(h.calls) - 1
	for i := last; i >= 0 && h.calls[i].Hash == now.Hash && same(&h.calls[i], &h.calls[last]); i-- {
		n++
	}
	if n == 0 {
		return sign{}
	}
	s := sign{rule: "loop.repeat", loop: now.Hash, count: n, since: h.calls[len(h.calls)-n].Seq}
	s.need, s.step = thresholdFor(h.limits.Repeat, now.Kind == Wait)
	what := "brought the same result"
	if h.calls[last].Failed {
		what = "failed in the same way"
	}
	s.reason = fmt.Sprintf("this %s call has %s %s in a row, since call %d: it will do so again, so find out why and "+
		"change something first, or try another way", now.Tool, what, times(n), s.since)
	return s
}

// alternate finds two calls that alternate without any change.
func alternate(h *history, now Call) sign {
	c := h.calls
	n := len(c)
	if n < 4 || c[n-2].Hash != now.Hash || c[n-1].Hash == now.Hash || c[n-1].Kind == Wait || now.Kind == Wait {
		return sign{}
	}
	i := n - 1
	for i >= 2 && same(&c[i], &c[i-2]) {
		i--
	}
	// From i-1 on, each call equals the one before the last.
	first := i - 1
	pairs := (n - first) / 2
	return sign{
		rule: "loop.alternate", loop: inTurn, count: pairs, need: max(2, h.limits.Grams-1), since: c[max(0, first)].Seq,
		reason: fmt.Sprintf("%s and %s have taken turns %s since call %d and nothing has changed: stop, say what the two "+
			"are to achieve, and do something else", c[n-1].Tool, now.Tool, times(pairs), c[max(0, first)].Seq),
	}
}

// grams finds two or three calls that repeat in the same order with the same results since the last
// edit. Other calls may be in between. New calls in between weaken the sign: two of them cancel one
// repetition.
func grams(h *history, now Call) sign {
	var best sign
	for n := 2; n <= 3; n++ {
		if s := gram(h, now, n); s.score() > best.score() {
			best = s
		}
	}
	return best
}

func gram(h *history, now Call, n int) sign {
	c := h.calls
	tail := len(c) - (n - 1) // the present gram is c[tail:] and the call itself
	if tail < h.anew {
		return sign{}
	}
	constant, waits := true, now.Kind == Wait
	names := make([]string, 0, n)
	for _, x := range c[tail:] {
		constant = constant && x.Hash == now.Hash
		waits = waits || x.Kind == Wait
		names = append(names, x.Tool)
	}
	if constant {
		return sign{}
	}
	count, news, since := 1, 0, tail
	var ended *Call // how the last call of the gram came out
	for i := tail - n; i >= h.anew; {
		if !h.occurs(i, tail, n, now, ended) {
			if h.fresh[i+n-1] && !c[i+n-1].Failed {
				news++
			}
			i--
			continue
		}
		ended, since = &c[i+n-1], i
		count++
		i -= n
	}
	if count == 1 {
		return sign{}
	}
	s := sign{rule: "loop.ngram", loop: inTurn, count: count, since: c[since].Seq}
	s.need, s.step = thresholdFor(h.limits.Grams, waits)
	s.need += h.between(since, tail, news) / 2
	s.reason = fmt.Sprintf("the same %d calls (%s) come for the %s time since call %d, with the same results: going on "+
		"so changes nothing, so look at what they showed and take another step", n,
		strings.Join(append(names, now.Tool), ", "), ordinal(count), s.since)
	return s
}

// between returns how many of the new calls lie between the repetitions.
func (h *history) between(since, tail, news int) int {
	n := 0
	for i := since; i < tail; i++ {
		if h.fresh[i] && !h.calls[i].Failed {
			n++
		}
	}
	return min(n, news)
}

// occurs reports whether the gram begins at i.
func (h *history) occurs(i, tail, n int, now Call, ended *Call) bool {
	for j := range n - 1 {
		if !same(&h.calls[i+j], &h.calls[tail+j]) {
			return false
		}
	}
	last := &h.calls[i+n-1]
	return last.Hash == now.Hash && (ended == nil || same(last, ended))
}

func ordinal(n int) string {
	switch {
	case n%100 >= 11 && n%100 <= 13:
	case n%10 == 1:
		return fmt.Sprintf("%dst", n)
	case n%10 == 2:
		return fmt.Sprintf("%dnd", n)
	case n%10 == 3:
		return fmt.Sprintf("%drd", n)
	}
	return fmt.Sprintf("%dth", n)
}

// spiral finds different calls that fail with the same error. Each new edit in between shows a new
// idea and cancels one attempt. A successful similar call ends the spiral.
func spiral(h *history, now Call) sign {
	if now.Kind == Read {
		return sign{} // looking for the cause is what helps
	}
	var tries []Call
	edits, pause := 0, 0
	var code uint64
	for i := len(h.calls) - 1; i >= 0; i-- {
		c := h.calls[i]
		switch {
		case code == 0 && (!c.Failed || c.Error == 0):
			if c.Kind == Edit && !c.Failed && h.fresh[i] {
				edits++
			}
			if pause++; pause > 3 {
				return sign{}
			}
		case c.Failed && c.Error != 0 && (code == 0 || c.Error == code):
			code = c.Error
			if differs(c, tries) {
				tries = append(tries, c)
			}
			pause = 0
		case !c.Failed && c.Kind == Edit && h.fresh[i]:
			edits++
		case !c.Failed && c.Kind != Read && near(c, tries):
			i = 0
		default:
			if pause++; pause > 6 {
				i = 0
			}
		}
	}
	if len(tries) == 0 || now.Kind == Edit && tries[0].Kind != Edit {
		return sign{}
	}
	since := tries[len(tries)-1].Seq
	return sign{
		rule: "loop.spiral", loop: code, count: len(tries) - edits, need: h.limits.Spiral, since: since,
		reason: fmt.Sprintf("%d different calls since call %d failed with the same error: the cause is not in how the "+
			"command is written, so read the error, check what it names, and say what you know before you try again", len(tries),
			since),
	}
}

const (
	apart  = 0.1 // from this distance on, two calls are two tries
	alike  = 0.5 // up to this distance, a success is one of what was tried
	farOff = 1.0
)

// differs reports whether a call is a different attempt than the ones before.
func differs(c Call, tries []Call) bool {
	return !slices.ContainsFunc(tries,
		func(t Call) bool { return t.Hash == c.Hash || distance(c.Words, t.Words) < apart })
}

func near(c Call, tries []Call) bool {
	return slices.ContainsFunc(tries, func(t Call) bool { return distance(c.Words, t.Words) <= alike })
}

// distance returns the edit distance in words, relative to the longer call: 0 is equal, 1 has
// nothing in common.
func distance(a, b []uint16) float64 {
	if len(a) == 0 && len(b) == 0 {
		return 0
	}
	var rows [2][maxWords + 1]int
	prev, cur := &rows[0], &rows[1]
	for j := range len(b) + 1 {
		prev[j] = j
	}
	for i := range a {
		cur[0] = i + 1
		for j := range b {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			cur[j+1] = min(prev[j]+change, prev[j+1]+1, cur[j]+1)
		}
		prev, cur = cur, prev
	}
	return min(farOff, float64(prev[len(b)])/float64(max(len(a), len(b))))
}

// reads finds a row of reads that bring nothing new. A new one cancels two repeated ones.
func reads(h *history, now Call) sign {
	if now.Kind != Read {
		return sign{}
	}
	first := len(h.calls)
	for first > 0 && h.calls[first-1].Kind == Read {
		first--
	}
	results := map[uint64]bool{}
	stale, since := 0, uint64(0)
	for i := first; i < len(h.calls); i++ {
		c := &h.calls[i]
		if h.seen(i) || results[c.Result] {
			if stale++; stale == 1 {
				since = c.Seq
			}
		} else {
			stale = max(0, stale-2)
		}
		results[c.Result] = true
	}
	return sign{
		rule: "loop.read_spiral", loop: byReading, count: stale, need: h.limits.Reads, step: 2, since: since,
		reason: fmt.Sprintf("%d looks since call %d brought nothing that was not seen before: the answer is not there, so "+
			"say what is missing, then change something or ask the user", stale, since),
	}
}

// seen reports whether the same call was made before with the same result.
func (h *history) seen(i int) bool {
	for j := h.anew; j < i; j++ {
		if same(&h.calls[j], &h.calls[i]) {
			return true
		}
	}
	return false
}

// smallOutput is the size up to which the entropy of an output means nothing.
const smallOutput = 64

// entropy finds outputs that are large, repetitive and similar to each other.
func entropy(h *history, _ Call) sign {
	from := max(0, len(h.calls)-h.limits.Outputs)
	size, bits, n := 0, 0, 0
	shapes := map[uint64]bool{}
	for _, c := range h.calls[from:] {
		if c.Size < smallOutput {
			continue
		}
		n++
		weight := min(c.Size, maxSample)
		size += weight
		bits += weight * c.Bits
		shapes[c.Shape] = true
	}
	if n == 0 || n < h.limits.Outputs*3/4 || len(shapes) > n/2 || bits/size >= h.limits.Entropy {
		return sign{}
	}
	mean := bits / size
	return sign{
		rule: "loop.entropy", loop: inWalls, count: 1, need: 1, since: h.calls[from].Seq,
		reason: fmt.Sprintf("the last %d outputs are walls of the same text (%d.%d bits for each byte): print less, and "+
			"look for what is different", n, mean/1000, mean%1000/100),
	}
}
