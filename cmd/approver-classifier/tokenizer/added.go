package tokenizer

import (
	"encoding/json"
	"strings"
	"unicode"
)

// An added token is found in the original text, before the model runs. So a text with
// "[SEP]" in it contains that token, as in the reference implementation.
type added struct {
	content     string
	id          int
	left, right bool // takes the white space beside it
	normalized  bool // is looked for in the normalized text
}

const maxAdded = 10_000

func (l *loader) added(at string, raw json.RawMessage, m model, normalize normalizer) (verbatim, normalized []added,
	err error) {
	var list []json.RawMessage
	if !absent(raw) {
		if err := decode(at, raw, &list); err != nil {
			return nil, nil, err
		}
	}
	if len(list) > maxAdded {
		return nil, nil, wrong(at, "there are %d tokens: at most %d are possible", len(list), maxAdded)
	}
	for i, raw := range list {
		at := index(at, i)
		var a added
		var single, special bool
		err := object(at, raw, keys{
			"id": need(&a.id), "content": need(&a.content), "single_word": need(&single), "lstrip": need(&a.left),
			"rstrip":     need(&a.right),
			"normalized": need(&a.normalized), "special": need(&special),
		})
		known, inVocab := m.id(a.content)
		switch {
		case err != nil:
			return nil, nil, err
		case single:
			return nil, nil, wrong(at+".single_word", "it is true, which is not known here")
		case a.content == "" || a.id < 0 || a.id > maxVocab+maxAdded:
			return nil, nil, wrong(at, "a token needs a content, and an id from 0 to %d", maxVocab+maxAdded)
		case inVocab && known != a.id:
			return nil, nil, wrong(at+".id", "it is %d, and the vocabulary has %d for %q", a.id, known, clip(a.content))
		case !inVocab && a.id < m.size():
			return nil, nil, wrong(at+".id", "it is %d, which the vocabulary has for another piece than %q", a.id,
				clip(a.content))
		}
		if !a.normalized {
			verbatim = append(verbatim, a)
			continue
		}
		if a.content = normalize(a.content); a.content != "" {
			normalized = append(normalized, a)
		}
	}
	return verbatim, normalized, nil
}

// A part is a piece of text, or an added token in it.
type part struct {
	text  string
	id    int // of the token; none if negative
	first bool
}

// cut splits a text at added tokens: the leftmost first, and the longest of those that
// begin at the same place.
func cut(text string, first bool, tokens []added) (parts []part) {
	if len(tokens) == 0 {
		return []part{{text, -1, first}}
	}
	var starts [256]bool
	for _, a := range tokens {
		starts[a.content[0]] = true
	}
	start := 0
	for i := 0; i < len(text); {
		a := longestAt(text[i:], tokens, &starts)
		if a == nil {
			i++
			continue
		}
		from, to := i, i+len(a.content)
		if a.left {
			from = max(start, len(strings.TrimRightFunc(text[:i], unicode.IsSpace)))
		}
		if a.right {
			to = len(text) - len(strings.TrimLeftFunc(text[to:], unicode.IsSpace))
		}
		if from > start {
			parts = append(parts, part{text[start:from], -1, first && start == 0})
		}
		parts = append(parts, part{text[from:to], a.id, false})
		start, i = to, to
	}
	if start < len(text) {
		parts = append(parts, part{text[start:], -1, first && start == 0})
	}
	return parts
}

func longestAt(text string, tokens []added, starts *[256]bool) (found *added) {
	if !starts[text[0]] {
		return nil
	}
	for i := range tokens {
		if a := &tokens[i]; strings.HasPrefix(text, a.content) && (found == nil || len(a.content) > len(found.content)) {
			found = a
		}
	}
	return found
}
