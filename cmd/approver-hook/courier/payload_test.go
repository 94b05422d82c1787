package courier

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"approver.example/agents/facts"
	"approver.example/httpapi/wire"
)

// returned are the keys of results.
var returned = facts.Of("claude").Returned

// A report that is too long loses what the call returned and nothing else; one of which
// that cannot be said is cut off, and the daemon is told all the same. A call that has
// not run is refused here.
func TestLongReports(t *testing.T) {
	long := strings.Repeat("x", wire.MaxPayload)
	for name, tt := range map[string]struct {
		in, want string // an empty want is the beginning
	}{
		"a long result": {`{"a":1, "tool_response" : {"x":"` + long + `"}, "tool_use_id":"t"}`,
			`{"a":1, "tool_response" :null, "tool_use_id":"t"}`},
		"a long result at end": {`{"a":1,"tool_response":"` + long + `"}`, `{"a":1,"tool_response":null}`},
		"a long error": {` {"error":"` + long + `","a":{"error":"kept"}}`,
			` {"error":"not read","a":{"error":"kept"}}`},
		"a quote in the result": {`{"tool_response":"\\\\\"},{` + long + `","a":1}`, `{"tool_response":null,"a":1}`},
		"brackets that lie":     {`{"tool_response":["` + long + `"},"a":1]}`, ""},
		"a line in the result":  {"{\"tool_response\":\"\n" + long + "\"}", ""},
		"a key of the result": {`{"tool_response":{"tool_input":"` + long + `"},"tool_input":1}`,
			`{"tool_response":null,"tool_input":1}`},
		"a result in the result": {`{"a":{"tool_response":1},"tool_response":{"tool_response":"` + long + `"}}`,
			`{"a":{"tool_response":1},"tool_response":null}`},
		"results twice": {`{"tool_response":"` + long + `","tool_response":[[1,2,3]]}`,
			`{"tool_response":null,"tool_response":null}`},
		"long arguments": {`{"tool_input":"` + long + `","tool_response":1}`, ""},
		"an escaped key": {`{"tool_respons\u0065":"` + long + `"}`, ""},
		"cut off":        {`{"tool_response":"` + long, ""},
		"more behind":    {`{"tool_response":"` + long + `"} {}`, ""},
		"no object":      {`["` + long + `"]`, ""},
		"only blanks":    {strings.Repeat(" ", wire.MaxPayload+1), ""},
		"deep": {`{"tool_response":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `,"a":"` +
			long + `"}`, ""},
		"a comma too many": {`{"tool_response":"` + long + `",}`, ""},
	} {
		got, cut, err := readPayload(strings.NewReader(tt.in), true, returned)
		want := tt.want
		if want == "" {
			want = tt.in[:wire.MaxPayload]
		}
		if err != nil || !cut || string(got) != want {
			t.Errorf("%s: %d bytes, cut %v, %v: %.80s", name, len(got), cut, err, got)
		}
		if _, _, err := readPayload(strings.NewReader(tt.in), false, returned); err == nil {
			t.Errorf("%s: taken before the call ran", name)
		}
	}
	if got, cut, err := readPayload(strings.NewReader(`{"tool_response":{}}`), true, returned); cut || err != nil ||
		string(got) != `{"tool_response":{}}` {
		t.Errorf("a short report: %s, %v, %v", got, cut, err)
	}
}

// The story: an agent edited a file of 40 MB, and its report, which holds the file, had
// 80 MB. Of more than 64 MB only the beginning was sent, nobody could say what had
// run, and the agent was frozen. The length of a result does not matter any more.
func TestAVeryLongResult(t *testing.T) {
	in := io.MultiReader(strings.NewReader(`{"a":1,"tool_response":"`), io.LimitReader(letters{}, 100<<20),
		strings.NewReader(`","b":2}`))
	got, cut, err := readPayload(in, true, returned)
	if string(got) != `{"a":1,"tool_response":null,"b":2}` || !cut || err != nil {
		t.Errorf("%.80s, %v, %v", got, cut, err)
	}
}

// The report of the longest call that is judged fits, with all that it says more.
func TestTheLongestCallHasAReport(t *testing.T) {
	call := `{"tool_input":"` + strings.Repeat("x", maxCall-17) + `"}`
	if _, _, err := readPayload(strings.NewReader(call), false, returned); err != nil {
		t.Fatal(err)
	}
	report := call[:len(call)-1] + `,"tool_response":"` + strings.Repeat("y", 1<<20) + `","duration_ms":12,"more":"` +
		strings.Repeat("z", 60<<10) + `"}`
	got, cut, err := readPayload(strings.NewReader(report), true, returned)
	if !strings.HasPrefix(string(got), call[:len(call)-1]+`,"tool_response":null,"duration_ms":12,`) || !cut ||
		err != nil || len(got) < maxCall {
		t.Errorf("%d bytes, %v, %v", len(got), cut, err)
	}
}

// letters is an endless text.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func FuzzWithoutResult(f *testing.F) {
	f.Add(`{"a":[1],"tool_response":{"b":"c"},"error":"long enough, this"}`)
	f.Add(`{}`)
	f.Fuzz(func(t *testing.T, in string) {
		half := len(in) / 2
		out := withoutResult([]byte(in[:half]), strings.NewReader(in[half:]), returned)
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
