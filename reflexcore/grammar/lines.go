package grammar

import (
	"slices"
	"strings"
)

// flagLine reads a line of flags.
func (l *loader) flagLine(words []string) error {
	begin := len(l.flags)
	words, err := l.spellings(words)
	switch {
	case err != nil:
		return err
	case len(l.group) == 0:
		return l.errorf("%q is neither a flag, nor an operand (1, 2+, *, last, butlast, past), nor always, stdin, stdout, "+
			"flow, mode, like or ?", words[0])
	case len(words) == 0:
		for _, end := range l.group {
			if end > begin+1 {
				l.newOption(l.flags[begin:end])
			}
			begin = end
		}
		return nil
	}
	a, err := l.action(words)
	if err != nil {
		return err
	}
	// A flag may be named again, for one more action.
	have := l.sharedFlags(begin)
	if have != nil {
		l.flags = l.flags[:begin]
	} else {
		have = l.flags[begin:]
	}
	o := have[0].option
	if o == nil {
		o = l.newOption(have)
	}
	o.unreal = a.Role == Dry && (o.unreal || o.actions == nil)
	if o.actions == nil {
		o.actions = l.actions.take(1)
		o.actions[0] = a
	} else {
		o.actions = append(o.actions, a)
	}
	return nil
}

// newOption makes several spellings one flag.
func (l *loader) newOption(flags []flag) *option {
	o := l.optionRoom.one(option{mask: 1 << (l.options % 64)})
	l.options++
	for i := range flags {
		flags[i].option = o
	}
	return o
}

// sharedFlags finds the earlier flag with exactly the names of those from begin on.
func (l *loader) sharedFlags(begin int) []flag {
	names := l.flags[begin:]
	for i := 0; i+len(names) <= begin; i++ {
		if l.flags[i].text != names[0].text {
			continue
		}
		have := l.flags[i : i+len(names)]
		for j := range have {
			if have[j].text != names[j].text || have[j].arity != names[j].arity || have[j].option != have[0].option {
				return nil
			}
		}
		if end := i + len(names); have[0].option == nil && len(names) > 1 ||
			have[0].option != nil && end < begin && l.flags[end].option == have[0].option {
			return nil
		}
		return have
	}
	return nil
}

// spellings reads the flags at the beginning of a line, notes where each group that | joins ends,
// and returns the words after them.
func (l *loader) spellings(words []string) (left []string, err error) {
	l.group = l.group[:0]
	for ; len(words) > 0; words = words[1:] {
		text, takes := spelling(words[0])
		dashed := len(text) > 1 &&
			(text[0] == '-' || text[0] == '/' || text[0] == '+' && !slices.Contains(bitNames, text[1:]))
		if !dashed && (takes == none || text == "") {
			break
		}
		if l.now.mode == Windows {
			text = strings.ToLower(text)
		}
		for more := true; more; {
			var part string
			part, text, more = strings.Cut(text, "|")
			if part == "" || strings.IndexByte(part, '=') >= 0 {
				return nil, l.errorf("the flag %q has = inside, or | at an end: one = at its end says that it takes an "+
					"argument, | stands between names of one flag", words[0])
			}
			l.flags = append(l.flags, flag{text: part, arity: takes, line: l.line})
		}
		l.group = append(l.group, len(l.flags))
	}
	return words, nil
}

// spelling splits a flag from the sign that says which argument it takes.
func spelling(word string) (string, arity) {
	last := word[len(word)-1]
	if last == '=' {
		if name, ok := strings.CutSuffix(word, "=="); ok {
			return name, second
		}
		return word[:len(word)-1], argument
	}
	if len(word) > 1 && word[len(word)-2] == '=' {
		switch last {
		case '?':
			return word[:len(word)-2], attached
		case ';':
			return word[:len(word)-2], until
		case '*':
			return word[:len(word)-2], rest
		}
	}
	return word, none
}
