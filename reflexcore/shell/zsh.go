package shell

import (
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// What zsh reads otherwise than bash: an agent's shell may be either.

// zshName is the program that a name of zsh stands for: =git is where git is, zf_rm is the
// shell's own rm. It is empty for any other.
func (a *Analyzer) zshName(name string) string {
	if name == "" || name[0] != '=' && name[0] != 'z' {
		return ""
	}
	for _, prefix := range [...]string{"=", "zf_"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && a.Table.Find(rest) != nil {
			return rest
		}
	}
	return ""
}

// flagged is ${(flags)name…}, as far as the flags only change letters, follow a name, or
// take quotes away that there are none of.
func (ex *expander) flagged(p *syntax.ParamExp) data {
	var d data
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	plain := p.Repl == nil && p.Slice == nil && !p.Length && !p.Excl && p.Names == 0
	switch {
	case name == "" && p.Exp != nil && isDefault(p.Exp.Op):
		d = ex.one(p.Exp.Word)
	case name == "" || !plain:
		return unknown
	default:
		if d = ex.in.par.indexed(name, p.Index); p.Exp != nil {
			d = ex.operate(d, name, p)
		}
	}
	if p.Flags == nil {
		return d
	}
	for _, flag := range p.Flags.Value {
		switch flag {
		case 'L':
			d.text = strings.ToLower(d.text)
		case 'U':
			d.text = strings.ToUpper(d.text)
		case 'P':
			if !d.known() || d.text == "" {
				return data{effect.Unknown, d.taint}
			}
			d = ex.in.par.valueOf(d.text)
		case 'Q', 'e':
			if strings.ContainsAny(d.text, "'\"\\$`") {
				return data{effect.Unknown, d.taint}
			}
		case '@', 'q', 'n', 'o', 'O', 'i':
		default:
			return data{effect.Unknown, d.taint}
		}
	}
	return d
}

// spreads reports whether an array stands for all of its elements where it has no index,
// as in zsh: in bash it is the first one, so that a command is walked once more for that.
func (pm *parameters) spreads(name string) bool {
	if !pm.in.vars.isArray(name) {
		return false
	}
	pm.in.readings.saw |= spread
	return pm.in.readings.omits == omitsSpread
}

// subscript is $x[N] as zsh reads it, and what the next literal has behind that: in bash the
// brackets are a pattern, so that a command is walked once more for it.
func (pm *parameters) subscript(parts []syntax.WordPart, i int) (d data, rest string, ok bool) {
	p, short := parts[i].(*syntax.ParamExp)
	if !short || !p.Short || p.Param == nil || i+1 == len(parts) {
		return data{}, "", false
	}
	lit, isLit := parts[i+1].(*syntax.Lit)
	if !isLit || !strings.HasPrefix(lit.Value, "[") || pm.in.vars.find(p.Param.Value) == nil {
		return data{}, "", false
	}
	index, rest, closed := strings.Cut(lit.Value[1:], "]")
	if !closed {
		return data{}, "", false
	}
	pm.in.readings.saw |= spread
	return pm.subscripted(p.Param.Value, index), rest, pm.in.readings.omits == omitsSpread
}

// subscripted are the elements of an array, or the letters of a text, with the numbers from
// one to another: "2" or "1,5", counted from 1, or from the end below 0.
func (pm *parameters) subscripted(name, index string) data {
	first, last, many := strings.Cut(index, ",")
	if !many {
		last = first
	}
	from, bad := strconv.Atoi(first)
	to, worse := strconv.Atoi(last)
	v := pm.lookup(name)
	if bad != nil || worse != nil || v == nil || v.array && v.keys != nil {
		return unknown
	}
	var letters []rune
	whole := pm.valueOf(name)
	n := len(v.list)
	if !v.array {
		if !whole.known() {
			return data{effect.Unknown, whole.taint}
		}
		letters = []rune(whole.text)
		n = len(letters)
	}
	if from < 0 {
		from += n + 1
	}
	if to < 0 {
		to += n + 1
	}
	from, to = max(from, 1), min(to, n)
	switch {
	case from > to:
		return data{}
	case v.array:
		return join(v.list[from-1:to], " ")
	}
	return data{string(letters[from-1 : to]), whole.taint}
}

// globally walks a command as zsh does when some of its words are global aliases.
func (df *definitions) globally(mark int, std *input, background bool) {
	n, some := len(df.in.exp.fields), false
	for i := mark; i < n; i++ {
		f := df.in.exp.fields[i]
		found := false
		for _, a := range df.globals {
			if !f.quoted && f.text == a.name {
				for w := range strings.FieldsSeq(a.text) {
					df.in.exp.push(field{data: data{w, f.taint}})
				}
				found = true
				break
			}
		}
		if !found {
			df.in.exp.push(f)
		}
		some = some || found
	}
	if some {
		own := *std
		df.in.dirs.perhaps(func() { df.in.run(n, &own, &data{}, background) })
	}
	df.in.exp.fields = df.in.exp.fields[:n]
}

// fishText is a text of fish as other shells write it: its substitutions have no dollar.
func fishText(text string) string {
	var b strings.Builder
	var quote byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text):
			b.WriteByte(c)
			i++
			c = text[i]
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && c == '(' && (i == 0 || text[i-1] != '$'):
			b.WriteByte('$')
		}
		b.WriteByte(c)
	}
	return b.String()
}
