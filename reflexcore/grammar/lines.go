package grammar

import (
	"slices"
	"strings"
)

// flags reads a line of flags.
func (l *loader) flags(words []string) error {
	groups, words, err := l.spellings(words)
	switch {
	case err != nil:
		return err
	case len(groups) == 0:
		return l.errorf("%q is neither a flag, nor an operand (1, 2+, *, last, butlast, past), nor always, stdin, stdout, flow, mode, like or ?", words[0])
	case len(words) == 0:
		for _, g := range groups {
			if err := l.option(g, nil); err != nil {
				return err
			}
		}
		return nil
	}
	a, err := l.action(words)
	if err != nil {
		return err
	}
	names := slices.Concat(groups...)
	// A flag may be named again, for one more action.
	if have := l.names[l.key(names[0].text)]; have != nil && slices.Equal(have.names, names) {
		have.actions = append(have.actions, a)
		return nil
	}
	return l.option(names, []Action{a})
}

// option adds a flag.
func (l *loader) option(names []name, actions []Action) error {
	if len(l.options) == cap(l.options) {
		l.options = make([]option, 0, 256)
	}
	l.options = append(l.options, option{names: names, actions: actions})
	o := &l.options[len(l.options)-1]
	for _, n := range names {
		if l.names[l.key(n.text)] != nil {
			return l.errorf("%s is described twice: leave one, or name the same flags on both lines", n.text)
		}
		l.names[l.key(n.text)] = o
	}
	l.now.options = append(l.now.options, o)
	return nil
}

// key is what makes two spellings the same flag.
func (l *loader) key(name string) string {
	if l.now.mode == Windows {
		return strings.TrimLeft(name, "-/")
	}
	return name
}

var arities = []struct {
	suffix string
	arity  arity
}{{"=?", attached}, {"=;", until}, {"=*", rest}, {"==", second}, {"=", argument}}

// spellings reads the flags at the beginning of a line, those joined by | as
// one, and returns the words after them.
func (l *loader) spellings(words []string) (groups [][]name, left []string, err error) {
	groups = l.groups[:0]
	for ; len(words) > 0; words = words[1:] {
		text, takes := words[0], none
		for _, s := range arities {
			if name, ok := strings.CutSuffix(text, s.suffix); ok {
				text, takes = name, s.arity
				break
			}
		}
		dashed := len(text) > 1 && strings.IndexByte("-+/", text[0]) >= 0 && (text[0] != '+' || !isBit(text[1:]))
		if !dashed && (takes == none || text == "") {
			break
		}
		if l.now.mode == Windows {
			text = strings.ToLower(text)
		}
		if len(l.spelled)+strings.Count(text, "|") >= cap(l.spelled) {
			l.spelled = make([]name, 0, 1024+len(text))
		}
		begin := len(l.spelled)
		for more := true; more; {
			var part string
			part, text, more = strings.Cut(text, "|")
			if part == "" || strings.IndexByte(part, '=') >= 0 {
				return nil, nil, l.errorf("the flag %q has = inside, or | at an end: one = at its end says that it takes an argument, | stands between names of one flag", words[0])
			}
			l.spelled = append(l.spelled, name{part, takes})
		}
		groups = append(groups, slices.Clip(l.spelled[begin:]))
	}
	l.groups = groups
	return groups, words, nil
}
