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
		b.addValue(ex.flagged(p), quoted)
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
		list, sure := ex.in.par.elements(ex.in.vars.referred(name)) // zsh gives all of them, bash the first
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
			if d.text == "" { // the shell ends there
				d.text = effect.Unknown
			}
			b.stays = d.text == effect.Unknown // X="$Y/": what it is made of may be nothing
		case p.Exp != nil && (p.Exp.Op == syntax.DefaultUnsetOrNull || p.Exp.Op == syntax.AssignUnsetOrNull):
			b.stays = p.Exp.Word != nil && p.Exp.Word.Lit() != ""
		}
		b.stays = b.stays || p.Length || isNumber(name)
		b.place = ex.in.vars.fixed(name)
		if simple && p.Index == nil && b.start == len(ex.buf) {
			v := ex.in.vars.find(name)
			b.branch = v != nil && v.branch
		}
		if v := ex.in.vars.find(name); v != nil && v.clobbered {
			b.clobbered = true
		}
		b.addValue(d, quoted)
		b.stays, b.place = false, false
	}
}

// isNumber reports whether a shell gives that variable a number, whatever it inherits.
func isNumber(name string) bool {
	switch name {
	case "?", "#", "$", "UID", "EUID", "PPID", "BASHPID", "RANDOM", "SRANDOM", "SECONDS", "LINENO", "EPOCHSECONDS":
		return true
	}
	return false
}

// addMany adds the values of "$@" and its like.
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
			if sure { // most of a long list; the last one may have more behind it
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

// pairs adds the keys of an array, each with its value: "${name[@]@k}", or @K in one text.
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

// keysOf adds the keys of an array: "${!name[@]}". It is false where they are not known.
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

// indirect is ${!name}.
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

// wholes pushes values that are known as fields of their own, as long as each is one word
// whatever it is next to: the builder has nothing yet. It returns how many these are. A
// list is pushed by every command that takes it, so a long one has to be quick.
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

// ifs is what separates words. Where nothing is known of it, words end where they usually
// do, or at any sign that is neither a letter nor part of a path.
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

// ifsOf is what separates the words of a value: a file that was read into the shell may have
// set it, see [variables.clobber].
func (pm *parameters) ifsOf(text string) string {
	if !pm.torn() || !strings.ContainsAny(text, tornIFS[len(usualIFS):]) || strings.Contains(text, "://") {
		return pm.ifs()
	}
	return []string{usualIFS, tornIFS}[pm.in.alt.pick("IFS?", 2)]
}

// torn reports whether such a file may have set IFS.
func (pm *parameters) torn() bool {
	if !pm.in.vars.clobbered {
		return false
	}
	v := pm.lookup("IFS")
	return v == nil || v.unset || v.clobbered
}

// tearsUp reports whether a value that is written as one word may run as another command. What
// begins with a folder begins with it wherever it is split, and a plain name has no room for
// the words of another command.
func (pm *parameters) tearsUp(text string) bool {
	if len(text) < 2 {
		return false
	}
	return pm.tears() || pm.in.vars.clobbered && text[0] != '.' && text[0] != '/' && text[0] != '-' && pm.torn() &&
		isOneWord(text) && !isPlainName(text)
}

// separators is the value of IFS, if it has one.
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

// tears reports whether nothing is known of IFS, so that what is written as one word may be
// several: a command then is another one than it is written as.
func (pm *parameters) tears() bool {
	d, ok := pm.separators()
	return ok && !d.known()
}

// anyIFS is what separates them where it is not known.
const anyIFS = usualIFS + "!\"#$%&'()*+,:;<=>?@[]^_`{|}"

// tornIFS is what may separate them if a file set it: no sign that names have.
const tornIFS = usualIFS + "!#%&+,:;^|"

// What zsh reads otherwise than bash: an agent's shell may be either.

// zshName is the program that a zsh spelling of a name means: =git is where git is, zf_rm is the
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
