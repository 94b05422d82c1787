package tokenizer

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Bounds of a tokenizer and of a text.
const (
	MaxFile  = 64 << 20 // bytes of a tokenizer.json
	MaxText  = 1 << 20  // bytes of a text
	maxVocab = 1 << 20  // pieces
	maxPiece = 512      // bytes of one
)

// A Tokenizer turns text into ids. It is safe for concurrent use. The zero
// Tokenizer encodes nothing.
type Tokenizer struct {
	verbatim, added []added // found in the text as it is, and in the normalized one
	normalize       normalizer
	split           splitter
	model           model
	before, after   []int
	size            int
}

// loader is what the parts of a file are read with.
type loader struct{ classes *classes }

// Load reads a tokenizer.json. The error names the place of a mistake or of an unknown
// part.
func Load(data []byte) (*Tokenizer, error) {
	if len(data) > MaxFile {
		return nil, wrong("file", "it has %d bytes: at most %d are possible", len(data), MaxFile)
	}
	c, err := readClasses(classesText)
	if err != nil {
		return nil, err
	}
	l := &loader{c}
	var version string
	var normalize, split, post, raw, tokens, ignored json.RawMessage
	err = object("file", data, keys{
		"version": need(&version), "normalizer": may(&normalize), "pre_tokenizer": may(&split), "post_processor": may(&post),
		"model": need(&raw), "added_tokens": may(&tokens),
		// The caller bounds the text, and ids are not decoded.
		"truncation": may(&ignored), "padding": may(&ignored), "decoder": may(&ignored),
	})
	if err != nil {
		return nil, err
	}
	if version != "1.0" {
		return nil, wrong("version", "%q is not known: 1.0 is", clip(version))
	}
	t := &Tokenizer{}
	if t.normalize, err = l.normalizer("normalizer", normalize); err != nil {
		return nil, err
	}
	if t.split, err = l.splitter("pre_tokenizer", split); err != nil {
		return nil, err
	}
	if t.model, err = newModel("model", raw); err != nil {
		return nil, err
	}
	if t.verbatim, t.added, err = l.added("added_tokens", tokens, t.model, t.normalize); err != nil {
		return nil, err
	}
	t.size = t.model.size()
	for _, a := range append(t.verbatim[:len(t.verbatim):len(t.verbatim)], t.added...) {
		t.size = max(t.size, a.id+1)
	}
	t.before, t.after, err = template("post_processor", post, t.size)
	return t, err
}

func newModel(at string, raw json.RawMessage) (model, error) {
	kind, err := kindOf(at, raw)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "WordPiece":
		return newWordPiece(at, raw)
	case "Unigram":
		return newUnigram(at, raw)
	}
	return nil, unknown(at, "model", kind, "WordPiece, Unigram")
}

// Size is one more than the highest id.
func (t *Tokenizer) Size() int { return t.size }

// Special returns the ids before and after the ids of a text, such as [CLS] and
// [SEP].
func (t *Tokenizer) Special() (before, after []int) { return t.before, t.after }

// Encode returns the ids of a text, without those of Special. A text of more than
// MaxText bytes is an error: the caller must cut it, and report that.
func (t *Tokenizer) Encode(text string) ([]int, error) {
	if t == nil || t.model == nil {
		return nil, fmt.Errorf("tokenizer: there is none: load one first")
	}
	if len(text) > MaxText {
		return nil, fmt.Errorf("tokenizer: the text has %d bytes: at most %d are possible", len(text), MaxText)
	}
	text = valid(text)
	var ids []int
	var err error
	for _, p := range cut(text, true, t.verbatim) {
		if p.id >= 0 {
			ids = append(ids, p.id)
			continue
		}
		for _, p := range cut(t.normalize(p.text), p.first, t.added) {
			if p.id >= 0 {
				ids = append(ids, p.id)
				continue
			}
			if p.text == "" {
				continue
			}
			for _, word := range t.split(p.text, p.first) {
				if ids, err = t.model.encode(word, ids); err != nil {
					return nil, err
				}
			}
		}
	}
	return ids, nil
}

// valid is text with each invalid byte of UTF-8 as U+FFFD.
func valid(text string) string {
	var b strings.Builder
	for _, r := range text {
		b.WriteRune(r)
	}
	return b.String()
}
