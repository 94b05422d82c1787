package code

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"approver.example/reflexcore/code/lex"
	"approver.example/reflexcore/decode"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// decoders are the decoders of encodings, whose names are written without - and _.
var decoders = wordset.Index(`
base64: base64 base64codec base64url
hex: hex hexcodec
rot13: rot13 rot
zlib: zlib zip zlibcodec
bzip2: bz2 bz2codec
uu: uu uucodec
quoted: quopri quotedprintable
escape: unicodeescape
utf16le: utf16le utf16
`, func(name string) string { return name })

// decoderOf returns the decoder for an encoding, or "".
func decoderOf(name string) string {
	return decoders[strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))]
}

// charsOf returns the text of characters given as numbers or texts.
func charsOf(vs []value, taint effect.Taint) value {
	var b strings.Builder
	numbers := 0
	for _, v := range vs {
		switch {
		case v.kind == numberValue && v.n > 0 && v.n <= utf8.MaxRune:
			b.WriteRune(rune(v.n))
			numbers++
		case v.kind == textValue && v.known():
			b.WriteString(v.s)
		default:
			return unknown(taint)
		}
	}
	if numbers > 3 { // fewer may be a quote or a line end
		taint |= effect.Decoded
	}
	return text(b.String(), taint)
}

func parseNumber(v, base value, taint effect.Taint) value {
	if v.kind == numberValue {
		return v
	}
	radix := 10
	if base.kind == numberValue && base.n >= 2 && base.n <= 36 {
		radix = int(base.n)
	}
	if !v.known() {
		return unknown(taint)
	}
	s := v.str()
	if radix == 16 {
		s = strings.TrimPrefix(s, "0x")
	}
	n, err := strconv.ParseInt(s, radix, 64)
	if err != nil {
		return unknown(taint)
	}
	return value{kind: numberValue, n: n, taint: taint}
}

func split(v, sep value, taint effect.Taint) value {
	if !v.known() || sep.kind == objectValue {
		return unknown(taint)
	}
	var parts []string
	switch {
	case sep.kind == unknownValue:
		parts = strings.Fields(v.str())
	case !sep.known():
		return unknown(taint)
	default:
		parts = strings.SplitN(v.str(), sep.str(), maxList)
	}
	return list(textValues(parts, taint), taint)
}

// sprintf expands %s and %d. Other verbs give an unknown part.
func sprintf(format value, args []value) value {
	t := format.taint | taints(args)
	if !format.known() {
		return unknown(t)
	}
	var b strings.Builder
	s, n := format.str(), 0
	for i := 0; i < len(s); i++ {
		if s[i] != '%' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if s[i] == '%' {
			b.WriteByte('%')
			continue
		}
		plain := true
		if s[i] == '(' { // Python's %(name)s
			for i < len(s) && s[i] != ')' {
				i++
			}
			i++
			plain = false
		}
		for i < len(s) && !lex.IsLetter(s[i]) {
			plain = false
			i++
		}
		v := unknown(0)
		if n < len(args) {
			v = args[n]
		}
		n++
		verb := lex.ByteAt(s, i)
		switch {
		case plain && verb == 's', plain && (verb == 'd' || verb == 'i') && v.kind == numberValue:
			b.WriteString(v.str())
		case plain && verb == 'c' && v.kind == numberValue && v.n > 0 && v.n <= utf8.MaxRune:
			b.WriteRune(rune(v.n))
		default:
			b.WriteString(effect.Unknown)
		}
		if b.Len() > maxText {
			return unknown(t)
		}
	}
	return text(b.String(), t)
}

// formatBraces expands "{} {0} {name}".
func formatBraces(format value, args []arg) value {
	t := format.taint | argTaint(args)
	if !format.known() {
		return unknown(t)
	}
	var b strings.Builder
	s, n, vs := format.str(), 0, values(args)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c == '{' || c == '}') && lex.ByteAt(s, i+1) == c {
			b.WriteByte(c)
			i++
			continue
		}
		if c != '{' {
			b.WriteByte(c)
			continue
		}
		end := strings.IndexByte(s[i:], '}')
		if end < 0 {
			break
		}
		field := s[i+1 : i+end]
		i += end
		v := unknown(0)
		index, err := strconv.Atoi(field)
		switch {
		case field == "" && n < len(vs):
			v = vs[n]
			n++
		case err == nil && index >= 0 && index < len(vs):
			v = vs[index]
		case field != "":
			for _, a := range args {
				if a.name == field {
					v = a.value
				}
			}
		}
		b.WriteString(v.str())
		if b.Len() > maxText {
			return unknown(t)
		}
	}
	return text(b.String(), t)
}

// applyDecoder runs a decoder on a value. Bytes that cannot be part of a text are kept in an unknown
// value, for the next decoder.
func applyDecoder(name string, v value) value {
	t := v.taint | effect.Decoded
	in := v.s
	if v.kind != unknownValue {
		in = v.str()
	}
	if in == "" || v.kind != unknownValue && !v.known() {
		return unknown(t)
	}
	out, ok := decode.Apply(name, in, maxText)
	switch {
	case !ok:
		return unknown(t)
	case strings.IndexByte(out, 0) >= 0:
		return value{s: out, taint: t}
	}
	return text(out, t)
}

func repeat(left, right value) value {
	if right.kind == textValue {
		left, right = right, left
	}
	if right.kind != numberValue || right.n < 0 {
		return unknown(left.taint | right.taint)
	}
	switch {
	case left.kind == textValue && int64(len(left.s))*right.n <= maxText && right.n <= maxText:
		return text(strings.Repeat(left.s, int(right.n)), left.taint)
	case left.kind == numberValue && left.n < 1<<31 && right.n < 1<<31 && left.n > -1<<31:
		return value{kind: numberValue, n: left.n * right.n, taint: left.taint | right.taint}
	}
	return unknown(left.taint | right.taint)
}

func joinPath(parts []value) string {
	out := ""
	for _, p := range parts {
		s := p.str()
		switch {
		case strings.HasPrefix(s, "/") || out == "":
			out = s
		case strings.HasSuffix(out, "/"):
			out += s
		default:
			out += "/" + s
		}
	}
	return out
}

// singleQuoted quotes a word for a shell, unless parts of it are not known.
func singleQuoted(word string) string {
	if !effect.IsKnown(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// lastName returns the name after the last dot of a path.
func lastName(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

func psPrefix(name, full string, least int) bool {
	return len(name) >= least && strings.HasPrefix(full, name)
}
