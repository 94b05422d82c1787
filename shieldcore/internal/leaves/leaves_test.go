package leaves_test

import (
	"encoding/json"
	"slices"
	"testing"

	"approver.example/shieldcore/internal/leaves"
)

func TestEach(t *testing.T) {
	for text, want := range map[string][]string{
		``:                                      nil,
		`7`:                                     nil,
		`"a"`:                                   {"a"},
		`{"a":["b\"c",1,{"d":"\u00e9"}],"":""}`: {"a", "b\"c", "d", "é", "", ""},
	} {
		var got []string
		if err := leaves.Each([]byte(text), func(s string) { got = append(got, s) }); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{`{`, `"a`, `{"a":"b"} x`} {
		if err := leaves.Each([]byte(text), func(string) { t.Errorf("%s: a text", text) }); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

// FuzzEach: of all JSON every string is found.
func FuzzEach(f *testing.F) {
	f.Add([]byte(`{"a":["b\"c",1,{"d":"\u00e9\\"}],"":""}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var got []string
		err := leaves.Each(data, func(s string) { got = append(got, s) })
		if (err == nil) != (len(data) == 0 || json.Valid(data)) {
			t.Fatal(err)
		}
		var value any
		if len(data) == 0 || json.Unmarshal(data, &value) != nil {
			return
		}
		for _, s := range stringsIn(value) {
			if !slices.Contains(got, s) {
				t.Errorf("%q is not found", s)
			}
		}
	})
}

func stringsIn(value any) (out []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, x := range v {
			out = append(out, stringsIn(x)...)
		}
	case map[string]any:
		for name, x := range v {
			out = append(append(out, name), stringsIn(x)...)
		}
	}
	return out
}
