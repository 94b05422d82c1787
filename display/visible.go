package display

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible makes a text safe to judge by eye. Every character that a reader cannot see, or would
// mistake for another, is replaced by a mark such as ⟨U+202E⟩, and an invalid byte by a mark such
// as ⟨\xFF⟩. Newline and tab stay. The brackets of marks are marked too, so that a text cannot
// imitate a mark. The notes that Mask writes in place of secrets stay: Mask runs first, and breaks
// up imitations.
func Visible(s string) string {
	if plainASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 32)
	for line := range strings.SplitAfterSeq(s, "\n") {
		visibleLine(&b, line, isMixed(line, asItIs), asItIs)
	}
	return b.String()
}

func asItIs(s string) string { return s }

// isMixed reports whether a line has ASCII names.
func isMixed(line string, read func(string) string) bool {
	return strings.ContainsFunc(read(line), asciiName)
}

// visibleLine writes one line of text, or a text to be shown on one line. read returns the text
// that a part of it represents.
func visibleLine(b *strings.Builder, line string, mixed bool, read func(string) string) {
	if strings.Contains(line, " characters hidden") {
		done := 0
		for _, at := range maskedPattern().FindAllStringIndex(line, -1) {
			visibleWords(b, read(line[done:at[0]]), mixed)
			b.WriteString(line[at[0]:at[1]])
			done = at[1]
		}
		line = line[done:]
	}
	visibleWords(b, read(line), mixed)
}

// visibleWords writes the words of a line. In a mixed line, which has ASCII names, right-to-left
// letters would change the visible order of arguments, so they are marked in every word.
func visibleWords(b *strings.Builder, s string, mixed bool) {
	eachCharacter(s, mixed, func(word string, i int, r rune, is kind) {
		switch is {
		case badByte:
			fmt.Fprintf(b, "⟨\\x%02X⟩", word[i])
		case plain:
			b.WriteRune(r)
		default:
			fmt.Fprintf(b, "⟨U+%04X⟩", r)
		}
	})
}

// eachCharacter calls yield for each character of a line, with its word and what it is there.
func eachCharacter(s string, mixed bool, yield func(word string, i int, r rune, is kind)) {
	for len(s) > 0 {
		n := wordLength(s)
		word := s[:n]
		disguised := looksASCII(word)
		for i, r := range word {
			is := plain
			switch {
			case r == utf8.RuneError && !strings.HasPrefix(word[i:], "\uFFFD"):
				is = badByte
			case isHidden(r):
				is = hiddenKind(r)
			case disguised && disguises(r) && !alone(word, r):
				is = foreign
				if lookAlike(r) {
					is = alike
				}
			case mixed && rightToLeft(r):
				is = fromRight
			}
			yield(word, i, r, is)
		}
		s = s[n:]
	}
}

// NoneHidden marks only the characters that are invisible, or that reverse or break the text
// around them. It is for lines that programs write about texts that were made visible before.
// Newline and tab stay.
func NoneHidden(s string) string {
	if plainASCII(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, "⟨\\x%02X⟩", s[i])
		case isHidden(r) && r != '⟨' && r != '⟩':
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func plainASCII(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// wordLength returns the length in bytes of the leading run of space or of non-space, at least 1.
func wordLength(s string) int {
	first, _ := utf8.DecodeRuneInString(s)
	for i, r := range s {
		if unicode.IsSpace(r) != unicode.IsSpace(first) {
			return i
		}
	}
	return len(s)
}

// asciiName reports whether a character can be in an ASCII name of a program, file or host.
func asciiName(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r == '/'
}

// looksASCII reports whether a word could pass for an ASCII one: it has an
// ASCII letter, digit or slash, or nothing but look-alikes and loose marks.
// Words in another script, with letters of its own, stay as they are.
func looksASCII(word string) bool {
	onlyAlike := true
	for _, r := range word {
		switch {
		case asciiName(r):
			return true
		case r >= utf8.RuneSelf && !alikeAlone(r) && !isHidden(r) && !unicode.IsMark(r):
			onlyAlike = false
		}
	}
	return onlyAlike
}

// isHidden reports whether a character is invisible or misleading in every context.
func isHidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f:
		return false
	case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
		return true
	case r == '⟨' || r == '⟩' || r == 0xfffc:
		return true
	case r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 || r == 0x2800 || r == 0x034f || r == 0x17b4 ||
		r == 0x17b5:
		return true // fillers that draw nothing
	case unicode.IsLetter(r):
		return false
	case unicode.IsSpace(r), unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Cf, unicode.Co, unicode.Cs):
		return true
	case unicode.Is(unicode.Variation_Selector, r), r >= 0xe0000 && r <= 0xe0fff:
		return true
	case !unicode.IsGraphic(r):
		return true
	case unicode.Is(unicode.Me, r), r >= 0x334 && r <= 0x338, r >= 0x20d0 && r <= 0x20ff:
		return true // strikes out or frames the character before it
	}
	return false
}

// disguises reports whether a character does not belong in a word that looks like ASCII: a
// look-alike of an ASCII character, a combining mark, or a letter or digit of another script.
// Letters of European languages are allowed, and so are those of languages that are written
// without spaces and look different from ASCII.
func disguises(r rune) bool {
	switch {
	case r < utf8.RuneSelf || ordinaryLatin(r):
		return false
	case lookAlike(r), unicode.IsMark(r):
		return true
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return strings.ContainsRune(strokes, r) || r >= 0x1100 && r <= 0x11ff || r >= 0x3130 && r <= 0x318f || r >= 0xff00
	case r > 0xff && unicode.IsPunct(r):
		return r != '、' && (r < '「' || r > '】') // CJK comma and quotation marks
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) && r > 0xff || r == '´'
}

// strokes are the Chinese and Japanese characters that can pass for ASCII.
const strokes = "一丨丶丿乀乙亅二十口囗工卜了入八〇〡〢〣〤〥〦〧〨〩〸ノニロエトハへヘレリくしー"

// ordinaryLatin reports whether r is a Latin letter of European languages or Vietnamese that is
// visibly different from ASCII letters.
func ordinaryLatin(r rune) bool {
	switch {
	case strings.ContainsRune("ıĲĳĸĿŀŉſ×÷", r):
		return false
	case r >= 0xc0 && r <= 0x17f, r == 'µ':
		return true
	case r >= 0x1cd && r <= 0x1dc, r >= 0x1e6 && r <= 0x1ed, r == 0x1f4, r == 0x1f5, r >= 0x1f8 && r <= 0x21b,
		r >= 0x226 && r <= 0x233:
		return true
	}
	return strings.ContainsRune("ƠơƯưẀẁẂẃẄẅẞ", r) || r >= 0x1ea0 && r <= 0x1ef9
}

// rightToLeft reports whether a character belongs to a script that runs from right to left.
func rightToLeft(r rune) bool {
	return r >= 0x590 && r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfefc ||
		r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff
}

// alikeByHand reports whether a character looks like an ASCII one, by tables that were made by hand.
// The other characters that do are in alikes.txt.
func alikeByHand(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return false
	case r >= 0xff01 && r <= 0xff5e, r >= 0x1d400 && r <= 0x1d7ff, r >= 0x2100 && r <= 0x214f:
		return true // full-width, mathematical, letter-like
	case r >= 0x2460 && r <= 0x24ff, r >= 0x1f100 && r <= 0x1f189:
		return true // in circles, brackets and squares
	case r >= 0xfe10 && r <= 0xfe19, r >= 0xfe50 && r <= 0xfe6b:
		return true // small and vertical forms
	case unicode.In(r, unicode.Cherokee, unicode.Lisu, unicode.Coptic, unicode.Deseret):
		return true // capitals that look like Latin ones
	case unicode.Is(unicode.Latin, r) && !ordinaryLatin(r), r >= 0x2b0 && r <= 0x2ff:
		return true // small capitals, phonetic letters, the long s
	case r >= 0x2160 && r <= 0x217f, r >= 0x2500 && r <= 0x257f: // Roman numerals, box-drawing lines
		return true
	}
	return strings.ContainsRune(alikes, r)
}

const alikes = "ѵѴѡаеорсухіјѕһԁԛԝьгпӏԍАЕОРСУХІЈЅВНКМТҮЗӀԌԜԚ" + // Cyrillic
	"ονρτυικαεηωγσΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲϳͺ" + // Greek
	"ոսցօհզԼՏՕՍ" + // Armenian
	"ıɑɡɩɪʀʟʏꓐꓑꓒꓓꓔꓖꓗꓙꓚꓜꓝꓠꓡꓢꓣꓤꓦꓧꓨꓩꓪꓫꓬꓮꓰꓱꓲꓳꓴ" + // Latin, Lisu
	"‐‑‒–—―−﹘﹣⁃∕⁄⧸╱⟋∖⧵⧹‚‘’‛′“”„‟″ʹʺˈ՚․‥…·∙⋅•∶：ː；，٫¦∣ǀ⎪‖꞉。｡〈〉‹›＜＞⩵꞊∗⁎✱٭～∼˜⌃ˆ＄＆＃＠？！ǃ" +
	"⋕♯⌗❛❜❝❞❘❙❚╲￨￩￪￫￬￭￮➖➕⁺⁻⁼⁽⁾₊₋₌₍₎"

// OneLine is Visible on one line: a line break becomes ⏎, and a tab a space.
func OneLine(s string) string { return oneLine(asItIs, s) }

// OneLineAgain is OneLine for a stored text that OneLine wrote. Its marks stay as they are, and
// are not treated as imitations. If somebody changed the stored text, the result is as safe as
// that of OneLine, except that its marks may be imitations.
func OneLineAgain(s string) string { return oneLine(unmarked, s) }

// oneLine puts parts on one line, separated by our own dot.
func oneLine(read func(string) string, parts ...string) string {
	if len(parts) == 1 && plainASCII(parts[0]) {
		return Flat(parts[0])
	}
	var b strings.Builder
	mixed := slices.ContainsFunc(parts, func(s string) bool { return isMixed(s, read) })
	for i, s := range parts {
		if i > 0 {
			b.WriteString(" · ")
		}
		visibleLine(&b, strings.ReplaceAll(s, "\r\n", "\n"), mixed, read)
	}
	return Flat(b.String()) // which has no carriage return
}

// unmarked replaces the marks of Visible by the original characters and bytes.
func unmarked(s string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "⟨")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		inner, after, closed := strings.Cut(rest, "⟩")
		hidden, ok := markedAs(inner)
		if !closed || !ok {
			b.WriteString("⟨")
			s = rest
			continue
		}
		b.WriteString(hidden)
		s = after
	}
}

// markedAs returns the text that a mark such as U+202E or \xFF represents, and whether it is a
// valid mark.
func markedAs(mark string) (string, bool) {
	if digits, ok := strings.CutPrefix(mark, "U+"); ok {
		n, err := strconv.ParseUint(digits, 16, 32)
		if r := rune(n); err == nil && utf8.ValidRune(r) && fmt.Sprintf("U+%04X", r) == mark {
			return string(r), true
		}
		return "", false
	}
	digits, ok := strings.CutPrefix(mark, `\x`)
	n, err := strconv.ParseUint(digits, 16, 8)
	return string([]byte{byte(n)}), ok && err == nil && n >= utf8.RuneSelf && fmt.Sprintf(`\x%02X`, n) == mark
}

// PushLength is the greatest length of a push line, in characters.
const PushLength = 120

// maxPlace is the greatest length of a place that stays whole in a push line that is cut.
const maxPlace = 40

// PushLine returns the line for a lock screen: the severity, what would happen, and where, if that
// is known. It has at most PushLength characters; if it has to leave something out, it cuts the
// title. It never contains a code. title and where are texts that were made safe already: their
// marks stay, and everything else in them is made safe again. The dots between the parts are ours.
// A dot inside a part is marked, like in every text that we did not write.
func PushLine(severity, title, where string) string {
	mark := "🔴"
	if severity == "HIGH" {
		mark = "🟠"
	}
	line := mark + " " + severity + " · " + Squeeze(OneLineAgain(title))
	place := ""
	if where != "" {
		place = " (" + Squeeze(OneLineAgain(where)) + ")"
	}
	if utf8.RuneCountInString(line+place) <= PushLength {
		return line + place
	}
	if utf8.RuneCountInString(place) > maxPlace {
		line, place = line+place, ""
	}
	kept := string([]rune(line)[:min(utf8.RuneCountInString(line), PushLength-1-utf8.RuneCountInString(place))])
	if at := strings.LastIndex(kept, "⟨"); at > strings.LastIndex(kept, "⟩") {
		kept = kept[:at] // half a mark would say something else
	}
	return kept + "…" + place
}

// Cut fits a text into limit bytes. If it has to leave something out, it keeps the head and the
// tail, and puts a note between them with the number of hidden bytes and the beginning of the
// SHA-256 of the whole text. It returns that number too. If limit is too small for the note, the
// result is the note alone.
func Cut(text string, limit int) (shown string, hiddenBytes int) {
	if len(text) <= limit {
		return text, 0
	}
	sum := sha256.Sum256([]byte(text))
	note := func(n int) string {
		return fmt.Sprintf("\n… %d bytes hidden, sha256 of the whole %x …\n", n, sum[:6])
	}
	room := max(limit-len(note(len(text))), 0)
	head := RuneBoundary(text, room*2/3)
	tail := RuneBoundary(text, len(text)-room/3)
	if tail < len(text)-room/3 { // it moved before a character, which would be too long
		_, size := utf8.DecodeRuneInString(text[tail:])
		tail += size
	}
	head, tail = beforeMark(text, head), afterMark(text, tail)
	// A torn line can look like another one: if there is a line end near, the cut is there.
	if at := strings.LastIndexByte(text[:head], '\n'); at >= 0 && head-at <= min(maxTorn, head/2) {
		head = at
	}
	if at := strings.IndexByte(text[tail:], '\n'); at >= 0 && at < min(maxTorn, (len(text)-tail)/2) {
		tail += at + 1
	}
	return text[:head] + note(tail-head) + text[tail:], tail - head
}

// maxTorn is how much of a torn line Cut leaves out beside what it has to hide.
const maxTorn = 160

// maxMark is the length of the longest mark of Visible.
const maxMark = len("⟨U+10FFFF⟩")

// beforeMark and afterMark move an index out of a mark such as ⟨U+202E⟩, half of which would say something else.
func beforeMark(text string, i int) int {
	from := max(i-maxMark, 0)
	if at := strings.LastIndex(text[from:i], "⟨"); at > strings.LastIndex(text[from:i], "⟩") {
		return from + at
	}
	return i
}

func afterMark(text string, i int) int {
	rest := text[i:min(i+maxMark, len(text))]
	at, next := strings.Index(rest, "⟩"), strings.Index(rest, "⟨")
	if beforeMark(text, i) < i && at >= 0 && (next < 0 || at < next) {
		return i + at + len("⟩")
	}
	return i
}

// RuneBoundary returns the greatest index that is at most i and is the start of a character or
// the end of s.
func RuneBoundary(s string, i int) int {
	i = min(max(i, 0), len(s))
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}
