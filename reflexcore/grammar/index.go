package grammar

import (
	"slices"
	"strings"
)

// An index finds the flags of a block.
type index struct {
	flags   []flag       // sorted by text; without the first character in the mode windows
	letters *[128]uint16 // of -x, the place in flags counted from 1; nil without such
	bare    bool         // there are names that begin with no dash
	fold    bool         // case does not matter
}

// A flag is one spelling.
type flag struct {
	name
	option *option
}

// build sorts the flags of a block. Of two with one name the first counts.
func (x *index) build(p *Program) {
	n := 0
	for _, o := range p.options {
		n += len(o.names)
	}
	*x = index{flags: make([]flag, 0, n), fold: p.mode == Windows}
	for _, o := range p.options {
		for _, name := range o.names {
			if c := name.text[0]; c != '-' {
				x.bare = true
			}
			if x.fold {
				name.text = strings.ToLower(strings.TrimLeft(name.text, "-/"))
			}
			x.flags = append(x.flags, flag{name, o})
		}
	}
	slices.SortStableFunc(x.flags, func(a, b flag) int { return strings.Compare(a.text, b.text) })
	x.flags = slices.CompactFunc(x.flags, func(a, b flag) bool { return a.text == b.text })
	for i, f := range x.flags {
		letter := len(f.text) == 2 && f.text[0] == '-' && f.text[1] < 128
		if x.fold {
			letter = len(f.text) == 1 && f.text[0] < 128
		}
		if !letter {
			continue
		}
		if x.letters == nil {
			x.letters = &[128]uint16{}
		}
		x.letters[f.text[len(f.text)-1]] = uint16(i + 1)
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
		return &x.flags[i-1]
	}
	return nil
}

// find finds a flag by its whole name.
func (x *index) find(text string) *flag {
	if len(text) == 2 && text[0] == '-' && !x.fold {
		return x.letter(text[1])
	}
	if i := x.from(text); i < len(x.flags) && len(x.flags[i].text) == len(text) && x.begins(i, text) {
		return &x.flags[i]
	}
	return nil
}

// from is the place of the first flag that is not before the text.
func (x *index) from(text string) int {
	lo, hi := 0, len(x.flags)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if x.before(x.flags[mid].text, text) {
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
	name := x.flags[i].text
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
	for i := x.from(text); i < len(x.flags) && x.begins(i, text); i++ {
		f := &x.flags[i]
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
