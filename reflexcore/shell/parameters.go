package shell

import (
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// longList is from how many words on a list is kept to be added to.
const longList = 16

// indexText is what the text of an index comes to.
func (pm *parameters) indexText(base, index string) string {
	if v := pm.lookup(base); v != nil && v.assoc {
		return index
	}
	if n, ok := pm.in.math.toInteger(strings.TrimSpace(index), 0); ok {
		return strconv.FormatInt(n, 10)
	}
	return effect.Unknown
}

// asList is a variable that is no array as one: its value is the first element.
func (pm *parameters) asList(name string) []data {
	if v := pm.lookup(name); v != nil && v.unset {
		return nil
	} else if _, given := pm.in.ctx.Env[name]; v == nil && !given {
		return nil
	}
	return []data{pm.valueOf(name)}
}

// anyOrder are the elements of an array in an order that is not known: one in which they
// were assigned, those in which a program is the first, or any other.
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
		return []data{{effect.Unknown, join(v.list, "").taint}}, false
	}
	return orders[at], true
}

// valueOf is the value of a variable or a special parameter, joined if it is many.
func (pm *parameters) valueOf(name string) data {
	switch name {
	case "@", "*":
		return join(pm.positional(), " ")
	case "#":
		if pm.openParams() { // an agent's command is called with none, a script may be with any
			return []data{{text: "0"}, {text: "1" + effect.Unknown}}[pm.in.alt.pick("#", 2)]
		}
		return data{text: strconv.Itoa(len(pm.positional()))}
	case "!":
		return unknown // nothing, before something runs in the background
	case "IFS":
		if pm.lookup(name) == nil {
			return data{text: " \t\n"} // a shell sets it, whatever it inherits
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

// isSet reports whether a parameter is set, and whether that is known.
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

// elements are the values of an array or of the positional parameters.
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

// indexed is the value of a variable at an index, if there is one.
func (pm *parameters) indexed(name string, index syntax.ArithmExpr) data {
	if index == nil {
		return pm.valueOf(name)
	}
	v := pm.lookup(name)
	if v == nil || !v.array {
		at := pm.in.math.evaluate(index) // which may run something
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

// keyText is the text of an index of an associative array.
func (pm *parameters) keyText(index syntax.ArithmExpr) data {
	if w, ok := index.(*syntax.Word); ok {
		return pm.in.exp.oneWord(w)
	}
	return unknown
}

// fewer makes the parameters that set gets without what is not known of its words one
// more possibility.
func (pm *parameters) fewer(args []field) {
	some := false
	for i := range args {
		some = some || args[i].hollow && !args[i].known()
	}
	if !some {
		return
	}
	params := make([]data, 0, len(args))
	ended := false
	for i := range args {
		f := &args[i]
		text := f.text
		if !f.known() {
			text = strings.ReplaceAll(text, effect.Unknown, "")
		}
		switch {
		case text == "" && !f.known() && f.splits, !ended && strings.HasPrefix(text, "-") && text != "--":
		case !ended && text == "--":
			ended = true
		default:
			ended = true
			params = append(params, data{text, f.taint})
		}
	}
	if len(params) == 0 {
		params = nil
	}
	pm.others = [][]data{pm.params, params}
	pm.in.readings.partings++
}

// openParams reports whether the positional parameters are not known: those of
// the script itself are those that it was called with.
func (pm *parameters) openParams() bool {
	return pm.params == nil && pm.others == nil && len(pm.in.def.active) == 0
}

// allLists are all that they may be.
func (p positionals) allLists() [][]data {
	if p.others == nil {
		return [][]data{p.params}
	}
	return p.others
}

// joinParams makes what a branch set the parameters to one more possibility.
func (pm *parameters) joinParams(left positionals) {
	all := slices.Clip(pm.allLists())
	for _, list := range left.allLists() {
		if !slices.ContainsFunc(all, func(have []data) bool {
			return slices.Equal(have, list) && (have == nil) == (list == nil)
		}) {
			all = append(all, list)
		}
	}
	if len(all) > pm.in.rep.lim.Alternatives {
		if !pm.in.readings.lean {
			pm.in.rep.over(overAlternatives)
		}
		return
	}
	if len(all) > 1 {
		pm.others = all
		pm.in.readings.partings++
	}
}

// setPositional sets the positional parameters.
func (pm *parameters) setPositional(list []data) {
	pm.in.rep.steps += len(list) / 8 // each was copied
	pm.positionals = positionals{params: list}
}

// listOf is the list of what words are. A list that only adds to an earlier one shares its
// memory, as in set -- "$@" more: else that takes the square of it. What is shared does not
// change: behind the end of a kept list nobody else has anything.
func (pm *parameters) listOf(words []field) []data {
	for i := range pm.grown {
		g := &pm.grown[i]
		if n := len(*g); n > 0 && n < len(words) && begins(words, *g) {
			for j := n; j < len(words); j++ {
				*g = append(*g, words[j].data)
			}
			return slices.Clip(*g)
		}
	}
	list := dataOf(words)
	if len(list) >= longList {
		pm.grown[pm.oldest] = list
		pm.oldest = (pm.oldest + 1) % len(pm.grown)
	}
	return slices.Clip(list)
}

// positional are the positional parameters.
func (pm *parameters) positional() []data {
	if pm.others != nil {
		n := pm.in.alt.pick("@", len(pm.others))
		if pm.in.readings.first { // the first that is known changes places with the first
			known := slices.IndexFunc(pm.others, func(list []data) bool {
				return !slices.ContainsFunc(list, func(d data) bool { return !d.known() })
			})
			switch {
			case known < 1:
			case n == 0:
				n = known
			case n == known:
				n = 0
			}
		}
		return pm.others[n]
	}
	return pm.params
}

// optionValues are what OPTARG may be after getopts: each word behind a flag, and what is
// glued to one.
func (pm *parameters) optionValues(args []field) []data {
	if len(args) < 3 && pm.openParams() {
		return []data{unknown}
	}
	words, out := dataOf(args[2:]), []data{}
	if len(args) < 3 {
		words = pm.positional()
	}
	for i, w := range words {
		if len(out) >= pm.in.rep.lim.Alternatives-1 || !w.known() {
			return []data{unknown}
		}
		if len(w.text) < 2 || w.text[0] != '-' {
			continue
		}
		if len(w.text) > 2 {
			out = append(out, data{w.text[2:], w.taint})
		} else if i+1 < len(words) {
			out = append(out, words[i+1])
		}
	}
	if len(out) == 0 {
		return []data{{}}
	}
	return out
}

// lookup finds a variable, or nil.
func (pm *parameters) lookup(name string) *variable {
	for hops := 0; hops < 8; hops++ {
		v := pm.in.vars.find(name)
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

// referredElement is an element as a variable of its own.
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

// spreads reports whether an array stands for all of its elements where it has no index,
// as in zsh: in bash it is the first one, so that a command is walked once more for that.
func (pm *parameters) spreads(name string) bool {
	if !pm.in.vars.isArray(name) {
		return false
	}
	pm.in.readings.doubts |= spread
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
	pm.in.readings.doubts |= spread
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

// begins reports whether words begin with a list.
func begins(words []field, list []data) bool {
	for i := range list {
		if words[i].data != list[i] {
			return false
		}
	}
	return true
}
