package display

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"approver.example/display/shape"
)

// A Replacement is a part of a text, in bytes, and the text that replaces it.
type Replacement struct {
	Start, End int
	By         string
}

// Secrets finds what looks like a secret in a text that is only read, such as the output of a
// program. The replacements are in the order of the text and do not overlap. The forms are those
// of [Mask], but without its caution: nothing here runs, so no value has to stay visible.
func Secrets(s string) []Replacement {
	lower := lowerASCII(s)
	var found []Replacement
	if bytes.Contains(lower, []byte("private key")) {
		for _, at := range outputKey().FindAllStringSubmatchIndex(s, -1) {
			found = append(found, Replacement{at[2], at[3], hiddenNote(s[at[2]:at[3]], false)})
		}
	}
	for i := range forms() {
		found = forms()[i].find(found, s, lower)
	}
	return Apart(found)
}

// outputKey matches a private key, even without its last line. Its group is the lines of the key.
// A line break may also be written as \n.
var outputKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:\\r|\\n` +
		`|\s)*(?:[A-Za-z-]+: [^\n\\]*(?:\\r|\\n|\s)+)*` +
		`((?:[A-Za-z0-9+/=]{16,}(?:\\r|\\n|\s)*)+(?:[A-Za-z0-9+/=]+)?)`)
})

// maxBeyond is how many bytes a match of several lines may reach beyond its first line.
const maxBeyond = 1 << 10

// find appends the matches of the form. It searches only the lines with a hint, because almost
// every form is on one line.
func (f *form) find(found []Replacement, s string, lower []byte) []Replacement {
	for _, hint := range f.hints {
		for from := 0; from < len(s); {
			n := bytes.Index(lower[from:], []byte(hint))
			if n < 0 {
				break
			}
			if f.follows != nil && !f.follows(lower[from+n+len(hint):]) {
				from += n + len(hint)
				continue
			}
			begin, end := bytes.LastIndexByte(lower[:from+n], '\n')+1, len(s)
			if line := bytes.IndexByte(lower[from+n:], '\n'); line >= 0 {
				end = from + n + line
			}
			from = end
			if f.beyond {
				end = min(len(s), end+maxBeyond)
			}
			found = f.inLine(found, s, begin, end)
		}
	}
	return found
}

// inLine appends the matches of the form from begin to end, which is usually one line.
func (f *form) inLine(found []Replacement, s string, begin, end int) []Replacement {
	if f.run > 0 && longestRun(s[begin:end]) < f.run {
		return found
	}
	for _, at := range f.pattern().FindAllStringSubmatchIndex(s[begin:end], -1) {
		start, stop := begin+at[3], begin+at[1]
		if len(at) > 4 {
			start, stop = begin+at[4], begin+at[5]
		}
		name := strings.Trim(s[begin+at[2]:start], " \t\"'=:\\-")
		if secret := s[start:stop]; !f.harmless(name, secret) {
			found = append(found, Replacement{start, stop, hiddenNote(secret, f.silent)})
		}
	}
	return found
}

// harmless reports whether a value is not a secret although it is in the place of one.
func (f *form) harmless(name, secret string) bool {
	switch {
	case f.silent:
		return !isCode(secret) || !strings.ContainsAny(secret, "0123456789") && strings.ToUpper(secret) != secret
	case f.is != nil && !f.is(name, secret):
		return true
	}
	return f.role == inHeader && shape.IsWordy(secret) || placeholders[strings.ToLower(secret)] ||
		len(strings.Trim(secret, "xX*.-_")) == 0
}

// placeholders are words that documents use in place of a password.
var placeholders = shape.SetOf("pass passwd password pwd pw secret token changeme example user username " +
	"postgres mysql root guest test foo bar your_password your-password yourpassword mypassword my-password " +
	"my_password apikey api_key key")

// lowerASCII returns the text with ASCII letters in lowercase. Its length does not change.
func lowerASCII(s string) []byte {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return b
}

// fewUnseen is the greatest number of invisible characters in a row that are named one by one.
const fewUnseen = 3

// Unseen finds the characters of a text that a person does not see but a model reads: control
// characters, characters that change the direction or draw nothing, tags, and invalid bytes. It
// is for the outputs of programs, so it leaves characters that are normal there and that
// [Visible] would mark: escape sequences, box-drawing lines, look-alikes, and joiners between
// the letters or emoji that they join.
func Unseen(s string) []Replacement {
	var found []Replacement
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c < 0x7f || c == '\n' || c == '\t' || c == '\r' || c == 0x1b || c == '\b' || c == '\f' ||
			c == 7 {
			i++
			continue
		}
		n, count := unseenRun(s, i)
		if count == 0 {
			_, size := utf8.DecodeRuneInString(s[i:])
			i += size
			continue
		}
		by := fmt.Sprintf("⟨%d characters that are not seen⟩", count)
		if count <= fewUnseen {
			by = codePoints(s[i : i+n])
		}
		found = append(found, Replacement{i, i + n, by})
		i += n
	}
	return found
}

// unseenRun returns the length of the run of invisible characters at i, in bytes and characters.
func unseenRun(s string, i int) (n, count int) {
	if flag := flagAt(s, i); flag > 0 {
		return 0, 0
	}
	for i+n < len(s) {
		r, size := utf8.DecodeRuneInString(s[i+n:])
		if !unseen(s, i+n, r, size) {
			break
		}
		n += size
		count++
	}
	return n, count
}

// unseen reports whether the character at i is invisible. A joiner or selector in a normal place,
// see joins, does not count.
func unseen(s string, i int, r rune, size int) bool {
	switch {
	case r == utf8.RuneError:
		return size == 1
	case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
		return r != '\n' && r != '\t' && r != '\r' && r != 0x1b && r != '\b' && r != '\f' && r != 7
	case r == 0x200c || r == 0x200d, r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef:
		return !joins(s, i, r, size)
	case r == 0xfeff:
		return i > 0 // at the start it is a byte order mark
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x206f, r == 0x200b, r >= 0x2060 && r <= 0x2065, r == 0xad,
		r == 0x180e:
		return true
	case r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 || r == 0x034f || r == 0x17b4 || r == 0x17b5,
		r >= 0xfff9 && r <= 0xfffb:
		return true
	}
	return r >= 0xe0000 && r <= 0xe0fff
}

// joins reports whether the joiner or selector at i is in a normal place, such as between letters
// or after an emoji.
func joins(s string, i int, r rune, size int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+size:])
	written := func(r rune) bool {
		return r >= 0x300 && r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsSymbol(r)) &&
			!unicode.Is(unicode.Variation_Selector, r)
	}
	switch {
	case r >= 0xe0100:
		return unicode.Is(unicode.Han, before)
	case r >= 0xfe00:
		return written(before) || before >= 0x2000 && before < 0x3300 && unicode.IsPunct(before) || before == 0xa9 ||
			before == 0xae ||
			after == 0x20e3 && (before >= '0' && before <= '9' || before == '#' || before == '*')
	}
	return (written(before) || before == 0xfe0f) && written(after)
}

// flagAt returns the length in bytes of the tags around i that form a flag emoji: at most seven
// tags after U+1F3F4. It returns 0 if there is no such flag.
func flagAt(s string, i int) int {
	const black, last, most = "\U0001F3F4", "\U000E007F", 7
	start := strings.LastIndex(s[max(0, i-len(black)-4*most):i], black)
	if start < 0 {
		return 0
	}
	start += max(0, i-len(black)-4*most) + len(black)
	n := 0
	for at := start; at < len(s) && n < most; n++ {
		r, size := utf8.DecodeRuneInString(s[at:])
		if r < 0xe0020 || r > 0xe007f {
			return 0
		}
		at += size
		if r == 0xe007f {
			if i < at {
				return at - start
			}
			return 0
		}
	}
	return 0
}

// codePoints writes each character of a text as its code point, such as ⟨U+202E⟩.
func codePoints(s string) string {
	var b strings.Builder
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			fmt.Fprintf(&b, "⟨\\x%02X⟩", s[i])
			continue
		}
		fmt.Fprintf(&b, "⟨U+%04X⟩", r)
	}
	return b.String()
}

// Apart sorts replacements by their places and merges those that overlap: the first one is
// extended to the end of the others, which are left out.
func Apart(all []Replacement) []Replacement {
	if len(all) < 2 {
		return all
	}
	slices.SortStableFunc(all, func(a, b Replacement) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	out := all[:1]
	for _, r := range all[1:] {
		last := &out[len(out)-1]
		if r.Start >= last.End {
			out = append(out, r)
			continue
		}
		last.End = max(last.End, r.End)
	}
	return out
}
