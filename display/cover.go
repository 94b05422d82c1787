package display

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// A cover hides the secrets of a call in each text that is made of it: a value that is hidden in
// one of them is hidden in all.
type cover struct {
	secrets map[string]bool
	kept    map[string]bool // they look like secrets, but people must see them
	long    []string        // the secrets that notes leaves out, the longest first
	notes   *strings.Replacer
}

// longSecret is the length in bytes from which a secret is replaced by itself: a [strings.Replacer]
// compares it with the text at every place where it may begin.
const longSecret = 4 << 10

// coverOf returns the cover of a call: what is hidden in its view, and what is hidden in the texts
// of its arguments by themselves. more reports whether one of these was not hidden in the view.
func coverOf(v view, leaves []string) (c cover, more bool) {
	c = cover{secrets: map[string]bool{}, kept: map[string]bool{}}
	for _, p := range v.hide {
		addPlain(c.secrets, v.text[p.from:p.to])
	}
	for _, value := range v.kept {
		addPlain(c.kept, value)
	}
	for _, text := range leaves {
		text = prepared(text)
		for _, p := range c.own(text) {
			if value := text[p.from:p.to]; !c.secrets[value] {
				more = true
				addPlain(c.secrets, value)
			}
		}
	}
	var pairs []string
	long := func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }
	for _, secret := range slices.SortedFunc(maps.Keys(c.secrets), long) {
		switch {
		case len(secret) >= longSecret:
			c.long = append(c.long, secret)
		case len(secret) >= minSecretInName:
			pairs = append(pairs, secret, hiddenNote(secret, isCode(secret)))
		}
	}
	c.notes = strings.NewReplacer(pairs...)
	return c, more
}

// addPlain adds a text, and what it is as a JSON string inside others.
func addPlain(all map[string]bool, text string) {
	for range 3 {
		var plain string
		all[text] = true
		if !strings.Contains(text, `\`) || json.Unmarshal([]byte(`"`+text+`"`), &plain) != nil {
			return
		}
		text = plain
	}
}

// own returns the parts of a prepared text that the mask hides, without those that are kept.
func (c cover) own(text string) []part {
	parts := hiddenParts(text)
	if beginsJSON(text) {
		parts = memberParts(text, 0, parts)
	}
	return slices.DeleteFunc(parts, func(p part) bool {
		return c.kept[text[p.from:p.to]] || strings.Contains(text[p.from:p.to], "‹") // a note, or a part of one
	})
}

// mask hides the secrets in a text.
func (c cover) mask(text string) string {
	text = prepared(text)
	if c.secrets[text] {
		return hiddenNote(text, isCode(text))
	}
	for _, secret := range c.long {
		text = strings.ReplaceAll(text, secret, hiddenNote(secret, isCode(secret)))
	}
	text = c.notes.Replace(text)
	return masked(text, c.own(text))
}

// leavesOf appends the texts in a JSON value, the keys of objects too. What lies too deep to be
// shown as an argument of its own is one text.
func leavesOf(raw []byte, depth int, all []string) []string {
	if text, ok := textOf(raw); ok {
		return append(all, text)
	}
	fields, ok := fieldsOf(raw)
	if (!ok || depth > maxDepth+1) && len(raw) > 0 && strings.IndexByte(`{["`, raw[0]) >= 0 {
		return append(all, indented(raw))
	}
	for _, f := range fields {
		if f.key != "" {
			all = append(all, f.key)
		}
		all = leavesOf(f.raw, depth+1, all)
	}
	return all
}
