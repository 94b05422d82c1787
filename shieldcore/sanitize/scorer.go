package sanitize

import (
	"context"
	"errors"
	"fmt"
)

// A Score is what a model makes of a text: its strongest window, in bytes.
type Score struct {
	Value      float64
	Start, End int
	// Truncated says that not all of the text was looked at.
	Truncated bool
}

// A Scorer is a Detector on a model that finds the strongest window of a text, such as
// that of package classifier. What lies before and behind a window that it found is
// looked at again, until nothing more is found.
type Scorer struct {
	Score func(text string) (Score, error)
	// Mark and Sure are the values from which on a window is marked, and from which on
	// that is sure. A Mark of 0 is a model that is not there, and fails.
	Mark, Sure float64
	Rule       string
}

const (
	// scorerPiece is what is scored together: never more words than a model takes.
	scorerPiece   = 96 << 10
	scorerOverlap = 4 << 10
)

// Detect implements [Detector].
func (s Scorer) Detect(ctx context.Context, text string) ([]Span, error) {
	if s.Score == nil || !(s.Mark > 0) || s.Sure < s.Mark {
		return nil, errors.New("there is no model")
	}
	var spans []Span
	for from := 0; from < len(text); {
		to := runeStart(text, from+scorerPiece)
		var err error
		if spans, err = s.search(ctx, spans, text, from, to); err != nil {
			return nil, err
		}
		if to == len(text) {
			break
		}
		from = runeStart(text, to-scorerOverlap)
	}
	return spans, nil
}

// search finds the windows in a part of a text. The strongest comes first, so that
// what is left out for their number is the weaker: that part is then one window.
func (s Scorer) search(ctx context.Context, spans []Span, text string, from, to int) ([]Span, error) {
	type part struct{ from, to int }
	for parts := []part{{from, to}}; len(parts) > 0; parts = parts[1:] {
		p := parts[0]
		if p.to-p.from < shortest {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		found, err := s.Score(text[p.from:p.to])
		switch {
		case err != nil:
			return nil, err
		case found.Truncated:
			return nil, errors.New("the model looked at a part of the text only")
		case !(found.Value >= s.Mark): // NaN is none
			if found.Value < s.Mark {
				continue
			}
			return nil, errors.New("the model's score is no number")
		}
		span := Span{Start: p.from + found.Start, End: p.from + found.End, Rule: s.Rule,
			What: fmt.Sprintf("scored %.2f as a text that gives orders to a model", found.Value), Sure: found.Value >= s.Sure}
		if span.Start < p.from || span.End > p.to || span.Start >= span.End || len(spans) >= MaxSpans {
			span.Start, span.End = p.from, p.to
			spans = append(spans, span)
			continue
		}
		spans = append(spans, span)
		parts = append(parts, part{p.from, span.Start}, part{span.End, p.to})
	}
	return spans, nil
}

// shortest is a text in bytes that is too short to give an order.
const shortest = 8
