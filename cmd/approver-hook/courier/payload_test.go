package courier

import (
	"encoding/json"
	"strings"
	"testing"

	"approver.example/httpapi/wire"
)

// A report that is too long loses what the call returned and nothing else; one of which
// that cannot be said is cut off, and the daemon is told all the same. A call that has
// not run is refused here.
func TestLongReports(t *testing.T) {
	long := strings.Repeat("x", wire.MaxPayload)
	for name, tt := range map[string]struct {
		in, want string // an empty want is the beginning
	}{
		"a long result":        {`{"a":1, "tool_response" : {"x":"` + long + `"}, "tool_use_id":"t"}`, `{"a":1, "tool_response" : null, "tool_use_id":"t"}`},
		"a long result at end": {`{"a":1,"tool_response":"` + long + `"}`, `{"a":1,"tool_response":null}`},
		"a long error":         {` {"error":"` + long + `","a":{"error":"kept"}}`, ` {"error":"not read","a":{"error":"kept"}}`},
		"results twice":        {`{"tool_response":"` + long + `","tool_response":[[1,2,3]]}`, `{"tool_response":null,"tool_response":null}`},
		"long arguments":       {`{"tool_input":"` + long + `","tool_response":1}`, ""},
		"an escaped key":       {`{"tool_respons\u0065":"` + long + `"}`, ""},
		"cut off":              {`{"tool_response":"` + long, ""},
		"more behind":          {`{"tool_response":"` + long + `"} {}`, ""},
		"no object":            {`["` + long + `"]`, ""},
		"only blanks":          {strings.Repeat(" ", wire.MaxPayload+1), ""},
		"deep":                 {`{"tool_response":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `,"a":"` + long + `"}`, ""},
		"a comma too many":     {`{"tool_response":"` + long + `",}`, ""},
	} {
		got, cut, err := readPayload(strings.NewReader(tt.in), true)
		want := tt.want
		if want == "" {
			want = tt.in[:wire.MaxPayload]
		}
		if err != nil || !cut || string(got) != want {
			t.Errorf("%s: %d bytes, cut %v, %v: %.80s", name, len(got), cut, err, got)
		}
		if _, _, err := readPayload(strings.NewReader(tt.in), false); err == nil {
			t.Errorf("%s: taken before the call ran", name)
		}
	}
	if got, cut, err := readPayload(strings.NewReader(`{"tool_response":{}}`), true); cut || err != nil || string(got) != `{"tool_response":{}}` {
		t.Errorf("a short report: %s, %v, %v", got, cut, err)
	}
}

func FuzzWithoutResult(f *testing.F) {
	f.Add(`{"a":[1],"tool_response":{"b":"c"},"error":"long enough, this"}`)
	f.Add(`{}`)
	f.Fuzz(func(t *testing.T, in string) {
		out := withoutResult([]byte(in))
		if out == nil {
			return
		}
		var was, is map[string]json.RawMessage
		if json.Unmarshal([]byte(in), &was) != nil {
			return // deeper, or not UTF-8
		}
		if err := json.Unmarshal(out, &is); err != nil || len(was) != len(is) {
			t.Fatalf("%q: %q", in, out)
		}
		for key, value := range was {
			if key != "tool_response" && key != "error" && string(is[key]) != string(value) {
				t.Errorf("%q changed: %q", key, out)
			}
		}
	})
}
