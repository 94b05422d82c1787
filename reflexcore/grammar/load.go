package grammar

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

//go:embed tables/*.grammar
var tables embed.FS

// maxTable limits a table file, in bytes.
const maxTable = 1 << 20

// Default returns the tables that are built in. They are read once.
func Default() (*Table, error) { return builtIn() }

var builtIn = sync.OnceValues(func() (*Table, error) {
	sub, err := fs.Sub(tables, "tables")
	if err != nil {
		return nil, err
	}
	return LoadFS(sub)
})

// LoadFS reads all tables of a folder.
func LoadFS(dir fs.FS) (*Table, error) {
	names, err := fs.Glob(dir, "*.grammar")
	if err != nil {
		return nil, err
	}
	l := newLoader(4096)
	for _, name := range names {
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		if err := l.add(name, string(text)); err != nil {
			return nil, err
		}
	}
	return l.finish()
}

// Load reads one table. Errors begin with file:line.
func Load(file, text string) (*Table, error) {
	l := newLoader(0)
	if err := l.add(file, text); err != nil {
		return nil, err
	}
	return l.finish()
}

func newLoader(programs int) *loader {
	l := &loader{roles: make(map[string]Role, bits),
		table: &Table{programs: make(map[string]*Program, programs), families: map[string]*Program{},
			subs: make(map[subcommand]*Program, programs/4)}}
	for r := range bits {
		l.roles[roleNames[r]] = r
	}
	return l
}

// roomSize is how many values a room allocates at once.
const roomSize = 256

func (l *loader) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", l.file, l.line, fmt.Sprintf(format, args...))
}

func (l *loader) add(file, text string) error {
	if len(text) > maxTable {
		return fmt.Errorf("%s: longer than %d bytes", file, maxTable)
	}
	l.table.sources = append(l.table.sources, source{file, text})
	l.file, l.line, l.now = file, 0, nil
	for line := range strings.Lines(text) {
		l.line++
		body := strings.TrimSpace(line)
		var err error
		switch {
		case body == "" || body[0] == '#':
		case line[0] != ' ' && line[0] != '\t':
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
	l.end()
	return nil
}

// end ends the block that was read.
func (l *loader) end() {
	if p := l.now; p != nil {
		p.own.flags = l.flagRoom.keep(l.flags)
		p.operands = l.rules.keep(l.operands)
		p.stdin, p.stdout = l.actions.keep(l.stdin), l.actions.keep(l.stdout)
		p.conds[1] = int32(len(l.pending))
	}
	l.flags, l.operands, l.stdin, l.stdout, l.options = l.flags[:0], l.operands[:0], l.stdin[:0], l.stdout[:0], 0
}

// header begins a block.
func (l *loader) header(text string) error {
	l.end()
	words := l.fields(text)
	first, _, _ := strings.Cut(words[0], "|")
	p := l.table.programs[first]
	if p == nil {
		p = l.programs.one(Program{Name: first})
	}
	for name, left, more := "", words[0], true; more; {
		name, left, more = strings.Cut(left, "|")
		if have := l.table.programs[name]; have != nil && have != p || name == "" {
			return l.errorf("the name %q is taken by another program: give each name to one block", name)
		}
		l.table.programs[name] = p
		if family, ok := strings.CutSuffix(name, ".*"); ok {
			l.table.families[family] = p
		}
	}
	for _, word := range words[1:] {
		p.parental = true
		first, _, _ := strings.Cut(word, "|")
		sub := l.table.subs[subcommand{p, first}]
		if sub == nil {
			sub = l.programs.one(Program{Name: p.Name + " " + first, parent: p})
		}
		for name, left, more := "", word, true; more; {
			name, left, more = strings.Cut(left, "|")
			key := subcommand{p, name}
			if have := l.table.subs[key]; have != nil && have != sub || name == "" {
				return l.errorf("the subcommand %q is taken by another block", name)
			}
			l.table.subs[key] = sub
		}
		p = sub
	}
	if p.defined {
		return l.errorf("%s has a block already, at %s:%d: write one block for each", p.Name, p.file, p.line)
	}
	p.defined, p.file, p.line, p.conds[0] = true, l.file, l.line, int32(len(l.pending))
	l.now = p
	l.table.blocks = append(l.table.blocks, p)
	return nil
}

// body reads a line of a block.
func (l *loader) body(text string) error {
	if text[0] == '?' {
		if !strings.Contains(text, "=>") {
			return l.errorf("an example needs =>: ? WORDS => USES")
		}
		return nil
	}
	words := l.fields(text)
	sel, isOperand := operand(words[0])
	rest := words[1:]
	switch words[0] {
	case "mode":
		return l.mode(rest)
	case "flow":
		if len(words) != 2 || words[1] != "copy" {
			return l.errorf("flow is copy")
		}
		l.now.copies = true
		return nil
	case "abbreviated":
		l.now.begins = true
		return nil
	case "like":
		if len(words) < 2 {
			return l.errorf("like needs the name of a block")
		}
		l.like = append(l.like, like{l.now, strings.TrimSpace(text[len("like"):])})
		return nil
	case "stdin", "stdout":
	case "past":
		if len(words) < 2 {
			return l.errorf("past needs a word after it, such as --")
		}
		sel, rest = selector{from: selPast, more: true, past: strings.Split(words[1], "|")}, words[2:]
	default:
		if !isOperand {
			return l.flagLine(words)
		}
	}
	a, err := l.action(rest)
	switch {
	case err != nil:
		return err
	case words[0] == "stdin":
		l.stdin = append(l.stdin, a)
	case words[0] == "stdout":
		l.stdout = append(l.stdout, a)
	default:
		l.operands = append(l.operands, operandRule{sel, a})
	}
	return nil
}

// mode reads the mode of a block.
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

// fields splits a line into words, which are valid until the next line.
func (l *loader) fields(text string) []string {
	l.words = l.words[:0]
	begin := 0
	for i := 0; i < len(text); i++ {
		if text[i] == ' ' || text[i] == '\t' {
			if i > begin {
				l.words = append(l.words, text[begin:i])
			}
			begin = i + 1
		}
	}
	if begin < len(text) {
		l.words = append(l.words, text[begin:])
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
	return selector{from: int8(digits[0] - '0'), more: len(word) > 1}, true
}
