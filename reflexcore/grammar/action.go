package grammar

import (
	"slices"
	"strings"
)

var bitNames = []string{"recursive", "force", "glob", "splits", "append", "remote", "bulk", "partial"}

// keywords are the words that a condition or another detail of an action begins
// with.
var keywords = []string{"matching", "except", "each", "after", "before", "until", "if", "unless"}

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
		case word == "joined":
			a.join = true
			continue
		case !slices.Contains(keywords, word):
			if a.Arg != "" || a.Role == bits {
				return a, l.errorf("%q: after the role comes one argument, +bits, %s", word, strings.Join(keywords, ", "))
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
			a.match = append(a.match, alternatives(value)...)
		case "except":
			a.except = append(a.except, alternatives(value)...)
		case "until":
			a.until = append(a.until, strings.Split(value, "|")...)
		case "after":
			a.after = value
		case "before":
			a.before = value
		case "each":
			if len(value) != 1 {
				return a, l.errorf("each needs one character, not %q", value)
			}
			a.each = value[0]
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

// alternatives splits at each | that has no backslash before it.
func alternatives(text string) []string {
	list := strings.Split(strings.ToLower(text), "|")
	for i := 0; i+1 < len(list); {
		if head, escaped := strings.CutSuffix(list[i], `\`); escaped {
			list[i] = head + "|" + list[i+1]
			list = slices.Delete(list, i+1, i+2)
			continue
		}
		i++
	}
	return list
}

// cond reads a condition. Its flag may stand below, so it is looked up at the end.
func (l *loader) cond(text string) *cond {
	name, value, valued := strings.Cut(text, "=")
	c := &cond{}
	if valued {
		c.values = alternatives(value)
	}
	sel, ok := operand(name)
	c.sel, c.dashes = sel, name == "--"
	if !ok && !c.dashes {
		if l.now.mode == Windows {
			name = strings.ToLower(name)
		}
		l.table.pending = append(l.table.pending, pending{c, l.now, name, l.file, l.line})
	}
	return c
}
