package display

import (
	"reflect"
	"strings"
	"testing"
)

func TestSentence(t *testing.T) {
	for _, text := range []string{"", "it deletes files", "100% sure, %s and %d"} {
		p := Sentence(text)
		if got := p.Plain(); got != text || strings.Count(p.Text, "%") != len(p.Args) {
			t.Errorf("got %q, want %q", p, text)
		}
	}
	p := Phrase{Text: "Send %s to %s", Args: []string{"%s", "b"}}
	if got := p.Plain(); got != "Send %s to b" {
		t.Errorf("got %q", got)
	}
}

// What a summary says itself stays; the rest comes from the other.
func TestSummaryOr(t *testing.T) {
	full := Summary{Title: Phrase{Text: "a"}, Why: Phrase{Text: "b"},
		Does: []Phrase{{Text: "c"}}, Undo: Phrase{Text: "d"},
		Part: "e", Project: "f", Branch: "g"}
	if got := (Summary{}).Or(full); !reflect.DeepEqual(got, full) {
		t.Errorf("got %+v", got)
	}
	if got := full.Or(Summary{Why: Phrase{Text: "x"}, Project: "x"}); !reflect.DeepEqual(got, full) {
		t.Errorf("got %+v", got)
	}
	why := Summary{Why: Phrase{Text: "x"}, Project: "y"}
	if got := why.Or(full); got.Why.Text != "x" || got.Branch != "" || got.Title.Text != "a" {
		t.Errorf("got %+v", got)
	}
}
