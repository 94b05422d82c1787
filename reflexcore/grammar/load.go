package grammar

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:embed tables/*.grammar
var tables embed.FS

// maxTable bounds a table file, in bytes.
const maxTable = 1 << 20

// Default returns the tables that are built in.
func Default() (*Table, error) {
	sub, err := fs.Sub(tables, "tables")
	if err != nil {
		return nil, err
	}
	return LoadFS(sub)
}

// LoadFS reads all tables of a folder.
func LoadFS(dir fs.FS) (*Table, error) {
	names, err := fs.Glob(dir, "*.grammar")
	if err != nil {
		return nil, err
	}
	t := &Table{programs: map[string]*Program{}}
	for _, name := range names {
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		if err := t.add(name, string(text)); err != nil {
			return nil, err
		}
	}
	return t, t.finish()
}

// Load reads one table. Errors begin with file:line.
func Load(file, text string) (*Table, error) {
	t := &Table{programs: map[string]*Program{}}
	if err := t.add(file, text); err != nil {
		return nil, err
	}
	return t, t.finish()
}

// A loader reads one file.
type loader struct {
	table *Table
	file  string
	line  int
	now   *Program // the block that is read
	conds []pending
}

func (l *loader) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", l.file, l.line, fmt.Sprintf(format, args...))
}

func (t *Table) add(file, text string) error {
	if len(text) > maxTable {
		return fmt.Errorf("%s: longer than %d bytes", file, maxTable)
	}
	t.files++
	l := &loader{table: t, file: file}
	for line := range strings.Lines(text) {
		l.line++
		line = strings.TrimRight(line, " \t\r\n")
		body := strings.TrimLeft(line, " \t")
		var err error
		switch {
		case body == "" || body[0] == '#':
		case len(body) == len(line):
			err = l.header(body)
		case l.now == nil:
			err = l.errorf("a line of a block before any block: begin with the program's name in column 1")
		default:
			err = l.body(body)
		}
		if err != nil {
			return err
		}
	}
	return l.settle()
}

// header begins a block.
func (l *loader) header(text string) error {
	words := strings.Fields(text)
	first := strings.Split(words[0], "|")
	p := l.table.programs[first[0]]
	if p == nil {
		p = &Program{Name: first[0]}
	}
	for _, name := range first {
		if have := l.table.programs[name]; have != nil && have != p || name == "" {
			return l.errorf("the name %q is taken by another program: give each name to one block", name)
		}
		l.table.programs[name] = p
	}
	for _, word := range words[1:] {
		names := strings.Split(word, "|")
		if p.subs == nil {
			p.subs = map[string]*Program{}
		}
		sub := p.subs[names[0]]
		if sub == nil {
			sub = &Program{Name: p.Name + " " + names[0], parent: p}
		}
		for _, name := range names {
			if have := p.subs[name]; have != nil && have != sub || name == "" {
				return l.errorf("the subcommand %q is taken by another block", name)
			}
			p.subs[name] = sub
		}
		p = sub
	}
	if p.defined {
		return l.errorf("%s has a block already, at %s:%d: write one block for each", p.Name, p.file, p.line)
	}
	p.defined, p.file, p.line = true, l.file, l.line
	l.now = p
	return nil
}

// body reads a line of a block.
func (l *loader) body(text string) error {
	if example, ok := strings.CutPrefix(text, "?"); ok {
		words, want, found := strings.Cut(example, "=>")
		if !found {
			return l.errorf("an example needs =>: ? WORDS => USES")
		}
		e := Example{Program: l.now.Name, Line: strings.TrimSpace(words), Want: strings.TrimSpace(want), Where: fmt.Sprintf("%s:%d", l.file, l.line)}
		l.now.examples = append(l.now.examples, e)
		l.table.examples = append(l.table.examples, e)
		return nil
	}
	words := strings.Fields(text)
	switch words[0] {
	case "mode":
		i := -1
		if len(words) == 2 {
			i = slices.Index(modeNames, words[1])
		}
		if i < 0 {
			return l.errorf("mode is one of %s", strings.Join(modeNames, ", "))
		}
		l.now.mode = Mode(i)
		return nil
	case "flow":
		if len(words) != 2 || words[1] != "copy" {
			return l.errorf("flow is copy")
		}
		l.now.copies = true
		return nil
	case "like":
		if len(words) < 2 {
			return l.errorf("like needs the name of a block")
		}
		l.now.like = strings.Join(words[1:], " ")
		return nil
	case "stdin", "stdout":
		a, err := l.action(words[1:])
		if err != nil {
			return err
		}
		if words[0] == "stdin" {
			l.now.stdin = append(l.now.stdin, a)
		} else {
			l.now.stdout = append(l.now.stdout, a)
		}
		return nil
	}
	if sel, ok := operand(words[0]); ok {
		a, err := l.action(words[1:])
		if err != nil {
			return err
		}
		l.now.operands = append(l.now.operands, operandRule{sel, a})
		return nil
	}
	return l.flags(words)
}

// operand reads 1, 2+, *, last, butlast, always.
func operand(word string) (selector, bool) {
	switch word {
	case "*":
		return selector{1, true}, true
	case "last":
		return selector{from: selLast}, true
	case "butlast":
		return selector{from: selButLast}, true
	case "always":
		return selector{from: selAlways}, true
	}
	digits := strings.TrimSuffix(word, "+")
	if len(digits) != 1 || digits[0] < '1' || digits[0] > '9' {
		return selector{}, false
	}
	return selector{int(digits[0] - '0'), len(word) > 1}, true
}

// flags reads a line of flags.
func (l *loader) flags(words []string) error {
	o := &option{}
	for len(words) > 0 {
		n := name{text: words[0]}
		for _, s := range []struct {
			suffix string
			arity  arity
		}{{"=?", attached}, {"=;", until}, {"=", argument}} {
			if rest, ok := strings.CutSuffix(words[0], s.suffix); ok {
				n = name{rest, s.arity}
				break
			}
		}
		dashed := len(n.text) > 1 && strings.IndexByte("-+/", n.text[0]) >= 0 && (n.text[0] != '+' || !isBit(n.text[1:]))
		if !dashed && (n.arity == none || n.text == "") {
			break
		}
		if strings.Contains(n.text, "=") {
			return l.errorf("the flag %q has = inside: one = at its end says that it takes an argument", words[0])
		}
		o.names = append(o.names, n)
		words = words[1:]
	}
	if len(o.names) == 0 {
		return l.errorf("%q is neither a flag, nor an operand (1, 2+, *, last, butlast), nor always, stdin, stdout, flow, mode, like or ?", words[0])
	}
	if len(words) == 0 {
		for _, n := range o.names {
			if have, _ := l.now.named(n.text); have != nil {
				return l.errorf("%s is described twice", n.text)
			}
			l.now.options = append(l.now.options, &option{names: []name{n}})
		}
		return nil
	}
	a, err := l.action(words)
	if err != nil {
		return err
	}
	o.actions = []Action{a}
	// A flag may be named again, for one more action.
	for _, n := range o.names {
		have, _ := l.now.named(n.text)
		if have == nil {
			continue
		}
		if !slices.Equal(have.names, o.names) {
			return l.errorf("%s is described twice: name the same flags on both lines", n.text)
		}
		have.actions = append(have.actions, o.actions...)
		return nil
	}
	l.now.options = append(l.now.options, o)
	return nil
}

var bitNames = []string{"recursive", "force", "glob", "splits", "append", "remote", "bulk", "partial"}

func isBit(name string) bool { return slices.Contains(bitNames, name) }

// action reads a role, its argument, bits and conditions.
func (l *loader) action(words []string) (Action, error) {
	a := Action{Role: bits}
	if len(words) == 0 {
		return a, l.errorf("an action is missing: a role such as read or delete, or +bits")
	}
	if words[0][0] != '+' {
		i := slices.Index(roleNames[:], words[0])
		if i < 0 || Role(i) == bits {
			return a, l.errorf("%q is no role: one of %s", words[0], strings.Join(roleNames[:bits], ", "))
		}
		a.Role = Role(i)
		words = words[1:]
	}
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		switch {
		case word[0] == '+':
			i := slices.Index(bitNames, word[1:])
			if i < 0 {
				return a, l.errorf("%q is no bit: one of +%s", word, strings.Join(bitNames, ", +"))
			}
			a.Bits |= 1 << i
			continue
		case word != "matching" && word != "after" && word != "if" && word != "unless":
			if a.Arg != "" || a.Role == bits {
				return a, l.errorf("%q: after the role comes one argument, +bits, matching, after, if or unless", word)
			}
			a.Arg = word
			continue
		case len(words) == 0:
			return a, l.errorf("%q needs a word after it", word)
		}
		value := words[0]
		words = words[1:]
		switch word {
		case "matching":
			a.match = append(a.match, strings.Split(strings.ToLower(value), "|")...)
		case "after":
			if len(value) != 1 {
				return a, l.errorf("after needs one character, not %q", value)
			}
			a.after = value[0]
		default:
			if c := l.cond(value); word == "if" {
				a.ifs = append(a.ifs, c)
			} else {
				a.unless = append(a.unless, c)
			}
		}
	}
	if a.Arg == "" && (a.Role == Code || a.Role == Decode || a.Role == Encode) {
		return a, l.errorf("%s needs an argument: which language or encoding", a.Role)
	}
	return a, nil
}

// cond reads a condition. Its flag may stand below, so it is looked up at the
// end of the file.
func (l *loader) cond(text string) *cond {
	name, value, valued := strings.Cut(text, "=")
	c := &cond{}
	if valued {
		c.values = strings.Split(strings.ToLower(value), "|")
	}
	sel, ok := operand(name)
	if c.sel = sel; !ok {
		l.conds = append(l.conds, pending{c, l.now, name, l.line})
	}
	return c
}

// A pending condition waits for the end of the file.
type pending struct {
	cond  *cond
	in    *Program
	flags string
	line  int
}

// settle looks up the flags of the conditions.
func (l *loader) settle() error {
	for _, c := range l.conds {
		for flag := range strings.SplitSeq(c.flags, "|") {
			var found *option
			for p := c.in; p != nil && found == nil; p = p.parent {
				found, _ = p.named(flag)
			}
			if found == nil {
				l.line = c.line
				return l.errorf("the condition names %q, which is no flag of this block and no operand", flag)
			}
			c.cond.options = append(c.cond.options, found)
		}
	}
	return nil
}

// finish resolves like, and marks the wrappers.
func (t *Table) finish() error {
	for _, p := range t.Programs() {
		if err := t.inherit(p, 0); err != nil {
			return err
		}
	}
	for _, p := range t.Programs() {
		p.Wrapper = p.executes()
	}
	return nil
}

// maxLike bounds chains of like.
const maxLike = 4

func (t *Table) inherit(p *Program, depth int) error {
	if p.like == "" {
		return nil
	}
	from := t.Lookup(p.like)
	if from == nil || from == p || depth > maxLike {
		return fmt.Errorf("%s:%d: like %s: there is no such block, or it is like this one", p.file, p.line, p.like)
	}
	p.like = ""
	if err := t.inherit(from, depth+1); err != nil {
		return err
	}
	for _, o := range from.options {
		if have, _ := p.named(o.names[0].text); have == nil {
			p.options = append(p.options, o)
		}
	}
	p.operands = append(p.operands, from.operands...)
	p.stdin, p.stdout = append(p.stdin, from.stdin...), append(p.stdout, from.stdout...)
	p.copies = p.copies || from.copies
	if p.mode == GNU {
		p.mode = from.mode
	}
	return nil
}

// Lookup returns a block by its whole name, such as "git push", or nil.
func (t *Table) Lookup(name string) *Program {
	words := strings.Fields(name)
	if len(words) == 0 {
		return nil
	}
	p := t.programs[words[0]]
	for _, word := range words[1:] {
		if p == nil {
			return nil
		}
		p = p.subs[word]
	}
	return p
}

// executes reports whether some line of the block runs what it is given.
func (p *Program) executes() bool {
	runs := func(a Action) bool {
		return a.Role == Exec || a.Role == Shell || a.Role == Argv || a.Role == Code || a.Role == Sql
	}
	for _, o := range p.options {
		if slices.ContainsFunc(o.actions, runs) {
			return true
		}
	}
	return slices.ContainsFunc(p.operands, func(r operandRule) bool { return runs(r.Action) }) || slices.ContainsFunc(p.stdin, runs)
}

// named returns the flag with that spelling, or nil.
func (p *Program) named(text string) (*option, arity) {
	for _, o := range p.options {
		for _, n := range o.names {
			if n.text == text {
				return o, n.arity
			}
		}
	}
	return nil, none
}
