package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
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
	var syntax json.RawMessage
	if err := json.Unmarshal(data, &syntax); err != nil {
		return nil, fmt.Errorf("it is not one JSON document: %w", err)
	}
	if !isObject(syntax) {
		return nil, errors.New("it is not a JSON object")
	}
	if err := checkKeys(data); err != nil {
		return nil, err
	}
	var fields object
	err := json.Unmarshal(data, &fields)
	return fields, err
}

// isObject reports whether a value from encoding/json, without white space around it, is an object.
func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// checkKeys refuses repeated keys and deep nesting. data must be valid JSON.
func checkKeys(data []byte) error {
	type level struct {
		keys    map[string]struct{} // nil in an array
		wantKey bool
	}
	var levels []level
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{':
			levels = append(levels, level{keys: map[string]struct{}{}, wantKey: true})
		case '[':
			levels = append(levels, level{})
		case '}', ']':
			levels = levels[:len(levels)-1]
		case ',':
			levels[len(levels)-1].wantKey = true
		case '"':
			end := stringEnd(data, i)
			if top := &levels[len(levels)-1]; top.keys != nil && top.wantKey {
				var key string
				if err := json.Unmarshal(data[i:end], &key); err != nil {
					return err
				}
				if key == prototype {
					return fmt.Errorf("the key %s, with which an agent in JavaScript may change another value", quote(key))
				}
				if _, twice := top.keys[key]; twice {
					return fmt.Errorf("the key %s occurs twice in one object, which two readers can read differently", quote(key))
				}
				top.keys[key] = struct{}{}
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
	err = json.Unmarshal(raw, &value)
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
