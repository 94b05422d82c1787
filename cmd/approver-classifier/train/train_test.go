package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example/shieldcore/classifier"
)

const tiny = "testdata/tiny.jsonl"

// Two runs over one corpus write the same bytes.
func TestTheSameTextsGiveTheSameWeights(t *testing.T) {
	var made [2]map[string][]byte
	for i := range made {
		dir := t.TempDir()
		var out strings.Builder
		if err := run([]string{"--data", tiny, "--generated", "0.01", "--out", filepath.Join(dir, "weights.bin")},
			&out); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		made[i] = map[string][]byte{}
		for _, name := range []string{"weights.bin", "sums.go"} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			must(t, err)
			made[i][name] = b
		}
	}
	for name, b := range made[0] {
		if !bytes.Equal(b, made[1][name]) {
			t.Errorf("%s differs between two runs", name)
		}
	}
	b := made[0]["weights.bin"]
	if len(b) != 64+classifier.Size || len(bytes.Trim(b[64:], "\x00")) == 0 {
		t.Errorf("%d bytes of weights, or only zeros", len(b))
	}
}

// A model learns what the texts tell it, and the window that it finds is the
// one that scoring finds.
func TestFitLearns(t *testing.T) {
	texts := readTiny(t)
	own, err := generate(0.02, 0)
	must(t, err)
	m := fit(append(texts, own...))
	scores, err := score(m.quantized(), own, 1)
	must(t, err)
	if got := auc(scores, isBenign); got < 0.97 {
		t.Errorf("AUC on the training's own texts is %.3f", got)
	}
}

func readTiny(t *testing.T) []*text {
	t.Helper()
	f, err := os.Open(tiny)
	must(t, err)
	defer f.Close()
	texts, err := readCorpus(tiny, f, 0)
	must(t, err)
	return texts
}

func TestReportAndHoldOut(t *testing.T) {
	if testing.Short() {
		t.Skip("it computes in one goroutine: the race detector, which runs the short tests, has nothing to find")
	}
	var out strings.Builder
	err := run([]string{"--data", tiny, "--generated", "0.01", "--report", "--hold-out", "garak", "--cases",
		"../../../shieldcore/classifier/testdata"}, &out)
	must(t, err)
	for _, want := range []string{"held out garak:", "| all |", "| mentions, talk | 50 |", "p50"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
}

func TestBadInput(t *testing.T) {
	for _, tt := range []struct{ name, corpus, args, want string }{
		{"no corpus", "", "", "--data FILE"},
		{"no JSON", "{", "", "corpus.jsonl:1:"},
		{"no text", `{"source":"a","label":"benign"}`, "", "corpus.jsonl:1: a line needs a source and a text"},
		{"another label", "\n" + `{"source":"a","label":"evil","text":"x"}`, "", "corpus.jsonl:1:"},
		{"an unknown kind", `{"source":"a","label":"benign","text":"x"}`, "--without trigram", `no kind "trigram"`},
		{"nothing to hold out", `{"source":"a","label":"benign","text":"x"}`, "--hold-out b --generated 0.001",
			"has none of b"},
		{"more arguments", `{"source":"a","label":"benign","text":"x"}`, "more", "no other arguments"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var args []string
			if tt.corpus != "" {
				name := filepath.Join(t.TempDir(), "corpus.jsonl")
				must(t, os.WriteFile(name, []byte(tt.corpus), 0o600))
				args = append(args, "--data", name)
			}
			err := run(append(args, strings.Fields(tt.args)...), new(strings.Builder))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestGrammar(t *testing.T) {
	for _, tt := range []struct{ source, want string }{
		{"Top: a {b} c", `asks for "b"`},
		{"Top", "has no alternatives"},
		{"A: x\nA: y", "is there twice"},
	} {
		if _, err := readGrammar(tt.source); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v, want %q", tt.source, err, tt.want)
		}
	}
	g, err := readGrammar("# c\nTop: {low} { \"k\" : {low} }\n\nlow: x |\n | y ¦ z")
	must(t, err)
	seen := map[string]bool{}
	r := rng(1)
	for range 200 {
		var b strings.Builder
		g.expand("Top", &r, &b)
		seen[b.String()] = true
	}
	if len(seen) != 4 || !seen[`x { "k" : y ¦ z }`] {
		t.Errorf("made %v", seen)
	}
}

// The generator's texts are the same at every call, and none of the cases that
// the model is measured on is among them.
func TestGeneratorKeepsAwayFromTheCases(t *testing.T) {
	a, err := generate(0.05, 0)
	must(t, err)
	b, err := generate(0.05, 0)
	must(t, err)
	fold := func(s string) string { return strings.ToLower(strings.TrimRight(s, ". \n")) }
	made := map[string]bool{}
	for i := range a {
		if a[i].raw != b[i].raw || a[i].attack != b[i].attack {
			t.Fatalf("text %d is %q, and then %q", i, a[i].raw, b[i].raw)
		}
		made[fold(a[i].raw)] = true
	}
	if len(made) < len(a)*3/4 {
		t.Errorf("only %d of %d texts differ", len(made), len(a))
	}
	for _, name := range []string{"attacks", "mentions"} {
		file, err := os.ReadFile("../../../shieldcore/classifier/testdata/" + name + ".txt")
		must(t, err)
		for line := range strings.Lines(string(file)) {
			if _, text, ok := strings.Cut(line, "\t"); ok && len(strings.Fields(text)) > 2 && made[fold(text)] {
				t.Errorf("%s: generated too: %q", name, text)
			}
		}
	}
}

func TestMeasures(t *testing.T) {
	texts := []scored{
		{&text{attack: true}, 0.9, 1}, {&text{attack: true}, 0.4, 1}, {&text{attack: true}, 0.2, 2},
		{&text{}, 0.5, 1}, {&text{}, 0.2, 1}, {&text{}, 0.1, 1}, {&text{source: "gsm8k"}, 0.95, 1},
	}
	// Above a benign text: 3 of 3 for .9, 2 for .4, 1½ for each of the two at .2.
	if got, want := auc(texts, content), (3+2+1.5*2)/(4*3.0); got != want {
		t.Errorf("AUC %v, want %v", got, want)
	}
	if got := threshold(texts, 0.34, content); got <= 0.2 || got > 0.5 {
		t.Errorf("threshold %v lets not one of three texts pass", got)
	}
	if got := recall(texts, 0.4, isAttack); got != 0.5 {
		t.Errorf("recall %v", got)
	}
	for source, want := range map[string]string{"garak_dan": "garak", "git_diff": "fastchat", "gsm8k": "gsm8k"} {
		if got := group(source); got != want {
			t.Errorf("group of %s is %s", source, got)
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
