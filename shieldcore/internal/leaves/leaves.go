// Package leaves finds the strings in JSON without decoding the rest.
package leaves

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// MaxDepth is the nesting that encoding/json accepts.
const MaxDepth = 10000

// ErrSyntax means that a text is not JSON.
var ErrSyntax = errors.New("not JSON")

// A Literal is one string in a JSON text.
type Literal struct {
	Start, End int    // of the literal, with its quotes
	Key        []byte // the literal of the nearest member name; nil if there is none
	IsKey      bool   // the string is a member name itself
	Depth      int    // the number of objects and arrays around it
}

// Walk calls f with every string in a JSON text, in order, until f returns an error. It
// fails if the text is not JSON, and then does not call f, or if it is nested too deeply.
func Walk(data []byte, maxDepth int, f func(Literal) error) error {
	if !json.Valid(data) {
		return ErrSyntax
	}
	type level struct {
		object bool
		key    []byte
	}
	stack := make([]level, 0, 16)
	var s Literal
	for i := 0; i < len(data); i++ {
		switch c := data[i]; c {
		case '{', '[':
			stack = append(stack, level{c == '{', s.Key})
			if s.IsKey = c == '{'; len(stack) > maxDepth {
				return fmt.Errorf("nested more than %d levels deep", maxDepth)
			}
		case '}', ']':
			stack = stack[:len(stack)-1]
			s.IsKey = false
		case ',':
			top := stack[len(stack)-1]
			s.IsKey, s.Key = top.object, top.key
		case '"':
			s.Start, s.End, s.Depth = i, end(data, i), len(stack)
			if err := f(s); err != nil {
				return err
			}
			if s.IsKey {
				s.Key, s.IsKey = data[s.Start:s.End], false
			}
			i = s.End - 1
		}
	}
	return nil
}

// end is the offset after the string that begins at i.
func end(data []byte, i int) int {
	for i++; data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// Each calls f with every string in a JSON text, in order. Names of members count,
// because a model may read them too. If the text is not JSON, Each returns an error
// and does not call f.
func Each(data []byte, f func(text string)) error {
	if len(data) == 0 {
		return nil
	}
	return Walk(data, MaxDepth, func(s Literal) error {
		text, err := Text(data[s.Start:s.End])
		if err == nil {
			f(text)
		}
		return err
	})
}

// Text returns the text of a string literal.
func Text(literal []byte) (string, error) {
	if bytes.IndexByte(literal, '\\') < 0 && utf8.Valid(literal) {
		return string(literal[1 : len(literal)-1]), nil
	}
	var s string
	err := json.Unmarshal(literal, &s)
	return s, err
}
