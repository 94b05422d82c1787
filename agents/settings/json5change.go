package settings

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A JSON5Change puts one value into the text of a file of JSON5, or takes it out again. All else in the
// text stays the same, byte for byte: comments, the order of keys, ends of lines. A text is taken only if
// it is read as what the text before was, and this one value.
type JSON5Change struct {
	Key   []string // the names of the objects, and then that of the value
	Value any      // a string or a bool
	// Listed says that Key is that of a list, and Value one of its elements. Where there is no list, or
	// nothing in it, nothing is put there.
	Listed bool
}

// In returns the text with the value. If it has that value already, it stays as it is.
func (c JSON5Change) In(text []byte) ([]byte, error) {
	root, err := parseJSON5(string(text))
	if err != nil {
		return nil, fmt.Errorf("%w: mend it first; nothing was changed", err)
	}
	path, left := root.path(c.Key)
	last := path[len(path)-1]
	value := literalJSON(c.Value)
	changed := string(text)
	switch list, _ := last.value.([]any); {
	case c.Listed && (len(left) > 0 || len(list) == 0), slices.Contains(list, c.Value), last.value == c.Value:
		return text, nil
	case c.Listed, len(left) > 0:
		changed = last.with(changed, member(left, value))
	default:
		changed = changed[:last.from] + value + changed[last.to:]
	}
	if now, err := ReadJSON5([]byte(changed)); err != nil || !c.differ(text, now) {
		return nil, errNoPlace
	}
	return []byte(changed), nil
}

// differ reports whether what is read in a text differs from this by the value, and by nothing else.
func (c JSON5Change) differ(text []byte, now map[string]any) bool {
	want, err := ReadJSON5(text)
	if err != nil {
		return false
	}
	value := c.Value
	if c.Listed {
		list, _ := At(want, c.Key...).([]any)
		value = append(list, c.Value)
	}
	return put(want, c.Key, value) && reflect.DeepEqual(want, now)
}

// Out returns the text without the value that In put there, and without the objects that only had it.
// It stays as it is if there is none.
func (c JSON5Change) Out(text []byte) []byte {
	root, err := parseJSON5(string(text))
	if err != nil {
		return text
	}
	path, left := root.path(c.Key)
	if len(left) > 0 {
		return text
	}
	if c.Listed {
		list := path[len(path)-1]
		i := slices.IndexFunc(list.parts, func(p json5Part) bool { return p.at.value == c.Value })
		if i < 0 {
			return text
		}
		return []byte(list.without(string(text), i))
	}
	if path[len(path)-1].value != c.Value {
		return text
	}
	at := len(c.Key) - 1
	for at > 0 && len(path[at].parts) == 1 {
		at--
	}
	i := slices.IndexFunc(path[at].parts, func(p json5Part) bool { return p.name == c.Key[at] })
	return []byte(path[at].without(string(text), i))
}

// path returns the values along a key, the outermost first, and the names for which there is none.
func (v json5Value) path(key []string) (path []json5Value, left []string) {
	path = []json5Value{v}
	for i, name := range key {
		j := slices.IndexFunc(v.parts, func(p json5Part) bool { return p.name == name })
		if _, object := v.value.(map[string]any); j < 0 || !object {
			return path, key[i:]
		}
		v = v.parts[j].at
		path = append(path, v)
	}
	return path, nil
}

// member returns a member with objects in it.
func member(key []string, value string) string {
	for i, name := range slices.Backward(key) {
		value = literalJSON(name) + ": " + value
		if i > 0 {
			value = "{" + value + "}"
		}
	}
	return value
}

func literalJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return "" // is no JSON5
	}
	return string(text)
}

// with returns the text with another part at the end of an object or an array.
func (v json5Value) with(text, part string) string {
	if v.from == v.to { // there is nothing in the file
		return text + "{" + part + "}\n"
	}
	if len(v.parts) == 0 {
		return text[:v.from+1] + part + text[v.from+1:]
	}
	last, indent := v.parts[len(v.parts)-1], v.indent(text)
	behind, comma := last.at.to, ","
	if last.comma > 0 { // so has the new one
		behind, comma, part = last.comma+1, "", part+","
	}
	eol := strings.IndexByte(text[behind:v.to], '\n')
	if indent == "" || eol < 0 || strings.Contains(text[behind:behind+eol], "/*") {
		if indent == "" {
			indent = " "
		}
		return text[:behind] + comma + indent + part + text[behind:]
	}
	eol += behind // what is said about the last one stays on its line
	if strings.HasSuffix(text[:eol], "\r") {
		eol--
	}
	return text[:behind] + comma + text[behind:eol] + indent + part + text[eol:]
}

// indent returns what stands before the first part on a line of its own; "" if it is on no such line.
func (v json5Value) indent(text string) string {
	before := text[v.from+1 : v.parts[0].from]
	i := strings.LastIndexByte(before, '\n')
	if i < 0 || strings.Trim(before[i:], " \t\n") != "" {
		return ""
	}
	return strings.TrimSuffix(endOf(text), "\n") + before[i:]
}

// without returns the text without a part.
func (v json5Value) without(text string, i int) string {
	p := v.parts[i]
	from, to := p.from, p.at.to
	after := text[to:]
	if p.comma > 0 {
		to = p.comma + 1
		after = text[to:]
	}
	before := text[:from]
	if p.comma == 0 && i > 0 { // the comma before was needed for this one
		comma := v.parts[i-1].comma
		before = text[:comma] + text[comma+1:from]
	}
	line := strings.TrimRight(before, " \t")
	rest := strings.TrimLeft(after, " \t")
	switch own := strings.HasSuffix(line, "\n"); {
	case own && strings.HasPrefix(rest, "\n"):
		return line + rest[1:]
	case own && strings.HasPrefix(rest, "\r\n"):
		return line + rest[2:]
	case own:
		return before + rest
	}
	return line + after
}
