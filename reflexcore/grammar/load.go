package grammar

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

//go:embed tables/*.grammar
var tables embed.FS

// maxTable bounds a table file, in bytes.
const maxTable = 1 << 20

func newTable() *Table {
	return &Table{programs: map[string]*Program{}, families: map[string]*Program{}, also: map[*option][]*option{}}
}

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
	t := newTable()
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
	t := newTable()
	if err := t.add(file, text); err != nil {
		return nil, err
	}
	return t, t.finish()
}

// A loader reads one file.
type loader struct {
	table  *Table
	file   string
	line   int
	now    *Program           // the block that is read
	names  map[string]*option // its flags
	words  []string           // of the line
	groups [][]name           // of the line
	// What is made in thousands is made in one piece.
	spelled []name
	options []option
}

func (l *loader) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", l.file, l.line, fmt.Sprintf(format, args...))
}

func (t *Table) add(file, text string) error {
	if len(text) > maxTable {
		return fmt.Errorf("%s: longer than %d bytes", file, maxTable)
	}
	l := &loader{table: t, file: file, names: map[string]*option{}}
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
	return nil
}

// header begins a block.
func (l *loader) header(text string) error {
	words := l.fields(text)
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
		if family, ok := strings.CutSuffix(name, ".*"); ok {
			l.table.families[family] = p
		}
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
	l.table.blocks = append(l.table.blocks, p)
	clear(l.names)
	return nil
}

// body reads a line of a block.
func (l *loader) body(text string) error {
	if example, ok := strings.CutPrefix(text, "?"); ok {
		words, want, found := strings.Cut(example, "=>")
		if !found {
			return l.errorf("an example needs =>: ? WORDS => USES")
		}
		e := Example{Program: l.now.Name, Line: strings.TrimSpace(words), Want: strings.TrimSpace(want), Where: l.file + ":" + strconv.Itoa(l.line)}
		l.table.examples = append(l.table.examples, e)
		return nil
	}
	words := l.fields(text)
	switch words[0] {
	case "mode":
		return l.mode(words[1:])
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
		l.now.like = append(l.now.like, strings.Join(words[1:], " "))
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
	if words[0] == "past" {
		if len(words) < 2 {
			return l.errorf("past needs a word after it, such as --")
		}
		a, err := l.action(words[2:])
		if err != nil {
			return err
		}
		l.now.operands = append(l.now.operands, operandRule{selector{from: selPast, more: true, past: strings.Split(words[1], "|")}, a})
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

// mode reads how the words are told apart.
func (l *loader) mode(words []string) error {
	i := -1
	if len(words) > 0 {
		i = slices.Index(modeNames, words[0])
	}
	counted := len(words) == 2 && (Mode(i) == POSIX || Mode(i) == EnvCmd || Mode(i) == Long)
	if i < 0 || len(words) > 1 && !counted {
		return l.errorf("mode is one of %s; posix, env and long may have a number after them", strings.Join(modeNames, ", "))
	}
	l.now.mode, l.now.moded = Mode(i), true
	if Mode(i) == POSIX || Mode(i) == EnvCmd {
		l.now.stop = 1
	}
	if counted {
		sel, ok := operand(words[1])
		if !ok || sel.from < 1 || sel.more {
			return l.errorf("mode %s: %q is no number of an operand: 1 to 9", words[0], words[1])
		}
		l.now.stop = sel.from
	}
	return nil
}

// fields splits a line into words, which are good until the next line.
func (l *loader) fields(text string) []string {
	l.words = l.words[:0]
	for text != "" {
		i := strings.IndexAny(text, " \t")
		if i < 0 {
			i = len(text)
		}
		if i > 0 {
			l.words = append(l.words, text[:i])
		}
		text = strings.TrimLeft(text[i:], " \t")
	}
	return l.words
}

// operand reads 1, 2+, *, last, butlast, always.
func operand(word string) (selector, bool) {
	switch word {
	case "*":
		return selector{from: 1, more: true}, true
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
	return selector{from: int(digits[0] - '0'), more: len(word) > 1}, true
}

// finish resolves like, sorts the flags, looks up the flags of conditions and
// marks the wrappers.
func (t *Table) finish() error {
	for _, p := range t.blocks {
		if err := t.inherit(p, 0); err != nil {
			return err
		}
	}
	for _, p := range t.blocks {
		if !p.moded && p.parent != nil && (p.parent.mode == Long || p.parent.mode == Windows) {
			p.mode = p.parent.mode
		}
		p.index.build(p)
		p.Wrapper = p.executes()
		for i, o := range p.options {
			if o.mask == 0 {
				o.mask = 1 << (i % 64)
			}
			o.unreal = len(o.actions) > 0 && !slices.ContainsFunc(o.actions, func(a Action) bool { return a.Role != Dry })
		}
	}
	for _, c := range t.pending {
		if err := c.resolve(t.also); err != nil {
			return err
		}
	}
	t.pending, t.also = nil, nil
	return nil
}

// A pending condition waits until all flags are known.
type pending struct {
	cond  *cond
	in    *Program
	flags string
	file  string
	line  int
}

// resolve looks up the flags of a condition, in the block and those above it.
func (c pending) resolve(also map[*option][]*option) error {
	for flag := range strings.SplitSeq(c.flags, "|") {
		var found *option
		for p := c.in; p != nil && found == nil; p = p.parent {
			found, _ = p.named(flag)
		}
		if found == nil {
			return fmt.Errorf("%s:%d: the condition names %q, which is no flag of %s: describe the flag, or name an operand (1, 2+, *, last, butlast) or --", c.file, c.line, flag, c.in.Name)
		}
		c.cond.options = append(append(c.cond.options, found), also[found]...)
	}
	for _, o := range c.cond.options {
		c.cond.mask |= o.mask
	}
	return nil
}

// maxLike bounds chains of like.
const maxLike = 4

func (t *Table) inherit(p *Program, depth int) error {
	names := p.like
	p.like = nil
	for _, name := range names {
		from := t.Lookup(name)
		if from == nil || from == p || depth > maxLike {
			return fmt.Errorf("%s:%d: like %s: there is no such block, or it is like this one: name another block", p.file, p.line, name)
		}
		if err := t.inherit(from, depth+1); err != nil {
			return err
		}
		t.take(p, from)
	}
	return nil
}

// take adds the lines of another block. A flag of both is that of p, which
// stands first; conditions on the other's mean it too.
func (t *Table) take(p, from *Program) {
	own := p.options
	for _, o := range from.options {
		for _, n := range o.names {
			for _, have := range own {
				if have.is(n.text) {
					t.also[o] = append(t.also[o], have)
				}
			}
		}
		p.options = append(p.options, o)
	}
	p.operands = append(p.operands, from.operands...)
	p.stdin, p.stdout = append(p.stdin, from.stdin...), append(p.stdout, from.stdout...)
	p.copies = p.copies || from.copies
	if !p.moded && from.moded {
		p.mode, p.stop, p.moded = from.mode, from.stop, true
	}
}

func (o *option) is(name string) bool {
	for _, n := range o.names {
		if n.text == name {
			return true
		}
	}
	return false
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
