package settings

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/tailscale/hujson"
)

// Keys returns the outermost keys of a settings file, which may have comments.
func Keys(text []byte) (keys map[string]json.RawMessage, err error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	if text, err = hujson.Standardize(slices.Clone(text)); err != nil {
		return nil, err
	}
	err = json.Unmarshal(text, &keys)
	return keys, err
}
