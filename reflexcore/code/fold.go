package code

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"approver.example/reflexcore/effect"
)

// folds are the folds by their names in the tables.
var folds = map[string]foldFunc{
	// Texts.
	"text": foldText, "lower": eachText(strings.ToLower), "upper": eachText(strings.ToUpper), "trim": foldTrim,
	"replacein": foldReplaceIn, "concat": foldConcat, "sprintf": foldSprintf, "sprintfnet": foldFormatArgs,
	"slice": foldSlice, "substringnet": foldSubstring, "quoteshell": eachText(singleQuoted),
	"id":         func(_ *machine, c invocation) value { return c.target() },
	"replace":    func(m *machine, c invocation) value { return c.replaced(m.d, c.receiver()) }, // s.replace(a, b)
	"split":      func(_ *machine, c invocation) value { return split(c.receiver(), c.first(), c.taint) },
	"explode":    func(_ *machine, c invocation) value { return split(c.second(), c.first(), c.taint) },
	"split0":     func(_ *machine, c invocation) value { return split(c.first(), unknown(0), c.taint) },
	"concatargs": func(_ *machine, c invocation) value { return text(concat(values(c.args), ""), c.taint) },
	"format":     func(_ *machine, c invocation) value { return formatBraces(c.receiver(), c.args) }, // "{}".format(x)
	"sprintfr":   func(_ *machine, c invocation) value { return sprintf(c.receiver(), values(c.args)) },
	"repeat":     func(_ *machine, c invocation) value { return repeat(c.receiver(), c.first()) },
	"repeatarg":  func(_ *machine, c invocation) value { return repeat(c.first(), c.second()) },
	"tr":         func(_ *machine, c invocation) value { return unknown(c.taint | effect.Decoded) },

	// Characters, numbers and encodings.
	"ord": foldOrd, "charat": foldCharAt, "unpack1": foldUnpackOne, "packlist": foldPackList,
	"buffer": foldBuffer, "codec": foldCodec,
	"chars":     func(_ *machine, c invocation) value { return charsOf(values(c.args), c.taint) },
	"chr":       func(_ *machine, c invocation) value { return charsOf([]value{c.receiver()}, c.taint) },
	"number":    func(_ *machine, c invocation) value { return parseNumber(c.target(), c.second(), c.taint) },
	"joinchars": func(_ *machine, c invocation) value { return charsOf(c.receiver().list, c.taint) },
	"pack":      func(_ *machine, c invocation) value { return pack(values(c.args), c.taint) },
	"unpack":    func(_ *machine, c invocation) value { return list([]value{foldUnpackOne(nil, c)}, c.taint) },

	// Lists.
	"joinlist": foldJoinList, "implode": foldImplode, "concatlist": foldConcatList,
	"reverse": foldReverse, "map": foldMap, "mapblock": foldMapBlock, "list": foldList,
	// sep.join(list)
	"join":      func(_ *machine, c invocation) value { return c.joinElements(c.first(), c.receiver().str()) },
	"first":     func(_ *machine, c invocation) value { return at(c.receiver(), 0) },
	"arraylist": func(_ *machine, c invocation) value { return list(values(c.args), c.taint) },
	"sockaddr":  func(_ *machine, c invocation) value { return list([]value{c.second(), c.first()}, c.taint) },

	// Paths.
	"dirname": eachText(path.Dir), "basename": eachText(path.Base), "expanduser": foldExpandUser,
	"homepath": foldHomePath, "newtmp": foldNewTemp, "newnear": foldNewNear, "parent": foldParent,
	"childpath": foldChildPath, "expandpath": foldExpandPath,
	"joinpath": func(_ *machine, c invocation) value { return text(joinPath(values(c.args)), c.taint) },
	"home":     func(m *machine, c invocation) value { return text(m.lim.Home, c.taint) },
	"cwd":      func(m *machine, c invocation) value { return m.cwd.folder(c.taint) },
	"tmp":      func(_ *machine, c invocation) value { return text("/tmp", c.taint) },

	// Names.
	"namespace": foldName(""), "require": foldName("require"), "constant": foldConstant, "same": foldSame,
}

// foldOf returns the fold with a name. Without one, only the taints of the arguments are known.
func foldOf(name string) foldFunc {
	if decoder, ok := strings.CutPrefix(name, "decode:"); ok {
		return func(_ *machine, c invocation) value { return applyDecoder(decoder, c.target()) }
	}
	if f, ok := folds[name]; ok {
		return f
	}
	return foldUnknown
}

func foldUnknown(_ *machine, c invocation) value { return c.unknown() }

func foldCall(m *machine, c invocation) (value, bool) { return c.fold(m, c), true }

// foldText evaluates String(x) and bytes([114, 109]).
func foldText(_ *machine, c invocation) value {
	v := c.target()
	if v.kind == listValue {
		return charsOf(v.list, c.taint)
	}
	return v
}

// eachText makes a fold of a function on texts.
func eachText(f func(string) string) foldFunc {
	return func(_ *machine, c invocation) value {
		if v := c.target(); v.known() {
			return text(f(v.str()), c.taint)
		}
		return c.unknown()
	}
}

// foldTrim trims white space, or other characters if they are an argument.
func foldTrim(_ *machine, c invocation) value {
	if v := c.target(); v.known() && len(values(c.args)) <= max(0, c.arg+1) {
		return text(strings.TrimSpace(v.str()), c.taint)
	}
	return c.unknown()
}

// foldReplaceIn evaluates str_replace(a, b, s).
func foldReplaceIn(m *machine, c invocation) value {
	in, _ := argument(c.args, 2)
	return c.replaced(m.d, in)
}

func foldConcat(_ *machine, c invocation) value {
	recv := c.receiver()
	out := recv
	for _, a := range values(c.args) {
		out = add(out, a, recv.kind != listValue)
	}
	return out
}

// foldFormatArgs evaluates String.Format("{0}", x).
func foldFormatArgs(_ *machine, c invocation) value {
	if len(c.args) > 0 {
		return formatBraces(c.first(), c.args[1:])
	}
	return c.unknown()
}

func foldSprintf(_ *machine, c invocation) value {
	if vs := values(c.args); len(vs) > 0 {
		return sprintf(vs[0], vs[1:])
	}
	return c.unknown()
}

// foldSlice evaluates slice(from, to) of JavaScript, and substr(s, from, length) of the others.
func foldSlice(m *machine, c invocation) value {
	args, isMethod, oneBased := values(c.args), c.arg == argReceiver, m.d.expressions.oneBased
	if !isMethod && len(args) > 0 {
		args = args[1:]
	}
	args = args[:min(len(args), 2)]
	if slices.ContainsFunc(args, func(v value) bool { return v.kind != numberValue }) {
		return unknown(c.taint)
	}
	var from, to *int64
	if len(args) > 0 {
		if from = &args[0].n; oneBased && *from > 0 {
			*from--
		}
	}
	if len(args) > 1 {
		if to = &args[1].n; !isMethod && !oneBased && *to >= 0 && *from >= 0 {
			*to += *from
		}
	}
	return slice(c.target(), from, to, 1)
}

// foldSubstring evaluates s.Substring(from, length).
func foldSubstring(_ *machine, c invocation) value {
	first, second := c.first(), c.second()
	if second.kind == numberValue && first.kind == numberValue && second.n >= 0 && first.n >= 0 && first.n < maxText &&
		second.n < maxText {
		end := first.n + second.n
		return slice(c.receiver(), &first.n, &end, 1)
	}
	if first.kind == numberValue && len(c.args) == 1 {
		return slice(c.receiver(), &first.n, nil, 1)
	}
	return c.unknown()
}

func foldOrd(_ *machine, c invocation) value {
	v := c.target()
	if !v.known() || v.kind != textValue || v.s == "" {
		return c.unknown()
	}
	r, _ := utf8.DecodeRuneInString(v.s)
	return value{kind: numberValue, n: int64(r), taint: c.taint}
}

func foldCharAt(_ *machine, c invocation) value {
	if first := c.first(); first.kind == numberValue {
		return at(c.receiver(), first.n)
	}
	return c.unknown()
}

func foldUnpackOne(_ *machine, c invocation) value {
	return pack([]value{c.first(), c.receiver()}, c.taint)
}

// foldPackList evaluates [..].pack("c*").
func foldPackList(_ *machine, c invocation) value {
	recv := c.receiver()
	if recv.kind == listValue && len(recv.list) == 1 && recv.list[0].kind == textValue {
		recv = recv.list[0]
	}
	return pack([]value{c.first(), recv}, c.taint)
}

func pack(args []value, taint effect.Taint) value {
	if len(args) < 2 || !args[0].known() {
		return unknown(taint | effect.Decoded)
	}
	rest := args[1]
	switch template := args[0].str(); template {
	case "H*":
		return applyDecoder("hex", rest)
	case "m", "m0", "m*":
		return applyDecoder("base64", rest)
	case "u":
		return applyDecoder("uu", rest)
	case "c*", "C*", "U*", "W*", "A*", "a*":
		if rest.kind == listValue {
			return charsOf(rest.list, taint|effect.Decoded)
		}
		return charsOf(args[1:], taint|effect.Decoded)
	}
	return unknown(taint | effect.Decoded)
}

// foldBuffer evaluates Buffer.from(x, "base64").
func foldBuffer(_ *machine, c invocation) value {
	v, encoding := c.target(), c.second()
	if v.kind == listValue {
		return charsOf(v.list, c.taint)
	}
	return decodedFrom(v, encoding)
}

// foldCodec evaluates codecs.decode(x, "rot13") and s.decode("hex").
func foldCodec(_ *machine, c invocation) value {
	encoding := c.second()
	if c.arg == argReceiver {
		encoding = c.first()
	}
	return decodedFrom(c.target(), encoding)
}

func decodedFrom(v, encoding value) value {
	if decoder := decoderOf(encoding.str()); encoding.known() && decoder != "" {
		return applyDecoder(decoder, v)
	}
	return v
}

// foldJoinList evaluates list.join(sep).
func foldJoinList(m *machine, c invocation) value {
	sep := m.d.library.separator
	if len(c.args) > 0 {
		sep = c.first().str()
	}
	return c.joinElements(c.receiver(), sep)
}

// foldImplode evaluates implode(sep, list) and join(sep, @list).
func foldImplode(m *machine, c invocation) value {
	first, second := c.first(), c.second()
	if first.kind == listValue {
		first, second = second, first
	}
	if vs := values(c.args); second.kind != listValue && len(vs) > 1 && m.d.calls.flattens {
		return text(concat(vs[1:], first.str()), c.taint)
	}
	return c.joinElements(second, first.str())
}

// foldConcatList evaluates table.concat(list, sep).
func foldConcatList(_ *machine, c invocation) value {
	sep := ""
	if len(c.args) > 1 {
		sep = c.second().str()
	}
	return c.joinElements(c.first(), sep)
}

// foldReverse reverses a list or a text. In Perl it gets the elements of the list.
func foldReverse(m *machine, c invocation) value {
	v, all := c.target(), values(c.args)
	if perl := m.d.calls.flattens; perl && len(all) == 1 && all[0].known() { // scalar reverse
		v = all[0]
	} else if perl && len(all) > 1 {
		v = list(all, c.taint)
	}
	switch {
	case v.kind == listValue && v.keys == nil:
		out := slices.Clone(v.list)
		slices.Reverse(out)
		return list(out, c.taint)
	case v.kind == textValue && v.known():
		r := []rune(v.s)
		slices.Reverse(r)
		return text(string(r), c.taint)
	}
	return unknown(c.taint)
}

// foldMap evaluates list.map(f), if f is a function of the code.
func foldMap(m *machine, c invocation) value {
	fn, over := unknown(0), c.receiver()
	for _, a := range values(c.args) {
		switch {
		case a.fn != nil || a.kind == nameValue:
			fn = a
		case a.kind == listValue || a.known() && a.kind == textValue:
			over = a
		}
	}
	items, ok := over.items()
	if !ok || fn.fn == nil && fn.kind != nameValue {
		(&callSite{m: m, args: c.args, taint: c.taint}).callbacks()
		return unknown(c.taint)
	}
	out := make([]value, 0, len(items))
	for _, item := range items {
		if !m.budget.step() {
			break
		}
		out = append(out, m.call(fn, []arg{{value: item}}))
	}
	return list(out, c.taint)
}

// foldMapBlock evaluates list.map(&:chr).
func foldMapBlock(_ *machine, c invocation) value {
	if first := c.first(); !first.known() || first.str() != "chr" {
		return c.unknown()
	}
	chr := func(v value) value { return charsOf([]value{v}, v.taint) }
	return list(mapAll(c.receiver().list, chr), c.taint)
}

func foldList(_ *machine, c invocation) value {
	v := c.target()
	if items, ok := v.items(); ok {
		return list(items, c.taint)
	}
	return c.unknown()
}

func foldExpandUser(m *machine, c invocation) value {
	v := c.target()
	if s := v.str(); strings.HasPrefix(s, "~") {
		return text(m.lim.Home+s[1:], c.taint)
	}
	return v
}

func foldHomePath(m *machine, c invocation) value {
	return value{kind: objectValue, s: c.result, from: m.lim.Home}
}

// foldNewTemp returns the name of a new temporary file, in another folder if the call says so.
func foldNewTemp(_ *machine, c invocation) value {
	if len(values(c.args)) == 0 {
		return text("/tmp/tmp"+effect.Unknown, c.taint)
	}
	return c.unknown()
}

func foldNewNear(_ *machine, c invocation) value {
	v := c.target()
	return text(v.str()+effect.Unknown, c.taint)
}

func foldParent(_ *machine, c invocation) value {
	recv := c.receiver()
	if recv.kind != objectValue || !effect.IsKnown(recv.from) {
		return c.unknown()
	}
	recv.from = path.Dir(recv.from)
	return recv
}

func foldChildPath(_ *machine, c invocation) value {
	recv := c.receiver()
	if recv.kind != objectValue {
		return c.unknown()
	}
	recv.from = joinPath(append([]value{recv}, values(c.args)...))
	recv.taint |= c.taint
	return recv
}

func foldExpandPath(m *machine, c invocation) value {
	recv := c.receiver()
	if recv.kind == objectValue && strings.HasPrefix(recv.from, "~") {
		recv.from = m.lim.Home + recv.from[1:]
	}
	return recv
}

// foldName makes a fold that returns a name of a module.
func foldName(name string) foldFunc {
	return func(*machine, invocation) value { return value{kind: nameValue, s: name} }
}

func foldConstant(m *machine, c invocation) value {
	if first := c.first(); first.known() {
		return value{kind: nameValue, s: m.api.canonical(first.str())}
	}
	return c.unknown()
}

// foldSame returns the receiver.
func foldSame(_ *machine, c invocation) value {
	if c.callee.of != nil {
		return c.receiver()
	}
	return c.unknown()
}
