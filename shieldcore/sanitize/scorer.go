package sanitize

import (
	"context"
	"errors"
	"fmt"

	"approver.example/display"
)

// A Score is a model's score of a text and its strongest window, in bytes.
type Score struct {
	Value      float64
	Start, End int
	// Truncated says that only a part of the text was scored.
	Truncated bool
}

// A Scorer is a Detector that uses a model, such as that of package classifier, to find
// the strongest window of a text. It scores the text before and after a found window
// again, until it finds nothing more.
type Scorer struct {
	Score func(text string) (Score, error)
	// Mark is the value from which a window is marked, and Sure the value from which the
	// finding is sure. With a Mark of 0, Detect fails.
	Mark, Sure float64
	Rule       string
}

const (
	// scorerPiece bounds the text that is scored at once to what a model takes.
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
		to := display.RuneBoundary(text, from+scorerPiece)
		var err error
		if spans, err = s.search(ctx, spans, text, from, to); err != nil {
			return nil, err
		}
		if to == len(text) {
			break
		}
		from = display.RuneBoundary(text, to-scorerOverlap)
	}
	return spans, nil
}

// search finds the windows in a part of a text, the strongest first. After MaxSpans
// windows, each remaining part with a finding becomes one window.
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
