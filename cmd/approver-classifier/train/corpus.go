package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"approver.example/shieldcore/classifier"
)

// A feature is one that ends at a word of a text, in 32 bits: the index of its
// weight and how many words back it begins.
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

// newText reads the features of a text, but for those of the kinds left out.
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

// kin has the group of a source whose name does not tell it.
var kin = map[string]string{"git_diff": "fastchat"} // commits of that repository

// group returns the kin of a source: the texts of one hand, of which none may be
// in the training when another is in the test. It is the name up to the first
// underscore.
func group(source string) string {
	if g, ok := kin[source]; ok {
		return g
	}
	g, _, _ := strings.Cut(source, "_")
	return g
}

// instructing are the benign sources that are written as instructions to a model.
// Agents are given such texts by those who may give them; a threshold is chosen on
// the others, which are what agents read.
var instructing = map[string]bool{
	"awesome_copilot": true, "codealpaca": true, "gsm8k": true, "t0_prompts": true, "tau_user": true, "tbpl_sys": true,
}
