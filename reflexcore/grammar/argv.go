package grammar

import (
	"path"
	"strings"

	"approver.example/reflexcore/effect"
)

// A Use is what one word of a command line means.
type Use struct {
	Role Role
	// Arg is the language, codec, terminator or the fixed target of the line.
	Arg  string
	Bits effect.Bits
	// Text is the part of the word that is meant; with Word < 0 there is none and
	// Arg is the target.
	Text string
	// Word is the index of the word, or -1; of Argv, and of Shell that joins
	// words, the words are [Word, End).
	Word, End int
}

// A Parsed command line. It can be used again, which saves its memory.
type Parsed struct {
	// Program is the block that applied, or nil: the program is unknown.
	Program *Program
	Uses    []Use
	// Stdin and Stdout are what becomes of the standard streams.
	Stdin, Stdout []Use
	// Bits of the whole command.
	Bits effect.Bits
	// Dry: the command says that nothing is to be changed.
	Dry bool
	// Odd: a flag that the table does not know was there, or one that is not known.
	Odd bool
	// Open: which subcommand it is, is not known.
	Open bool
	// Copies: what is read is written as it is.
	Copies bool

	seen     []seen
	operands []int
	blocks   [4]*Program // from the program down to the subcommand
	depth    int
	permuted bool
}

// seen is one flag on a command line.
type seen struct {
	option    *option
	arity     arity
	word, end int
	value     string
}

// Find returns the block of a program's name, which may be a path, and may end
// in a version or .exe; nil if it is unknown.
func (t *Table) Find(name string) *Program {
	if p := t.programs[name]; p != nil {
		return p
	}
	base := name
	if strings.IndexByte(name, '/') >= 0 {
		base = path.Base(name)
	}
	if i := strings.LastIndexByte(base, '\\'); i >= 0 {
		base = base[i+1:]
	}
	if p := t.programs[base]; p != nil {
		return p
	}
	lower := strings.ToLower(base)
	lower = strings.TrimSuffix(lower, ".exe")
	if p := t.programs[lower]; p != nil {
		return p
	}
	// python3.11, gcc-12, pip3
	if cut := strings.TrimRight(lower, "0123456789.-"); cut != lower && cut != "" {
		return t.programs[cut]
	}
	return nil
}

// Parse applies the table to an argument vector. In argv a word with
// [effect.Unknown] may be anything of that form.
func (t *Table) Parse(argv []string, out *Parsed) {
	*out = Parsed{Uses: out.Uses[:0], Stdin: out.Stdin[:0], Stdout: out.Stdout[:0], seen: out.seen[:0], operands: out.operands[:0]}
	if len(argv) == 0 {
		return
	}
	p := t.Find(argv[0])
	if p == nil {
		return
	}
	out.Program, out.blocks[0], out.depth = p, p, 1
	out.words(argv, 1)
	out.apply(argv)
}

// words sorts the words from i on into flags and operands, going down into
// subcommands.
func (o *Parsed) words(argv []string, i int) {
	p := o.Program
	if p.mode == Words {
		for ; i < len(argv); i++ {
			o.operands = append(o.operands, i)
		}
		return
	}
	if p.mode == Bundle && i < len(argv) && argv[i] != "" && argv[i][0] != '-' {
		i = o.cluster(argv, i, argv[i])
	}
	started := false // the expression of find
	for i < len(argv) {
		word := argv[i]
		switch {
		case word == "--":
			i++
			if o.Program.subs != nil {
				continue // git -- push
			}
			for ; i < len(argv); i++ {
				o.operands = append(o.operands, i)
			}
		case len(word) > 1 && word[0] == '-' || len(word) > 0 && o.special(word):
			started = true
			i = o.flag(argv, i)
		case o.Program.subs != nil:
			sub := o.Program.subs[word]
			if sub == nil {
				sub = o.Program.subs[strings.ToLower(word)]
			}
			switch {
			case sub != nil:
				o.Program = sub
				if o.depth < len(o.blocks) {
					o.blocks[o.depth] = sub
					o.depth++
				}
			case !effect.IsKnown(word):
				o.Open = true
				o.operands = append(o.operands, i)
			default:
				o.operands = append(o.operands, i)
			}
			i++
			if sub == nil {
				for ; i < len(argv); i++ {
					if len(argv[i]) > 1 && argv[i][0] == '-' {
						i = o.flag(argv, i) - 1
						continue
					}
					o.operands = append(o.operands, i)
				}
			}
		case o.mode() == EnvCmd && isAssignment(word):
			o.Uses = append(o.Uses, Use{Role: Env, Text: word, Word: i, End: i + 1})
			i++
		case o.mode() == POSIX || o.mode() == EnvCmd:
			for ; i < len(argv); i++ {
				o.operands = append(o.operands, i)
			}
		case o.mode() == Find && started && (word == "(" || word == ")" || word == "!" || word == ","):
			i++
		default:
			if !effect.IsKnown(word) && (word[0] == 0 || word[0] == '-') {
				o.Odd = true // it may be a flag
			}
			o.operands = append(o.operands, i)
			i++
		}
	}
}

func (o *Parsed) mode() Mode { return o.Program.mode }

// special reports whether a word without a dash is a flag: dd's of=x, +x, /x.
func (o *Parsed) special(word string) bool {
	if word[0] == '+' || word[0] == '/' {
		for b := o.depth - 1; b >= 0; b-- {
			if o.has(b, word) {
				return true
			}
		}
	}
	i := strings.IndexByte(word, '=')
	if i <= 0 {
		return false
	}
	for b := o.depth - 1; b >= 0; b-- {
		if word[0] != '-' && o.has(b, word[:i]) {
			return true
		}
	}
	return false
}

func (o *Parsed) has(block int, text string) bool {
	opt, _ := o.blocks[block].named(text)
	return opt != nil
}

func isAssignment(word string) bool {
	i := strings.IndexByte(word, '=')
	if i <= 0 {
		return false
	}
	for j := range i {
		c := word[j]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (j == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// flag reads the flag at i and returns the index of the next word.
func (o *Parsed) flag(argv []string, i int) int {
	word := argv[i]
	text, value, cut := strings.Cut(word, "=")
	if opt, n := o.option(text); opt != nil {
		return o.take(argv, i, opt, n, value, cut)
	}
	switch {
	case word[1] == '-' && o.mode() != Long:
		if opt, n := o.abbreviated(text); opt != nil {
			return o.take(argv, i, opt, n, value, cut)
		}
	case o.mode() == Long || o.mode() == Find:
		// --auto-approve and -auto-approve are the same there
		if opt, n := o.option(strings.TrimPrefix(text, "-")); opt != nil {
			return o.take(argv, i, opt, n, value, cut)
		}
	default:
		return o.cluster(argv, i, word[1:])
	}
	o.Odd = true
	return i + 1
}

// option finds a flag in the blocks, from the subcommand up.
func (o *Parsed) option(text string) (*option, arity) {
	for b := o.depth - 1; b >= 0; b-- {
		if opt, n := o.blocks[b].named(text); opt != nil {
			return opt, n
		}
	}
	return nil, none
}

// abbreviated finds a long flag that begins so. Of several, one that does
// something counts.
func (o *Parsed) abbreviated(text string) (found *option, n arity) {
	if len(text) < 3 {
		return nil, none
	}
	for b := o.depth - 1; b >= 0; b-- {
		for _, opt := range o.blocks[b].options {
			for _, full := range opt.names {
				if strings.HasPrefix(full.text, text) && (found == nil || len(found.actions) == 0) {
					found, n = opt, full.arity
				}
			}
		}
	}
	return found, n
}

// take notes a flag at i with its argument.
func (o *Parsed) take(argv []string, i int, opt *option, n arity, value string, cut bool) int {
	s := seen{option: opt, arity: n, word: i, end: i + 1, value: value}
	switch {
	case n == until:
		s.word, s.end = i+1, i+1
		for s.end < len(argv) && argv[s.end] != ";" && (argv[s.end] != "+" || s.end == s.word) {
			s.end++
		}
		o.seen = append(o.seen, s)
		return s.end + 1
	case n == argument && !cut:
		if i+1 >= len(argv) {
			return i + 1
		}
		s.word, s.end, s.value = i+1, i+2, argv[i+1]
	}
	o.seen = append(o.seen, s)
	return s.end
}

// cluster reads short flags in one word: -rf, -czfFILE.
func (o *Parsed) cluster(argv []string, i int, letters string) int {
	dashed := len(letters) < len(argv[i])
	next := i + 1
	for j := 0; j < len(letters); j++ {
		opt, n := o.short(letters[j])
		if opt == nil {
			o.Odd = o.Odd || letters[j] < '0' || letters[j] > '9'
			continue
		}
		rest := letters[j+1:]
		switch {
		case n == argument && rest != "" && dashed:
			o.seen = append(o.seen, seen{option: opt, arity: n, word: i, end: i + 1, value: strings.TrimPrefix(rest, "=")})
			return next
		case n == argument && next < len(argv): // tar xfz FILE: the letters go on
			o.seen = append(o.seen, seen{option: opt, arity: n, word: next, end: next + 1, value: argv[next]})
			next++
		case n == until:
			return o.take(argv, i, opt, n, "", false)
		case n == attached:
			o.seen = append(o.seen, seen{option: opt, arity: n, word: i, end: i + 1, value: rest})
			return next
		default:
			o.seen = append(o.seen, seen{option: opt, word: i, end: i + 1})
		}
	}
	return next
}

func (o *Parsed) short(letter byte) (*option, arity) {
	for b := o.depth - 1; b >= 0; b-- {
		for _, opt := range o.blocks[b].options {
			for _, n := range opt.names {
				if len(n.text) == 2 && n.text[1] == letter && n.text[0] == '-' {
					return opt, n.arity
				}
			}
		}
	}
	return nil, none
}
