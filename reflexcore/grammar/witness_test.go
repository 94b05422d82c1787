package grammar

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A row is one action of a block: what a flag, an operand or a stream means.
type row struct {
	p      *Program
	option *option   // of a flag
	sel    *selector // of an operand
	stream bool      // of stdin or stdout
	a      *Action
}

func (r row) String() string {
	what := "a stream"
	if r.option != nil {
		what = r.p.spellings(r.option)[0].text
	} else if r.sel != nil {
		what = fmt.Sprintf("operand %+v", *r.sel)
	}
	return fmt.Sprintf("%s:%d: %s: %s: %s %s", r.p.file, r.p.line, r.p.Name, what, r.a.Role, r.a.Arg)
}

// rows returns all actions of a table; what a block has from another is told of
// that one.
func rows(t *Table) []row {
	var all []row
	seen := map[*Action]bool{}
	for _, p := range t.Programs() {
		add := func(r row) {
			if !seen[r.a] {
				seen[r.a] = true
				r.p = p
				all = append(all, r)
			}
		}
		for _, x := range p.parts {
			for _, f := range x.flags {
				if o := f.option; o != nil {
					for i := range o.actions {
						add(row{option: o, a: &o.actions[i]})
					}
				}
			}
		}
		for i := range p.operands {
			add(row{sel: &p.operands[i].sel, a: &p.operands[i].Action})
		}
		for _, list := range [][]Action{p.stdin, p.stdout} {
			for i := range list {
				add(row{stream: true, a: &list[i]})
			}
		}
	}
	return all
}

// ifs are the conditions that must hold.
func (r row) ifs() []cond {
	return slices.DeleteFunc(slices.Clone(r.a.when().conds), func(c cond) bool { return c.unless })
}

// A witness is a command line in the making, on which a row should hold.
type witness struct {
	flags, last []string
	operands    map[int]string
	dashes      bool
	tail        []string
}

func sample(globs []string) string {
	if len(globs) == 0 {
		return "payload"
	}
	return strings.NewReplacer("[*]", "*", "*", "x").Replace(globs[len(globs)-1])
}

// spellings returns the names of an option, beginning with one that no other flag
// of the block has taken.
func (p *Program) spellings(o *option) []flag {
	var list []flag
	for ; p != nil && list == nil; p = p.parent {
		for _, x := range p.parts {
			for _, f := range x.flags {
				switch have := p.find(f.text); {
				case f.option != o:
				case have != nil && have.option == o:
					list = slices.Insert(list, 0, f)
				default:
					list = append(list, f)
				}
			}
		}
	}
	return list
}

func (w *witness) flag(p *Program, o *option, value string) {
	n := p.spellings(o)[0]
	if p.mode == Windows {
		n.text = "/" + n.text
		if len(n.text) > 2 {
			n.text = "-" + n.text[1:]
		}
	}
	sep := "="
	if p.mode == Windows {
		sep = ":"
	} else if strings.HasPrefix(n.text, "-") && (len(n.text) == 2 || p.mode == Long) {
		sep = ""
	}
	switch n.arity {
	case argument:
		if n.text[0] != '-' && n.text[0] != '/' && n.text[0] != '+' {
			w.flags = append(w.flags, n.text+"="+value)
			return
		}
		w.flags = append(w.flags, n.text, value)
	case attached:
		if value != "" && p.mode == Long && len(n.text) != 2 {
			sep = "="
		}
		w.flags = append(w.flags, n.text+sep+value)
	case until:
		w.flags = append(w.flags, n.text, value, ";")
	case rest:
		w.last = append(w.last, n.text, value)
	case second:
		w.flags = append(w.flags, n.text, "first", value)
	default:
		w.flags = append(w.flags, n.text)
	}
}

func (w *witness) operand(s selector, value string) {
	switch {
	case s.from == selPast && s.past[0] == "--":
		w.dashes = true
		w.tail = append(w.tail, value)
	case s.from == selPast:
		w.tail = append(w.tail, "x", s.past[0], value)
	case s.from == selLast:
		w.tail = append(w.tail, value)
	case s.from == selButLast:
		w.operands[1] = value
		if w.tail == nil {
			w.tail = []string{"x"}
		}
	case s.from == selAlways:
	case s.more:
		n := int(s.from)
		for w.operands[n] != "" {
			n++
		}
		w.operands[n] = value
	default:
		w.operands[int(s.from)] = value
	}
}

// witness builds a command line on which all conditions of the row hold.
func (r row) witness() []string {
	w := &witness{operands: map[int]string{}}
	value := sample(append(slices.Clone(r.a.when().match), r.a.when().known...))
	for _, c := range r.ifs() {
		if r.option != nil && slices.Contains(c.options, r.option) && c.values != nil {
			value = sample(c.values)
		}
	}
	last := func(c cond) int { // those that take any operand after those that take one
		if c.sel.more {
			return 1
		}
		return 0
	}
	ifs := r.ifs()
	slices.SortStableFunc(ifs, func(a, b cond) int { return last(a) - last(b) })
	if r.sel != nil && !r.sel.more && r.sel.from > 0 {
		w.operand(*r.sel, value)
	}
	placed := false
	for _, c := range ifs {
		switch {
		case c.dashes:
			w.dashes = true
		case c.options != nil:
			o := c.options[len(c.options)-1]
			if r.option == o {
				continue
			}
			w.flag(r.p, o, sample(c.values))
		default:
			if r.sel != nil && r.sel.from == c.sel.from && !c.sel.more {
				placed = true
				if c.values == nil {
					continue
				}
			}
			w.operand(c.sel, sample(c.values))
		}
	}
	if r.option != nil {
		w.flag(r.p, r.option, value)
	} else if r.sel != nil && (r.sel.more || r.sel.from <= 0) && (!placed || r.sel.more) {
		w.operand(*r.sel, value)
	}
	argv := strings.Fields(r.p.Name)
	argv[0] = strings.ReplaceAll(argv[0], ".*", ".x")
	var operands []string
	highest := 0
	for n := range w.operands {
		highest = max(highest, n)
	}
	for n := 1; n <= highest; n++ {
		word := w.operands[n]
		if word == "" {
			word = "x"
		}
		operands = append(operands, word)
	}
	if w.dashes {
		operands = append(operands, "--")
	}
	operands = append(operands, w.tail...)
	if r.p.mode == Find {
		return slices.Concat(argv, operands, w.flags, w.last)
	}
	if r.p.mode == Bundle && w.flags == nil {
		w.flags = []string{"-v"}
	}
	return slices.Concat(argv, w.flags, operands, w.last)
}

// Every row of the tables can happen: a command line that fulfills its conditions
// gets its use. A row that another hides, or whose flag is read otherwise, would
// be a hole that no example shows.
func TestEveryRowHappens(t *testing.T) {
	table, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	var o Parsed
	payloads := 0
	for _, r := range rows(table) {
		if slices.Contains([]Role{Exec, Shell, Argv, Code, Sql}, r.a.Role) {
			payloads++
		}
		argv := r.witness()
		table.Parse(argv, &o)
		if !r.in(&o) {
			t.Errorf("%s does not happen on %q: uses %+v", r, argv, o.Uses)
		}
	}
	t.Logf("%d rows, %d of them run what they are given", len(rows(table)), payloads)
	if payloads < 90 {
		t.Errorf("%d rows run what they are given, at least 90", payloads)
	}
}

// in reports whether the use of a row is there.
func (r row) in(o *Parsed) bool {
	if r.a.Role == bits {
		return o.Bits&r.a.Bits == r.a.Bits
	}
	if r.a.Role == Dry {
		return o.Dry
	}
	if r.a.Role == Reroute {
		return o.Rerouted
	}
	for _, u := range slices.Concat(o.Uses, o.Stdin, o.Stdout) {
		if u.Role != r.a.Role || u.Arg != r.a.Arg || u.Bits != r.a.Bits {
			continue
		}
		if u.Word < 0 || r.a.when().match != nil || r.a.when().known != nil || len(r.ifs()) > 0 || u.Text == "payload" ||
			u.Text == "" && u.End > u.Word || r.a.when().after != "" || r.a.when().before != "" {
			return true
		}
	}
	return r.a.Role == Text && (r.option == nil || r.p.spellings(r.option)[0].arity == none)
}
