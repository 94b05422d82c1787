package shell

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
)

// changeEach applies a slice, a replacement or an operator to each of many values.
func (ex *expander) changeEach(list []data, p *syntax.ParamExp, sure bool) []data {
	switch {
	case p.Slice != nil:
		from := ex.in.math.evaluate(p.Slice.Offset)
		n, err := strconv.Atoi(from.text)
		if err != nil || !sure {
			return []data{anyOf(list)}
		}
		if name := p.Param.Value; (name == "@" || name == "*") && n >= 0 {
			n = max(n-1, 0) // position 0 is $0
		}
		if v := ex.in.par.lookup(p.Param.Value); v != nil && v.array && v.keys != nil && !v.assoc {
			n = v.position(n)
		}
		if n < 0 { // from the end
			n += len(list)
		}
		n = min(max(n, 0), len(list))
		rest := list[n:]
		if p.Slice.Length != nil {
			m, err := strconv.Atoi(ex.in.math.evaluate(p.Slice.Length).text)
			if err != nil {
				return []data{anyOf(list)}
			}
			if m < 0 {
				m += len(rest)
			}
			rest = rest[:min(max(m, 0), len(rest))]
		}
		return rest
	case p.Repl == nil && p.Exp == nil:
		return list
	}
	if p.Exp != nil && isDefault(p.Exp.Op) {
		if len(list) > 0 && sure {
			if p.Exp.Op == syntax.AlternateUnset || p.Exp.Op == syntax.AlternateUnsetOrNull {
				return []data{ex.oneWord(p.Exp.Word)}
			}
			return list
		}
		return []data{ex.operate(join(list, " "), p.Param.Value, p)}
	}
	out := make([]data, len(list))
	for i, d := range list {
		out[i] = ex.operate(d, "", p)
	}
	return out
}

func isDefault(op syntax.ParExpOperator) bool {
	return op >= syntax.AlternateUnset && op <= syntax.AssignUnsetOrNull
}

// operate applies what follows the name in ${name…}.
func (ex *expander) operate(d data, name string, p *syntax.ParamExp) data {
	ex.in.rep.passes(len(d.text))
	switch {
	case p.Length:
		if !d.known() {
			return unknown
		}
		return data{text: strconv.Itoa(utf8.RuneCountInString(d.text))}
	case p.Slice != nil:
		return ex.slice(d, p.Slice)
	case p.Repl != nil:
		return ex.replace(d, p.Repl)
	case p.Exp != nil:
		return ex.operator(d, name, p.Exp)
	}
	return data{effect.Unknown, d.taint}
}

func (ex *expander) slice(d data, s *syntax.Slice) data {
	from, err := strconv.Atoi(strings.TrimSpace(ex.in.math.evaluate(s.Offset).text))
	if s.Length != nil && strings.TrimSpace(ex.in.math.evaluate(s.Length).text) == "0" {
		return data{taint: d.taint}
	}
	if err != nil || !d.known() {
		return data{effect.Unknown, d.taint}
	}
	runes := []rune(d.text)
	if from < 0 {
		from += len(runes)
	}
	if from < 0 || from > len(runes) {
		return data{"", d.taint}
	}
	runes = runes[from:]
	if s.Length != nil {
		n, err := strconv.Atoi(strings.TrimSpace(ex.in.math.evaluate(s.Length).text))
		if err != nil {
			return data{effect.Unknown, d.taint}
		}
		if n < 0 {
			n += len(runes)
		}
		runes = runes[:min(max(n, 0), len(runes))]
	}
	return data{string(runes), d.taint}
}

// regex compiles a shell pattern, or returns nil.
func (ex *expander) regex(pat string, mode pattern.Mode) *regexp.Regexp {
	if len(pat) > 1024 || !effect.IsKnown(pat) || !ex.in.rep.work(64*len(pat)+256) {
		return nil
	}
	expr, err := pattern.Regexp(pat, mode)
	if err != nil {
		return nil
	}
	rx, _ := regexp.Compile(expr) // nil on an error
	return rx
}

func (ex *expander) replace(d data, r *syntax.Replace) data {
	orig, with := ex.oneWord(r.Orig), ex.oneWord(r.With)
	taint := d.taint | with.taint
	if with.text == "" && (orig.text == "*" || r.All && orig.text == "?") {
		return data{taint: taint}
	}
	if !d.known() || !orig.known() {
		return data{effect.Unknown, taint}
	}
	pat := orig.text
	anchor := byte(0)
	if !r.All && pat != "" && (pat[0] == '#' || pat[0] == '%') {
		anchor, pat = pat[0], pat[1:]
	}
	if !strings.ContainsAny(pat, `*?[\`) {
		ex.in.rep.made(len(d.text))
		text := d.text
		switch {
		case anchor == '#':
			if rest, ok := strings.CutPrefix(text, pat); ok {
				text = with.text + rest
			}
		case anchor == '%':
			if rest, ok := strings.CutSuffix(text, pat); ok {
				text = rest + with.text
			}
		case pat == "":
		case !r.All:
			text = strings.Replace(text, pat, with.text, 1)
		case !ex.in.rep.made(strings.Count(text, pat) * len(with.text)):
			return unknown
		default:
			text = strings.ReplaceAll(text, pat, with.text)
		}
		return data{text, taint}
	}
	rx := ex.regex(pat, 0)
	if rx == nil || !ex.in.rep.work(len(d.text)) {
		return data{effect.Unknown, taint}
	}
	var b strings.Builder
	at := 0
	for _, m := range rx.FindAllStringIndex(d.text, -1) {
		if anchor == '#' && m[0] != 0 || anchor == '%' && m[1] != len(d.text) || m[0] == m[1] {
			continue
		}
		b.WriteString(d.text[at:m[0]])
		b.WriteString(with.text)
		at = m[1]
		if !ex.in.rep.made(len(with.text)) {
			return unknown
		}
		if !r.All {
			break
		}
	}
	b.WriteString(d.text[at:])
	return data{b.String(), taint}
}

// operator applies the operators :- :+ # % ^ , and similar ones.
func (ex *expander) operator(d data, name string, e *syntax.Expansion) data {
	set, sure := ex.in.par.isSet(name)
	if name == "XDG_CACHE_HOME" && e.Op == syntax.DefaultUnsetOrNull ||
		(e.Op == syntax.DefaultUnset || e.Op == syntax.DefaultUnsetOrNull) && ex.in.vars.isTool(name) {
		sure = true // if it is set, then to a value of the same kind
	}
	switch e.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		null := e.Op == syntax.DefaultUnsetOrNull || e.Op == syntax.AssignUnsetOrNull
		assign := e.Op == syntax.AssignUnset || e.Op == syntax.AssignUnsetOrNull
		if sure && set && (!null || d.text != "" && d.known()) {
			return d
		}
		other := ex.oneWord(e.Word)
		if sure && (!set || null && d.text == "") {
			if assign {
				ex.in.assigner.setVariable(name, other)
			}
			return other
		}
		ex.in.readings.leanDiffers = ex.in.readings.leanDiffers || !d.known()
		if ex.in.readings.omits == omitsAll && !d.known() && (null || other.text == "") && !assign {
			return other // unknown text is taken to be empty: one choice fewer to try
		}
		if other.text == "" && d.text == effect.Unknown && !assign {
			return data{d.text, d.taint | other.taint} // ${X-} is $X
		}
		// It may be set to an unknown value, or not be set.
		v := variable{name: name, data: d, alts: []data{other, d}}
		if assign {
			*ex.in.vars.slot(name) = v
		}
		return v.alts[ex.in.alt.pick("-"+name+other.text, 2)]
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		other := ex.oneWord(e.Word)
		if sure && (!set || e.Op == syntax.AlternateUnsetOrNull && d.text == "") {
			return data{}
		}
		if sure && (e.Op == syntax.AlternateUnset || d.known()) {
			return other
		}
		alts := []data{other, {}}
		if other.text == "" {
			return other
		}
		if ex.in.readings.leanDiffers = true; ex.in.readings.lean || ex.in.readings.first { // try unset first
			alts[0], alts[1] = alts[1], alts[0]
		}
		return alts[ex.in.alt.pick("+"+name+other.text, 2)]
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		ex.oneWord(e.Word)
		return d
	default:
		return ex.cutOrCase(d, name, e)
	}
}

func (ex *expander) cutOrCase(d data, name string, e *syntax.Expansion) data {
	pat := ex.oneWord(e.Word)
	if pat.text == "*" && (e.Op == syntax.RemLargePrefix || e.Op == syntax.RemLargeSuffix) {
		return data{taint: d.taint}
	}
	if !d.known() || !pat.known() {
		return data{effect.Unknown, d.taint}
	}
	switch e.Op {
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		return data{ex.cut(d.text, pat.text, e.Op), d.taint}
	case syntax.UpperFirst, syntax.LowerFirst, syntax.UpperAll, syntax.LowerAll:
		if pat.text != "" && pat.text != "?" && pat.text != "*" {
			return data{effect.Unknown, d.taint}
		}
		change := strings.ToUpper
		if e.Op == syntax.LowerFirst || e.Op == syntax.LowerAll {
			change = strings.ToLower
		}
		n := len(d.text)
		if e.Op == syntax.UpperFirst || e.Op == syntax.LowerFirst {
			n = min(n, 1)
		}
		return data{change(d.text[:n]) + d.text[n:], d.taint}
	case syntax.OtherParamOps:
		return ex.atOperator(d, name, pat.text)
	default: // the other operators are not modeled
		return data{effect.Unknown, d.taint}
	}
}

func (ex *expander) atOperator(d data, name, op string) data {
	quoted := data{"'" + strings.ReplaceAll(d.text, "'", `'\''`) + "'", d.taint}
	plain := d.text != "" && strings.IndexFunc(d.text, func(r rune) bool { return r < ' ' || r > '~' }) < 0
	switch op {
	case "u":
		return data{strings.ToUpper(d.text[:min(1, len(d.text))]) + d.text[min(1, len(d.text)):], d.taint}
	case "Q", "K", "k":
		if plain {
			return quoted
		}
	case "A":
		if v := ex.in.vars.find(name); plain && v != nil && !v.array && !v.integer && v.ref == "" {
			return data{name + "=" + quoted.text, d.taint}
		}
	case "L":
		return data{strings.ToLower(d.text), d.taint}
	case "U":
		return data{strings.ToUpper(d.text), d.taint}
	case "E":
		out, _ := ansiC(nil, d.text, false)
		return data{string(out), d.taint | spelled(d.text)}
	case "P":
		if ex.in.math.injected(d); plain && !strings.ContainsAny(d.text, "\\$`!") {
			return d
		}
	}
	return data{effect.Unknown, d.taint}
}

// cut removes a prefix or suffix that a pattern matches.
func (ex *expander) cut(text, pat string, op syntax.ParExpOperator) string {
	prefix := op == syntax.RemSmallPrefix || op == syntax.RemLargePrefix
	if !strings.ContainsAny(pat, `*?[\`) {
		if prefix {
			return strings.TrimPrefix(text, pat)
		}
		return strings.TrimSuffix(text, pat)
	}
	// The most common forms need no regular expression.
	if prefix && len(pat) == 2 && pat[0] == '*' && pat[1] != '\\' && pat[1] != '*' && pat[1] != '?' && pat[1] != '[' {
		i := strings.IndexByte(text, pat[1])
		if op == syntax.RemLargePrefix {
			i = strings.LastIndexByte(text, pat[1])
		}
		return text[i+1:]
	}
	rx := ex.regex(pat, pattern.EntireString)
	if rx == nil {
		return effect.Unknown
	}
	small := op == syntax.RemSmallPrefix || op == syntax.RemSmallSuffix
	for n := range len(text) + 1 {
		if !ex.in.rep.work(len(text)) {
			return effect.Unknown
		}
		size := n
		if !small {
			size = len(text) - n
		}
		if prefix && rx.MatchString(text[:size]) {
			return text[size:]
		}
		if !prefix && rx.MatchString(text[len(text)-size:]) {
			return text[:len(text)-size]
		}
	}
	return text
}

// matches compares a text with a shell pattern. sure is false if the result is not known.
func (ex *expander) matches(text, pat string) (matched, sure bool) {
	if !effect.IsKnown(text) || !effect.IsKnown(pat) {
		return false, false
	}
	if !strings.ContainsAny(pat, `*?[\(`) {
		return text == pat, true
	}
	if ok, err := path.Match(pat, text); err == nil && ok {
		return true, true
	}
	rx := ex.regex(pat, pattern.EntireString)
	if rx == nil || !ex.in.rep.work(len(text)) {
		return false, false
	}
	return rx.MatchString(text), true
}
