package shell

import (
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// longList is the length, in words, from which a list is kept so that others can extend it.
const longList = 16

// indexText returns the value of an index that is given as text.
func (pm *parameters) indexText(base, index string) string {
	if v := pm.lookup(base); v != nil && v.assoc {
		return index
	}
	if n, ok := pm.in.math.toInteger(strings.TrimSpace(index), 0); ok {
		return strconv.FormatInt(n, 10)
	}
	return effect.Unknown
}

// asList returns a variable that is not an array as a list: its value is the only element.
func (pm *parameters) asList(name string) []data {
	if v := pm.lookup(name); v != nil && v.unset {
		return nil
	} else if _, given := pm.in.ctx.Env[name]; v == nil && !given {
		return nil
	}
	return []data{pm.valueOf(name)}
}

// anyOrder returns the elements of an array in one of several possible orders: the order of
// assignment, an order with a well-known program first, or an unknown one, for which it returns
// false.
func (pm *parameters) anyOrder(name string, v *variable) ([]data, bool) {
	const most = 4
	orders := [][]data{v.list}
	for i, d := range v.list[1:] {
		first, _, _ := strings.Cut(d.text, " ")
		if len(orders) < most && pm.in.wellKnown(first) {
			orders = append(orders, slices.Concat(v.list[i+1:i+2], v.list[:i+1], v.list[i+2:]))
		}
	}
	at := pm.in.alt.pick(pm.in.arena.concat(name, "[@]"), len(orders)+1)
	if at == len(orders) {
		return []data{anyOf(v.list)}, false
	}
	return orders[at], true
}

// valueOf returns the value of a variable or a special parameter. Several values are joined by
// blanks.
func (pm *parameters) valueOf(name string) data {
	d := pm.value(name)
	pm.in.rep.passes(len(d.text))
	return d
}

// value is valueOf without its cost.
func (pm *parameters) value(name string) data {
	switch name {
	case "@", "*":
		return join(pm.positional(), " ")
	case "#":
		if pm.openParams() { // an agent's command has no arguments, a script may have any
			return []data{{text: "0"}, {text: "1" + effect.Unknown}}[pm.in.alt.pick("#", 2)]
		}
		return data{text: strconv.Itoa(len(pm.positional()))}
	case "!":
		return unknown // empty until something runs in the background
	case "IFS":
		if pm.lookup(name) == nil {
			return data{text: " \t\n"} // the shell sets it, whatever the environment has
		}
	case "0":
		return pm.zero
	case "-":
		return data{text: "hB"}
	}
	if isNumber(name) {
		return data{text: "1" + effect.Unknown}
	}
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		n, err := strconv.Atoi(name)
		switch list := pm.positional(); {
		case err == nil && n > 0 && n <= len(list):
			return list[n-1]
		case pm.openParams():
			return unknown
		}
		return data{}
	}
	v := pm.lookup(name)
	switch {
	case v == nil:
		return pm.in.vars.environment(name)
	case v.unset:
		return data{}
	case v.array:
		return v.element(data{text: "0"})
	case v.alts != nil:
		return v.alts[pm.in.alt.pick(name, len(v.alts))]
	}
	return v.data
}

// isSet reports whether a parameter is set, and whether that is certain.
func (pm *parameters) isSet(name string) (set, sure bool) {
	if name == "@" || name == "*" || name != "" && name[0] >= '0' && name[0] <= '9' {
		if pm.openParams() {
			return false, false
		}
		if name == "@" || name == "*" {
			return len(pm.positional()) > 0, true
		}
		n, _ := strconv.Atoi(name)
		return n <= len(pm.positional()), true
	}
	if v := pm.lookup(name); v != nil {
		return !v.unset, true
	}
	if _, ok := pm.in.ctx.Env[name]; ok {
		return true, true
	}
	return false, pm.in.ctx.Unset
}

// elements returns the values of an array or of the positional parameters, and whether they are
// known.
func (pm *parameters) elements(name string) ([]data, bool) {
	if name == "@" || name == "*" {
		if pm.openParams() {
			return []data{unknown}, false
		}
		return pm.positional(), true
	}
	v := pm.lookup(name)
	switch {
	case v == nil && pm.in.ctx.Unset:
		return nil, true
	case v == nil:
		return []data{pm.in.vars.environment(name)}, false
	case v.unset:
		return nil, true
	case v.array && v.unordered() && !pm.iterates:
		return pm.anyOrder(name, v)
	case v.array:
		return v.list, true
	}
	return []data{pm.valueOf(name)}, true
}

// indexed returns the value of a variable at an index, or of the variable itself if index is nil.
func (pm *parameters) indexed(name string, index syntax.ArithmExpr) data {
	if index == nil {
		return pm.valueOf(name)
	}
	v := pm.lookup(name)
	if v == nil || !v.array {
		at := pm.in.math.evaluate(index) // may run a command
		switch {
		case v == nil && pm.in.ctx.Unset, v != nil && at.known() && at.text != "0":
			return data{}
		case v == nil:
			return unknown
		case at.known():
			return pm.valueOf(name)
		}
		return data{effect.Unknown, v.taint}
	}
	if v.assoc {
		return v.element(pm.keyText(index))
	}
	n, err := strconv.Atoi(pm.in.math.evaluate(index).text)
	if v = pm.lookup(name); v == nil {
		return unknown
	}
	return v.elementAt(int64(n), err == nil)
}

// keyText returns an index of an associative array as text.
func (pm *parameters) keyText(index syntax.ArithmExpr) data {
	if w, ok := index.(*syntax.Word); ok {
		return pm.in.exp.oneWord(w)
	}
	return unknown
}

// loopLists are the lists that the parameters have in the rounds of a loop.
type loopLists struct {
	first positionals   // before the loop
	left  []positionals // by each round that changed them
	wide  bool          // the last of them stands for all others
}

// lookup returns the variable that a name means, following references, or nil.
func (pm *parameters) lookup(name string) *variable {
	for hops := 0; hops < 8; hops++ {
		v := pm.in.vars.find(name)
		if v != nil && v.array {
			pm.in.rep.steps += (len(v.list) + len(v.keys)) / 64 // a long list takes long to look through
		}
		if v == nil || v.ref == "" {
			if v != nil && v.forms != nil {
				return &v.forms[pm.in.alt.pick(name, len(v.forms))]
			}
			return v
		}
		if name = v.ref; v.refs != nil {
			name = v.refs[pm.in.alt.pick(pm.in.arena.concat("&", v.name), len(v.refs))]
		}
		if base, index, ok := cutIndex(name); ok {
			return pm.referredElement(base, index)
		}
	}
	return nil
}

// referredElement returns an element of an array as a variable of its own.
func (pm *parameters) referredElement(base, index string) *variable {
	v := pm.lookup(base)
	if v == nil || !v.array {
		return &variable{name: base, data: unknown}
	}
	if v.assoc {
		return &variable{name: base, data: v.element(data{text: index})}
	}
	n, ok := pm.in.math.toInteger(strings.TrimSpace(index), 0)
	if v = pm.lookup(base); v == nil {
		return &variable{name: base, data: unknown}
	}
	return &variable{name: base, data: v.elementAt(n, ok)}
}

// spreads reports whether an array without an index stands for all its elements, as in zsh. In
// bash it stands for the first one, so the command is walked once more for the zsh reading.
func (pm *parameters) spreads(name string) bool {
	if !pm.in.vars.isArray(name) {
		return false
	}
	pm.in.readings.doubts |= spread
	return pm.in.readings.omits == omitsSpread
}

// subscript returns $x[N] as zsh reads it, and the rest of the literal after the bracket. In bash
// the brackets are a pattern, so the command is walked once more for the zsh reading; ok is true
// only then.
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
	pm.in.readings.doubts |= spread
	return pm.subscripted(p.Param.Value, index), rest, pm.in.readings.omits == omitsSpread
}

// subscripted returns a range of the elements of an array, or of the characters of a text: "2" or
// "1,5". Positions count from 1, and negative ones from the end.
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

// begins reports whether words begin with a list.
func begins(words []field, list []data) bool {
	for i := range list {
		if words[i].data != list[i] {
			return false
		}
	}
	return true
}
