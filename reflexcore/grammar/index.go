package grammar

import (
	"cmp"
	"slices"
	"strings"
)

// An index finds the flags of a block.
type index struct {
	flags   []flag // those of letters first, in their order; then the others, sorted by text
	letters string // of the flags -x
	fold    bool   // case does not matter, and names are without what they begin with
}

// A flag is one spelling.
type flag struct {
	text   string
	option *option // nil: nothing is said of it
	line   int32
	arity  arity
}

// does reports whether something is said of the flag.
func (f *flag) does() bool { return f.option != nil && len(f.option.actions) > 0 }

// build sorts the flags, using the memory of spare. It returns a flag that is there twice, or nil.
func (x *index) build(scratch []flag) *flag {
	var buf [128]byte
	var have [128]bool
	letters, long := buf[:0], scratch[:0]
	for _, f := range x.flags {
		letter := len(f.text) == 2 && f.text[0] == '-' && f.text[1] < 128
		if x.fold {
			f.text = strings.ToLower(strings.TrimLeft(f.text, "-/"))
			letter = len(f.text) == 1 && f.text[0] < 128
		}
		if !letter {
			long = append(long, f)
			continue
		}
		c := f.text[len(f.text)-1]
		if have[c] {
			return &f
		}
		have[c] = true
		x.flags[len(letters)] = f
		letters = append(letters, c)
	}
	slices.SortFunc(long, func(a, b flag) int {
		if a.text != b.text {
			return strings.Compare(a.text, b.text)
		}
		return cmp.Compare(a.line, b.line)
	})
	copy(x.flags[len(letters):], long)
	x.letters = string(letters)
	for i := 1; i < len(long); i++ {
		if long[i].text == long[i-1].text {
			return &long[i]
		}
	}
	return nil
}

// folded returns the same index for a block that ignores case.
func (x *index) folded(l *loader) (*index, *flag) {
	for i := range x.flags {
		l.ensureOption(&x.flags[i])
	}
	f := &index{flags: l.flagRoom.keep(x.flags), fold: true}
	return f, f.build(l.scratch(len(f.flags)))
}

// letter finds -x.
func (x *index) letter(c byte) *flag {
	if x.fold {
		c = lower(c)
	}
	if i := strings.IndexByte(x.letters, c); i >= 0 {
		return &x.flags[i]
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
		if f := x.letter(text[1]); f != nil {
			return f
		}
	}
	if i := x.lowerBound(text); i < len(x.flags) && len(x.flags[i].text) == len(text) && x.begins(i, text) {
		return &x.flags[i]
	}
	return nil
}

// lowerBound returns the index of the first long flag that is not before the text.
func (x *index) lowerBound(text string) int {
	lo, hi := len(x.letters), len(x.flags)
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

// find finds a flag by its whole name. The flags of the block itself have precedence, then those of
// the first block that it is like.
func (p *Program) find(text string) *flag {
	for _, x := range p.parts {
		if f := x.find(text); f != nil {
			return f
		}
	}
	return nil
}

// letter finds -x.
func (p *Program) letter(c byte) *flag {
	for _, x := range p.parts {
		if f := x.letter(c); f != nil {
			return f
		}
	}
	return nil
}

// abbreviated finds a flag by the beginning of its name. Of several, one that does something
// counts. A flag such as --dry-run must be written in full: otherwise it would hide what the
// command does, if the table lacked another flag with that beginning.
func (p *Program) abbreviated(text string) *flag {
	var found *flag
	for _, x := range p.parts {
		for i := x.lowerBound(text); i < len(x.flags) && x.begins(i, text); i++ {
			f := &x.flags[i]
			if (f.option == nil || !f.option.unreal) && (found == nil || !found.does()) {
				found = f
			}
		}
	}
	return found
}

// named finds a flag as it is written in the tables.
func (p *Program) named(text string) *flag {
	if p.mode == Windows {
		text = strings.ToLower(strings.TrimLeft(text, "-/"))
	}
	return p.find(text)
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}
