package tokenizer

import (
	"encoding/json"
	"strings"
	"unicode"
)

// A normalizer changes a text before it is split.
type normalizer func(string) string

// normalizer reads a normalizer, or nil for none.
func (l *loader) normalizer(at string, raw json.RawMessage) (normalizer, error) {
	if absent(raw) {
		return func(s string) string { return s }, nil
	}
	kind, err := kindOf(at, raw)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "Sequence":
		return l.normalizers(at, raw)
	case "BertNormalizer":
		return l.bertNormalizer(at, raw)
	case "Precompiled":
		return l.precompiled(at, raw)
	case "Replace":
		return replaceNormalizer(at, raw)
	case "Strip":
		return stripNormalizer(at, raw)
	case "Prepend":
		var v struct{ Prepend string }
		if err := object(at, raw, keys{"type": nil, "prepend": need(&v.Prepend)}); err != nil {
			return nil, err
		}
		return func(s string) string {
			if s == "" {
				return s // as the reference implementation does
			}
			return v.Prepend + s
		}, nil
	case "NFD", "StripAccents", "Lowercase":
		if err := object(at, raw, keys{"type": nil}); err != nil {
			return nil, err
		}
		c := l.classes
		return map[string]normalizer{
			"NFD": c.nfd, "Lowercase": c.lower,
			"StripAccents": func(s string) string { return without(s, c.mark) },
		}[kind], nil
	}
	return nil,
		unknown(at, "normalizer", kind,
			"BertNormalizer, NFD, StripAccents, Lowercase, Strip, Replace, Prepend, Precompiled, Sequence")
}

func (l *loader) normalizers(at string, raw json.RawMessage) (normalizer, error) {
	all, err := sequence(at, raw, "normalizers", l.normalizer)
	if err != nil {
		return nil, err
	}
	return func(s string) string {
		for _, n := range all {
			s = n(s)
		}
		return s
	}, nil
}

// bertNormalizer is BERT's basic tokenizer up to the splitting: control
// characters go, white space becomes a blank, CJK ideographs stand alone, accents
// and case go.
func (l *loader) bertNormalizer(at string, raw json.RawMessage) (normalizer, error) {
	var clean, chinese, lower bool
	var accents *bool
	err := object(at, raw, keys{
		"type": nil, "clean_text": need(&clean), "handle_chinese_chars": need(&chinese), "strip_accents": may(&accents),
		"lowercase": need(&lower),
	})
	if err != nil {
		return nil, err
	}
	strip := lower // what null means
	if accents != nil {
		strip = *accents
	}
	c := l.classes
	return func(s string) string {
		if clean {
			s = c.clean(s)
		}
		if chinese {
			s = c.isolate(s)
		}
		if strip {
			s = without(c.nfd(s), c.nonspacing)
		}
		if lower {
			s = c.lower(s)
		}
		return s
	}, nil
}

func (c *classes) clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case c.control.has(r):
			return -1
		case c.space.has(r):
			return ' '
		}
		return r
	}, s)
}

// isolate puts blanks around each CJK ideograph.
func (c *classes) isolate(s string) string {
	var b strings.Builder
	for _, r := range s {
		if c.cjk.has(r) {
			b.WriteString(" " + string(r) + " ")
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func stripNormalizer(at string, raw json.RawMessage) (normalizer, error) {
	var left, right bool
	if err := object(at, raw, keys{"type": nil, "strip_left": need(&left), "strip_right": need(&right)}); err != nil {
		return nil, err
	}
	return func(s string) string {
		if left {
			s = strings.TrimLeftFunc(s, unicode.IsSpace)
		}
		if right {
			s = strings.TrimRightFunc(s, unicode.IsSpace)
		}
		return s
	}, nil
}

// manyBlanks is the one regular expression that tokenizers made from
// SentencePiece models have.
const manyBlanks = " {2,}"

func replaceNormalizer(at string, raw json.RawMessage) (normalizer, error) {
	var pattern json.RawMessage
	var content string
	if err := object(at, raw, keys{"type": nil, "pattern": need(&pattern), "content": need(&content)}); err != nil {
		return nil, err
	}
	var text, expression *string
	if err := object(at+".pattern", pattern, keys{"String": may(&text), "Regex": may(&expression)}); err != nil {
		return nil, err
	}
	switch {
	case text != nil && expression == nil && *text != "":
		return func(s string) string { return strings.ReplaceAll(s, *text, content) }, nil
	case text == nil && expression != nil && *expression == manyBlanks:
		return func(s string) string { return replaceBlanks(s, content) }, nil
	}
	return nil,
		wrong(at+".pattern", "it must be {\"String\": TEXT} or {\"Regex\": %q}: other expressions are not known here",
			manyBlanks)
}

// replaceBlanks replaces each run of two or more blanks.
func replaceBlanks(s, by string) string {
	var b strings.Builder
	for s != "" {
		i := strings.Index(s, "  ")
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		b.WriteString(by)
		s = strings.TrimLeft(s[i:], " ")
	}
	b.WriteString(s)
	return b.String()
}
