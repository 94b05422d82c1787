package wordset_test

import (
	"maps"
	"testing"

	"approver.example/reflexcore/wordset"
)

const table = `# A comment.
one first: a b
	c
# Another one, in the middle of a row.
	d:e

two: | f
last:`

func TestTable(t *testing.T) {
	got := maps.Collect(wordset.Table(table))
	want := map[string]string{"one first": "a b c d:e", "two": "| f", "last": ""}
	if !maps.Equal(got, want) {
		t.Errorf("rows %q, not %q", got, want)
	}
	for heading := range wordset.Table(table) {
		if heading != "one first" {
			t.Errorf("the first row is %q", heading)
		}
		break
	}
}

func TestIndexAndSets(t *testing.T) {
	of := wordset.Index(table, func(heading string) int { return len(heading) })
	if of["d:e"] != 9 || of["f"] != 3 || len(of) != 6 {
		t.Errorf("the words mean %v", of)
	}
	if sets := wordset.Sets(table); !sets["one first"]["c"] || len(sets["two"]) != 2 || sets["last"] == nil {
		t.Errorf("the sets are %v", sets)
	}
}

func TestBits(t *testing.T) {
	names := []string{"x", "y", "z"}
	if bits := wordset.Bits(names, "z x"); bits != 5 {
		t.Errorf("z and x are %b", bits)
	}
	defer func() {
		if recover() == nil {
			t.Error("a word that is no name is taken")
		}
	}()
	wordset.Bits(names, "x w")
}
