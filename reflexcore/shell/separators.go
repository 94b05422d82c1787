package shell

import (
	"slices"
)

// wholes pushes values that are known as fields of their own, as long as each is one word
// whatever it is next to: the builder has nothing yet. It returns how many these are. A
// list is pushed by every command that takes it, so a long one has to be quick.
func (b *builder) wholes(list []data, quoted bool) (n int) {
	in := b.in
	if len(list) == 0 || !quoted && in.par.ifs() != usualIFS {
		return 0
	}
	torn := !quoted && (in.par.tears() || in.par.torn())
	if room := min(len(list), in.rep.lim.Fields-len(in.exp.fields)); room > 0 {
		in.exp.fields = slices.Grow(in.exp.fields, room)
	}
	for ; n < len(list); n++ {
		d := &list[n]
		switch {
		case d.text == "", torn && len(d.text) > 1, quoted && !d.known(), !quoted && !isKnownWord(d.text):
			return n
		}
		if in.rep.made(len(d.text)) {
			in.exp.push(field{data: *d, quoted: quoted})
		}
	}
	return n
}
