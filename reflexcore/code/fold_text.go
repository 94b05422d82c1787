package code

import (
	"strings"
	"unicode/utf8"

	"approver.example/reflexcore/effect"
)

func foldTarget(_ *machine, c invocation) value { return c.target() }

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

// foldReplace is s.replace(a, b).
func foldReplace(m *machine, c invocation) value { return c.replaced(m.d, c.receiver()) }

// foldReplaceIn is str_replace(a, b, s).
func foldReplaceIn(m *machine, c invocation) value {
	in, _ := argument(c.args, 2)
	return c.replaced(m.d, in)
}

// foldSplit is s.split(sep).
func foldSplit(_ *machine, c invocation) value { return split(c.receiver(), c.first(), c.taint) }

// foldExplode is explode(sep, s).
func foldExplode(_ *machine, c invocation) value { return split(c.second(), c.first(), c.taint) }

func foldSplitWords(_ *machine, c invocation) value { return split(c.first(), unknown(0), c.taint) }

func foldConcat(_ *machine, c invocation) value {
	recv := c.receiver()
	out := recv
	for _, a := range values(c.args) {
		out = add(out, a, recv.kind != listValue)
	}
	return out
}

func foldConcatArgs(_ *machine, c invocation) value { return text(concat(values(c.args), ""), c.taint) }

// foldFormat is "{}".format(x).
func foldFormat(_ *machine, c invocation) value { return formatBraces(c.receiver(), c.args) }

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

// foldSprintfMethod is ("%s"):format(x).
func foldSprintfMethod(_ *machine, c invocation) value { return sprintf(c.receiver(), values(c.args)) }

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

func foldRepeat(_ *machine, c invocation) value { return repeat(c.receiver(), c.first()) }

func foldRepeatArgs(_ *machine, c invocation) value { return repeat(c.first(), c.second()) }

func foldQuote(_ *machine, c invocation) value {
	if v := c.target(); v.known() {
		return text("'"+strings.ReplaceAll(v.str(), "'", `'\''`)+"'", c.taint)
	}
	return c.unknown()
}

// foldDecoded is what may be any text, made from another.
func foldDecoded(_ *machine, c invocation) value { return unknown(c.taint | effect.Decoded) }

// foldChars is String.fromCharCode(114, 109).
func foldChars(_ *machine, c invocation) value { return charsOf(values(c.args), c.taint) }

func foldChr(_ *machine, c invocation) value { return charsOf([]value{c.receiver()}, c.taint) }

func foldOrd(_ *machine, c invocation) value {
	v := c.target()
	if !v.known() || v.kind != textValue || v.s == "" {
		return c.unknown()
	}
	r, _ := utf8.DecodeRuneInString(v.s)
	return value{kind: numberValue, n: int64(r), taint: c.taint}
}

func foldNumber(_ *machine, c invocation) value {
	return parseNumber(c.target(), c.second(), c.taint)
}

func foldJoinChars(_ *machine, c invocation) value { return charsOf(c.receiver().list, c.taint) }

func foldCharAt(_ *machine, c invocation) value {
	if first := c.first(); first.kind == numberValue {
		return at(c.receiver(), first.n)
	}
	return c.unknown()
}

// foldPack is pack("H*", hex) and unpack("u", text).
func foldPack(_ *machine, c invocation) value { return pack(values(c.args), c.taint) }

// foldUnpack is text.unpack("H*").
func foldUnpack(_ *machine, c invocation) value {
	return list([]value{foldUnpackOne(nil, c)}, c.taint)
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
