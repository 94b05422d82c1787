package tripwire

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"approver.example/internal/match"
)

// A hit is a word of the lexicon at its position in a text, counted in words. The ends of sentences
// and paragraphs count as several words.
type hit struct {
	at   int32
	byte int32
	slot slot
}

const (
	sentence  = 4
	paragraph = 8
	maxWord   = 64 // bytes; nothing longer is in the lexicon
	maxHits   = 1 << 15
)

// A reader splits a text into hits. Look-alikes and accented letters become plain letters, invisible
// characters are dropped, digits in words are read as the letters they imitate, and letters that are
// written one by one are joined.
type reader struct {
	hits    []hit
	seen    slot // all slots of hits
	at      int32
	word    []byte
	start   int  // of the word
	ascii   bool // all of the word is
	digits  bool // it has digits, or signs that stand for letters
	letters bool
	// apostrophe is the length of the word before an apostrophe.
	apostrophe int
	spaced     []byte // letters that were written one by one
	gap        int    // where the last of them ended

	found  []sighting
	failed [8]uint64 // by step, the hits after the first one that do not match
	first  int
	work   int // the work that is left
}

// read goes through a text once.
func (r *reader) read(text string) {
	r.begin()
	for i := 0; i < len(text) && len(r.hits) < maxHits; {
		c := text[i]
		if c < utf8.RuneSelf {
			switch class := kinds[c]; class {
			case letter:
				if len(r.word) == 0 {
					r.start = i
				}
				n := lettersAt(text[i:])
				for _, c := range []byte(text[i : i+max(0, min(n, maxWord+1-len(r.word)))]) {
					r.word = append(r.word, c|0x20)
				}
				r.letters = true
				i += n
				continue
			case digit:
				if len(r.word) == 0 {
					r.start = i
				}
				if len(r.word) <= maxWord {
					r.word = append(r.word, c)
				}
				r.digits = true
			case inside: // an apostrophe
				r.apostrophe = len(r.word)
			default:
				if c == ':' || c == '<' || c == '[' {
					if n := r.special(text, i); n > 0 {
						i += n
						continue
					}
				}
				r.endWord(text, i)
				r.pause(text, i)
			}
			i++
			continue
		}
		i += r.wide(text, i)
	}
	r.endWord(text, len(text))
	r.flush()
}

// lettersAt returns the number of letters at the beginning of a text.
func lettersAt(text string) (n int) {
	for n < len(text) && text[n] < utf8.RuneSelf && kinds[text[n]] == letter {
		n++
	}
	return n
}

// kinds are the classes of ASCII characters.
const (
	between_ byte = iota
	letter
	digit
	inside
)

var kinds = func() (t [128]byte) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			t[c] = letter
		case c >= '0' && c <= '9', c == '@', c == '$', c == '_':
			t[c] = digit
		case c == '\'':
			t[c] = inside
		}
	}
	return t
}()

func (r *reader) begin() {
	r.word, r.ascii, r.digits, r.letters, r.apostrophe = r.word[:0], true, false, false, 0
}

// wide reads a character that is not ASCII, and returns its length.
func (r *reader) wide(text string, i int) int {
	c, n := utf8.DecodeRuneInString(text[i:])
	switch {
	case zeroWidth(c), selector(c), unicode.Is(unicode.Mn, c), c == '’':
		return n
	case tag(c): // the alphabet of tags is ASCII
		return r.hiddenText(text, i)
	case unicode.In(c, unicode.Han):
		r.endWord(text, i)
		return r.han(text, i)
	case unicode.IsLetter(c) || unicode.IsNumber(c):
		if len(r.word) == 0 {
			r.start = i
		}
		if len(r.word) <= maxWord {
			r.word = utf8.AppendRune(r.word, unicode.ToLower(c))
		}
		r.ascii, r.letters = false, true
		return n
	}
	r.endWord(text, i)
	if c == '。' || c == '！' || c == '？' {
		r.at += sentence
	}
	return n
}

// hiddenText reads a run of tag characters as the ASCII text that they encode.
func (r *reader) hiddenText(text string, i int) int {
	start := i
	var plain strings.Builder
	for i < len(text) {
		c, n := utf8.DecodeRuneInString(text[i:])
		if !tag(c) {
			break
		}
		if c -= 0xe0000; c >= ' ' && c < 0x7f {
			plain.WriteByte(byte(c))
		}
		i += n
	}
	if plain.Len() > 8 {
		r.endWord(text, start)
		r.hit(comment, start)
		inner := reader{at: r.at}
		inner.read(plain.String())
		for _, h := range inner.hits {
			h.byte = int32(start)
			r.hits, r.seen = append(r.hits, h), r.seen|h.slot
		}
		r.at = inner.at
	}
	return i - start
}

// han reads Chinese, which has no spaces: the longest word from here on.
func (r *reader) han(text string, i int) int {
	end := min(len(text), i+18)
	s, n := words.longest([]byte(text[i:end]), 18)
	if n == 0 {
		_, n = utf8.DecodeRuneInString(text[i:])
	} else {
		r.hit(s, i)
	}
	r.at++
	return n
}

func (r *reader) hit(s slot, i int) {
	if len(r.hits) < maxHits {
		r.hits = append(r.hits, hit{r.at, int32(i), s})
		r.seen |= s
	}
}

// endWord ends a word.
func (r *reader) endWord(text string, i int) {
	if len(r.word) == 0 {
		return
	}
	w := r.word
	if len(w) == 1 && r.letters {
		if len(r.spaced) > 0 && i-1-r.gap > 2 {
			r.flush()
		}
		r.spaced, r.gap = append(r.spaced, w[0]), i
	} else if len(r.spaced) > 0 {
		r.flush()
	}
	if len(w) <= maxWord && r.letters {
		s := r.meaning(w)
		if s == 0 && r.apostrophe > 0 { // l'instruction
			s = words.find(w[r.apostrophe:])
		}
		switch {
		case s != 0:
			r.hit(s, r.start)
		case r.digits && i < len(text) && text[i] == '.' && strings.IndexByte(string(w[1:]), '@') >= 0:
			r.hit(address, r.start)
		case len(w) >= minJoined && !isIdentifier(text[i:]):
			r.splitJoined(w)
		}
	}
	r.at++
	r.begin()
}

// minJoined is the least length of a word that may be several joined words. A name in a program is
// recognized by what follows it.
const minJoined = 18

// isIdentifier reports whether what follows a word shows that the word is a name in a program.
func isIdentifier(rest string) bool {
	rest = strings.TrimLeft(rest[:min(len(rest), 4)], " ")
	if len(rest) > 1 && rest[0] == '.' {
		return rest[1]|0x20 >= 'a' && rest[1]|0x20 <= 'z'
	}
	return rest != "" && strings.IndexByte("(=:[{<", rest[0]) >= 0
}

// splitJoined splits a word into joined words, if all of it can be split.
func (r *reader) splitJoined(w []byte) {
	var list [8]slot
	n := 0
	for len(w) > 0 {
		if w[0] == '_' {
			w = w[1:]
			continue
		}
		s, used := words.longest(w, 16)
		if used < 2 || n == len(list) {
			return
		}
		list[n], w = s, w[used:]
		n++
	}
	for _, s := range list[:n] {
		r.hit(s, r.start)
		r.at++
	}
}

// meaning looks a word up as it is written, and then as it may be meant.
func (r *reader) meaning(w []byte) slot {
	if r.ascii && !r.digits {
		return words.find(w)
	}
	if s := words.find(w); s != 0 {
		return s
	}
	var buf [2 * maxWord]byte
	plain := w
	if !r.ascii {
		plain = match.Fold(buf[:0], string(w))
	}
	if s := words.find(plain); s != 0 || !r.digits {
		return s
	}
	var leet [2 * maxWord]byte
	n := copy(leet[:], plain)
	for i, c := range leet[:n] {
		if at := strings.IndexByte("013457@$", c); at >= 0 {
			leet[i] = "oieastas"[at]
		}
	}
	if n < 4 {
		return 0
	}
	return words.find(leet[:n])
}

// flush reads letters that were written one by one as words, if there are many.
func (r *reader) flush() {
	const few = 6
	rest := r.spaced
	if len(rest) >= few {
		for len(rest) > 0 {
			s, n := words.longest(rest, 16)
			if n < 3 {
				rest = rest[1:]
				continue
			}
			r.hit(s, r.gap)
			r.at++
			rest = rest[n:]
		}
	}
	r.spaced = r.spaced[:0]
}

// pause counts the distance between words.
func (r *reader) pause(text string, i int) {
	switch text[i] {
	case '\n':
		if i+1 < len(text) && (text[i+1] == '\n' || text[i+1] == '\r') {
			r.at += paragraph
		}
	case '.', '!', '?':
		if i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n' || text[i+1] == '"' {
			r.at += sentence
		}
	case ';', '{', '}', '(', ')', '=':
		r.at++
	}
}

// special reads what is no word: addresses, markup, comments. It returns 0 if there is none.
func (r *reader) special(text string, i int) int {
	rest := text[i:]
	switch text[i] {
	case ':':
		if strings.HasPrefix(rest, "://") && len(r.word) > 0 {
			r.begin()
			r.hit(address, i)
			r.at++
			return untilSpace(rest)
		}
		if i > 0 && len(r.word) > 0 &&
			(r.start == 0 || strings.IndexByte("\n#*[<>/\"", text[r.start-1]) >= 0 ||
				strings.HasPrefix(text[max(0, r.start-2):], "# ")) {
			if string(r.word) == "system" || string(r.word) == "assistant" {
				r.hit(heading, i)
			}
		}
	case '<':
		for _, m := range turnMarks {
			if len(rest) >= len(m) && strings.EqualFold(rest[:len(m)], m) {
				return r.sign(text, i, markup, len(m))
			}
		}
		if strings.HasPrefix(rest, "<!--") {
			return r.sign(text, i, comment, len("<!--"))
		}
	case '[':
		for _, m := range [...]string{"[inst]", "[/inst]", "[system", "[[system", "[admin", "[end of"} {
			if len(rest) >= len(m) && strings.EqualFold(rest[:len(m)], m) {
				return r.sign(text, i, markup, 1)
			}
		}
	}
	return 0
}

// sign ends the word before a sign, and adds the sign as a hit. It returns its length.
func (r *reader) sign(text string, i int, s slot, length int) int {
	r.endWord(text, i)
	r.hit(s, i)
	r.at++
	return length
}

// turnMarks are the marks between the turns of a conversation with a model.
var turnMarks = [...]string{"<|im_start|>", "<|im_end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|endoftext|>",
	"<|eot_id|>", "<|start_header_id|>", "<<sys>>", "</system>", "<system>", "<important>", "<start_of_turn>",
	"</user_query>", "</tool_result>", "<system-reminder>", "</function_results>"}

func untilSpace(s string) int {
	if n := strings.IndexAny(s, " \t\n\"'`<>)"); n > 0 {
		return n
	}
	return len(s)
}
