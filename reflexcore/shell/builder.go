package shell

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// A builder makes the fields of one word.
type builder struct {
	in    *interp
	start int // in in.buf
	field
	any   bool // the field exists even if it is empty
	stays bool // the value that is added is not empty, even if unknown: ${X:?}, $$
	place bool // the value that is added is the place of something, see [definitions.asksPlace]
	// Some of the unknown part does not come from variables of the environment.
	foreign bool
	joins   bool // it has more than one part
}

func (b *builder) addText(s string, quoted bool) {
	if b.in.rep.made(len(s)) {
		b.in.exp.buf = append(b.in.exp.buf, s...)
		b.any = b.any || quoted || s != ""
		b.quoted = b.quoted || quoted
	}
}

// seam reports whether a part that was added at n continues the letters before it, and at least
// one of the two is a value: a name is put together from pieces.
func (b *builder) seam(n int, value, before bool) bool {
	buf := b.in.exp.buf
	return (value || before) && n > b.start && len(buf) > n && isLetter(buf[n-1]) && isLetter(buf[n])
}

// flush ends a field.
func (b *builder) flush() {
	if b.any {
		b.text = b.in.arena.keep(b.in.exp.buf[b.start:])
		if b.in.readings.omits == omitsParts && b.hollow && strings.Trim(b.text, effect.Unknown) != "" {
			b.text, b.splits = strings.ReplaceAll(b.text, effect.Unknown, ""), false
		}
		b.in.exp.push(b.field)
	}
	b.in.exp.buf = b.in.exp.buf[:b.start]
	b.field, b.any, b.foreign = field{}, false, false
}

func (ex *expander) push(f field) {
	if len(ex.fields) >= ex.in.rep.lim.Fields {
		ex.in.rep.over("words")
		return
	}
	ex.fields = append(ex.fields, f)
}

// pushAll pushes the words of a command inside another one. Such commands nest, and each repeats
// its words, so the capacity grows by doubling.
func (ex *expander) pushAll(list []field) {
	if room := max(ex.in.rep.lim.Fields-len(ex.fields), 0); len(list) > room {
		ex.in.rep.over("words")
		list = list[:room]
	}
	if cap(ex.fields)-len(ex.fields) < len(list) {
		ex.fields = slices.Grow(ex.fields, max(len(list), len(ex.fields)))
	}
	ex.fields = append(ex.fields, list...)
}

// omitted is the value in a walk that treats unknown parts as empty.
func (rg *readings) omitted(d data) data {
	if !d.known() {
		rg.leanDiffers = rg.leanDiffers || !rg.in.rep.stopped() // a lean walk does not reach what the limit left unknown
		if rg.omits == omitsAll {
			d.text = strings.ReplaceAll(d.text, effect.Unknown, "")
		}
	}
	return d
}
