package evaluator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// This file reads untrusted JSON strictly. encoding/json would accept duplicate keys,
// keys in any case, and invalid UTF-8.

// maxDepth bounds the nesting of what is read.
const maxDepth = 200

// members reads exactly one JSON object, each key as it is written and once.
func members(data []byte) (map[string]json.RawMessage, error) {
	if err := checkJSON(data); err != nil {
		return nil, err
	}
	if data = bytes.TrimLeft(data, " \t\r\n"); data[0] != '{' {
		return nil, errors.New("it is not a JSON object")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, errors.New("it is not one JSON object")
	}
	return fields, nil
}

// checkJSON checks that data is exactly one JSON value, in UTF-8, without duplicate keys.
// Errors quote nothing, because the data may have a secret.
func checkJSON(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New("it is not valid UTF-8")
	}
	if !json.Valid(data) {
		return errors.New("it is not one JSON value and nothing else")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var open []map[string]bool // the keys of each object that is open; nil for an array
	key := false               // whether the next text is a key
	for {
		token, err := dec.Token()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return errors.New("it is not one JSON value and nothing else")
		}
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{':
				open = append(open, map[string]bool{})
			case '[':
				open = append(open, nil)
			default:
				open = open[:len(open)-1]
			}
			if len(open) > maxDepth {
				return fmt.Errorf("it is nested more than %d deep", maxDepth)
			}
		case string:
			if key {
				keys := open[len(open)-1]
				if keys[t] {
					return errors.New("it has the same key twice in one object")
				}
				keys[t] = true
				key = false
				continue
			}
		}
		key = len(open) > 0 && open[len(open)-1] != nil
	}
}

// text reads a JSON string, and nothing else.
func text(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// isNone reports whether a member is missing or empty.
func isNone(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", `""`, "[]":
		return true
	}
	return false
}

// count reads a whole number that is not negative; anything else is 0.
func count(raw json.RawMessage) int {
	var n int
	if json.Unmarshal(raw, &n) != nil || n < 0 {
		return 0
	}
	return n
}
