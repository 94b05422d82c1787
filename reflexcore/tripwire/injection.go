package tripwire

import (
	_ "embed"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"

	"approver.example/reflexcore/wordset"
)

// InjectionDetectors are the detectors of [Injection].
var InjectionDetectors = detectors("injection")

// A step is one element of a template: a word with one of the slots, within a number of words after
// the previous one.
type step struct {
	slots slot
	gap   int32
}

// A template is a sequence of slots that forms a directive, in each language of the lexicon.
type template struct {
	detector string
	strength float64
	steps    []step
}

// templatesText is the grammar, and templateCount its number of rows. The strength is a share of the
// detector's weight.
//
//go:embed templates.txt
var templatesText string

const templateCount = 79

var templates = func() (all [templateCount]template) {
	i := 0
	for of, words := range wordset.Table(templatesText) {
		detector, strength, _ := strings.Cut(of, " ")
		t := &all[i]
		t.detector = detector
		t.strength, _ = strconv.ParseFloat(strength, 64)
		gap := 0
		for word := range strings.FieldsSeq(words) {
			if most, isGap := strings.CutPrefix(word, "+"); isGap {
				gap, _ = strconv.Atoi(most)
				continue
			}
			slots := slotsOf(strings.ReplaceAll(word, "|", " "))
			t.steps = append(t.steps, step{slots, int32(gap)})
		}
		i++
	}
	return all
}()

// byFirst are the templates by the slots of their first step.
var byFirst = func() (t [64][]int) {
	for i := range templates {
		for s := templates[i].steps[0].slots; s != 0; s &= s - 1 {
			t[bit(s)] = append(t[bit(s)], i)
		}
	}
	return t
}()

func bit(s slot) int { return bits.TrailingZeros64(uint64(s)) }

var readers = sync.Pool{New: func() any { return new(reader) }}

// Bounds of the work on a text. Honest texts need less than a tenth of it.
const minWork, workPerHit = 1 << 16, 64

// maxText limits the text that is read: of a longer one the beginning and the end.
const maxText = 256 << 10

// Injection appends parts for directives in a text that speak to a model. factor is the weight of
// the text: less than 1 in tests and documents about such texts, more in files that agents obey.
func Injection(parts []Part, text string, factor float64) []Part {
	if len(text) > maxText {
		parts = Injection(parts, text[:maxText/2], factor)
		text = text[len(text)-maxText/2:]
	}
	r := readers.Get().(*reader)
	*r = reader{hits: r.hits[:0], found: r.found, word: r.word[:0], spaced: r.spaced[:0]}
	r.read(text)
	r.work = minWork + workPerHit*len(r.hits)
	if parts = r.judge(parts, text, factor); r.work < 0 {
		parts = add(parts, "dense", 1, "the text is full of words of directives, too many to be read")
	}
	readers.Put(r)
	return parts
}

// judge matches the templates.
func (r *reader) judge(parts []Part, text string, factor float64) []Part {
	r.found = r.found[:0]
	if len(r.hits) == 0 {
		return parts
	}
	var open [len(templates)]bool // templates of which all slots are somewhere in the text
	for i := range templates {
		open[i] = !slices.ContainsFunc(templates[i].steps, func(s step) bool { return r.seen&s.slots == 0 })
	}
	for i := range r.hits {
		done := [len(templates)]bool{}
		for s := r.hits[i].slot; s != 0; s &= s - 1 {
			for _, t := range byFirst[bit(s)] {
				if !open[t] || done[t] {
					continue
				}
				done[t] = true
				if last, ok := r.match(i, t); ok {
					r.note(sighting{templates[t].detector, r.strength(i, t), i, last, 0})
				}
			}
		}
	}
	for _, f := range r.found {
		what := fmt.Sprintf("%s (%q)", sees(f.detector), quote(text, int(r.hits[f.first].byte), int(r.hits[f.last].byte)))
		parts = add(parts, f.detector, (f.strength+(1-f.strength)*f.again/2)*factor, what)
	}
	return parts
}

// A sighting is where a detector found its strongest match, and how much it found in other places.
type sighting struct {
	detector    string
	strength    float64
	first, last int // hits
	again       float64
}

// minDistance is how many words must be between two directives that count separately.
const minDistance = 12

// note keeps the strongest sighting of each detector.
func (r *reader) note(s sighting) {
	for i := range r.found {
		f := &r.found[i]
		if f.detector != s.detector {
			continue
		}
		apart := r.hits[s.first].at-r.hits[f.last].at > minDistance
		switch {
		case s.strength > f.strength && apart:
			s.again = max(f.again, f.strength)
			*f = s
		case s.strength > f.strength:
			s.again = f.again
			*f = s
		case apart:
			f.again = max(f.again, s.strength)
		}
		return
	}
	r.found = append(r.found, s)
}

// strength returns the strength of a match of template t at hit i.
func (r *reader) strength(i, t int) float64 {
	strength := templates[t].strength
	if templates[t].steps[0].slots&not == 0 && r.negated(i) {
		strength *= 0.3
	}
	if r.discusses(i) {
		strength *= 0.6
	}
	return strength
}

// match finds the steps of template t after hit i. It looks at no pair of hit and step twice, and
// stops when the work for the text is used up.
func (r *reader) match(i, t int) (last int, ok bool) {
	r.failed = [len(r.failed)]uint64{}
	r.first = i
	return r.from(i, templates[t].steps, 1)
}

func (r *reader) from(i int, steps []step, k int) (last int, ok bool) {
	if k == len(steps) {
		return i, true
	}
	for j := i + 1; j < len(r.hits) && j-r.first < 64 && r.hits[j].at-r.hits[i].at <= steps[k].gap; j++ {
		if r.work--; r.work < 0 {
			return 0, false
		}
		if r.hits[j].slot&steps[k].slots == 0 || r.hits[j].at == r.hits[i].at || r.failed[k]&(1<<(j-r.first)) != 0 {
			continue
		}
		if last, ok = r.from(j, steps, k+1); ok {
			return last, true
		}
		r.failed[k] |= 1 << (j - r.first)
	}
	return 0, false
}

// negated reports whether a hit is negated, as in "never ignore".
func (r *reader) negated(i int) bool {
	for j := i - 1; j >= 0 && r.hits[i].at-r.hits[j].at <= 2; j-- {
		if r.hits[j].slot&not != 0 {
			return true
		}
	}
	return false
}

// discusses reports whether the text near a hit is about such texts, as a document on the subject
// is.
func (r *reader) discusses(i int) bool {
	if r.seen&topic == 0 {
		return false
	}
	const near = 40
	for j := i; j >= 0 && r.hits[i].at-r.hits[j].at <= near; j-- {
		if r.hits[j].slot&topic != 0 {
			return true
		}
	}
	return false
}

func sees(name string) string {
	for _, d := range InjectionDetectors {
		if d.Name == name {
			return d.Sees
		}
	}
	return name
}

// quote returns the text of a finding, shortened.
func quote(text string, from, to int) string {
	const most = 120
	from = min(from, len(text))
	end := min(max(to, from), from+most)
	if n := untilSpace(text[min(end, len(text)):]); n > 0 {
		end += min(n, 24)
	}
	return strings.ToValidUTF8(text[from:min(end, len(text))], "")
}
