package sanitize

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"approver.example/display"
)

// joined is the texts as one.
func joined(all []leaf) string {
	if len(all) == 1 {
		return all[0].value
	}
	var b strings.Builder
	for i := range all {
		if i > 0 {
			b.WriteString(separator)
		}
		b.WriteString(all[i].value)
	}
	return b.String()
}

// detect asks every detector, and returns the findings in the order of the text, without
// overlaps.
func (s Sanitizer) detect(ctx context.Context, all []leaf) ([]Span, error) {
	text := joined(all)
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var spans []Span
	for _, d := range s.Detectors {
		found, err := d.Detect(ctx, text)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("look for injections: %w", err)
		}
		for _, f := range found {
			f.Start, f.End = wholeWords(text, display.RuneBoundary(text, f.Start), display.RuneBoundary(text, f.End))
			if f.Start < f.End {
				spans = append(spans, f)
			}
		}
	}
	spans = merged(spans)
	if len(spans) > MaxSpans {
		rest := spans[MaxSpans]
		rest.End, rest.What = len(text), "and more like it, to the end"
		for _, f := range spans[MaxSpans:] {
			rest.Sure = rest.Sure || f.Sure
		}
		spans = append(spans[:MaxSpans:MaxSpans], rest)
	}
	return spans, nil
}

// wholeWords widens a part of a text to whole words, if their ends are near, and trims
// space at both ends.
func wholeWords(text string, start, end int) (int, int) {
	const far = 48
	if start >= end {
		return start, end
	}
	if i := strings.LastIndexAny(text[max(0, start-far):start], " \t\r\n"); i >= 0 {
		start = max(0, start-far) + i + 1
	} else if start <= far {
		start = 0
	}
	rest := text[end:min(len(text), end+far)]
	if i := strings.IndexAny(rest, " \t\r\n"); i >= 0 {
		end += i
	} else if end+len(rest) == len(text) {
		end = len(text)
	}
	inner := text[start:end]
	start += len(inner) - len(strings.TrimLeft(inner, " \t\r\n"))
	end -= len(inner) - len(strings.TrimRight(inner, " \t\r\n"))
	return start, max(start, end)
}

// mergeGap is the distance in bytes up to which two findings are merged.
const mergeGap = 24

// merged joins findings that overlap or are close together. The result has the names of
// all their rules.
func merged(spans []Span) []Span {
	slices.SortStableFunc(spans, func(a, b Span) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	var out []Span
	for _, s := range spans {
		if n := len(out); n > 0 && s.Start <= out[n-1].End+mergeGap {
			last := &out[n-1]
			last.End = max(last.End, s.End)
			last.Sure = last.Sure || s.Sure
			if !strings.Contains("+"+last.Rule+"+", "+"+s.Rule+"+") && len(last.Rule) < 32 {
				last.Rule, last.What = last.Rule+"+"+s.Rule, last.What+", "+s.What
			}
			continue
		}
		out = append(out, s)
	}
	return out
}

// within returns the parts of spans inside a leaf, with offsets in the leaf.
func within(spans []Span, from, to int) []Span {
	var out []Span
	for _, s := range spans {
		if s.Start < to && s.End > from {
			s.Start, s.End = max(s.Start, from)-from, min(s.End, to)-from
			out = append(out, s)
		}
	}
	return out
}

// findingsOf makes findings of spans.
func findingsOf(all []leaf, spans []Span) []Finding {
	if len(spans) == 0 {
		return nil
	}
	text := joined(all)
	out := make([]Finding, 0, len(spans))
	for _, s := range spans {
		end := display.RuneBoundary(text, min(s.End, s.Start+maxQuote))
		from, to := paragraph(text, s.Start, end)
		out = append(out, Finding{Kind: Injection, Rule: s.Rule, What: s.What, Text: text[s.Start:end], Sure: s.Sure,
			Count: 1, context: text[from:to]})
	}
	return out
}

// paragraph widens a part of a text to its context in the same paragraph.
func paragraph(text string, start, end int) (int, int) {
	from, to := display.RuneBoundary(text, start-contextBytes), display.RuneBoundary(text, end+contextBytes)
	if i := strings.LastIndex(text[from:start], "\n\n"); i >= 0 {
		from += i
	}
	if i := strings.Index(text[end:to], "\n\n"); i >= 0 {
		to = end + i
	}
	return from, to
}
