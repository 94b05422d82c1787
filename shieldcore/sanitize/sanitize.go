package sanitize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"approver.example/display"
)

// A Detector finds injections in a text. It searches the whole text or fails, for example
// when ctx ends.
type Detector interface {
	Detect(ctx context.Context, text string) ([]Span, error)
}

// A Span is a part of a text, in bytes, that a detector found.
type Span struct {
	Start, End int
	Rule       string // its id
	What       string // in a few words
	// Sure means that later calls of the session are judged more strictly. Otherwise the
	// part is only marked.
	Sure bool
}

// DefaultMaxBytes is the default of Sanitizer.MaxBytes.
const DefaultMaxBytes = 16 << 20

// MaxSpans is how many parts of one result are marked. After so many, the rest is one
// more part.
const MaxSpans = 64

// A Sanitizer makes results safe to read. The zero value has no detectors, and fails.
type Sanitizer struct {
	Detectors []Detector
	// MaxBytes bounds the text of one result; 0 is DefaultMaxBytes. A note replaces the
	// text beyond it and gives its length.
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

// A Kind is the kind of a finding.
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

// A Finding is one injection, or all findings of another kind.
type Finding struct {
	Kind  Kind
	Rule  string // of an injection
	What  string
	Text  string // of an injection: the text, at most maxQuote bytes of it
	Sure  bool
	Count int

	context string // the text with what stands beside it
}

const (
	maxQuote = 2 << 10
	// contextBytes is how many bytes of the same paragraph on each side belong to the
	// context of an injection.
	contextBytes = 300
)

// A Result is a sanitized text.
type Result struct {
	// Text is the sanitized text; for JSON, a document of the same structure.
	Text string
	// Changed says that Text differs from the original.
	Changed  bool
	Findings []Finding
}

// Injected reports whether there is an injection, and whether one is sure.
func (r Result) Injected() (found, sure bool) {
	for _, f := range r.Findings {
		found = found || f.Kind == Injection
		sure = sure || f.Kind == Injection && f.Sure
	}
	return found, sure
}

// Taint returns the sure injections with their context. A later call that does what they
// say is judged more strictly.
func (r Result) Taint() []string {
	var texts []string
	for _, f := range r.Findings {
		if f.Kind == Injection && f.Sure {
			texts = append(texts, f.context)
		}
	}
	return texts
}

// ErrNothingDetects is the failure of a Sanitizer without detectors.
var ErrNothingDetects = errors.New("nothing is there that finds injections")

// check validates a sanitizer and an origin.
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

// Text sanitizes a text. It fails if ctx ends.
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

// leaves searches the texts of a result together, so that an injection cannot hide by
// being divided among them. Then it sets the new text of each.
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
	findings := findingsOf(all, spans)
	return append(findings, t.findings(cut)...), nil
}

// separator joins the texts of a result for the detectors.
const separator = "\n"

// cut shortens the leaves beyond the limit, and returns how many bytes each lost.
func (s Sanitizer) cut(all []leaf) (left map[int]int, err error) {
	room := s.limit()
	for i := range all {
		l := &all[i]
		if len(l.value) > room {
			if !l.editable {
				return nil, fmt.Errorf("the result has more than %d bytes, and what is beyond cannot be left out", s.limit())
			}
			keep := display.RuneBoundary(l.value, room)
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

// A tally counts the findings that are not injections.
type tally struct{ secrets, invisible, delimiters int }

func (t tally) findings(cut map[int]int) []Finding {
	var out []Finding
	add := func(k Kind, n int, what string) {
		if n > 0 {
			out = append(out, Finding{Kind: k, What: what, Count: n})
		}
	}
	add(Secret, t.secrets, "what looks like a secret was replaced")
	add(Unseen, t.invisible, "characters that nobody sees were named")
	add(Delimiter, t.delimiters, "what looks like a delimiter of results was broken up")
	left := 0
	for _, n := range cut {
		left += n
	}
	add(Cut, left, "bytes were not checked and left out")
	return out
}

// render returns the sanitized form of one text.
func render(o Origin, l *leaf, spans []Span, t *tally) string {
	edits := display.Secrets(l.value)
	t.secrets += len(edits)
	unseen := display.Unseen(l.value)
	t.invisible += len(unseen)
	fakes := delimiters(l.value)
	t.delimiters += len(fakes)
	// If a secret and another finding overlap, the secret is replaced, so that nothing of it is left.
	edits = addApart(addApart(edits, unseen), fakes)
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
	// A mark inside a word splits it. One part may be a secret, or begin with a joining
	// character.
	again := writer{value: w.b.String(), edits: display.Secrets(w.b.String())}
	t.secrets += len(again.edits)
	again.edits = addApart(again.edits, display.Unseen(again.value))
	again.upTo(len(again.value))
	return again.b.String()
}

// addApart adds the replacements of more that do not overlap those of have.
func addApart(have, more []display.Replacement) []display.Replacement {
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

// upTo writes the text up to an offset. A replacement that begins before it is written
// completely.
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
