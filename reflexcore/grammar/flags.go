package grammar

import "strings"

// flag reads the flag at i and returns the index of the next word.
func (o *Parsed) flag(argv []string, i int) int {
	word := argv[i]
	if o.mode() == Windows {
		return o.windows(argv, i)
	}
	text, value, cut := strings.Cut(word, "=")
	if f := o.find(text); f != nil {
		return o.take(argv, i, f, value, cut)
	}
	switch {
	case o.mode() == Long || o.mode() == Find:
		// --auto-approve and -auto-approve are the same there
		if f := o.find(strings.TrimPrefix(text, "-")); f != nil {
			return o.take(argv, i, f, value, cut)
		}
		if name, rest, ok := strings.Cut(word, ":"); ok { // java -javaagent:x.jar
			if f := o.find(name); f != nil && f.arity == attached {
				return o.take(argv, i, f, rest, true)
			}
		}
		if f := o.letter(word[1]); f != nil && f.arity == attached { // java -Dx=y
			return o.take(argv, i, f, word[2:], true)
		}
	case word[1] == '-':
		if f := o.abbreviated(text); f != nil {
			return o.take(argv, i, f, value, cut)
		}
	default:
		return o.cluster(argv, i, word[1:])
	}
	return o.unnamed(argv, i, value, cut)
}

// unnamed reads a flag that no block has.
func (o *Parsed) unnamed(argv []string, i int, value string, cut bool) int {
	f := o.letter('*')
	if argv[i][1] == '-' {
		f = o.find("--*")
	}
	switch {
	case f == nil:
		o.Odd = true
		o.noteUnsure(argv, i, cut)
		return i + 1
	case f.arity == none:
		o.noteUnsure(argv, i, cut)
	case f.arity == argument && !cut && strings.HasPrefix(argv[i], "--no-"):
		return i + 1 // what switches something off has no argument
	case f.arity == argument && !cut && i+1 < len(argv) && strings.HasPrefix(argv[i+1], "-"):
		o.noteUnsure(argv, i, cut)
		return i + 1 // no other flag is its argument
	}
	return o.take(argv, i, f, value, cut)
}

// noteUnsure notes a flag that no block has. If it has no argument in its own word, it may have the
// next one. One that switches something off has none.
func (o *Parsed) noteUnsure(argv []string, i int, cut bool) {
	if !cut && !strings.HasPrefix(argv[i], "--no-") {
		o.unsure = i
	}
}

// find finds a flag in the blocks, beginning with the subcommand.
func (o *Parsed) find(text string) *flag {
	for b := o.depth - 1; b >= 0; b-- {
		if f := o.blocks[b].find(text); f != nil {
			return f
		}
	}
	return nil
}

func (o *Parsed) letter(c byte) *flag {
	for b := o.depth - 1; b >= 0; b-- {
		if f := o.blocks[b].letter(c); f != nil {
			return f
		}
	}
	return nil
}

func (o *Parsed) abbreviated(text string) *flag {
	if text == "--" || text == "" {
		return nil
	}
	var found *flag
	for b := o.depth - 1; b >= 0; b-- {
		if b < o.depth-1 && o.blocks[b].mode == POSIX {
			break // the options of the program itself end where its subcommand begins
		}
		f := o.blocks[b].abbreviated(text)
		if f != nil && (found == nil || !found.does()) {
			found = f
		}
	}
	return found
}

// take notes a flag at i with its argument.
func (o *Parsed) take(argv []string, i int, f *flag, value string, cut bool) int {
	s := seen{option: f.option, arity: f.arity, word: i, end: i + 1, value: value}
	next := i + 1
	switch {
	case f.arity == until:
		s.word, s.end = next, next
		for s.end < len(argv) && argv[s.end] != ";" && (argv[s.end] != "+" || argv[s.end-1] != "{}") {
			s.end++
		}
		next = s.end + 1
	case f.arity == rest && cut:
		s.end, next = len(argv), len(argv)
	case f.arity == rest:
		if next < len(argv) && argv[next] == "--" {
			next++
		}
		if s.word, s.end = next, len(argv); next < len(argv) {
			s.value = argv[next]
		}
		s.split = true
		next = len(argv)
	case f.arity == second && next+1 < len(argv):
		s.word, s.end, s.value = next+1, next+2, argv[next+1]
		next = s.end
	case f.arity == argument && !cut:
		if next >= len(argv) {
			return next
		}
		s.word, s.end, s.value = next, next+1, argv[next]
		o.takes(f, next)
		next = s.end
	}
	o.note(s)
	return next
}

// takes notes that a word was read as the argument of a flag.
func (o *Parsed) takes(f *flag, word int) {
	if !f.does() {
		o.taken = word
	}
}

// note records a flag that has a meaning, or that conditions depend on.
func (o *Parsed) note(s seen) {
	if s.option != nil {
		s.eaten = o.unsure > 0 && o.unsure == s.word-1
		o.seen = append(o.seen, s)
	}
}

// cluster reads short flags in one word: -rf, -czfFILE.
func (o *Parsed) cluster(argv []string, i int, letters string) int {
	dashed := len(letters) < len(argv[i])
	next := i + 1
	for j := 0; j < len(letters); j++ {
		f := o.letter(letters[j])
		if f == nil {
			o.noteUnsure(argv, i, !dashed || letters[j] >= '0' && letters[j] <= '9')
			o.Odd = o.Odd || (letters[j] < '0' || letters[j] > '9') && o.letter('*') == nil
			continue
		}
		left := letters[j+1:]
		switch {
		case (f.arity == argument || f.arity == rest) && left != "" && dashed:
			return o.take(argv, i, f, strings.TrimPrefix(left, "="), true)
		case f.arity == argument && next < len(argv): // tar xfz FILE: the letters go on
			o.note(seen{option: f.option, arity: f.arity, word: next, end: next + 1, value: argv[next]})
			o.takes(f, next)
			next++
		case f.arity == attached:
			return o.take(argv, i, f, left, true)
		case f.arity == none:
			o.note(seen{option: f.option, word: i, end: i + 1})
		default:
			return o.take(argv, i, f, "", false)
		}
	}
	return next
}

// windows reads /x, -x, /x:value, -Name value, -Nam, /s/q.
func (o *Parsed) windows(argv []string, i int) int {
	text, value, cut := cutWindows(argv[i])
	f := o.find(text)
	if f == nil && argv[i][0] == '-' {
		f = o.abbreviated(text)
	}
	if f != nil {
		return o.take(argv, i, f, value, cut)
	}
	for b := o.depth - 1; b >= 0; b-- {
		x := o.blocks[b]
		if f := x.attachedRest(text); f != nil { // cmd /cdel
			return o.take(argv, i, f, argv[i][2:], true)
		}
		if x.slashes(text) {
			for part := range strings.SplitSeq(text, "/") {
				o.note(seen{option: x.find(part).option, word: i, end: i + 1})
			}
			return i + 1
		}
	}
	o.Odd = true
	return i + 1
}

// cutWindows splits a flag into its name, without the prefix, and its value.
func cutWindows(word string) (name, value string, cut bool) {
	word = strings.TrimLeft(word, "-/")
	if i := strings.IndexAny(word, ":="); i >= 0 {
		return word[:i], word[i+1:], true
	}
	return word, "", false
}

// slashes reports whether a text is several flags without arguments, such as s/q.
func (p *Program) slashes(text string) bool {
	if strings.IndexByte(text, '/') < 0 {
		return false
	}
	for part := range strings.SplitSeq(text, "/") {
		if f := p.find(part); f == nil || f.arity != none {
			return false
		}
	}
	return true
}

// attachedRest finds a flag of one letter whose value is everything that follows, also in its own
// word.
func (p *Program) attachedRest(text string) *flag {
	if p.mode != Windows || text == "" {
		return nil
	}
	if f := p.letter(text[0]); f != nil && f.arity == rest {
		return f
	}
	return nil
}

// Flags returns at most limit flags of the command that begin with a prefix, including dashes, and
// have no argument. A word of which only the prefix is known may be one of them.
func (o *Parsed) Flags(prefix string, limit int) (out []string) {
	if o.mode() == Windows || !strings.HasPrefix(prefix, "-") {
		return nil
	}
	letters := ""
	if o.mode() != Find && o.mode() != Long && prefix[:min(2, len(prefix))] != "--" {
		letters = prefix
	}
	for b := o.depth - 1; b >= 0; b-- {
		for _, x := range o.blocks[b].parts {
			for i := range x.flags {
				text := x.flags[i].text
				switch f := &x.flags[i]; {
				case f.arity != none || f.option != nil && f.option.unreal || strings.HasSuffix(text, "*") || len(out) >= limit:
				case strings.HasPrefix(text, prefix) && len(text) > len(prefix):
					out = append(out, text)
				case letters != "" && len(text) == 2 && text[1] != '-':
					out = append(out, letters+text[1:])
				}
			}
		}
	}
	return out
}
