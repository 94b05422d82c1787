package tripwire

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"approver.example/internal/match"
)

// Characters appends parts for characters that are invisible or change how a text is displayed.
// command says that the text is a command line, not the content of a file.
func Characters(parts []Part, text string, command bool) []Part {
	i := firstOdd(text)
	if i < 0 {
		return parts
	}
	s := scan{parts: parts, text: text, command: command}
	s.prev, _ = utf8.DecodeLastRuneInString(text[:i])
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r >= utf8.RuneSelf || r < ' ' || r == 0x7f {
			s.look(r, i, n)
		} else {
			s.silent, s.selectors = 0, 0
			s.flag = false
		}
		s.prev = r
		i += n
	}
	return s.parts
}

// firstOdd returns the index of the first byte that is neither printable ASCII nor a tab or line
// end; -1 if there is none.
func firstOdd(text string) int {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return i
		}
	}
	return -1
}

// A scan goes through the characters of a text.
type scan struct {
	parts             []Part
	text              string
	command           bool
	prev              rune
	silent, selectors int  // in a row
	flag              bool // in the sequence of an emoji that is a flag
}

// maxSilent is the number of consecutive zero-width characters from which they can carry a message.
const maxSilent = 8

func (s *scan) look(r rune, i, n int) {
	if !zeroWidth(r) && !selector(r) && !tag(r) {
		s.silent, s.selectors = 0, 0
		s.flag = r == 0x1f3f4
	}
	switch {
	case r == '\n', r == '\t', r == utf8.RuneError && n == 1:
	case r == '\r':
		if s.command && i+1 < len(s.text) && s.text[i+1] != '\n' && s.prev != '\n' && i > 0 {
			s.add("control", "a lone carriage return hides what stands before it on the line")
		}
	case r == 0x1b, r == 0x9b:
		if s.command {
			s.add("terminal-escape", "the command has an escape sequence of terminals in it, which can hide a part of it")
		}
	case r < ' ', r == 0x7f, r >= 0x80 && r < 0xa0:
		if s.command {
			s.add("control", fmt.Sprintf("the command has the control character U+%04X in it", r))
		}
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		s.bidi(r, i)
	case r == 0x200e || r == 0x200f || r == 0x61c:
		if next, _ := utf8.DecodeRuneInString(s.text[i+n:]); s.command && (asciiWord(s.prev) || asciiWord(next)) {
			s.bidi(r, i)
		}
	case zeroWidth(r):
		s.zero(r, i, n)
	case tag(r):
		if !s.flag {
			s.add("tag-characters", "there is text in characters that nobody sees (tags)")
		}
	case selector(r):
		if s.selectors++; s.selectors > 2 {
			s.add("selectors", "there are variation selectors in a row, which nobody sees and which can carry text")
		}
	}
}

func (s *scan) add(name, what string) {
	s.parts = add(s.parts, name, 1, what)
}

// bidi judges a character that reverses the text direction. In a line with right-to-left letters it
// has an honest use, except for the overrides.
func (s *scan) bidi(r rune, i int) {
	if r <= 0x200f || r == 0x202a || r == 0x202b || r == 0x202c || r >= 0x2066 {
		start := strings.LastIndexByte(s.text[max(0, i-512):i], '\n') + 1 + max(0, i-512)
		end := min(len(s.text), i+512)
		if j := strings.IndexByte(s.text[i:end], '\n'); j >= 0 {
			end = i + j
		}
		switch {
		case strings.ContainsFunc(s.text[start:end], rightToLeft):
			return
		case !s.command && r >= 0x2068 || r == 0x202c: // what translations put around names
			return
		}
	}
	s.add("bidi", fmt.Sprintf("the character U+%04X shows the text in another order than it has", r))
}

// zero judges a zero-width character.
func (s *scan) zero(r rune, i, n int) {
	if s.silent++; s.silent >= maxSilent {
		s.add("zero-width", "there are many characters without width in a row, which can carry text")
		return
	}
	if r == 0xfeff && i == 0 || r == 0xad && !s.command {
		return
	}
	next, _ := utf8.DecodeRuneInString(s.text[i+n:])
	if asciiWord(s.prev) && asciiWord(next) {
		s.add("zero-width", fmt.Sprintf("there is a character without width, U+%04X, inside a word", r))
	}
}

func zeroWidth(r rune) bool {
	return r >= 0x200b && r <= 0x200d || r >= 0x2060 && r <= 0x2064 || r == 0xfeff || r == 0xad || r == 0x180e ||
		r == 0x3164 || r == 0x115f || r == 0x1160 || r == 0xffa0
}

func tag(r rune) bool { return r >= 0xe0000 && r <= 0xe007f }

func selector(r rune) bool { return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef }

func rightToLeft(r rune) bool {
	return r >= 0x590 && r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfefc ||
		r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff
}

func asciiWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// isLookalike reports whether a non-ASCII letter looks like an ASCII one: a letter of another
// script, or a Latin variant that no language uses.
func isLookalike(r rune) bool {
	if r < 0x250 || r >= 0x1e00 && r < 0x1f00 || !unicode.IsLetter(r) {
		return false
	}
	var buf [16]byte
	to := match.Fold(buf[:0], string(r))
	return len(to) == 1 && to[0] < utf8.RuneSelf
}

// program judges the name of a program.
func program(parts []Part, name string) []Part {
	if firstOdd(name) < 0 {
		return parts
	}
	base := name[strings.LastIndexByte(name, '/')+1:]
	alikes, other := 0, false
	for _, r := range base {
		switch {
		case isLookalike(r):
			alikes++
		case unicode.IsSpace(r) && r >= utf8.RuneSelf:
			parts = add(parts, "space", 1,
				fmt.Sprintf("in the name of a command there is the space U+%04X, which separates nothing", r))
		case r >= utf8.RuneSelf && unicode.IsLetter(r):
			other = true
		}
	}
	if alikes > 0 && !other {
		return add(parts, "look-alike", 1,
			fmt.Sprintf("the program only looks like %q: some of its letters are others", match.Fold(nil, base)))
	}
	return mixed(parts, name)
}

// place judges a path or a host.
func place(parts []Part, name string) []Part {
	if firstOdd(name) < 0 {
		return parts
	}
	for i, r := range name {
		if r >= utf8.RuneSelf && unicode.IsSpace(r) && r != 0x3000 && i > 0 && i < len(name) && name[i-1] > ' ' &&
			name[i-1] < 0x7f {
			parts = add(parts, "space", 0.9, fmt.Sprintf("in a path or a host there is the unusual space U+%04X", r))
		}
	}
	return mixed(parts, name)
}

// mixed finds runs of letters that mix ASCII with look-alikes.
func mixed(parts []Part, name string) []Part {
	ascii, alikes, other := 0, 0, 0
	done := func() {
		if alikes > 0 && ascii > 0 && other == 0 && ascii+alikes > 2 {
			parts = add(parts, "mixed-script", 1,
				fmt.Sprintf("letters of another script stand among Latin ones and look like them: it is not %q",
					match.Fold(nil, name)))
		}
		ascii, alikes, other = 0, 0, 0
	}
	for _, r := range name {
		switch {
		case r < utf8.RuneSelf && asciiWord(r) && r > '9':
			ascii++
		case r < utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsMark(r):
			done()
		case isLookalike(r):
			alikes++
		case !unicode.Is(unicode.Latin, r):
			other++
		}
	}
	done()
	return parts
}
