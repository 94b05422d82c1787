package courier

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// What is taken for a document is JSON to everybody else, and the other way round
// up to a depth that no answer has.
func FuzzIsDocument(f *testing.F) {
	for _, s := range []string{
		"{}", "{}\n", " {}", "{} ", "{]}", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1 \"b\":2}", "{'a':1}",
		"{a:1}", "{\"a\":01}", "{\"a\":1.}",
		"{\"a\":.5}", "{\"a\":1e}", "{\"a\":-}", "{\"a\":-0.5e+3}", "{\"a\":tru}", "{\"a\":nullx}",
		"{\"a\":[1,[],{\"b\":[true,false,null]}]}",
		"{\"a\":\"\\u12\"}", "{\"a\":\"\\u12aF\\n\"}", "{\"a\":\"\\x\"}", "{\"a\":\"", "{\"a\":\"\\", "{\"a\":\"\t\"}",
		"{\"a\":1}{}", "{\"a\":[}]", "{\"a\" : [ 1 , 2 ] }",
		"[]", "\"a\"", "1", "", "{", "{\"\":{}}", strings.Repeat("{\"a\":", 600) + "1" + strings.Repeat("}", 600),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got := isDocument(b)
		body := bytes.TrimSuffix(b, []byte("\n"))
		want := json.Valid(body) && bytes.HasPrefix(body, []byte("{")) && bytes.HasSuffix(body, []byte("}")) &&
			bytes.IndexByte(body, '\n') < 0
		if got && !want {
			t.Errorf("%q is taken for a document", b)
		}
		if want && !got && bytes.Count(b, []byte("{"))+bytes.Count(b, []byte("[")) <= maxNesting &&
			bytes.ToValidUTF8(body, nil) != nil &&
			bytes.Equal(bytes.ToValidUTF8(body, nil), body) {
			t.Errorf("%q is not taken for a document", b)
		}
	})
}
