package settings

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"approver.example/internal/lazyregexp"
)

// A TOMLChange puts one value into the text of a TOML file, or takes it out again. All else in the
// text stays the same, byte for byte: comments, the order of keys, ends of lines.
//
// The places where the value could stand are tried one after another. A text is taken only if a TOML
// parser reads in it exactly what it reads in the text before, and this one value.
type TOMLChange struct {
	Key   []string // the names of the tables, and then that of the value
	Value any      // a string or a bool
	// Note, if set, is a comment on the line of the value. Taking out then finds the value only with it.
	Note string
}

// mark is the byte order mark, with which TOML files may begin.
const mark = "\ufeff"

// ReadTOML returns what stands in the text of a TOML file. An error has the place.
func ReadTOML(text []byte) (all map[string]any, err error) {
	err = toml.Unmarshal(bytes.TrimPrefix(text, []byte(mark)), &all)
	if at := (*toml.DecodeError)(nil); errors.As(err, &at) {
		line, column := at.Position()
		err = &placeError{line, column, strings.TrimPrefix(at.Error(), "toml: ")}
	}
	if all == nil {
		all = map[string]any{}
	}
	return all, err
}

// At returns the value of a key, or nil.
func At(all map[string]any, key ...string) any {
	var v any = all
	for _, name := range key {
		table, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = table[name]
	}
	return v
}

// In returns the text with the value. If it has that value already, it stays as it is.
func (c TOMLChange) In(text []byte) ([]byte, error) {
	all, err := ReadTOML(text)
	if err != nil {
		return nil, err
	}
	was := At(all, c.Key...)
	if was == c.Value {
		return text, nil
	}
	if !put(all, c.Key, c.Value) {
		return nil, c.byHand()
	}
	tries := c.additions
	if was != nil {
		tries = func(text string, yield func(string) bool) { c.replacements(text, was, yield) }
	}
	var found []byte
	tries(string(text), func(changed string) bool {
		if read, err := ReadTOML([]byte(changed)); err == nil && reflect.DeepEqual(read, all) {
			found = []byte(changed)
		}
		return found == nil
	})
	if found == nil {
		return nil, c.byHand()
	}
	return found, nil
}

func (c TOMLChange) byHand() error {
	return Refuse("write it there yourself", "there is no plain place for %s.%s",
		strings.Join(quotedKey(c.Key[:len(c.Key)-1]), "."), c.line())
}

// put sets a value in a decoded file. It returns false if something else is in the way.
func put(all map[string]any, key []string, value any) bool {
	for _, name := range key[:len(key)-1] {
		inner, ok := all[name].(map[string]any)
		if !ok && all[name] != nil {
			return false
		}
		if !ok {
			inner = map[string]any{}
			all[name] = inner
		}
		all = inner
	}
	all[key[len(key)-1]] = value
	return true
}

// line returns the line of the value, without an end.
func (c TOMLChange) line() string {
	last := quotedKey(c.Key[len(c.Key)-1:])[0]
	line := last + " = " + literal(c.Value)
	if c.Note != "" {
		line += " # " + c.Note
	}
	return line
}

var bareKey = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

func quotedKey(key []string) []string {
	out := slices.Clone(key)
	for i, name := range out {
		if !bareKey().MatchString(name) {
			out[i] = literal(name)
		}
	}
	return out
}

// literal returns a value as TOML. Strings are basic strings.
func literal(value any) string {
	s, ok := value.(string)
	if !ok {
		return fmt.Sprint(value)
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// replacements tries to replace each occurrence of the old value.
func (c TOMLChange) replacements(text string, was any, yield func(string) bool) {
	forms := []string{fmt.Sprint(was)}
	if s, ok := was.(string); ok {
		forms = []string{literal(s), "'" + s + "'", strconv.Quote(s)}
	}
	for _, form := range forms {
		for at := 0; ; at += len(form) {
			i := strings.Index(text[at:], form)
			if i < 0 {
				break
			}
			at += i
			if !yield(text[:at] + literal(c.Value) + text[at+len(form):]) {
				return
			}
		}
	}
}

// additions tries the line below the header of its table, a new table at the end, and a dotted key at
// the beginning.
func (c TOMLChange) additions(text string, yield func(string) bool) {
	end := endOf(text)
	tables := c.Key[:len(c.Key)-1]
	last := tables[len(tables)-1]
	at := 0
	for line := range strings.Lines(text) {
		at += len(line)
		if !isHeader(line) || !strings.Contains(line, last) {
			continue
		}
		before := text[:at]
		if !strings.HasSuffix(line, "\n") {
			before += end
		}
		if !yield(before + c.line() + end + text[at:]) {
			return
		}
	}
	if !yield(c.appended(text)) {
		return
	}
	rest, marked := strings.CutPrefix(text, mark)
	dotted := strings.Join(quotedKey(tables), ".") + "." + c.line() + end + rest
	if marked {
		dotted = mark + dotted
	}
	yield(dotted)
}

// appended returns the text with a new table at the end.
func (c TOMLChange) appended(text string) string {
	end := endOf(text)
	switch {
	case text == "" || text == mark:
	case !strings.HasSuffix(text, "\n"):
		text += end + end
	default:
		text += end
	}
	return text + c.table(end)
}

// table returns a new table with the value.
func (c TOMLChange) table(end string) string {
	return "[" + strings.Join(quotedKey(c.Key[:len(c.Key)-1]), ".") + "]" + end + c.line() + end
}

// endOf returns the end of lines of a text.
func endOf(text string) string {
	if strings.Contains(text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// Out returns the text without the value that In put there, and without tables that it leaves empty. It
// stays as it is if there is none.
func (c TOMLChange) Out(text []byte) []byte {
	pruned, err := ReadTOML(text)
	if err != nil || At(pruned, c.Key...) == nil {
		return text
	}
	take(pruned, c.Key)
	is := func(changed string) bool {
		read, err := ReadTOML([]byte(changed))
		if err != nil || At(read, c.Key...) != nil {
			return false
		}
		take(read, c.Key) // an empty table matters to nobody
		return reflect.DeepEqual(read, pruned)
	}
	found := string(text)
	c.removals(found, func(changed string) bool {
		if is(changed) {
			found = changed
		}
		return found == string(text)
	})
	for n := len(c.Key) - 1; n > 1; n-- {
		if bare := withoutHeader(found, c.Key[:n]); found != string(text) && is(bare) {
			found = bare
		}
	}
	return []byte(found)
}

// withoutHeader returns the text without the header of a table in which nothing stands.
func withoutHeader(text string, table []string) string {
	file, err := ReadTOML([]byte(text))
	if inner, ok := At(file, table...).(map[string]any); err != nil || !ok || len(inner) > 0 {
		return text
	}
	at := 0
	for line := range strings.Lines(text) {
		before, after := text[:at], text[at+len(line):]
		at += len(line)
		all, err := ReadTOML([]byte(line))
		if inner, ok := At(all, table...).(map[string]any); err != nil || !ok || len(inner) > 0 || !isHeader(line) {
			continue
		}
		body, _, _ := strings.Cut("\n"+after, "\n[")
		if strings.TrimSpace(body) != "" {
			return text // a comment, or a value
		}
		if end := endOf(text); before == end || strings.HasSuffix(before, "\n"+end) {
			before = strings.TrimSuffix(before, end)
		}
		return before + after
	}
	return text
}

// isHeader reports whether a line begins like the header of a table.
func isHeader(line string) bool {
	return strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(line, mark), " \t"), "[")
}

// removals tries to take out the table that In appended, and then single lines.
func (c TOMLChange) removals(text string, yield func(string) bool) {
	end := endOf(text)
	for _, table := range []string{end + c.table(end), c.table(end)} {
		if i := strings.LastIndex(text, table); i >= 0 && !yield(text[:i]+text[i+len(table):]) {
			return
		}
	}
	at := 0
	for line := range strings.Lines(text) {
		named := strings.Contains(line, c.Key[len(c.Key)-1]) && strings.Contains(line, c.Note)
		if named && !yield(text[:at]+text[at+len(line):]) {
			return
		}
		at += len(line)
	}
}

// take removes a value from a decoded file, and the tables that it leaves empty.
func take(all map[string]any, key []string) {
	if len(key) == 1 {
		delete(all, key[0])
		return
	}
	inner, ok := all[key[0]].(map[string]any)
	if !ok {
		return
	}
	if take(inner, key[1:]); len(inner) == 0 {
		delete(all, key[0])
	}
}
