// Package leaves finds the strings in JSON without decoding the rest.
package leaves

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// Each calls f with every string in a JSON text, in order. Names of members count,
// because a model may read them too. If the text is not JSON, Each returns an error
// and does not call f.
func Each(data []byte, f func(text string)) error {
	if len(data) == 0 {
		return nil
	}
	if !json.Valid(data) {
		return errors.New("not JSON")
	}
	for i := bytes.IndexByte(data, '"'); i >= 0 && i < len(data); {
		end := i + 1
		for data[end] != '"' {
			if data[end] == '\\' {
				end++
			}
			end++
		}
		text, err := unquote(data[i : end+1])
		if err != nil {
			return err
		}
		f(text)
		next := bytes.IndexByte(data[end+1:], '"')
		if next < 0 {
			return nil
		}
		i = end + 1 + next
	}
	return nil
}

// unquote returns the text of a string in JSON.
func unquote(literal []byte) (string, error) {
	if bytes.IndexByte(literal, '\\') < 0 && utf8.Valid(literal) {
		return string(literal[1 : len(literal)-1]), nil
	}
	var s string
	err := json.Unmarshal(literal, &s)
	return s, err
}
