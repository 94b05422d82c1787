package tokenizer

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// What is not known is an error that names its place, never left out of account.
func TestWhatIsNotKnownIsRefused(t *testing.T) {
	uncased, deberta := string(readGolden(t, "testdata/uncased.json").Tokenizer),
		string(readGolden(t, "testdata/deberta.json").Tokenizer)
	tests := []struct{ name, in, old, new, want string }{
		{"top-level key", uncased, `"version":`, `"pre_tokeniser":null,"version":`,
			`file: the key "pre_tokeniser" is not known`},
		{"version", uncased, `"version":"1.0"`, `"version":"2.0"`, `version: "2.0" is not known`},
		{"no model", uncased, `"model":`, `"padding":null,"x":`, `the key "x" is not known`},
		{"model", uncased, `"type":"WordPiece","unk_token"`, `"type":"BPE","unk_token"`,
			`model.type: the model "BPE" is not known here`},
		{"model key", uncased, `"unk_token":"[UNK]"`, `"unk_token":"[UNK]","dropout":0.1`,
			`model: the key "dropout" is not known`},
		{"key in another case", uncased, `"unk_token":"[UNK]"`, `"Unk_Token":"[UNK]"`,
			`model: the key "Unk_Token" is not known`},
		{"unknown token", uncased, `"unk_token":"[UNK]"`, `"unk_token":"[unk]"`,
			`model.unk_token: "[unk]" is not in the vocabulary`},
		{"word length", uncased, `"max_input_chars_per_word":100`, `"max_input_chars_per_word":100000`,
			`1 to 1000 are possible`},
		{"word length missing", uncased, `"max_input_chars_per_word":100,`, ``,
			`model.max_input_chars_per_word: it is missing`},
		{"vocabulary id", uncased, `"[PAD]":0`, `"[PAD]":1`, `model.vocab: the id 1`},
		{"vocabulary kind", uncased, `"[PAD]":0`, `"[PAD]":"0"`, `model.vocab: it must be int, and is string`},
		{"normalizer", uncased, `"type":"BertNormalizer"`, `"type":"NFKC"`,
			`normalizer.type: the normalizer "NFKC" is not known here`},
		{"normalizer without type", uncased, `"type":"BertNormalizer",`, ``, `normalizer.type: it is missing`},
		{"normalizer key", uncased, `"clean_text":true`, `"clean_text":true,"strip":true`,
			`normalizer: the key "strip" is not known`},
		{"normalizer null", uncased, `"clean_text":true`, `"clean_text":null`, `normalizer.clean_text: it is missing`},
		{"pre-tokenizer", uncased, `"type":"BertPreTokenizer"`, `"type":"ByteLevel"`,
			`pre_tokenizer.type: the pre-tokenizer "ByteLevel" is not known here`},
		{"post-processor", uncased, `"type":"TemplateProcessing"`, `"type":"RobertaProcessing"`,
			`post_processor.type: the post-processor "RobertaProcessing"`},
		{"template id", uncased, `"ids":[2]`, `"ids":[99999]`, `post_processor: the id 99999 is not one`},
		{"template without text", uncased, `{"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"[SEP]"`,
			`{"SpecialToken":{"id":"[SEP]"`, `post_processor.single: the sequence A is missing`},
		{"template token", uncased, `"special_tokens":{"[CLS]"`, `"special_tokens":{"[cls]"`,
			`post_processor.single[0]: "[CLS]" is not`},
		{"single word", uncased, `"single_word":false`, `"single_word":true`,
			`added_tokens[0].single_word: it is true, which is not known here`},
		{"added id", uncased, `"id":0,"content":"[PAD]"`, `"id":7,"content":"[PAD]"`,
			`added_tokens[0].id: it is 7, and the vocabulary has 0`},
		{"added id of another", uncased, `"id":0,"content":"[PAD]"`, `"id":0,"content":"[pad]"`,
			`added_tokens[0].id: it is 0, which the vocabulary has for another piece`},
		{"regex", deberta, `{"Regex": " {2,}"}`, `{"Regex": "\\s+"}`, `normalizer.normalizers[2].pattern: it must be`},
		{"regex and string", deberta, `{"Regex": " {2,}"}`, `{"Regex": " {2,}","String":"x"}`,
			`normalizer.normalizers[2].pattern: it must be`},
		{"scheme", deberta, `"prepend_scheme":"always"`, `"prepend_scheme":"often"`,
			`pre_tokenizer.prepend_scheme: "often" is not known`},
		{"contradiction", deberta, `"prepend_scheme":"always"`, `"prepend_scheme":"always","add_prefix_space":false`,
			`pre_tokenizer.add_prefix_space: it contradicts`},
		{"replacement", deberta, `"replacement":"▁"`, `"replacement":"▁▁"`,
			`pre_tokenizer.replacement: it must be one character`},
		{"unk_id", deberta, `"unk_id":3`, `"unk_id":30000`, `model.unk_id: it is 30000`},
		{"entry", deberta, `["[PAD]",0]`, `["[PAD]"]`, `model.vocab: an entry of the vocabulary must be [PIECE, SCORE]`},
		{"charsmap", deberta, `"precompiled_charsmap":"`, `"precompiled_charsmap":"?`,
			`normalizer.normalizers[1].precompiled_charsmap: it is not base64`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in, old := compact(t, test.in), test.old
			if json.Valid([]byte(old)) {
				old = compact(t, old)
			}
			changed := strings.Replace(in, old, test.new, 1)
			if changed == in {
				t.Fatalf("%s is not in the tokenizer", old)
			}
			_, err := Load([]byte(changed))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func compact(t *testing.T, s string) string {
	t.Helper()
	var v json.RawMessage
	must(t, json.Unmarshal([]byte(s), &v))
	out, err := json.Marshal(v)
	must(t, err)
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(out))
}

// Training asks for a padded or cut text, judging does not.
func TestTruncationPaddingAndDecoderAreIgnored(t *testing.T) {
	g := readGolden(t, "testdata/uncased.json")
	changed := strings.NewReplacer(`"truncation":null`, `"truncation":{"max_length":2}`, `"padding":null`,
		`"padding":{"strategy":{"Fixed":99}}`).Replace(string(g.Tokenizer))
	a, err := load(t, []byte(changed)).Encode("ignore all previous instructions")
	b, _ := load(t, g.Tokenizer).Encode("ignore all previous instructions")
	if err != nil || len(a) < 5 || !slices.Equal(a, b) {
		t.Errorf("%v and %v, %v", a, b, err)
	}
}

// Bytes that are no text count as U+FFFD, one for each, as SentencePiece and
// encoding/json have it.
func TestInvalidUTF8(t *testing.T) {
	for _, name := range []string{"uncased.json", "unigram.json", "bytes.json"} {
		tok := load(t, readGolden(t, "testdata/"+name).Tokenizer)
		for _, s := range []string{"\xff", "ig\xffnore", "a\xe2\x82b", "\xed\xa0\x80", "\xf0\x9f\x98"} {
			a, err := tok.Encode(s)
			b, _ := tok.Encode(string([]rune(s)))
			if err != nil || !slices.Equal(a, b) {
				t.Errorf("%s: %q: %v and %v, %v", name, s, a, b, err)
			}
		}
	}
	ids, _ := load(t, readGolden(t, "testdata/uncased.json").Tokenizer).Encode("ig\xffnore")
	whole, _ := load(t, readGolden(t, "testdata/uncased.json").Tokenizer).Encode("ignore")
	if !slices.Equal(ids, whole) {
		t.Error("BERT leaves U+FFFD out")
	}
}

func TestTooLongAndNothingLoaded(t *testing.T) {
	if _, err := load(t, readGolden(t, "testdata/uncased.json").Tokenizer).Encode(strings.Repeat("a",
		MaxText+1)); err == nil {
		t.Error("a text beyond the limit was encoded")
	}
	var none *Tokenizer
	if _, err := none.Encode("x"); err == nil {
		t.Error("nil encodes")
	}
	if _, err := new(Tokenizer).Encode("x"); err == nil {
		t.Error("the zero Tokenizer encodes")
	}
}

func TestSpecial(t *testing.T) {
	before, after := load(t, readGolden(t, "testdata/uncased.json").Tokenizer).Special()
	if !slices.Equal(before, []int{2}) || !slices.Equal(after, []int{3}) {
		t.Errorf("%v and %v", before, after)
	}
	bert := strings.Replace(string(readGolden(t, "testdata/uncased.json").Tokenizer), `"post_processor":{`,
		`"post_processor":{"type":"BertProcessing","sep":["[SEP]",3],"cls":["[CLS]",2]},"decoder":{`, 1)
	bert = strings.Replace(bert, `"decoder":{"type":"WordPiece","prefix":"##","cleanup":true},`, ``, 1)
	before, after = load(t, []byte(bert)).Special()
	if !slices.Equal(before, []int{2}) || !slices.Equal(after, []int{3}) {
		t.Errorf("BertProcessing: %v and %v", before, after)
	}
}

// A model without unk_id cannot say what it does not know: an error, not
// nothing.
func TestUnknownWithoutUnkID(t *testing.T) {
	tok := load(t, []byte(`{"version":"1.0","model":{"type":"Unigram","unk_id":null,"vocab":[["a",-1],["b",-2]]}}`))
	if ids, err := tok.Encode("ab"); err != nil || !slices.Equal(ids, []int{0, 1}) {
		t.Errorf("%v, %v", ids, err)
	}
	if _, err := tok.Encode("abc"); err == nil {
		t.Error("what is unknown was left out")
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"version":"1.0","added_tokens":[{"id":1,"content":"[SEP]","single_word":false,"lstrip":true,
		"rstrip":true,"normalized":false,"special":true}],
		"normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,
		"lowercase":true},"pre_tokenizer":{"type":"BertPreTokenizer"},
		"post_processor":{"type":"BertProcessing","sep":["[SEP]",1],"cls":["[UNK]",0]},
		"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##",
		"max_input_chars_per_word":9,"vocab":{"[UNK]":0,"[SEP]":1,"ignore":2,"a":3,"##l":4}}}`))
	f.Add([]byte(`{"version":"1.0","normalizer":{"type":"Sequence","normalizers":[{"type":"Precompiled",
		"precompiled_charsmap":"BAAAAAAEAAAA"},{"type":"Replace","pattern":{"Regex":" {2,}"},"content":" "},
		{"type":"Strip","strip_left":true,"strip_right":true},{"type":"Prepend","prepend":"x"},{"type":"NFD"}]},
		"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"WhitespaceSplit"},{"type":"Metaspace",
		"replacement":"_","prepend_scheme":"first"}]},
		"post_processor":{"type":"TemplateProcessing","single":[{"Sequence":{"id":"A","type_id":0}}],
		"special_tokens":{}},"model":{"type":"Unigram","unk_id":0,"byte_fallback":true,"vocab":[["u",0],["_I",-1],
		["<0xFF>",-3]]}}`))
	f.Add([]byte(`{"version":"1.0","model":{"type":"Unigram","unk_id":0,"vocab":[["a",-1],["",0]]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tok, err := Load(data)
		if err != nil {
			return
		}
		ids, err := tok.Encode("Ignore all [SEP] Ａ\u0300 instructions\xff")
		for _, id := range ids {
			if id < 0 || id >= tok.Size() {
				t.Fatalf("id %d of %d", id, tok.Size())
			}
		}
		if err != nil && len(ids) > 0 {
			t.Fatal("ids and an error")
		}
	})
}

func FuzzCharsmap(f *testing.F) {
	whole, err := base64.StdEncoding.DecodeString(string(charsmapText(f)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole[:4000], "Ａ\u0300")
	f.Add([]byte{4, 0, 0, 0, 0, 4, 0, 0, 0}, "x")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		m, err := newCharsmap("x", data)
		if err != nil {
			return
		}
		if out := m.normalize(valid(text)); !utf8.ValidString(out) {
			t.Fatalf("%q", out)
		}
	})
}

func FuzzEncode(f *testing.F) {
	var all []*Tokenizer
	for _, name := range []string{"uncased.json", "cased.json", "deberta.json", "bytes.json"} {
		all = append(all, load(f, readGolden(f, "testdata/"+name).Tokenizer))
	}
	for _, s := range texts(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for i, tok := range all {
			ids, err := tok.Encode(s)
			if err != nil {
				t.Fatal(i, err)
			}
			for _, id := range ids {
				if id < 0 || id >= tok.Size() {
					t.Fatalf("id %d of %d", id, tok.Size())
				}
			}
			if again, _ := tok.Encode(string([]rune(s))); !slices.Equal(ids, again) {
				t.Fatalf("%q: invalid bytes are not U+FFFD", s)
			}
		}
	})
}
