package grammar

import (
	"bytes"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// A Use is what one word of a command line means.
type Use struct {
	Role Role
	// Arg is the language, the codec, or the fixed target of the line.
	Arg  string
	Bits effect.Bits
	// Text is the part of the word that is meant. With Word < 0 there is none, and Arg is the target.
	// For several words it is empty, or the first one, or in Code all of them.
	Text string
	// Word is the index of the word, or -1. In Argv, and in Shell, Sql and Code that join words, the
	// words are [Word, End).
	Word, End int
}

// A Parsed command line. It can be reused, which saves memory.
type Parsed struct {
	// Program is the block that applied, or nil: the program is unknown.
	Program *Program
	Uses    []Use
	// Stdin and Stdout say what happens to the standard streams.
	Stdin, Stdout []Use
	// Bits of the whole command.
	Bits effect.Bits
	// Dry says that the command changes nothing, because of a flag.
	Dry bool
	// Rerouted says that a host in an address may not be the one that is reached, because of a flag.
	Rerouted bool
	// Odd says that there was a flag that the table does not have, or a word that may be a flag.
	Odd bool
	// Open says that the subcommand is not known.
	Open bool
	// Copies says that what is read is written unchanged.
	Copies bool

	table    *Table
	seen     []seen
	mask     uint64 // the bits of the options seen
	operands []int
	dashes   int         // how many operands were before --, plus 1
	ended    int         // the word behind a -- before the subcommand; 0: there is none
	blocks   [4]*Program // from the program down to the subcommand
	typed    [3]int      // the words of the subcommands
	depth    int
	taken    int // the last word that was read as the argument of a flag of which nothing is said; 0: none
	unsure   int // the last word that is a flag no block has, which may take the next word as its argument; 0: none
	loose    int // the first word behind such a flag, if no operand is before it; 0: none
	skip     int // a word that is read as the argument of such a flag; 0: none
}

// seen is one flag on a command line.
type seen struct {
	option    *option
	arity     arity
	word, end int
	value     string
	eaten     bool // it may be the argument of an unknown flag before it
	split     bool // the words are [word, end), and the value is the first of them
}

// Find returns the block of a program by its name, which may be a path, and may end in a version or
// .exe; nil if it is unknown.
func (t *Table) Find(name string) *Program {
	if p := t.programs[name]; p != nil {
		return p
	}
	base := name[strings.LastIndexByte(name, '/')+1:]
	base = base[strings.LastIndexByte(base, '\\')+1:]
	if p := t.programs[base]; p != nil {
		return p
	}
	var buf [64]byte
	if len(base) > len(buf) {
		return nil
	}
	low := buf[:len(base)]
	for i := range len(base) {
		low[i] = lower(base[i])
	}
	return t.family(low)
}

// family finds a name in lower case: without .exe, without its version, or by the part before its
// dot.
func (t *Table) family(base []byte) *Program {
	if i := bytes.LastIndexByte(base, '.'); i > 0 {
		switch string(base[i:]) {
		case ".exe", ".com", ".cmd", ".bat":
			base = base[:i]
		}
	}
	if p := t.programs[string(base)]; p != nil {
		return p
	}
	// python3.11, gcc-12
	if cut := bytes.TrimRight(base, "0123456789.-"); len(cut) > 0 {
		if p := t.programs[string(cut)]; p != nil && (p.mode != Windows || p.executes()) { // cmdlets have no versions
			return p
		}
	}
	if i := bytes.IndexByte(base, '.'); i > 0 {
		return t.families[string(base[:i])] // mkfs.*
	}
	return nil
}

// The blocks that are not programs.
const (
	environment = "="        // the variables of the environment
	modules     = "=modules" // the modules of Python that have a block of their name
)

// Variable reports whether the table has an environment variable. Otherwise [=, NAME=VALUE] need
// not be parsed. It allocates nothing.
func (t *Table) Variable(name string) bool { return t.hasFlag(environment, name) }

// Words returns the number of words in the name of a block.
func (p *Program) Words() int { return 1 + strings.Count(p.Name, " ") }

// Module reports whether the block with a name describes a Python module (python -m NAME).
func (t *Table) Module(name string) bool { return t.hasFlag(modules, name) && t.Find(name) != nil }

// hasFlag reports whether a block has a flag.
func (t *Table) hasFlag(block, flag string) bool {
	p := t.programs[block]
	return p != nil && p.find(flag) != nil
}

// Typed returns the program as it is written: its name without the folder, and the subcommands.
func (o *Parsed) Typed(argv []string) string {
	base := argv[0][strings.LastIndexByte(argv[0], '/')+1:]
	base = base[strings.LastIndexByte(base, '\\')+1:]
	n := len(base)
	same := strings.HasPrefix(o.Program.Name, base)
	for _, i := range o.typed[:o.depth-1] {
		same = same && n < len(o.Program.Name) && o.Program.Name[n] == ' ' && strings.HasPrefix(o.Program.Name[n+1:], argv[i])
		n += 1 + len(argv[i])
	}
	if same && n == len(o.Program.Name) {
		return o.Program.Name // without a copy
	}
	for _, i := range o.typed[:o.depth-1] {
		base += " " + argv[i]
	}
	return base
}

// Plausible returns the block of a word that may be a command. A program that runs something counts
// with all its names. Others count only with their exact name, and not with short aliases of
// cmdlets, such as cli.
func (t *Table) Plausible(word string) *Program {
	p := t.Find(word)
	switch {
	case p == nil || p.executes():
		return p
	case p.mode == Windows:
		if strings.IndexByte(word, '-') < 0 {
			return nil
		}
	case t.programs[word[strings.LastIndexByte(word, '/')+1:]] != p:
		return nil
	}
	return p
}

// executes reports whether a line of the block runs something.
func (p *Program) executes() bool {
	runs := func(a Action) bool {
		return a.Role == Exec || a.Role == Shell || a.Role == Argv || a.Role == Code || a.Role == Sql
	}
	for _, x := range p.parts {
		for i := range x.flags {
			if o := x.flags[i].option; o != nil && slices.ContainsFunc(o.actions, runs) {
				return true
			}
		}
	}
	return slices.ContainsFunc(p.operands, func(r operandRule) bool { return runs(r.Action) }) ||
		slices.ContainsFunc(p.stdin, runs)
}

// Parse applies the table to an argument vector. A word with [effect.Unknown] may be anything of
// that form.
func (t *Table) Parse(argv []string, out *Parsed) {
	*out = Parsed{Uses: out.Uses[:0], Stdin: out.Stdin[:0], Stdout: out.Stdout[:0], seen: out.seen[:0],
		operands: out.operands[:0]}
	if len(argv) == 0 {
		return
	}
	p := t.Find(argv[0])
	if p == nil {
		return
	}
	out.begin(t, p, argv, 0)
	if out.loose == 0 || !out.isHarmless() {
		return
	}
	// An unknown flag may take the word behind it, so that the next one is the subcommand.
	other := &Parsed{}
	if other.begin(t, p, argv, out.loose); !other.isHarmless() {
		*out = *other
	}
}

// begin parses the words of a program. skip is the index of a word that is left out, or 0.
func (o *Parsed) begin(t *Table, p *Program, argv []string, skip int) {
	o.table, o.skip = t, skip
	o.Program, o.blocks[0], o.depth = p, p, 1
	o.readWords(argv, 1)
	o.apply(argv)
}

// isHarmless reports whether a command, as far as the table knows, neither deletes, stops or
// publishes anything nor runs another command.
func (o *Parsed) isHarmless() bool {
	return !slices.ContainsFunc(o.Uses, func(u Use) bool {
		switch u.Role {
		case Delete, RemoteDelete, Discard, Kill, Publish, Argv, Shell, Code, Exec, Sql:
			return true
		default:
			return false
		}
	})
}

// readWords sorts the words from i on into flags and operands, and follows subcommands.
func (o *Parsed) readWords(argv []string, i int) {
	p := o.Program
	if p.mode == Words {
		o.remaining(argv, i)
		return
	}
	if p.mode == Bundle && i < len(argv) && argv[i] != "" && argv[i][0] != '-' {
		i = o.cluster(argv, i, argv[i])
	}
	for i < len(argv) {
		word := argv[i]
		if o.isLoose(i, word) {
			i++
			continue
		}
		switch {
		case word == "--" && o.mode() != Windows:
			i++
			if o.mode() == Find {
				continue // it ends -H and its like; the expression follows all the same
			}
			if o.Program.parental {
				o.ended = i
				continue // git -- push
			}
			o.dashes = len(o.operands) + 1
			i = o.remaining(argv, i)
		case len(word) > 1 && word[0] == '-' || len(word) > 0 && o.special(word):
			i = o.flag(argv, i)
		case o.Program.parental:
			i = o.readSubcommand(argv, i)
		case o.mode() == EnvCmd && isAssignment(word):
			o.Uses = append(o.Uses, Use{Role: Env, Text: word, Word: i, End: i + 1})
			i++
		case o.mode() == Find && (word == "(" || word == ")" || word == "!" || word == ","):
			i++
		default:
			if !effect.IsKnown(word) && (word[0] == 0 || word[0] == '-') {
				o.Odd = true // it may be a flag
			}
			o.operands = append(o.operands, i)
			i++
			if o.Program.stop > 0 && len(o.operands) >= int(o.Program.stop) {
				i = o.remaining(argv, i)
			}
		}
	}
}

// isLoose notes a word that may be the argument of an unknown flag before it, and reports whether it
// is read so.
func (o *Parsed) isLoose(i int, word string) bool {
	if o.unsure > 0 && o.unsure == i-1 && o.loose == 0 && len(o.operands) == 0 && word != "" && word[0] != '-' {
		o.loose = i
	}
	return o.skip > 0 && o.skip == i
}

// remaining takes all words from i on as operands.
func (o *Parsed) remaining(argv []string, i int) int {
	for ; i < len(argv); i++ {
		o.operands = append(o.operands, i)
	}
	return i
}

// readSubcommand follows the subcommand at i. After one that the table does not have, the rest are
// operands and flags of the blocks so far.
func (o *Parsed) readSubcommand(argv []string, i int) int {
	word := argv[i]
	sub := o.table.subs[subcommand{o.Program, word}]
	if sub == nil {
		sub = o.table.subs[subcommand{o.Program, strings.ToLower(word)}]
	}
	if sub == nil && o.Program.begins {
		sub = o.table.begun(o.Program, word)
	}
	if sub != nil {
		o.Program = sub
		if o.depth < len(o.blocks) {
			o.blocks[o.depth], o.typed[o.depth-1] = sub, i
			o.depth++
		}
		return i + 1
	}
	o.Open = !effect.IsKnown(word)
	for o.operands = append(o.operands, i); i+1 < len(argv); {
		i++
		switch {
		case argv[i] == "--":
			o.dashes = len(o.operands) + 1
			return o.remaining(argv, i+1)
		case len(argv[i]) > 1 && argv[i][0] == '-' && o.mode() == POSIX:
			// an option of the subcommand itself: git cliff --config x
		case len(argv[i]) > 1 && argv[i][0] == '-':
			i = o.flag(argv, i) - 1
		default:
			o.operands = append(o.operands, i)
		}
	}
	return len(argv)
}

// begun finds a subcommand by the beginning of its name. Of several, the first by its name counts.
func (t *Table) begun(p *Program, word string) *Program {
	first := ""
	for sub := range t.subs {
		if sub.of == p && word != "" && strings.HasPrefix(sub.word, word) && (first == "" || sub.word < first) {
			first = sub.word
		}
	}
	return t.subs[subcommand{p, first}]
}

func (o *Parsed) mode() Mode { return o.Program.mode }

// special reports whether a word without a dash is a flag: dd's of=x, +x, /x.
func (o *Parsed) special(word string) bool {
	for b := o.depth - 1; b >= 0; b-- {
		x := o.blocks[b]
		if !x.bare {
			continue
		}
		if x.mode == Windows && len(word) > 1 && word[0] == '/' {
			name, _, _ := cutWindows(word)
			if x.find(name) != nil || len(name) <= 2 || strings.IndexByte(name, '/') > 0 && x.slashes(name) ||
				x.attachedRest(name) != nil {
				return true
			}
			continue
		}
		if (word[0] == '+' || word[0] == '/') && x.find(word) != nil {
			return true
		}
		if i := strings.IndexByte(word, '='); i > 0 && x.find(word[:i]) != nil {
			return true
		}
	}
	return false
}

// isAssignment reports whether a word is an assignment for env, which accepts any name, also names
// that no shell could assign to, such as that of a function. A word with a slash in the name is the
// path of a program.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.IndexByte(name, '/') < 0 && effect.IsKnown(name)
}
