package classifier

import (
	"unicode"
	"unicode/utf8"
)

// The kinds of characters.
const (
	space     = iota // a gap that says nothing
	line             // the end of a line
	letter           // part of a word
	digit            // part of a word or of a number
	stop             // the end of a sentence, if a gap follows
	light            // a comma, a quotation mark, a parenthesis: part of prose as of code
	hyphen           // joins words of prose
	sign             // anything else, of code and of markup
	invisible        // draws nothing, so it does not part a word either
	glyph            // a character that is a word, as in Chinese
)

// ascii has the kind of each byte of ASCII.
var ascii = func() (t [utf8.RuneSelf]uint8) {
	for c := range t {
		switch c := byte(c); {
		case c == '\n' || c == '\r' || c == '\v' || c == '\f':
			t[c] = line
		case c == '\t' || c == ' ':
			t[c] = space
		case c < ' ' || c == 0x7f || c == '\'' || c == '`': // an apostrophe is dropped: don't is one word
			t[c] = invisible
		case c >= '0' && c <= '9':
			t[c] = digit
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			t[c] = letter
		case c == '.' || c == '!' || c == '?' || c == ':' || c == ';':
			t[c] = stop
		case c == ',' || c == '"' || c == '(' || c == ')' || c == '*':
			t[c] = light
		case c == '-':
			t[c] = hyphen
		default:
			t[c] = sign
		}
	}
	return t
}()

// alike has letters of Latin, Greek and Cyrillic that look like an ASCII letter, with or
// without a mark on it. All letters of a row become its first one.
var alike = [...]string{
	"aàáâãäåāăąǎǟǡǻȁȃȧɑαаӑӓАΑάæǽӕªÀÁÂÃÄÅĀĂĄǍǞǠǺȀȂȦÆ", "bƀɓБьЬВβΒвʙƁß",
	"cçćĉċčƈсСϲҫЄєÇĆĈĊČƇᴄ", "dďđɖɗԁðÐĎĐƉƊᴅ", "eèéêëēĕėęěȅȇȩеЕёЁεΕЀѐҽэЭÈÉÊËĒĔĖĘĚȄȆȨᴇəɛ",
	"fƒғҒƑꜰ", "gĝğġģǥǧǵɡɢĜĞĠĢǤǦǴԍ", "hĥħһҺНнΗηȟʜĤĦȞ", "iìíîïĩīĭįıǐȉȋіІїЇιΙίΐɪÌÍÎÏĨĪĬĮİǏȈȊӏӀɩ",
	"jĵǰјЈϳɉᴊĴ", "kķĸǩкКκΚᴋҚқĶǨƘƙ", "lĺļľŀłƚʟĹĻĽĿŁ", "mмМΜᴍ", "nñńņňŉŋǹпПΝνⁿɴÑŃŅŇǸ",
	"oòóôõöøōŏőơǒǫǭǿȍȏȫȭȯоОοΟσωΩόӧöÒÓÔÕÖØŌŎŐƠǑǪǬǾȌȎȪȬȮºᴏөѳ", "pρΡрРƥᴘ", "qԛɋ", "rŕŗřȑȓгГʀŔŖŘȐȒ",
	"sśŝşšșѕЅſꜱŚŜŞŠȘ", "tţťŧțтТτΤᴛŢŤŦȚ", "uùúûüũūŭůűųưǔǖǘǚǜȕȗυцᴜÙÚÛÜŨŪŬŮŰŲƯǓǕǗǙǛȔȖμµ", "vѵѴʋᴠ",
	"wŵԝѡшШᴡŴ", "xхХχΧ", "yýÿŷȳуУүҮγΥʏÝŶŸȲ", "zźżžƶΖʐᴢŹŻŽƵ",
	// Letterlike symbols of mathematics.
	"a\u212b", "b\u212c", "c\u2102\u212d", "d\u2145\u2146", "e\u212f\u2130\u2147", "f\u2131", "g\u210a",
	"h\u210b\u210c\u210d\u210e", "i\u2110\u2111\u2139\u2148\U0001d6a4", "j\u2149\U0001d6a5", "k\u212a",
	"l\u2112\u2113", "m\u2133", "n\u2115", "o\u2134", "p\u2119", "q\u211a", "r\u211b\u211c\u211d", "z\u2124\u2128",
}

// lower maps the first characters of Unicode to the byte of ASCII in alike, or 0.
var lower = func() (t [0x530]byte) {
	for _, row := range alike {
		for _, r := range row[1:] {
			if int(r) < len(t) {
				t[r] = row[0]
			}
		}
	}
	return t
}()

// small maps the characters in alike that are beyond lower, such as small capitals.
var small = func() map[rune]byte {
	m := map[rune]byte{}
	for _, row := range alike {
		for _, r := range row[1:] {
			if int(r) >= len(lower) {
				m[r] = row[0]
			}
		}
	}
	return m
}()

// tagged reports whether r is a tag character, which is invisible but spells ASCII.
func tagged(r rune) bool { return r >= 0xe0020 && r <= 0xe007e }

// fold returns the lower-case character that r looks like, and its kind.
func fold(r rune) (rune, uint8) {
	if r < utf8.RuneSelf {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r, ascii[r]
	}
	if int(r) < len(lower) && lower[r] != 0 {
		return rune(lower[r]), letter
	}
	if c := plain(r); c != 0 {
		return fold(c)
	}
	switch {
	case r < 0xa0 && r != 0x85:
		return r, invisible
	case r == 0x85, r == 0x2028, r == 0x2029:
		return '\n', line
	case r >= 0x2010 && r <= 0x2015, r == 0x2212, r == 0x2043:
		return '-', hyphen
	case r == 0x2018, r == 0x2019, r == 0x02bc, r == 0x2032, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0,
		r == 0x2065:
		return r, invisible
	case r >= 0x3040 && r < 0x3100, r >= 0x3400 && r < 0xa000, r >= 0xac00 && r < 0xd7a4, r >= 0x0e00 && r < 0x0e80,
		r >= 0x20000 && r < 0x32000:
		if !unicode.IsLetter(r) {
			return r, invisible
		}
		return r, glyph
	case r == 0x2800, unicode.IsSpace(r):
		return ' ', space
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf), r >= 0xe0000 && r <= 0xe0fff:
		return r, invisible
	case unicode.IsLetter(r):
		return unicode.ToLower(r), letter
	case unicode.IsDigit(r):
		return '0', digit
	case r == 0x3002, r == 0xff61, r == 0x2026:
		return '.', stop
	case unicode.In(r, unicode.Pi, unicode.Pf), r == 0x3001, r == 0x00b7, r == 0x2022:
		return ',', light
	}
	return r, sign
}

// plain returns the character of ASCII that one of Unicode's styled alphabets
// stands for, or 0: full width, mathematical, in circles, in squares, small capitals.
func plain(r rune) rune {
	for _, a := range styled {
		if r >= a.first && r <= a.last {
			n := r - a.first
			if a.every > 0 {
				n %= a.every
			}
			if a.every == 52 && n >= 26 {
				return 'a' + n - 26
			}
			return a.to + n
		}
	}
	return rune(small[r])
}

// styled are the alphabets that come in order. Those of 52 have both cases.
var styled = [...]struct{ first, last, to, every rune }{
	{0xff01, 0xff5e, '!', 0},
	{0x1d400, 0x1d6a3, 'A', 52},
	{0x1d7ce, 0x1d7ff, '0', 10},
	{0x249c, 0x24b5, 'a', 0},
	{0x24b6, 0x24e9, 'A', 52},
	{0x1f110, 0x1f129, 'a', 0},
	{0x1f130, 0x1f149, 'a', 0},
	{0x1f150, 0x1f169, 'a', 0},
	{0x1f170, 0x1f189, 'a', 0},
	{0x1f1e6, 0x1f1ff, 'a', 0},
}
