package shell

import (
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
		d = ex.oneWord(p.Exp.Word)
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
