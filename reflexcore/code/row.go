package code

import (
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
)

// A row is one fact of a table.
type row struct {
	action string
	arg    int // index, receiver or none
	bits   effect.Bits
	taint  effect.Taint
	param  string // the name of a fold or a language
	result string // the type of the object that comes back
}

// What the argument of a row may be, besides an index.
const (
	argReceiver = -1
	argNone     = -2
)

// word reads one word of a line.
func (r *row) word(word string) {
	if n, err := strconv.Atoi(word); err == nil {
		r.arg = n
		return
	}
	if bit, ok := rowBits[word]; ok {
		r.bits |= bit
	} else if taint, ok := rowTaints[word]; ok {
		r.taint |= taint
	} else if result, ok := strings.CutPrefix(word, "->"); ok {
		r.result = result
	} else if word == "r" {
		r.arg = argReceiver
	} else {
		r.param = word
	}
}

var rowBits = map[string]effect.Bits{"recursive": effect.Recursive, "force": effect.Force, "append": effect.Append,
	"glob": effect.Glob}

var rowTaints = map[string]effect.Taint{"secret": effect.Secret, "network": effect.Network, "decoded": effect.Decoded,
	"file": effect.File}
