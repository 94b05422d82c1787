package tripwire

import (
	"strings"
	"testing"
)

// When the work for a text is used up, reading ends.
func TestWorkIsBounded(t *testing.T) {
	r := new(reader)
	r.read("instructions rules restrictions above. " + strings.Repeat("ignore you act are not all ", 200))
	r.work = 10
	r.judge(nil, "", 1)
	if r.work >= 0 {
		t.Errorf("%d of 10 steps are left", r.work)
	}
	if r.work < -len(r.hits)*len(templates) {
		t.Errorf("it went on after the work was used up: %d", r.work)
	}
}

// A word may be longer than what is kept of it, wherever it stops being plain letters.
func TestLongWordsOfMixedLetters(t *testing.T) {
	for n := maxWord - 4; n < maxWord+6; n++ {
		for _, middle := range []string{"", "é", "ǅ", "9", "'", "\U00010400", "\u2019"} {
			text := strings.Repeat("a", n) + middle + strings.Repeat("b", 9) + middle + "c ignore"
			r := new(reader)
			r.read(text)
			if len(r.word) != 0 {
				t.Errorf("%q: a word is left over", text)
			}
			if want := words.find([]byte("ignore")); len(r.hits) == 0 || r.hits[len(r.hits)-1].slot != want {
				t.Errorf("%q: the last word was not found", text)
			}
		}
	}
}
