package tokenizer

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A golden is a tokenizer and what a reference made of texts.json with it.
type golden struct {
	Tokenizer json.RawMessage `json:"tokenizer"`
	IDs       [][]int         `json:"ids"`
}

func readGolden(t testing.TB, name string) (g golden) {
	t.Helper()
	data, err := os.ReadFile(name)
	must(t, err)
	must(t, json.Unmarshal(bytes.Replace(data, []byte("CHARSMAP"), charsmapText(t), 1), &g))
	return g
}

// charsmapText is SentencePiece's nmt_nfkc.
func charsmapText(t testing.TB) []byte {
	t.Helper()
	f, err := os.Open("testdata/charsmap.gz")
	must(t, err)
	defer f.Close()
	in, err := gzip.NewReader(f)
	must(t, err)
	data, err := io.ReadAll(in)
	must(t, err)
	return base64.StdEncoding.AppendEncode(nil, data)
}

func texts(t testing.TB) (list []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/texts.json")
	must(t, err)
	if err := json.Unmarshal(data, &list); err != nil || len(list) < 40 {
		t.Fatalf("%d texts: %v", len(list), err)
	}
	return list
}

func load(t testing.TB, data []byte) *Tokenizer {
	t.Helper()
	tok, err := Load(data)
	must(t, err)
	return tok
}

// check compares the ids of all texts that have some, at least one in five.
func (g golden) check(t *testing.T, list []string) {
	t.Helper()
	tok := load(t, g.Tokenizer)
	if len(list) != len(g.IDs) {
		t.Fatalf("%d texts, and ids of %d", len(list), len(g.IDs))
	}
	compared := 0
	for i, text := range list {
		if g.IDs[i] == nil {
			continue
		}
		compared++
		ids, err := tok.Encode(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if !slices.Equal(ids, g.IDs[i]) && !tie(tok, ids, g.IDs[i]) {
			t.Errorf("%q:\n got %v\nwant %v", text, ids, g.IDs[i])
		}
	}
	if compared < len(list)/5 {
		t.Errorf("only %d of %d texts have ids", compared, len(list))
	}
}

// tie reports two ways through a text of which neither is more probable: single
// precision, in which SentencePiece adds, decides between them by its rounding.
func tie(tok *Tokenizer, a, b []int) bool {
	m, ok := tok.model.(*unigram)
	if !ok || len(a) != len(b) {
		return false
	}
	pieces := map[int]string{}
	for piece, id := range m.vocab {
		pieces[id] = piece
	}
	sum := func(ids []int) (text string, total float64) {
		for _, id := range ids {
			text, total = text+pieces[id], total+m.scores[id]
		}
		return text, total
	}
	textA, sumA := sum(a)
	textB, sumB := sum(b)
	return textA == textB && math.Abs(sumA-sumB) < 1e-4
}

// The ids are those of the reference: what SentencePiece made of a vocabulary
// that it trained on the pages of this project, and what the library
// "tokenizers" made of the vocabularies in testdata/reference/goldens.js.
func TestGoldenIDs(t *testing.T) {
	for _, name := range []string{"unigram.json", "bytes.json", "uncased.json", "cased.json", "nfd.json", "deberta.json"} {
		t.Run(name, func(t *testing.T) { readGolden(t, "testdata/"+name).check(t, texts(t)) })
	}
}

// Any text has the ids of the reference implementation as it is on this
// machine.
func TestTheReferenceAsItIsHere(t *testing.T) {
	modules := os.Getenv("APPROVER_NODE_MODULES")
	if modules == "" {
		t.Skip("APPROVER_NODE_MODULES names no folder with npm's tokenizers: bash .ci/classifier; " +
			"the committed ids are tested all the same")
	}
	dir := t.TempDir()
	list := randomTexts(5000)
	unigram := golden{Tokenizer: readGolden(t, "testdata/unigram.json").Tokenizer}
	for name, v := range map[string]any{"texts.json": list, "unigram.json": unigram} {
		data, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		must(t, err)
	}
	cmd := exec.Command("node", "testdata/reference/goldens.js", filepath.Join(dir, "texts.json"), dir,
		filepath.Join(dir, "unigram.json"))
	cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"uncased.json", "cased.json", "nfd.json", "deberta.json"} {
		t.Run(name, func(t *testing.T) { readGolden(t, filepath.Join(dir, name)).check(t, list) })
	}
}

// randomTexts are made of words, letters of all scripts, marks, what is drawn as
// nothing and added tokens; always the same ones.
func randomTexts(n int) (list []string) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"ignore", "previous", " ", "  ", " ", "\t", "İ", "Σ", "ẞ", "[MASK]", "[SEP]", "[UNK", "]", "▁",
		"-", "é", "\u3000", "\u200b", "ü"}
	for range n {
		var b strings.Builder
		for range 1 + random.IntN(30) {
			switch random.IntN(6) {
			case 0:
				r := rune(random.IntN(0x110000))
				if r >= 0xd800 && r < 0xe000 {
					r = 'x'
				}
				b.WriteRune(r)
			case 1:
				b.WriteRune(rune(0x20 + random.IntN(0x3000)))
			case 2:
				b.WriteRune(rune(0x300 + random.IntN(0x70)))
			default:
				b.WriteString(pieces[random.IntN(len(pieces))])
			}
		}
		list = append(list, b.String())
	}
	return list
}

// The same with SentencePiece as it is on this machine.
func TestSentencePieceAsItIsHere(t *testing.T) {
	if testing.Short() {
		t.Skip("it computes in one goroutine: the race detector, which runs the short tests, has nothing to find")
	}
	python := "/usr/bin/python3" // Debian's, for Debian's python3-sentencepiece
	if exec.Command(python, "-c", "import sentencepiece").Run() != nil {
		t.Skip("python3-sentencepiece is not installed: apt-get install python3-sentencepiece, or bash .ci/classifier; " +
			"the committed ids are tested all the same")
	}
	dir := t.TempDir()
	var corpus []byte
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages to train on", err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		must(t, err)
		corpus = append(corpus, text...)
	}
	file := filepath.Join(dir, "corpus.txt")
	must(t, os.WriteFile(file, corpus, 0o600))
	if out, err := exec.Command(python, "testdata/reference/train.py", file, "testdata/texts.json",
		dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"unigram.json", "bytes.json"} {
		t.Run(name, func(t *testing.T) { readGolden(t, filepath.Join(dir, name)).check(t, texts(t)) })
	}
}

// must fails a test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
