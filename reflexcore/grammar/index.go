package grammar

import (
	"slices"
	"strings"
)

// An index finds the flags of a block.
type index struct {
	long    []flag       // sorted by text; without what they begin with in the mode windows
	short   []flag       // -x
	letters *[128]uint16 // the place of -x in short, counted from 1; nil without such
	bare    bool         // there are names that begin with no dash
	fold    bool         // case does not matter
}

// A flag is one spelling.
type flag struct {
	name
	order  int32 // in the block
	option *option
}

// build sorts the flags of a block. Of two with one name the first counts.
func (x *index) build(p *Program) {
	short, long := 0, 0
	for _, o := range p.options {
		for _, n := range o.names {
			if len(n.text) == 2 {
				short++
			} else {
				long++
			}
		}
	}
	*x = index{long: make([]flag, 0, long), short: make([]flag, 0, short), fold: p.mode == Windows}
	for _, o := range p.options {
		for _, name := range o.names {
			x.add(name, o)
		}
	}
	slices.SortFunc(x.long, func(a, b flag) int {
		if a.text != b.text {
			return strings.Compare(a.text, b.text)
		}
		return int(a.order - b.order)
	})
	x.long = slices.CompactFunc(x.long, func(a, b flag) bool { return a.text == b.text })
}

func (x *index) add(n name, o *option) {
	if n.text[0] != '-' {
		x.bare = true
	}
	letter := len(n.text) == 2 && n.text[0] == '-' && n.text[1] < 128
	if x.fold {
		n.text = strings.ToLower(strings.TrimLeft(n.text, "-/"))
		letter = len(n.text) == 1 && n.text[0] < 128
	}
	if !letter {
		x.long = append(x.long, flag{n, int32(len(x.long)), o})
		return
	}
	if x.letters == nil {
		x.letters = &[128]uint16{}
	}
	if at := &x.letters[n.text[len(n.text)-1]]; *at == 0 {
		x.short = append(x.short, flag{n, 0, o})
		*at = uint16(len(x.short))
	}
}

// letter finds -x.
func (x *index) letter(c byte) *flag {
	if x.letters == nil || c >= 128 {
		return nil
	}
	if x.fold {
		c = lower(c)
	}
	if i := x.letters[c]; i > 0 {
		return &x.short[i-1]
	}
	return nil
}

// find finds a flag by its whole name.
func (x *index) find(text string) *flag {
	switch {
	case x.fold && len(text) == 1:
		if f := x.letter(text[0]); f != nil {
			return f
		}
	case !x.fold && len(text) == 2 && text[0] == '-':
		return x.letter(text[1])
	}
	if i := x.from(text); i < len(x.long) && len(x.long[i].text) == len(text) && x.begins(i, text) {
		return &x.long[i]
	}
	return nil
}

// from is the place of the first flag that is not before the text.
func (x *index) from(text string) int {
	lo, hi := 0, len(x.long)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if x.before(x.long[mid].text, text) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

func (x *index) before(name, text string) bool {
	if !x.fold {
		return name < text
	}
	for i := 0; i < len(name) && i < len(text); i++ {
		if c := lower(text[i]); name[i] != c {
			return name[i] < c
		}
	}
	return len(name) < len(text)
}

// begins reports whether the i-th flag begins with the text.
func (x *index) begins(i int, text string) bool {
	name := x.long[i].text
	if len(name) < len(text) {
		return false
	}
	if !x.fold {
		return name[:len(text)] == text
	}
	return strings.EqualFold(name[:len(text)], text)
}

// abbreviated finds a flag whose name is cut short so. Of several, one that does
// something counts. One that only says that nothing is done must be written out:
// if the table did not know another flag that begins so, it would hide what the
// command does.
func (x *index) abbreviated(text string) *flag {
	var found *flag
	for i := x.from(text); i < len(x.long) && x.begins(i, text); i++ {
		f := &x.long[i]
		if !f.option.unreal && (found == nil || len(found.option.actions) == 0) {
			found = f
		}
	}
	return found
}

// named returns the flag with that spelling, or nil.
func (p *Program) named(text string) (*option, arity) {
	if p.index.fold {
		text = strings.TrimLeft(text, "-/")
	}
	if f := p.index.find(text); f != nil {
		return f.option, f.arity
	}
	return nil, none
}
