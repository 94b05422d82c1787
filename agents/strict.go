package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// prototype is a key that is one as any other where JSON is parsed. But where JavaScript copies the object,
// its value becomes the source of all arguments that the call does not have.
const prototype = "__proto__"

// maxDepth bounds the nesting of a payload.
const maxDepth = 128

// Limits of ids and paths in a payload, in bytes. They are kept, compared and written to logs. An
// id of Claude Code has 36 bytes, and a path on Linux has less than 4096.
const (
	maxID   = 256
	maxTool = MaxPayload // a longer name than maxID has an error of its own
	maxPath = 4096
)

// An object is a JSON object that was checked by parseObject.
type object map[string]json.RawMessage

// parseObject parses exactly one JSON object in valid UTF-8, with nothing before or after it. It
// refuses a key that is repeated in an object at any depth, because one parser takes the first
// value and another the last. It refuses the key prototype, too.
func parseObject(data []byte) (object, error) {
	switch {
	case len(data) > MaxPayload:
		return nil, fmt.Errorf("it has %d bytes, more than the limit of %d", len(data), MaxPayload)
	case !utf8.Valid(data):
		return nil, errors.New("it is not valid UTF-8")
	}
	if !json.Valid(data) {
		var syntax json.RawMessage
		return nil, fmt.Errorf("it is not one JSON document: %w", json.Unmarshal(data, &syntax))
	}
	if !isObject(bytes.TrimLeft(data, " \t\r\n")) {
		return nil, errors.New("it is not a JSON object")
	}
	if err := checkKeys(data); err != nil {
		return nil, err
	}
	return members(data), nil
}

// objectOf returns the members of an object that was checked as a part of a payload, or made of one.
func objectOf(raw json.RawMessage) (o object, err error) {
	if isObject(raw) && json.Valid(raw) && utf8.Valid(raw) {
		return members(raw), nil
	}
	err = json.Unmarshal(raw, &o)
	return o, err
}

// members returns the members of a valid JSON object, as encoding/json does. The values are parts of data.
func members(data []byte) object {
	o := make(object, 8)
	for i := bytes.IndexByte(data, '{') + 1; ; {
		i += blanks(data[i:])
		if data[i] == ',' {
			i += 1 + blanks(data[i+1:])
		}
		if data[i] == '}' {
			return o
		}
		end := stringEnd(data, i)
		key, _ := unquoted(data[i:end]) // it is valid
		i = end + blanks(data[end:]) + 1
		i += blanks(data[i:])
		end = valueEnd(data, i)
		o[key] = data[i:end:end]
		i = end
	}
}

// blanks returns how much white space there is at the start.
func blanks(data []byte) (n int) {
	for n < len(data) && (data[n] == ' ' || data[n] == '\t' || data[n] == '\r' || data[n] == '\n') {
		n++
	}
	return n
}

// valueEnd returns the index behind the value that starts at i in valid JSON.
func valueEnd(data []byte, i int) int {
	depth := 0
	for ; i < len(data); i++ {
		switch data[i] {
		case '"':
			if i = stringEnd(data, i) - 1; depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 { // of what the value is in
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// isObject reports whether a value from encoding/json, without white space around it, is an object.
func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// A level is an object or an array that checkKeys is in.
type level struct {
	object, wantKey bool
	few             [][]byte            // the keys of an object, as long as they are few
	many            map[string]struct{} // all keys, when they are many
}

// add adds a key, and reports whether it was there before.
func (l *level) add(key []byte) (twice bool) {
	const most = 32
	if l.many == nil && len(l.few) < most {
		twice = slices.ContainsFunc(l.few, func(k []byte) bool { return bytes.Equal(k, key) })
		l.few = append(l.few, key)
		return twice
	}
	if l.many == nil {
		l.many = map[string]struct{}{}
		for _, k := range l.few {
			l.many[string(k)] = struct{}{}
		}
	}
	_, twice = l.many[string(key)]
	l.many[string(key)] = struct{}{}
	return twice
}

// checkKeys refuses repeated keys and deep nesting. data must be valid JSON.
func checkKeys(data []byte) error {
	var shallow [4]level
	levels := shallow[:0]
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{':
			levels = append(levels, level{object: true, wantKey: true, few: make([][]byte, 0, 10)})
		case '[':
			levels = append(levels, level{})
		case '}', ']':
			levels = levels[:len(levels)-1]
		case ',':
			levels[len(levels)-1].wantKey = true
		case '"':
			end := stringEnd(data, i)
			if top := &levels[len(levels)-1]; top.object && top.wantKey {
				key := data[i+1 : end-1]
				if bytes.IndexByte(key, '\\') >= 0 {
					plain, err := unquoted(data[i:end])
					if err != nil {
						return err
					}
					key = []byte(plain)
				}
				if string(key) == prototype {
					return fmt.Errorf("the key %s, with which an agent in JavaScript may change another value",
						quote(string(key)))
				}
				if top.add(key) {
					return fmt.Errorf("the key %s occurs twice in one object, which two readers can read differently",
						quote(string(key)))
				}
				top.wantKey = false
			}
			i = end - 1
		}
		if len(levels) > maxDepth {
			return fmt.Errorf("it is nested more than %d levels deep", maxDepth)
		}
	}
	return nil
}

// depth returns how deep valid JSON is nested.
func depth(data []byte) (deepest int) {
	level := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			level++
			deepest = max(deepest, level)
		case '}', ']':
			level--
		case '"':
			i = stringEnd(data, i) - 1
		}
	}
	return deepest
}

// stringEnd returns the index behind the string that starts at i.
func stringEnd(data []byte, i int) int {
	for i++; data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// unquoted returns the text of a string in valid JSON.
func unquoted(raw []byte) (text string, err error) {
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) { // it says what it is
		return string(raw[1 : len(raw)-1]), nil
	}
	err = json.Unmarshal(raw, &text)
	return text, err
}

// wellFormed reports whether every \u escape in valid JSON means a character. Half of a surrogate
// pair could be read in one way here and in another by the agent.
func wellFormed(raw json.RawMessage) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		if raw[i] != 'u' {
			continue
		}
		high := hex4(raw[i+1:])
		i += 4
		switch {
		case high < 0xd800 || high > 0xdfff:
		case high > 0xdbff, raw[i+1] != '\\', raw[i+2] != 'u':
			return false
		default:
			if low := hex4(raw[i+3:]); low < 0xdc00 || low > 0xdfff {
				return false
			}
			i += 6
		}
	}
	return true
}

func hex4(b []byte) uint64 {
	n, _ := strconv.ParseUint(string(b[:4]), 16, 16)
	return n
}

// hasAll reports whether all of these keys, separated by spaces, are there.
func (o object) hasAll(keys string) bool {
	for key := range strings.FieldsSeq(keys) {
		if _, ok := o[key]; !ok {
			return false
		}
	}
	return true
}

// text returns the string at a key; ok says whether the key is there. null and every other type is
// an error.
func (o object) text(key string) (value string, ok bool, err error) {
	raw, ok := o[key]
	if !ok {
		return "", false, nil
	}
	if len(raw) == 0 || raw[0] != '"' {
		return "", true, fmt.Errorf("%s is not a string", quote(key))
	}
	if !wellFormed(raw) {
		return "", true, fmt.Errorf("%s has half of a surrogate pair, which is no character", quote(key))
	}
	value, err = unquoted(raw)
	return value, true, err
}

// need is text for a key that must be there. The string must not be empty, and has at most limit
// bytes.
func (o object) need(key string, limit int) (string, error) {
	value, ok, err := o.short(key, limit)
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "", fmt.Errorf("%s is missing", quote(key))
	case value == "":
		return "", fmt.Errorf("%s is empty", quote(key))
	}
	return value, nil
}

// absolute is need for an absolute path.
func (o object) absolute(key string) (string, error) {
	path, err := o.need(key, maxPath)
	if err == nil && !isFolder(path) {
		err = fmt.Errorf("%s is %s, not an absolute path", quote(key), quote(path))
	}
	return path, err
}

// isFolder reports whether a text can be the path of the folder that an agent works in.
func isFolder(path string) bool {
	return filepath.IsAbs(path) && len(path) <= maxPath && !strings.ContainsRune(path, 0)
}

// short is text of at most limit bytes.
func (o object) short(key string, limit int) (value string, ok bool, err error) {
	if value, ok, err = o.text(key); len(value) > limit {
		return "", true, fmt.Errorf("%s has %d bytes, more than the limit of %d", quote(key), len(value), limit)
	}
	return value, ok, err
}

// optional is short for keys that may be absent.
func (o object) optional(limit int, into map[string]*string) error {
	for key, to := range into {
		value, _, err := o.short(key, limit)
		if err != nil {
			return err
		}
		*to = value
	}
	return nil
}

// quote shows a foreign text of any length in an error.
func quote(s string) string {
	if len(s) > 64 {
		s = s[:64] + "…"
	}
	return strconv.QuoteToASCII(s)
}

// texts returns the string, or the strings in the array, at a key; nothing for any other type.
func (o object) texts(key string) []string {
	raw := o[key]
	if len(raw) == 0 || raw[0] != '"' && raw[0] != '[' {
		return nil
	}
	if value, ok, err := o.text(key); ok && err == nil {
		return []string{value}
	}
	var items []any
	if json.Unmarshal(raw, &items) != nil {
		return nil
	}
	var list []string
	for _, item := range items {
		if value, ok := item.(string); ok {
			list = append(list, value)
		}
	}
	return list
}

// words is texts for a value that a server may run. In an array or an object it finds every word at
// any depth, keys and numbers too, in their order; null is no word. Several words may be one
// command with its arguments, or one command each. So they are returned joined first, and then one
// by one. The result is more than one line, which no rule that allows calls matches.
func (o object) words(key string) []string {
	raw := o[key]
	if len(raw) == 0 || raw[0] != '[' && raw[0] != '{' {
		return o.texts(key)
	}
	var list []string
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err != nil { // the end: the value is valid JSON, as a part of the payload
			if len(list) > 1 {
				list = append([]string{strings.Join(list, " ")}, list...)
			}
			return list
		}
		if _, bracket := token.(json.Delim); !bracket && token != nil {
			list = append(list, fmt.Sprint(token))
		}
	}
}
