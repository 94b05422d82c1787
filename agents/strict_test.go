package agents

import (
	"encoding/json"
	"reflect"
	"testing"
)

// A payload is read as encoding/json reads it, and its parts byte for byte.
func FuzzMembers(f *testing.F) {
	for _, text := range []string{`{}`, ` { "a" : 1 , "b":[{"c":"}]"}] ,"d\\n":null}`, `{"\u0061":"\\"}`,
		`{"a":{},"b":[]}`, `{"a":tru}`,
		`{"a":"x\\"","b":-1.5e3}`, "{\"a\":\t\"\"\r\n}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parseObject(data)
		if err != nil {
			return
		}
		var want object
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", data, got, want)
		}
		for key, raw := range got {
			if raw[0] != '"' {
				continue
			}
			var text string
			if err := json.Unmarshal(raw, &text); err != nil {
				t.Fatal(err)
			}
			if plain, err := unquoted(raw); err != nil || plain != text {
				t.Errorf("%q: %q, %v, want %q", key, plain, err, text)
			}
		}
	})
}
