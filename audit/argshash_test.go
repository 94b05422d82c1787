package audit

import (
	"encoding/json"
	"testing"
)

// What is taken for compact is what encoding/json writes, byte for byte, also if it is no JSON.
func FuzzCanonical(f *testing.F) {
	for _, text := range []string{"", "{}", `{"command":"ls -l"}`, `{"a": 1}`, `{"a":"<b>"}`, "{\"a\":\"\u2028é\"}",
		`{"a":"\\"  }`,
		`"\\\" "`, `{"a":"x`, "\\", "\xff\xe2", `[1 ,2]`, "null ", `{"a":"b\\\\" }`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		want := raw
		if b, err := json.Marshal(json.RawMessage(raw)); err == nil && len(raw) > 0 {
			want = b
		}
		if got := canonical(raw); string(got) != string(want) {
			t.Errorf("%q became %q, not %q", raw, got, want)
		}
	})
}
