package sanitize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"approver.example/display"
)

// A Detector finds what in a text speaks to a model. It looks at all of the text, or
// fails, as it does when ctx ends.
type Detector interface {
	Detect(ctx context.Context, text string) ([]Span, error)
}

// A Span is a part of a text, in bytes, that a detector found.
type Span struct {
	Start, End int
	Rule       string // its id
	What       string // in a few words
	// Sure says that the session is to be judged more strictly because of it; otherwise
	// it is only marked.
	Sure bool
}

// DefaultMaxBytes is how much text of one result is looked at.
const DefaultMaxBytes = 16 << 20

// MaxSpans is how many parts of one result are marked. Behind so many, everything to
// the end is one more.
const MaxSpans = 64

// A Sanitizer makes results fit to be read. The zero value has nothing that finds an
// attack, and fails.
type Sanitizer struct {
	Detectors []Detector
	// MaxBytes is how much text of one result is looked at; 0 is DefaultMaxBytes. What
	// is beyond is left out, and a note in its place says how much that is.
	MaxBytes int
}

// An Origin says where a text comes from.
type Origin struct {
	Tool string // its name
	From string // an address or a path; may be empty
	// ID is random, at least 8 letters and digits, and new for each result.
	ID string
	// Inline keeps the number of lines: the delimiters share the first and last one.
	Inline bool
}

// A Kind is what was found.
type Kind uint8

// The kinds. The zero value is an injection.
const (
	Injection Kind = iota
	Secret
	Unseen
	Delimiter // something in the text looked like a delimiter
	Cut       // text beyond MaxBytes
)

var kinds = [...]string{"injection", "secret", "unseen characters", "delimiter", "cut"}

// String returns the word; an unknown value is "injection".
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k]
	}
	return kinds[Injection]
}

// A Finding is one thing that was found, or several of a kind other than Injection.
type Finding struct {
	Kind  Kind
	Rule  string // of an injection
	What  string
	Text  string // of an injection: the text, at most maxQuote bytes of it
	Sure  bool
	Count int

	around string // the text with what stands beside it
}

const (
	maxQuote = 2 << 10
	// beside is how many bytes on each side belong to what an injection demands, in
	// the same paragraph.
	beside = 300
)

// A Result is what became of a text.
type Result struct {
	// Text is what is to be read; for JSON, a document of the same structure.
	Text string
	// Changed says that Text is another one than before.
	Changed  bool
	Findings []Finding
}

// Injected reports whether something speaks to a model, and whether that is sure.
func (r Result) Injected() (found, sure bool) {
	for _, f := range r.Findings {
		found = found || f.Kind == Injection
		sure = sure || f.Kind == Injection && f.Sure
	}
	return found, sure
}

// Taint is what the texts say of which the detectors are sure, with what stands beside
// them: a later call that does what they say is to be judged more strictly.
func (r Result) Taint() []string {
	var texts []string
	for _, f := range r.Findings {
		if f.Kind == Injection && f.Sure {
			texts = append(texts, f.around)
		}
	}
	return texts
}

// ErrNothingDetects is the failure of a Sanitizer without detectors.
var ErrNothingDetects = errors.New("nothing is there that finds injections")

// check says what is wrong with a sanitizer or an origin.
func (s Sanitizer) check(o Origin) error {
	if len(s.Detectors) == 0 {
		return ErrNothingDetects
	}
	return o.check()
}

func (o Origin) check() error {
	if len(o.ID) < 8 || strings.ContainsFunc(o.ID, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return errors.New("the id of a result is not 8 or more letters and digits")
	}
	return nil
}

func (s Sanitizer) limit() int {
	if s.MaxBytes > 0 {
		return s.MaxBytes
	}
	return DefaultMaxBytes
}

// Text makes a text fit to be read. It fails if ctx ends before that.
func (s Sanitizer) Text(ctx context.Context, o Origin, text string) (Result, error) {
	if err := s.check(o); err != nil {
		return Result{}, err
	}
	l := []leaf{{value: text, editable: true, wrap: true}}
	findings, err := s.leaves(ctx, o, l)
	if err != nil {
		return Result{}, err
	}
	return Result{Text: l[0].out, Changed: true, Findings: findings}, nil
}

// A leaf is one text of a result.
type leaf struct {
	start, end int // of its literal in the document
	value      string
	editable   bool
	wrap       bool
	out        string
}

// leaves looks at the texts of a result together, so that nothing hides by being
// divided among them, and writes what is to be read into each.
func (s Sanitizer) leaves(ctx context.Context, o Origin, all []leaf) ([]Finding, error) {
	cut, err := s.cut(all)
	if err != nil {
		return nil, err
	}
	spans, err := s.detect(ctx, all)
	if err != nil {
		return nil, err
	}
	var t tally
	at := 0
	for i := range all {
		l := &all[i]
		mine := within(spans, at, at+len(l.value))
		at += len(l.value) + len(separator)
		if l.editable {
			l.out = render(o, l, mine, &t)
			if left := cut[i]; left > 0 {
				l.out += fmt.Sprintf("\n[TOOL_OUTPUT_CUT id=%s: %d bytes behind this were not checked and are left out; ask "+
					"for a smaller part of it]", o.ID, left)
			}
		}
	}
	findings := quoted(all, spans)
	return append(findings, t.findings(cut)...), nil
}

// separator stands between the texts of a result where they are looked at together.
const separator = "\n"

// cut shortens what is beyond the limit, and returns how many bytes of each leaf.
func (s Sanitizer) cut(all []leaf) (left map[int]int, err error) {
	room := s.limit()
	for i := range all {
		l := &all[i]
		if len(l.value) > room {
			if !l.editable {
				return nil, fmt.Errorf("the result has more than %d bytes, and what is beyond cannot be left out", s.limit())
			}
			keep := room
			for keep > 0 && !utf8.RuneStart(l.value[keep]) {
				keep--
			}
			if left == nil {
				left = map[int]int{}
			}
			left[i] = len(l.value) - keep
			l.value, l.wrap = l.value[:keep], true
		}
		room -= len(l.value)
	}
	return left, nil
}

// A tally counts what is not an injection.
type tally struct{ secrets, unseen, delimiters int }

func (t tally) findings(cut map[int]int) []Finding {
	var out []Finding
	add := func(k Kind, n int, what string) {
		if n > 0 {
			out = append(out, Finding{Kind: k, What: what, Count: n})
		}
	}
	add(Secret, t.secrets, "what looks like a secret was replaced")
	add(Unseen, t.unseen, "characters that nobody sees were named")
	add(Delimiter, t.delimiters, "what looks like a delimiter of results was broken up")
	left := 0
	for _, n := range cut {
		left += n
	}
	add(Cut, left, "bytes were not checked and left out")
	return out
}

// render writes one text as it is to be read.
func render(o Origin, l *leaf, spans []Span, t *tally) string {
	edits := display.Secrets(l.value)
	t.secrets += len(edits)
	unseen := display.Unseen(l.value)
	t.unseen += len(unseen)
	fakes := delimiters(l.value)
	t.delimiters += len(fakes)
	// Of two that overlap the secret comes first, so that none is left of it.
	edits = outside(outside(edits, unseen), fakes)
	if len(edits) == 0 && len(spans) == 0 && !l.wrap {
		return l.value
	}
	w := writer{value: l.value, edits: edits}
	w.b.Grow(len(l.value) + 256 + 160*len(spans) + 32*len(edits))
	if l.wrap {
		w.b.WriteString(o.opening())
	}
	for _, s := range spans {
		w.upTo(s.Start)
		w.b.WriteString(o.suspect(s))
		w.upTo(s.End)
		w.b.WriteString("[/TOOL_OUTPUT_SUSPECT id=" + o.ID + "]")
	}
	w.upTo(len(l.value))
	if l.wrap {
		w.b.WriteString(o.closing(strings.HasSuffix(l.value, "\n")))
	}
	if len(spans) == 0 {
		return w.b.String()
	}
	// A mark within a word makes two of it, and one may be a secret, or begin with a
	// character that joined them.
	again := writer{value: w.b.String(), edits: display.Secrets(w.b.String())}
	t.secrets += len(again.edits)
	again.edits = outside(again.edits, display.Unseen(again.value))
	again.upTo(len(again.value))
	return again.b.String()
}

// outside adds replacements to those that are there, where they do not overlap them.
func outside(have, more []display.Replacement) []display.Replacement {
	if len(have) == 0 {
		return more
	}
	n := len(have)
	for _, m := range more {
		i, hit := slices.BinarySearchFunc(have[:n], m.Start, func(r display.Replacement, at int) int { return r.Start - at })
		if hit || i > 0 && have[i-1].End > m.Start || i < n && have[i].Start < m.End {
			continue
		}
		have = append(have, m)
	}
	return display.Apart(have)
}

// A writer writes a text with its replacements.
type writer struct {
	b     strings.Builder
	value string
	edits []display.Replacement
	at    int
}

// upTo writes up to a place of the text; a replacement that begins before it is
// written whole.
func (w *writer) upTo(to int) {
	for len(w.edits) > 0 && w.edits[0].Start < to {
		e := w.edits[0]
		w.edits = w.edits[1:]
		w.b.WriteString(w.value[w.at:e.Start])
		w.b.WriteString(e.By)
		w.at = e.End
	}
	if to > w.at {
		w.b.WriteString(w.value[w.at:to])
		w.at = to
	}
}
