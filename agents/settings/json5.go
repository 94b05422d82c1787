package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"approver.example/internal/lazyregexp"
)

// A json5Value is a value in the text of a file of JSON5, and where it stands there.
type json5Value struct {
	from, to int // the text of the value
	value    any // as of encoding/json; a number is its text, a [json.Number]
	parts    []json5Part
}

// A json5Part is a member of an object or an element of an array.
type json5Part struct {
	from  int    // where it begins, with its name
	name  string // of a member
	at    json5Value
	comma int // where the comma behind it is; 0: there is none
}

// json5Depth bounds how deep objects and arrays are nested.
const json5Depth = 200

// ReadJSON5 returns what stands in the text of a file of JSON5: JSON in which there may be comments,
// trailing commas, names without quotes, and other forms of strings and numbers. It must be one object,
// in which no name stands twice. A text without anything in it is an empty object.
func ReadJSON5(text []byte) (map[string]any, error) {
	root, err := parseJSON5(string(text))
	if err != nil {
		return nil, err
	}
	all, _ := root.value.(map[string]any)
	return all, nil
}

// parseJSON5 returns the outermost object.
func parseJSON5(text string) (root json5Value, err error) {
	r := json5Reader{text: text}
	if r.space(); r.err == nil && r.at == len(text) {
		return json5Value{value: map[string]any{}, from: r.at, to: r.at}, nil
	}
	root = r.read(0)
	if r.space(); r.err == nil && r.at < len(text) {
		r.fail("there is more behind the object")
	}
	if _, ok := root.value.(map[string]any); !ok {
		r.at = root.from
		r.fail("it is no object")
	}
	return root, r.err
}

// A json5Reader reads a text from its beginning. After an error it reads nothing more.
type json5Reader struct {
	text string
	at   int
	err  error
}

func (r *json5Reader) fail(why string) {
	if r.err == nil {
		read := r.text[:r.at]
		r.err = &placeError{1 + strings.Count(read, "\n"), r.at - strings.LastIndexByte(read, '\n'), why}
	}
	r.at = len(r.text)
}

// next returns the rest of the text if it begins with this character, which is then read.
func (r *json5Reader) next(c byte) bool {
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

// space reads white space and comments.
func (r *json5Reader) space() {
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		c, size := utf8.DecodeRuneInString(rest)
		switch {
		case strings.HasPrefix(rest, "//"):
			if size = strings.IndexAny(rest, "\n\r\u2028\u2029"); size < 0 {
				size = len(rest)
			}
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				r.fail("a comment has no end")
				return
			}
			size = end + 4
		case c != '\ufeff' && !unicode.IsSpace(c):
			return
		}
		r.at += size
	}
}

// read reads a value.
func (r *json5Reader) read(depth int) (v json5Value) {
	v.from = r.at
	switch {
	case depth > json5Depth:
		r.fail("it is nested too deep")
	case r.at == len(r.text):
		r.fail("a value is missing")
	case r.next('{'):
		v.value = r.object(&v, depth)
	case r.next('['):
		list := []any{}
		r.parts(&v, ']', func(p *json5Part) {
			p.at = r.read(depth + 1)
			list = append(list, p.at.value)
		})
		v.value = list
	case r.text[r.at] == '"' || r.text[r.at] == '\'':
		v.value = r.quoted()
	default:
		v.value = r.word()
	}
	v.to = r.at
	return v
}

// object reads the members of an object.
func (r *json5Reader) object(v *json5Value, depth int) map[string]any {
	all := map[string]any{}
	r.parts(v, '}', func(p *json5Part) {
		if p.name = r.name(); r.err != nil {
			return
		}
		if r.space(); !r.next(':') {
			r.fail("a colon is missing")
			return
		}
		r.space()
		if _, twice := all[p.name]; twice {
			r.at = p.from
			r.fail(fmt.Sprintf("the key %q stands there twice, and only one of them counts", p.name))
			return
		}
		p.at = r.read(depth + 1)
		all[p.name] = p.at.value
	})
	return all
}

// parts reads what stands in an object or an array, up to its end.
func (r *json5Reader) parts(v *json5Value, end byte, one func(p *json5Part)) {
	for r.err == nil {
		if r.space(); r.next(end) {
			return
		}
		p := json5Part{from: r.at}
		one(&p)
		if r.space(); r.next(',') {
			p.comma = r.at - 1
		} else if r.at == len(r.text) || r.text[r.at] != end {
			r.fail("a comma or an end is missing")
		}
		v.parts = append(v.parts, p)
	}
}

// name reads the name of a member.
func (r *json5Reader) name() string {
	if r.at < len(r.text) && (r.text[r.at] == '"' || r.text[r.at] == '\'') {
		return r.quoted()
	}
	rest := r.text[r.at:]
	end := strings.IndexFunc(rest, func(c rune) bool {
		return c != '$' && c != '_' && c != '\u200c' && c != '\u200d' && !unicode.In(c, unicode.L, unicode.Nl, unicode.Mn,
			unicode.Mc, unicode.Nd, unicode.Pc)
	})
	if end <= 0 {
		r.fail("a name is missing")
		return ""
	}
	r.at += end
	return rest[:end]
}

// json5Number matches a number.
var json5Number = lazyregexp.New(
	`^[+-]?(Infinity|NaN|0[xX][0-9a-fA-F]+|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)$`)

// word reads a value that is neither a string nor an object nor an array.
func (r *json5Reader) word() any {
	rest := r.text[r.at:]
	end := strings.IndexFunc(rest, func(c rune) bool {
		return strings.ContainsRune(",:[]{}/\"'\ufeff", c) || unicode.IsSpace(c)
	})
	if end < 0 {
		end = len(rest)
	}
	word := rest[:end]
	r.at += end
	switch {
	case word == "true", word == "false":
		return word == "true"
	case word == "null":
		return nil
	case json5Number().MatchString(word):
		return json.Number(word)
	}
	r.fail(fmt.Sprintf("%q is no value", word))
	return nil
}

// json5Escapes are the escapes of one character that mean another one.
const json5Escapes = "b\bf\fn\nr\rt\tv\v0\x00"

// quoted reads a string.
func (r *json5Reader) quoted() string {
	quote, out := r.text[r.at], strings.Builder{}
	for r.at++; r.at < len(r.text); {
		c, size := utf8.DecodeRuneInString(r.text[r.at:])
		switch {
		case c == rune(quote):
			r.at++
			return out.String()
		case c == '\n', c == '\r':
			r.fail("a string has no end")
			return ""
		case c == '\\':
			r.at++
			r.escape(&out)
			continue
		}
		out.WriteString(r.text[r.at : r.at+size])
		r.at += size
	}
	r.fail("a string has no end")
	return ""
}

// escape reads what stands behind a backslash.
func (r *json5Reader) escape(out *strings.Builder) {
	rest := r.text[r.at:]
	c, size := utf8.DecodeRuneInString(rest)
	digits := map[rune]int{'x': 2, 'u': 4}[c]
	r.at += size
	switch i := strings.IndexRune(json5Escapes, c); {
	case strings.HasPrefix(rest, "\r\n"):
		r.at++
	case c == '\n', c == '\r', c == '\u2028', c == '\u2029':
	case digits > 0:
		code, err := strconv.ParseUint(rest[1:min(1+digits, len(rest))], 16, 32)
		if err != nil || len(rest) <= digits {
			r.fail("an escape is not whole")
			return
		}
		out.WriteRune(rune(code)) // half of a pair is a character that nothing is compared with
		r.at += digits
	case c >= '1' && c <= '9':
		r.fail("an escape is not known")
	case i >= 0 && i%2 == 0:
		out.WriteByte(json5Escapes[i+1])
	default:
		out.WriteRune(c)
	}
}

// errNoPlace says that a value cannot be put into a text.
var errNoPlace = errors.New("there is no plain place for the value: write it there yourself")
