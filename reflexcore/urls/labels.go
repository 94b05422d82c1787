package urls

import (
	"strings"
	"unicode/utf8"
)

// labels checks the labels of a name: their length and their letters.
func (i *Info) labels(h string) {
	long := 0
	for label := range strings.SplitSeq(h, ".") {
		switch {
		case label == "":
			i.Flags |= Malformed
		case len(label) > 63:
			i.Flags |= Malformed | LongLabel
		case len(label) >= 50:
			i.Flags |= LongLabel
		case len(label) >= 28 && looksEncoded(label):
			long++
		}
		if strings.HasPrefix(label, "xn--") || !ascii(label) {
			i.script(label)
		}
	}
	if long > 1 || long == 1 && len(h) > 100 || len(h) > 140 {
		i.Flags |= LongLabel
	}
}

// script checks the letters of a label that has others than ASCII.
func (i *Info) script(label string) {
	var buf [64]rune
	runes, ok := buf[:0], true
	if rest, puny := strings.CutPrefix(label, "xn--"); puny {
		runes, ok = punycode(rest, runes)
	} else {
		for _, r := range label {
			if len(runes) < cap(runes) {
				runes = append(runes, r)
			}
		}
	}
	switch {
	case !ok:
		i.Flags |= Malformed
	case isConfusing(runes):
		i.Flags |= Lookalike
	}
}

// looksEncoded reports whether a label looks encoded: mixed letters and digits, no hyphens.
func looksEncoded(s string) bool {
	n := 0
	for j := 0; j < len(s); j++ {
		if s[j] == '-' {
			return false
		}
		if s[j] >= '0' && s[j] <= '9' {
			n++
		}
	}
	return n >= 3
}

func ascii(s string) bool {
	for j := range len(s) {
		if s[j] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// lookalikes are letters of other alphabets that look like Latin ones.
const lookalikes = "аеорсухѕіјһԁԛԝѵӏьҽгпαοριντυκχγεηωϲϳօսոցհզյքɡɑıǀӀ"

// isConfusing reports whether a label mixes Latin with other alphabets, or consists of letters that
// all look Latin.
func isConfusing(label []rune) bool {
	latin, twin, other := 0, 0, 0
	for _, r := range label {
		switch {
		case r < utf8.RuneSelf:
			if r >= 'a' && r <= 'z' {
				latin++
			}
		case strings.ContainsRune(lookalikes, r):
			twin++
		case r >= 0x370 && r <= 0x58f || r >= 0x13a0 && r <= 0x13ff: // Greek, Cyrillic, Armenian, Cherokee
			other++
		}
	}
	return latin > 0 && twin+other > 0 || twin > 0 && other == 0
}

// punycode decodes a label (RFC 3492), up to the capacity of out.
func punycode(s string, out []rune) ([]rune, bool) {
	if len(s) > 59 {
		return nil, false
	}
	if d := strings.LastIndexByte(s, '-'); d >= 0 {
		for _, r := range s[:d] {
			out = append(out, r)
		}
		s = s[d+1:]
	}
	n, at, bias, first := 128, 0, 72, true
	for s != "" {
		old, w := at, 1
		for k := 36; ; k += 36 {
			if s == "" {
				return nil, false
			}
			c := s[0] | 0x20
			s = s[1:]
			digit := int(c - 'a')
			if c >= '0' && c <= '9' {
				digit = int(c-'0') + 26
			} else if c < 'a' || c > 'z' {
				return nil, false
			}
			if at += digit * w; at > 1<<26 {
				return nil, false
			}
			t := min(max(k-bias, 1), 26)
			if digit < t {
				break
			}
			if w *= 36 - t; w > 1<<26 {
				return nil, false
			}
		}
		size := len(out) + 1
		delta := (at - old) / 2
		if first {
			delta, first = (at-old)/700, false
		}
		delta += delta / size
		k := 0
		for ; delta > 455; k += 36 {
			delta /= 35
		}
		bias = k + 36*delta/(delta+38)
		n += at / size
		at %= size
		if n > utf8.MaxRune || size > cap(out) {
			return nil, false
		}
		out = append(out, 0)
		copy(out[at+1:], out[at:])
		out[at] = rune(n)
		at++
	}
	return out, true
}
