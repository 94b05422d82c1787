package memory

import (
	"bytes"
	"encoding/json"
	"testing"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/loop"
)

// Whatever lies in the store: it is read within bounds, or refused. What was read
// is written as it was.
func FuzzDecode(f *testing.F) {
	var w loop.Window
	for range 3 {
		c := loop.Describe("Bash", "make test", nil, loop.Run)
		w.Judge(c, loop.DefaultLimits)
		w.Add(c, loop.DefaultLimits)
		w.Ran(c.Hash, loop.Measure("error: no", true))
	}
	trace, err := encodeTrace(w, []string{"/p/x"})
	if err != nil {
		f.Fatal(err)
	}
	taint, _, err := encodeTaint([]file{{Path: "/tmp/x", Bits: uint8(effect.Network), Tree: true}}, forgotten{})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{trace, taint, nil, []byte(`{"v":2}`), []byte(`{"v":1,"files":[{"p":"x","t":9}]}`),
		[]byte(`{"v":1,"window":{"next":1,"calls":[{"n":2}]}}`), []byte(`{"v":1,"made":["../x"]}`)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := decodeTrace(b); err == nil {
			c := loop.Describe("Bash", "make test", nil, loop.Run)
			r.Window.Judge(c, loop.DefaultLimits)
			r.Window.Add(c, loop.DefaultLimits)
			r.Window.Ran(c.Hash, loop.Measure("x", true))
			other := loop.Window{}
			other.Merge(r.Window, 0)
			out, err := encodeTrace(r.Window, r.Made)
			if err != nil || len(out) > maxRecord {
				t.Fatalf("%d bytes: %v", len(out), err)
			}
			if _, err := decodeTrace(out); err != nil {
				t.Fatalf("what was written is not read: %v\n%s", err, out)
			}
		}
		r, err := decodeTaint(b)
		if err != nil || r.Files == nil {
			return
		}
		out, r, err := encodeTaint(r.Files, r.forgotten)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeTaint(out)
		a, _ := json.Marshal(r)
		c, _ := json.Marshal(again)
		if err != nil || !bytes.Equal(a, c) {
			t.Fatalf("%s became %s: %v", a, c, err)
		}
	})
}

// A record that says too much, or nonsense, is refused.
func TestDecodeRefuses(t *testing.T) {
	for _, b := range []string{
		`{`, `{"v":4}`, `{}`, `{"v":3,"files":[{"p":"/x","t":32}]}`, `{"v":3,"files":[],"labels":"AAAA"}`,
		`{"v":2,"files":[],"old":"AAAA"}`, `{"v":1,"files":[{"p":"x","t":2}]}`, `{"v":1,"files":[{"p":"/x","t":0}]}`,
		`{"v":1,"files":[{"p":"/x","t":8}]}`, `{"v":1,"files":[{"p":"/x/../y","t":2}]}`,
	} {
		if files, err := decodeTaint([]byte(b)); err == nil {
			t.Errorf("%s is read as %v", b, files)
		}
	}
	for _, b := range []string{
		`{`, `{"v":2}`, `{"v":1,"made":["x"]}`, `{"v":1,"window":{"next":1,"calls":[{"n":2}]}}`,
		`{"v":1,"window":{"next":9,"calls":[{"n":2},{"n":2}]}}`, `{"v":1,"window":{"next":9,"calls":[{"n":2,"k":9}]}}`,
		`{"v":1,"window":{"next":9,"calls":[{"n":2,"s":-1}]}}`,
	} {
		if r, err := decodeTrace([]byte(b)); err == nil {
			t.Errorf("%s is read as %v", b, r)
		}
	}
}
