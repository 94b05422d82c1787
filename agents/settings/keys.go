package settings

import (
	"bytes"
	"encoding/json"
)

// Keys returns the outermost keys of a settings file, which may have comments. An error names the file
// and the place.
func (s Source) Keys() (keys map[string]json.RawMessage, err error) {
	text := bytes.Clone(bytes.TrimPrefix(s.Text, []byte("\ufeff"))) // the parser changes it
	if s.Err != nil || s.Missing || len(bytes.TrimSpace(text)) == 0 {
		return nil, s.Err
	}
	v, err := parse(s.Path, text)
	if err != nil {
		return nil, err
	}
	if !isObject(&v) {
		return nil, noObject(s.Path, text, v, "the whole of it")
	}
	v.Standardize()
	err = json.Unmarshal(v.Pack(), &keys)
	return keys, err
}
