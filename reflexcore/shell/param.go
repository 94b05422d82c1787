package shell

import (
	"slices"
	"strconv"
	"strings"

	"approver.example/reflexcore/effect"
	"mvdan.cc/sh/v3/syntax"
)

// paramExpansion adds a parameter expansion.
func (ex *expander) paramExpansion(b *builder, p *syntax.ParamExp, quoted bool) {
	if (p.Flags != nil || p.Exp != nil && (p.Param == nil || p.Param.Value == "")) && p.NestedParam == nil &&
		len(p.Modifiers) == 0 {
		d := ex.flagged(p)
		ex.pattern(d, quoted)
		b.addValue(d, quoted)
		return
	}
	if p.Param == nil || p.NestedParam != nil || p.Flags != nil || len(p.Modifiers) > 0 {
		b.addValue(unknown, quoted)
		return
	}
	name := p.Param.Value
	index := ""
	if w, ok := p.Index.(*syntax.Word); ok {
		index = w.Lit()
	}
	all := name == "@" || name == "*" || index == "@" || index == "*"
	star := name == "*" || index == "*"
	simple := !p.Excl && !p.Length && !p.Width && !p.IsSet && p.Slice == nil && p.Repl == nil && p.Names == 0 &&
		p.Exp == nil
	switch {
	case p.Names != 0:
		names := ex.in.vars.prefixed(name)
		if len(names) == 0 {
			b.addValue(unknown, quoted)
			return
		}
		ex.addMany(b, names, p.Names == syntax.NamesPrefix, quoted, true)
	case p.Excl:
		ex.indirect(b, p, name, quoted)
	case all && p.Length:
		list, sure := ex.in.par.elements(name)
		if v := ex.in.par.lookup(name); !sure || v != nil && v.array && v.unordered() && !v.assoc {
			b.addValue(unknown, quoted)
			return
		}
		b.addValue(data{text: strconv.Itoa(len(list))}, quoted)
	case all && p.Exp != nil && p.Exp.Op == syntax.OtherParamOps && strings.EqualFold(p.Exp.Word.Lit(), "k"):
		ex.pairs(b, p, name, star, quoted)
	case all && (simple || p.Slice != nil || p.Repl != nil || p.Exp != nil):
		list, sure := ex.in.par.elements(name)
		ex.addMany(b, ex.changeEach(list, p, sure), star, quoted, sure)
	case simple && p.Index == nil && !quoted && ex.in.par.spreads(name):
		list, sure := ex.in.par.elements(ex.in.vars.referred(name)) // zsh expands to all elements, bash to the first
		ex.addMany(b, list, false, false, sure)
	default:
		d := ex.in.par.indexed(name, p.Index)
		if !simple {
			d = ex.operate(d, name, p)
		}
		stops := p.Exp != nil && p.Exp.Op == syntax.ErrorUnsetOrNull && p.Names == 0 && p.Repl == nil && p.Slice == nil &&
			!p.Length
		switch {
		case stops:
			if d.text == "" { // the shell exits in this case
				d.text = effect.Unknown
			}
			b.stays = d.text == effect.Unknown // X="$Y/" is not empty, but $Y may be
		case p.Exp != nil && (p.Exp.Op == syntax.DefaultUnsetOrNull || p.Exp.Op == syntax.AssignUnsetOrNull):
			b.stays = p.Exp.Word != nil && p.Exp.Word.Lit() != ""
		}
		b.stays = b.stays || p.Length || isNumber(name) || simple && name == "PATH" && ex.in.vars.find(name) == nil
		b.place = ex.in.vars.fixed(name)
		if simple && p.Index == nil && b.start == len(ex.buf) {
			v := ex.in.vars.find(name)
			b.branch = v != nil && v.branch
			b.box = v != nil && v.box && len(v.alts) < 2
		}
		if v := ex.in.vars.find(name); v != nil && v.clobbered {
			b.clobbered = true
		}
		ex.pattern(d, quoted)
		b.addValue(d, quoted)
		b.stays, b.place = false, false
	}
}

// isNumber reports whether the shell itself sets that variable to a number, whatever the
// environment has.
func isNumber(name string) bool {
	switch name {
	case "?", "#", "$", "UID", "EUID", "PPID", "BASHPID", "RANDOM", "SRANDOM", "SECONDS", "LINENO", "EPOCHSECONDS":
		return true
	}
	return false
}

// addMany adds the values of "$@" and similar expansions. sure says that the list is known.
func (ex *expander) addMany(b *builder, list []data, star, quoted, sure bool) {
	if star && quoted {
		sep := ex.in.par.ifs()
		b.addValue(join(list, sep[:min(1, len(sep))]), true)
		return
	}
	if ex.in.readings.leanDiffers = ex.in.readings.leanDiffers || !sure; !sure && ex.in.readings.omits == omitsAll {
		return
	}
	for i := 0; i < len(list); i++ {
		if i > 0 {
			b.flush()
			if sure { // the last one stays: more of the word may follow it
				i += b.wholes(list[i:len(list)-1], quoted)
			}
		}
		b.addValue(list[i], quoted)
		if !sure {
			b.splits = true
		}
		if quoted {
			b.any = true
		}
	}
}

// pairs adds the keys of an array, each with its value: "${name[@]@k}". With @K, they are one
// text.
func (ex *expander) pairs(b *builder, p *syntax.ParamExp, name string, star, quoted bool) {
	v := ex.in.par.lookup(name)
	if v == nil || !v.array || v.unset || v.keys == nil && v.assoc {
		b.addValue(unknown, quoted)
		return
	}
	list := make([]data, 0, 2*len(v.list))
	for i, d := range v.list {
		key := data{text: strconv.Itoa(i)}
		if v.keys != nil {
			key.text = v.keys[i]
		}
		if p.Exp.Word.Lit() == "K" {
			d.text = quote(d.text)
		}
		list = append(list, key, d)
	}
	if p.Exp.Word.Lit() == "K" || star {
		b.addValue(join(list, " "), quoted)
		return
	}
	ex.addMany(b, list, star, quoted, !v.unordered())
}

// keysOf adds the keys of an array: "${!name[@]}". It returns false if they are not known.
func (ex *expander) keysOf(b *builder, name string, star, quoted bool) bool {
	v := ex.in.par.lookup(name)
	if v == nil || !v.array || v.unset {
		return false
	}
	keys := make([]data, len(v.list))
	for i := range keys {
		keys[i] = data{text: strconv.Itoa(i)}
		if v.keys != nil {
			keys[i].text = v.keys[i]
		}
	}
	sure := true
	if v.unordered() && !ex.in.par.iterates {
		v := &variable{name: name, list: keys}
		keys, sure = ex.in.par.anyOrder(ex.in.arena.concat("!", name), v)
	}
	ex.addMany(b, keys, star, quoted, sure)
	return true
}

// indirect adds the expansion ${!name}.
func (ex *expander) indirect(b *builder, p *syntax.ParamExp, name string, quoted bool) {
	if w, ok := p.Index.(*syntax.Word); ok && (w.Lit() == "@" || w.Lit() == "*") &&
		ex.keysOf(b, name, w.Lit() == "*", quoted) {
		return
	}
	to := ex.in.par.valueOf(name)
	if p.Index != nil || !to.known() || to.text == "" {
		b.addValue(data{effect.Unknown, to.taint}, quoted)
		return
	}
	if base, _, isArray := strings.Cut(to.text, "["); isArray {
		ex.in.math.injected(to)
		b.addValue(data{effect.Unknown, ex.in.par.valueOf(base).taint}, quoted)
		return
	}
	d := ex.in.par.valueOf(to.text)
	if p.Exp != nil || p.Repl != nil || p.Slice != nil {
		d = ex.operate(d, to.text, p)
	}
	b.addValue(d, quoted)
}

// wholes pushes known values as fields of their own, up to the first one that is not exactly one
// word. The builder must be empty. It returns how many it pushed. Every command that takes a long
// list pushes it, so this has to be fast.
func (b *builder) wholes(list []data, quoted bool) (n int) {
	in := b.in
	if len(list) == 0 || !quoted && in.par.ifs() != usualIFS {
		return 0
	}
	torn := !quoted && (in.par.tears() || in.par.torn())
	if room := min(len(list), in.rep.lim.Fields-len(in.exp.fields)); room > 0 {
		in.exp.fields = slices.Grow(in.exp.fields, room)
	}
	for ; n < len(list); n++ {
		d := &list[n]
		switch {
		case d.text == "", torn && len(d.text) > 1, quoted && !d.known(), !quoted && !isKnownWord(d.text):
			return n
		}
		if in.rep.made(len(d.text)) {
			in.exp.push(field{data: *d, quoted: quoted})
		}
	}
	return n
}

// ifs returns the characters that separate words. If IFS is unknown, both readings are tried: its
// known characters or the usual ones, or [anyIFS].
func (pm *parameters) ifs() string {
	d, ok := pm.separators()
	if !ok {
		return usualIFS
	}
	if !d.known() {
		known := strings.ReplaceAll(d.text, effect.Unknown, "")
		if known == "" {
			known = usualIFS
		}
		return []string{known, anyIFS}[pm.in.alt.pick("IFS?", 2)]
	}
	return d.text
}

// ifsOf returns the characters that separate the words of a value. A file that was sourced may
// have set IFS, see [variables.clobber].
func (pm *parameters) ifsOf(text string) string {
	if !pm.torn() || !strings.ContainsAny(text, tornIFS[len(usualIFS):]) || strings.Contains(text, "://") {
		return pm.ifs()
	}
	return []string{usualIFS, tornIFS}[pm.in.alt.pick("IFS?", 2)]
}

// torn reports whether a sourced file may have set IFS.
func (pm *parameters) torn() bool {
	if !pm.in.vars.clobbered {
		return false
	}
	v := pm.lookup("IFS")
	return v == nil || v.unset || v.clobbered
}

// tearsUp reports whether a value that is written as one word may be split and run as another
// command. A value that begins with a directory still begins with it after a split, and a plain
// name cannot hold the words of another command.
func (pm *parameters) tearsUp(text string) bool {
	if len(text) < 2 {
		return false
	}
	return pm.tears() || pm.in.vars.clobbered && text[0] != '.' && text[0] != '/' && text[0] != '-' && pm.torn() &&
		isOneWord(text) && !isPlainName(text)
}

// separators returns the value of IFS, and whether it is set.
func (pm *parameters) separators() (data, bool) {
	v := pm.lookup("IFS")
	switch {
	case v == nil || v.unset:
		return data{}, false
	case v.array:
		return v.element(data{text: "0"}), true
	case v.alts != nil: // it was assigned in a branch
		return v.alts[pm.in.alt.pick("IFS", len(v.alts))], true
	}
	return v.data, true
}

// tears reports whether IFS is unknown. A word may then split into several, so that a command is
// not the one that is written.
func (pm *parameters) tears() bool {
	d, ok := pm.separators()
	return ok && !d.known()
}

// anyIFS are the possible separators if IFS is not known.
const anyIFS = usualIFS + "!\"#$%&'()*+,:;<=>?@[]^_`{|}"

// tornIFS are the possible separators if a file may have set IFS: no characters that are usual in
// names.
const tornIFS = usualIFS + "!#%&+,:;^|"

// The following is what zsh reads differently from bash. An agent's shell may be either.

// zshName returns the program behind a zsh spelling of a name: =git is the path of git, zf_rm is
// the rm that is built into zsh. It is empty for any other name.
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

// flagged returns ${(flags)name…}, for flags that change the letter case, follow a name, or
// remove quotes where there are none. It is unknown for all others.
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
			if flag == 'e' {
				ex.hidden(d.text)
			}
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

// fishText returns the text of a fish script as other shells write it: substitutions of fish have
// no dollar sign.
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
