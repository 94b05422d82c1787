package scorer

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example/cmd/approver-classifier/tokenizer"
	"approver.example/shieldcore/modeldir"
	"approver.example/shieldcore/sidecar/protocol"
)

// The vocabulary: [UNK] 0, [CLS] 1, [SEP] 2, a 3, bad 4.
const tokenizerJSON = `{"version":"1.0","pre_tokenizer":{"type":"BertPreTokenizer"},
		"post_processor":{"type":"BertProcessing","sep":["[SEP]",2],"cls":["[CLS]",1]},
	"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##",
		"max_input_chars_per_word":100,"vocab":{"[UNK]":0,"[CLS]":1,"[SEP]":2,"a":3,"bad":4}}}`

// logits is a runner that keeps what it was given.
type logits struct {
	of   func(ids []int) []float32
	seen [][]int
	err  error
}

func (l *logits) Logits(ids []int) ([]float32, error) {
	l.seen = append(l.seen, ids)
	return l.of(ids), l.err
}

// bad is sure of a window with the word "bad" in it.
func bad(ids []int) []float32 {
	for _, id := range ids {
		if id == 4 {
			return []float32{0, 2}
		}
	}
	return []float32{2, 0}
}

func scorer(t *testing.T, l *logits) Scorer {
	t.Helper()
	tok, err := tokenizer.Load([]byte(tokenizerJSON))
	must(t, err)
	return Scorer{&Model{&modeldir.Model{
		Manifest: modeldir.Manifest{Label: "INJECTION", Window: 18}, Sum: "00", Labels: []string{"SAFE", "INJECTION"},
		Target: 1,
	}, tok}, l}
}

var low, high = 1 / (1 + math.Exp(2)), 1 / (1 + math.Exp(-2))

// Wherever the word stands, the score is that of the window with it; every token
// is in a window, and neighbors overlap by a quarter.
func TestWindows(t *testing.T) {
	for n := range 60 {
		for at := range n {
			l := &logits{of: bad}
			words := strings.Split(strings.Repeat("a ", n), " ")[:n]
			words[at] = "bad"
			got, err := scorer(t, l).Score(strings.Join(words, " "))
			if err != nil || math.Abs(got.Value-high) > 1e-12 || got.Truncated || got.Windows != len(l.seen) {
				t.Fatalf("%d of %d: %+v %v", at, n, got, err)
			}
			total := 0
			for i, ids := range l.seen {
				if ids[0] != 1 || ids[len(ids)-1] != 2 || len(ids) > 18 || i < len(l.seen)-1 && len(ids) != 18 {
					t.Fatalf("window %d of %d words: %v", i, n, ids)
				}
				total += len(ids) - 2
			}
			if want := n + 4*(len(l.seen)-1); total != want {
				t.Fatalf("%d words in %d windows: %d tokens, want %d", n, len(l.seen), total, want)
			}
		}
	}
	if got, err := scorer(t, &logits{of: bad}).Score(""); err != nil || math.Abs(got.Value-low) > 1e-12 ||
		got.Windows != 1 {
		t.Errorf("no text: %+v %v", got, err)
	}
}

// What is beyond the last window is not scored as if it were not there.
func TestTruncated(t *testing.T) {
	most := 16 + 12*(MaxWindows-1)
	for n, want := range map[int]bool{most: false, most + 1: true, 5 * most: true} {
		got, err := scorer(t, &logits{of: bad}).Score(strings.Repeat("a ", n))
		if err != nil || got.Truncated != want || got.Windows != MaxWindows {
			t.Errorf("%d: %+v %v", n, got, err)
		}
	}
}

func TestNoScore(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, l := range map[string]*logits{
		"NaN":      {of: func([]int) []float32 { return []float32{0, nan} }},
		"other":    {of: func([]int) []float32 { return []float32{nan, 0} }},
		"infinity": {of: func([]int) []float32 { return []float32{0, inf} }},
		"-inf":     {of: func([]int) []float32 { return []float32{-inf, -inf} }},
		"few":      {of: func([]int) []float32 { return []float32{0} }},
		"many":     {of: func([]int) []float32 { return []float32{0, 1, 2} }},
		"none":     {of: func([]int) []float32 { return nil }},
		"error":    {of: bad, err: errors.New("no memory")},
	} {
		if got, err := scorer(t, l).Score("bad"); err == nil || got != (Score{}) {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}

func TestServe(t *testing.T) {
	var out strings.Builder
	in := `{"id":"1","text":"bad"}` + "\n" + `{"id":"2","text":"a"}` + "\n"
	if err := scorer(t, &logits{of: bad}).Serve(strings.NewReader(in), &out, "test 1"); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("%q", lines)
	}
	if h, err := protocol.ParseHello([]byte(lines[0])); err != nil || h.Manifest != "00" || h.Window != 18 ||
		h.Runtime != "test 1" {
		t.Errorf("%+v %v", h, err)
	}
	if r, err := protocol.ParseReply([]byte(lines[1]), "1"); err != nil || math.Abs(*r.Score-high) > 1e-12 ||
		r.Windows != 1 {
		t.Errorf("%+v %v", r, err)
	}
	out.Reset()
	if err := scorer(t, &logits{of: bad, err: errors.New("no memory")}).Serve(strings.NewReader(in), &out,
		"x"); err != nil || strings.Count(out.String(), `"error":"no memory"`) != 2 {
		t.Errorf("%v %s", err, out.String())
	}
	for _, in := range []string{"x\n", `{"id":"1","text":"a"}`, `{"id":"1"}` + "x\n",
		strings.Repeat("x", protocol.MaxRequest+1) + "\n"} {
		if err := scorer(t, &logits{of: bad}).Serve(strings.NewReader(in), &out, "x"); err == nil {
			t.Errorf("%.30q was served", in)
		}
	}
}

// A model is served only with a tokenizer that is known in every part, so that its
// window has room for text.
func TestOpen(t *testing.T) {
	const config = `{"id2label":{"0":"SAFE","1":"INJECTION"},"max_position_embeddings":64}`
	long := strings.Replace(tokenizerJSON, `{"type":"BertProcessing","sep":["[SEP]",2],"cls":["[CLS]",1]}`,
		`{"type":"TemplateProcessing","single":[`+strings.Repeat(`{"SpecialToken":{"id":"[CLS]","type_id":0}},`, 9)+
			`{"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{"[CLS]":{"id":"[CLS]","ids":[1],`+
			`"tokens":["[CLS]"]}}}`, 1)
	for tokenizer, want := range map[string]string{
		tokenizerJSON: "",
		long:          "it puts 9 tokens around a text: at most 8 are possible",
		strings.Replace(tokenizerJSON, "WordPiece", "BPE", 1): `the model "BPE" is not known here`,
	} {
		dir := t.TempDir()
		files := map[string]string{modeldir.ModelFile: "\x08\x08\x3a\x00", modeldir.TokenizerFile: tokenizer,
			modeldir.ConfigFile: config}
		for name, text := range files {
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		manifest, err := modeldir.Make(dir, "", 16)
		must(t, err)
		data, err := manifest.Encode()
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, modeldir.ManifestFile), data, 0o600))
		m, err := Open(dir)
		if want == "" && (err != nil || m.Tokenizer.Size() != m.Tokens || m.Target != 1) {
			t.Errorf("%+v %v", m, err)
		}
		if want != "" && (m != nil || err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%+v %v, want %s", m, err, want)
		}
	}
}

// must fails a test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
