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

// resolves looks at what DNS over HTTPS is asked for, on any host: the question goes on to whoever serves the name,
// so a name is checked as that of a host, and what is not a plain name may be data.
func (i *Info) resolves() {
	if i.Query == "" || !strings.HasSuffix(i.Path, "/dns-query") && (i.Host != "dns.google" || i.Path != "/resolve") {
		return
	}
	name, plain := askedName(i.Query)
	if !plain {
		i.Flags |= Drop
		return
	}
	i.labels(name)
}

// askedName returns the name that the query of a request of DNS over HTTPS asks for, if it is a plain name and
// nothing else in the query can hold data.
func askedName(query string) (name string, plain bool) {
	if strings.Count(query, "&") > 3 {
		return "", false
	}
	for part := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(part, "=")
		switch {
		case len(value) <= 6 && (key == "type" || key == "cd" || key == "do"):
		case key != "name" || name != "":
			return "", false
		default:
			name = strings.TrimSuffix(value, ".")
		}
	}
	return name, name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '.' && r != '-' && r != '_' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	})
}

// isContentAddress reports whether a name is the hash of a content or of a key, as ipfs: and ipns: have in the place
// of a host.
func isContentAddress(h string) bool {
	var begin, letters string
	switch len(h) {
	case 46:
		begin, letters = "Qm", "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	case 59:
		begin, letters = "baf", "abcdefghijklmnopqrstuvwxyz234567"
	case 62:
		begin, letters = "k51q", "abcdefghijklmnopqrstuvwxyz0123456789"
	default:
		return false
	}
	return strings.HasPrefix(h, begin) && strings.Trim(h, letters) == ""
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
