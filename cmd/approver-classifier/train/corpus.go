package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"approver.example/shieldcore/classifier"
)

// A feature is packed into 32 bits: the index of its weight, and how many words before
// its last word it begins.
type feature uint32

func (f feature) index() uint32 { return uint32(f) % classifier.Size }
func (f feature) back() int     { return int(f / classifier.Size) }

// A text of the corpus or of the generator.
type text struct {
	source   string
	attack   bool
	found    bool // by rules, for the report
	raw      string
	features []feature
	ends     []int32 // of the features of each word
}

// newText reads the features of a text, except those of the kinds in without.
func newText(source string, attack bool, raw string, without uint) *text {
	t := &text{source: source, attack: attack, raw: raw}
	classifier.Walk(raw, func(fs []classifier.Feature) {
		for _, f := range fs {
			if without>>f.Kind&1 == 0 {
				t.features = append(t.features, feature(f.Index+uint32(f.Back)*classifier.Size))
			}
		}
		t.ends = append(t.ends, int32(len(t.features)))
	})
	return t
}

func (t *text) label() int {
	if t.attack {
		return 1
	}
	return 0
}

// endingAt returns the features that end at a word.
func (t *text) endingAt(word int) []feature {
	if word == 0 {
		return t.features[:t.ends[0]]
	}
	return t.features[t.ends[word-1]:t.ends[word]]
}

// readCorpus reads lines of JSON with source, label (injection or benign) and
// text. Errors name the line.
func readCorpus(name string, r io.Reader, without uint) ([]*text, error) {
	var texts []*text
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		var line struct {
			Source, Label, Text string
			Found               bool
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		switch {
		case line.Source == "" || line.Text == "":
			return nil, fmt.Errorf("%s:%d: a line needs a source and a text", name, n)
		case line.Label != "injection" && line.Label != "benign":
			return nil, fmt.Errorf("%s:%d: the label is %q, and must be injection or benign", name, n, line.Label)
		}
		t := newText(line.Source, line.Label == "injection", line.Text, without)
		t.found = line.Found
		texts = append(texts, t)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return texts, nil
}

// sourceGroups has the group of a source whose name does not tell it.
var sourceGroups = map[string]string{"git_diff": "fastchat"} // commits of that repository

// group returns the group of a source. Texts of one group are similar, so they must be
// either all in the training or all in the test. It is the name up to the first
// underscore, or the one in sourceGroups.
func group(source string) string {
	if g, ok := sourceGroups[source]; ok {
		return g
	}
	g, _, _ := strings.Cut(source, "_")
	return g
}

// instructing are the benign sources with instructions to a model. Agents get such texts
// from their users. Thresholds are chosen on the others, which are texts that agents read.
var instructing = map[string]bool{
	"awesome_copilot": true, "codealpaca": true, "gsm8k": true, "t0_prompts": true, "tau_user": true, "tbpl_sys": true,
}
