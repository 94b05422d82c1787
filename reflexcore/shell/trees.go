package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A read is what a text was read as.
type read struct {
	src     string
	file    *syntax.File
	how     How
	strange bool
}

// Trees are short texts that were parsed while one call is judged. The same payload often
// stands in a call several times, and what was found encoded is analyzed by itself once
// more. The zero value is empty. It must not be shared, and nil keeps nothing.
type Trees struct{ reads []read }

// Forget drops the texts, and keeps the memory.
func (t *Trees) Forget() {
	clear(t.reads)
	t.reads = t.reads[:0]
}

// of returns what a text was read as, if that is known.
func (t *Trees) of(src string) (read, bool) {
	if t != nil && len(src) <= maxKeptText {
		for i := range t.reads {
			if t.reads[i].src == src {
				return t.reads[i], true
			}
		}
	}
	return read{}, false
}

// keep notes what a text was read as, while there is room.
func (t *Trees) keep(r read) {
	if t != nil && len(t.reads) < maxKept && len(r.src) <= maxKeptText && !mayDefine(r.src) {
		t.reads = append(t.reads, r)
	}
}

const (
	maxKept     = 8       // texts
	maxKeptText = 4 << 10 // bytes of one
)

// mayDefine reports whether a text may define a function. Each definition has to be one of
// its own: how often a body calls itself is counted by the place where it stands in a tree.
func mayDefine(src string) bool {
	return strings.IndexByte(src, '(') >= 0 || strings.Contains(src, "function") ||
		strings.IndexByte(src, '\\') >= 0 && (strings.Contains(src, "\\\n") || strings.Contains(src, "\\\r"))
}

// How says how a text was read.
type How uint8

// The ways, from the best.
const (
	Parsed    How = iota // as bash, or zsh
	Recovered            // as bash, with what was missing put in
	Tokens               // not at all: split at quotes and operators
	Refused              // beyond a limit
)

// String returns the word.
func (h How) String() string {
	return [...]string{"parsed", "recovered", "tokens", "refused"}[min(h, Refused)]
}
