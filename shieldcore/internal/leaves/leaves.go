// Package leaves finds the texts in JSON without making values of the rest.
package leaves

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// Each hands every string in a JSON text to f, in their order; names of members too,
// since what reads the arguments may read them. An error means that the text is not
// JSON, and then f was not called.
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
