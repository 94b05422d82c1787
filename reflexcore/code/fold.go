package code

import (
	"path"
	"strings"
	"unicode/utf8"

	"approver.example/reflexcore/effect"
)

// fold computes what a function without effects gives. What it cannot compute is
// unknown, with the taints of what went in.
func (m *machine) fold(r row, callee value, args []arg, v value, taint effect.Taint) value {
	recv := unknown(0)
	if callee.of != nil {
		recv = *callee.of
	}
	first, _ := argument(args, 0)
	second, _ := argument(args, 1)
	if name, ok := strings.CutPrefix(r.param, "decode:"); ok {
		return applyDecoder(name, v)
	}
	switch r.param {
	case "id":
		return v
	case "text":
		if v.kind == listValue { // bytes([114, 109]), String(x)
			return charsOf(v.list, taint)
		}
		return v
	case "chars": // String.fromCharCode(114, 109)
		return charsOf(values(args), taint)
	case "ord":
		if v.known() && v.kind == textValue && v.s != "" {
			c, _ := utf8.DecodeRuneInString(v.s)
			return value{kind: numberValue, n: int64(c), taint: taint}
		}
	case "number":
		return parseNumber(v, second, taint)
	case "join": // sep.join(list)
		if first.kind == listValue {
			return text(concat(first.list, recv.str()), taint)
		}
	case "joinlist": // list.join(sep)
		if recv.kind == listValue {
			sep := ","
			if m.d.name == "ruby" {
				sep = ""
			}
			if len(args) > 0 {
				sep = first.str()
			}
			return text(concat(recv.list, sep), taint)
		}
	case "implode": // implode(sep, list), join(sep, @list)
		if first.kind == listValue {
			first, second = second, first
		}
		if second.kind == listValue {
			return text(concat(second.list, first.str()), taint)
		}
		if vs := values(args); len(vs) > 1 && m.d.name == "perl" {
			return text(concat(vs[1:], first.str()), taint)
		}
	case "concatlist": // table.concat(list, sep)
		if first.kind == listValue {
			sep := ""
			if len(args) > 1 {
				sep = second.str()
			}
			return text(concat(first.list, sep), taint)
		}
	case "reverse":
		return reversed(v, values(args), m.d.name == "perl", taint)
	case "lower", "upper", "trim":
		if trims := r.param == "trim" && len(values(args)) > max(0, r.arg+1); v.known() && !trims {
			return text(map[string]func(string) string{"lower": strings.ToLower, "upper": strings.ToUpper, "trim": strings.TrimSpace}[r.param](v.str()), taint)
		}
	case "replace", "replacein": // s.replace(a, b); replacein: str_replace(a, b, s)
		if r.param == "replacein" {
			recv, _ = argument(args, 2)
		}
		if recv.known() && first.known() && first.str() != "" && len(recv.str())*max(1, len(second.str())) <= maxText {
			n := -1
			if m.d.name == "node" && strings.HasSuffix(callee.s, ".replace") || m.d.name == "ruby" && strings.HasSuffix(callee.s, ".sub") {
				n = 1
			}
			return text(strings.Replace(recv.str(), first.str(), second.str(), n), taint)
		}
	case "split":
		return split(recv, first, taint)
	case "explode":
		return split(second, first, taint)
	case "concat":
		out := recv
		for _, a := range values(args) {
			out = add(out, a, recv.kind != listValue)
		}
		return out
	case "format": // "{}".format(x)
		return formatBraces(recv, args)
	case "sprintf":
		if vs := values(args); len(vs) > 0 {
			return sprintf(vs[0], vs[1:])
		}
	case "joinpath":
		return text(joinPath(values(args)), taint)
	case "dirname", "basename":
		if v.known() {
			return text(map[string]func(string) string{"dirname": path.Dir, "basename": path.Base}[r.param](v.str()), taint)
		}
	case "expanduser":
		if s := v.str(); strings.HasPrefix(s, "~") {
			return text(m.lim.Home+s[1:], taint)
		}
		return v
	case "home":
		return text(m.lim.Home, taint)
	case "cwd":
		return m.cwd.folder(taint)
	case "tmp":
		return text("/tmp", taint)
	case "newtmp": // somewhere else if it is told so
		if len(values(args)) == 0 {
			return text("/tmp/tmp"+effect.Unknown, taint)
		}
	case "newnear":
		return text(v.str()+effect.Unknown, taint)
	case "slice":
		return substring(m.d, v, values(args), r.arg, taint)
	case "map":
		return m.mapped(recv, args, taint)
	case "list":
		if items, ok := v.items(); ok {
			return list(items, taint)
		}
	case "repeat":
		return repeat(recv, first)
	case "pack":
		return pack(values(args), taint)
	case "buffer": // Buffer.from(x, "base64")
		switch {
		case v.kind == listValue:
			return charsOf(v.list, taint)
		case second.known() && decoderOf(second.str()) != "":
			return applyDecoder(decoderOf(second.str()), v)
		}
		return v
	case "codec": // codecs.decode(x, "rot13"), s.decode("hex")
		enc := second
		if r.arg == argReceiver {
			enc = first
		}
		if enc.known() && decoderOf(enc.str()) != "" {
			return applyDecoder(decoderOf(enc.str()), v)
		}
		return v
	case "tr": // s.tr("a-y", "b-z")
		return unknown(taint | effect.Decoded)
	case "namespace":
		return value{kind: nameValue, s: ""}
	case "same": // a method that gives the object back
		if callee.of != nil {
			return recv
		}
	case "parent":
		if recv.kind == objectValue && effect.IsKnown(recv.from) {
			recv.from = path.Dir(recv.from)
			return recv
		}
	case "childpath":
		if recv.kind == objectValue {
			recv.from = joinPath(append([]value{recv}, values(args)...))
			recv.taint |= taint
			return recv
		}
	case "expandpath":
		if recv.kind == objectValue && strings.HasPrefix(recv.from, "~") {
			recv.from = m.lim.Home + recv.from[1:]
		}
		return recv
	case "joinchars":
		return charsOf(recv.list, taint)
	case "split0":
		return split(first, unknown(0), taint)
	case "first":
		return at(recv, 0)
	case "charat":
		if first.kind == numberValue {
			return at(recv, first.n)
		}
	case "chr":
		return charsOf([]value{recv}, taint)
	case "unpack", "unpack1":
		v := pack([]value{first, recv}, taint)
		if r.param == "unpack" {
			return list([]value{v}, taint)
		}
		return v
	case "packlist":
		if recv.kind == listValue && len(recv.list) == 1 && recv.list[0].kind == textValue {
			return pack([]value{first, recv.list[0]}, taint)
		}
		return pack([]value{first, recv}, taint)
	case "mapblock": // list.map(&:chr)
		if first.known() && first.str() == "chr" {
			out := make([]value, 0, len(recv.list))
			for _, e := range recv.list {
				out = append(out, charsOf([]value{e}, e.taint))
			}
			return list(out, taint)
		}
	case "sprintfnet":
		if len(args) > 0 {
			return formatBraces(first, args[1:])
		}
	case "concatargs":
		return text(concat(values(args), ""), taint)
	case "substringnet":
		if second.kind == numberValue && first.kind == numberValue && second.n >= 0 && first.n >= 0 && first.n < maxText && second.n < maxText {
			end := first.n + second.n
			return slice(recv, &first.n, &end, 1)
		}
		if first.kind == numberValue && len(args) == 1 {
			return slice(recv, &first.n, nil, 1)
		}
	case "repeatarg":
		return repeat(first, second)
	case "sprintfr":
		return sprintf(recv, values(args))
	case "sockaddr":
		return list([]value{second, first}, taint)
	case "arraylist":
		return list(values(args), taint)
	case "constant":
		if first.known() {
			return value{kind: nameValue, s: m.api.canonical(first.str())}
		}
	case "require":
		return value{kind: nameValue, s: "require"}
	case "quoteshell":
		if v.known() {
			return text("'"+strings.ReplaceAll(v.str(), "'", `'\''`)+"'", taint)
		}
	case "homepath":
		return value{kind: objectValue, s: r.result, from: m.lim.Home}
	}
	return unknown(taint | r.taint)
}

// mapped is list.map(f): known where the function is one of the code.
func (m *machine) mapped(recv value, args []arg, taint effect.Taint) value {
	fn, over := unknown(0), recv
	for _, a := range values(args) {
		switch {
		case a.fn != nil || a.kind == nameValue:
			fn = a
		case a.kind == listValue || a.known() && a.kind == textValue:
			over = a
		}
	}
	items, ok := over.items()
	if !ok || fn.fn == nil && fn.kind != nameValue {
		m.callbacks(value{}, args, taint)
		return unknown(taint)
	}
	out := make([]value, 0, len(items))
	for _, item := range items {
		if !m.budget.step() {
			break
		}
		out = append(out, m.call(fn, []arg{{value: item}}))
	}
	return list(out, taint)
}

// pack is pack("H*", hex), unpack("u", text), [..].pack("c*").
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
