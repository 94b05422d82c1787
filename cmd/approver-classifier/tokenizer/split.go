package tokenizer

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// A splitter is a pre-tokenizer: it splits a text into words. first tells
// whether s is the start of the whole text.
type splitter func(s string, first bool) []string

// splitter reads a pre-tokenizer, or nil for none.
func (l *loader) splitter(at string, raw json.RawMessage) (splitter, error) {
	if absent(raw) {
		return func(s string, _ bool) []string { return []string{s} }, nil
	}
	kind, err := kindOf(at, raw)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "Sequence":
		return l.splitters(at, raw)
	case "Metaspace":
		return metaspace(at, raw)
	case "BertPreTokenizer", "WhitespaceSplit":
		if err := object(at, raw, keys{"type": nil}); err != nil {
			return nil, err
		}
		if kind == "WhitespaceSplit" {
			return func(s string, _ bool) []string { return strings.Fields(s) }, nil
		}
		return l.classes.bertWords, nil
	case "Punctuation":
		behavior := "Isolated"
		if err := object(at, raw, keys{"type": nil, "behavior": may(&behavior)}); err != nil {
			return nil, err
		}
		if behavior != "Isolated" {
			return nil, wrong(at+".behavior", "%q is not known: Isolated is", behavior)
		}
		return func(s string, _ bool) []string { return l.classes.isolated(s) }, nil
	}
	return nil, unknown(at, "pre-tokenizer", kind, "BertPreTokenizer, Metaspace, WhitespaceSplit, Punctuation, Sequence")
}

func (l *loader) splitters(at string, raw json.RawMessage) (splitter, error) {
	all, err := sequence(at, raw, "pretokenizers", l.splitter)
	if err != nil {
		return nil, err
	}
	return func(s string, first bool) []string {
		words := []string{s}
		for _, split := range all {
			var next []string
			for i, w := range words {
				next = append(next, split(w, first && i == 0)...)
			}
			words = next
		}
		return words
	}, nil
}

// bertWords splits at white space and around each punctuation character.
func (c *classes) bertWords(s string, _ bool) (words []string) {
	for _, w := range strings.Fields(s) {
		words = append(words, c.isolated(w)...)
	}
	return words
}

// isolated splits around each punctuation character.
func (c *classes) isolated(s string) (words []string) {
	start := 0
	for i, r := range s {
		if !c.punctuation.has(r) {
			continue
		}
		if i > start {
			words = append(words, s[start:i])
		}
		start = i + utf8.RuneLen(r)
		words = append(words, s[i:start])
	}
	if start < len(s) {
		words = append(words, s[start:])
	}
	return words
}

// metaspace replaces blanks by a visible character, puts one before the text and
// splits before each.
func metaspace(at string, raw json.RawMessage) (splitter, error) {
	var replacement string
	var scheme, old *string
	var prefix, split *bool
	err := object(at, raw, keys{
		"type": nil, "replacement": need(&replacement), "prepend_scheme": may(&scheme), "add_prefix_space": may(&prefix),
		"split": may(&split), "str_rep": may(&old),
	})
	if err != nil {
		return nil, err
	}
	if utf8.RuneCountInString(replacement) != 1 || old != nil && *old != replacement {
		return nil, wrong(at+".replacement", "it must be one character, the same as str_rep where there is one")
	}
	// Files of older versions have add_prefix_space alone.
	how := "always"
	if prefix != nil && !*prefix {
		how = "never"
	}
	if scheme != nil {
		if how = *scheme; prefix != nil && *prefix != (how != "never") {
			return nil, wrong(at+".add_prefix_space", "it contradicts prepend_scheme %q", how)
		}
	}
	if how != "always" && how != "first" && how != "never" {
		return nil, wrong(at+".prepend_scheme", "%q is not known: always, first or never", how)
	}
	return func(s string, first bool) []string {
		s = strings.ReplaceAll(s, " ", replacement)
		if (how == "always" || how == "first" && first) && !strings.HasPrefix(s, replacement) {
			s = replacement + s
		}
		if split != nil && !*split {
			return []string{s}
		}
		return before(s, replacement)
	}, nil
}

// before splits s before each mark.
func before(s, mark string) (words []string) {
	for s != "" {
		_, n := utf8.DecodeRuneInString(s)
		end := len(s)
		if i := strings.Index(s[n:], mark); i >= 0 {
			end = n + i
		}
		words = append(words, s[:end])
		s = s[end:]
	}
	return words
}
