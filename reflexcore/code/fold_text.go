package code

import (
	"strings"
	"unicode/utf8"

	"approver.example/reflexcore/effect"
)

// foldText is String(x) and bytes([114, 109]).
func foldText(_ *machine, c invocation) value {
	v := c.target()
	if v.kind == listValue {
		return charsOf(v.list, c.taint)
	}
	return v
}

// eachText folds with a function from text to text.
func eachText(f func(string) string) foldFunc {
	return func(_ *machine, c invocation) value {
		if v := c.target(); v.known() {
			return text(f(v.str()), c.taint)
		}
		return c.unknown()
	}
}

// foldTrim takes white space away; with an argument it takes something else.
func foldTrim(_ *machine, c invocation) value {
	if v := c.target(); v.known() && len(values(c.args)) <= max(0, c.arg+1) {
		return text(strings.TrimSpace(v.str()), c.taint)
	}
	return c.unknown()
}

// foldReplaceIn is str_replace(a, b, s).
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

// foldFormatArgs is String.Format("{0}", x).
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

func foldSlice(m *machine, c invocation) value {
	return substring(m.d, c.target(), values(c.args), c.arg, c.taint)
}

// foldSubstring is s.Substring(from, length).
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

func foldQuote(_ *machine, c invocation) value {
	if v := c.target(); v.known() {
		return text("'"+strings.ReplaceAll(v.str(), "'", `'\''`)+"'", c.taint)
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

// foldPackList is [..].pack("c*").
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

// foldBuffer is Buffer.from(x, "base64").
func foldBuffer(_ *machine, c invocation) value {
	v, encoding := c.target(), c.second()
	if v.kind == listValue {
		return charsOf(v.list, c.taint)
	}
	return decodedFrom(v, encoding)
}

// foldCodec is codecs.decode(x, "rot13") and s.decode("hex").
func foldCodec(_ *machine, c invocation) value {
	if c.arg == argReceiver {
		return decodedFrom(c.target(), c.first())
	}
	return decodedFrom(c.target(), c.second())
}

func decodedFrom(v, encoding value) value {
	if encoding.known() && decoderOf(encoding.str()) != "" {
		return applyDecoder(decoderOf(encoding.str()), v)
	}
	return v
}
