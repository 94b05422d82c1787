package grammar

import (
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
)

// bitNames are the bits that a table may give.
var bitNames = strings.Fields("recursive force glob splits append remote bulk partial itself follows")

// keywords are the words with which conditions and other details of an action begin.
var keywords = []string{"matching", "known", "except", "each", "after", "before", "until", "if", "unless"}

// action reads a role, its argument, bits and conditions.
func (l *loader) action(words []string) (Action, error) {
	a := Action{Role: bits}
	if len(words) == 0 {
		return a, l.errorf("an action is missing: a role such as read or delete, or +bits")
	}
	if words[0][0] != '+' {
		role, ok := l.roles[words[0]]
		if !ok {
			return a, l.errorf("%q is no role: one of %s", words[0], strings.Join(roleNames[:bits], ", "))
		}
		a.Role = role
		words = words[1:]
	}
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		switch {
		case word[0] == '+':
			bit, _ := effect.BitOf(word[1:])
			if !slices.Contains(bitNames, word[1:]) {
				return a, l.errorf("%q is no bit: one of +%s", word, strings.Join(bitNames, ", +"))
			}
			a.Bits |= bit
		case word == "joined":
			a.join = true
		case !slices.Contains(keywords, word):
			if a.Arg != "" || a.Role == bits {
				return a, l.errorf("%q: after the role comes one argument, +bits, %s", word, strings.Join(keywords, ", "))
			}
			a.Arg = word
		case len(words) == 0:
			return a, l.errorf("%q needs a word after it", word)
		default:
			if err := l.term(&a, word, words[0]); err != nil {
				return a, err
			}
			words = words[1:]
		}
	}
	if a.Arg == "" && (a.Role == Code || a.Role == Decode || a.Role == Encode) {
		return a, l.errorf("%s needs an argument: which language or encoding", a.Role)
	}
	if len(l.conds) > 0 { // there are terms
		a.terms.conds = l.condRoom.keep(l.conds)
		for i := range a.terms.conds {
			if l.names[i] != "" {
				l.pending = append(l.pending, pending{&a.terms.conds[i], l.names[i], l.line})
			}
		}
		l.conds, l.names = l.conds[:0], l.names[:0]
	}
	return a, nil
}

// term reads one condition or detail.
func (l *loader) term(a *Action, word, value string) error {
	if word == "each" {
		if len(value) != 1 {
			return l.errorf("each needs one character, not %q", value)
		}
		a.each = value[0]
		return nil
	}
	if a.terms == nil {
		a.terms = l.termRoom.one(terms{})
	}
	switch word {
	case "matching":
		a.terms.match = append(a.terms.match, l.alternatives(value)...)
	case "known":
		a.terms.known = append(a.terms.known, l.alternatives(value)...)
	case "except":
		a.terms.except = append(a.terms.except, l.alternatives(value)...)
	case "until":
		a.terms.until = append(a.terms.until, strings.Split(value, "|")...)
	case "after":
		a.terms.after = value
	case "before":
		a.terms.before = value
	default:
		return l.cond(value, word == "unless")
	}
	return nil
}

// alternatives splits a text at each | that has no backslash before it.
func (l *loader) alternatives(text string) []string {
	text = strings.ToLower(text)
	l.match = l.match[:0]
	open := false // the last part goes on
	for more := true; more; {
		var part string
		part, text, more = strings.Cut(text, "|")
		head, escaped := strings.CutSuffix(part, `\`)
		if escaped = escaped && more; escaped {
			part = head + "|"
		}
		if open {
			l.match[len(l.match)-1] += part
		} else {
			l.match = append(l.match, part)
		}
		open = escaped
	}
	return l.texts.keep(l.match)
}

// cond reads a condition. Its flag may be described later in the file, so it is looked up at the
// end.
func (l *loader) cond(text string, unless bool) error {
	name, value, valued := strings.Cut(text, "=")
	c := cond{unless: unless, dashes: name == "--"}
	if valued {
		c.values = l.alternatives(value)
	}
	sel, ok := operand(name)
	if name == "" || name == "always" {
		return l.errorf("the condition %q needs a flag, an operand (1, 2+, *, last, butlast) or --", text)
	}
	if c.sel = sel; ok || c.dashes {
		name = ""
	} else if l.now.mode == Windows {
		name = strings.ToLower(name)
	}
	l.conds, l.names = append(l.conds, c), append(l.names, name)
	return nil
}
