package audit

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example"
	"approver.example/display"
	"approver.example/tokens"
)

// A line that readLink takes is one that seal would have written.
func FuzzReadLink(f *testing.F) {
	at := place{hash: genesis()}
	f.Add(bytes.TrimSuffix(seal(nil, []byte(`{"v":1,"event":"verdict"}`), "log", &at), []byte("\n")))
	f.Add([]byte(`{"seq":1,"prev":"` + at.hash.String() + `","hash":"` + at.hash.String() + `"}`))
	f.Add([]byte(`{"a":"\",\"seq\":1","seq":01}`))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, line []byte) {
		l, err := readLink(line)
		if err != nil {
			return
		}
		var m struct {
			Seq        uint64
			Prev, Hash string
		}
		if err := json.Unmarshal(line, &m); err != nil || m.Seq != l.seq || m.Prev != l.prev.String() ||
			m.Hash != l.hash.String() || l.seq == 0 {
			t.Errorf("%q: read as %+v, JSON says %+v, %v", line, l, m, err)
		}
		changed := bytes.Clone(line)
		changed[len(line)/2] ^= 1
		if other, err := readLink(changed); err == nil && other == l {
			t.Errorf("%q: a flipped bit goes unnoticed", line)
		}
	})
}

// Whatever a record holds, its line is sealed, read and verified, and no code
// that tokens.Find sees is left in it.
func FuzzLine(f *testing.F) {
	f.Add("rm -rf /", `{"command":"rm -rf /"}`, "note", uint8(0))
	f.Add("CONFIRM-7KQ4MX", `{"a":["confirm 7kq4mx"]}`, "\xff\x00CONFIRM—7KQ4MX", uint8(3))
	f.Add(strings.Repeat("x", 5000), `{`, "‹›⟨⟩", uint8(200))
	f.Fuzz(func(t *testing.T, command, args, note string, decision uint8) {
		r := newRedactor(asIs)
		line := r.lineOf(approver.Record{
			Event: approver.EventVerdict, Note: note,
			Call:    approver.ToolCall{Tool: note, Command: command, Args: json.RawMessage(args), Dir: command},
			Verdict: approver.Verdict{Decision: approver.Decision(decision), Reason: note, Args: json.RawMessage(args)},
		}, "host", testTime)
		body, err := display.EncodeJSON(line)
		must(t, err)
		at := place{hash: genesis()}
		sealed := bytes.TrimSuffix(seal(nil, body, "log", &at), []byte("\n"))
		l, err := readLink(sealed)
		if err != nil || l.place != at || bytes.ContainsRune(sealed, '\n') {
			t.Fatalf("%q: %v", sealed, err)
		}
		back, err := ParseLine(sealed)
		must(t, err)
		for _, s := range []string{back.Note, back.Command, back.Tool, back.Dir, back.Reason} {
			if code, err := tokens.Find(s); err == nil {
				t.Errorf("a code of %d characters is left in %q", len(code.Reveal()), s)
			}
		}
		if human := back.Human(); strings.ContainsAny(human, "\x1b\r\n") {
			t.Errorf("human: %q", human)
		}
	})
}

// A log is whatever somebody put in its place: no reader of it may panic, what
// is found is kept, and afterwards the end is sound.
func FuzzResume(f *testing.F) {
	at := place{hash: genesis()}
	one := seal(nil, []byte(`{"v":1,"event":"verdict"}`), "test", &at)
	two := seal(nil, []byte(checkpointStart+`{"key_id":"k"},"v":1}`), "test", &at)
	f.Add(one)
	f.Add([]byte("{\n"))
	f.Add(append(bytes.Clone(one), one...))
	f.Add(append(bytes.Clone(one), two...))
	f.Add(append([]byte("x\n"), two...))
	key, _ := testKey(f)
	f.Fuzz(func(t *testing.T, content []byte) {
		o := Options{Dir: t.TempDir(), ID: "test", Key: key, Redact: display.Mask, sync: func(*os.File) error { return nil }}
		path := filepath.Join(o.Dir, activeName)
		writeFile(t, path, content)
		resume := func() (*Log, []alarm) {
			l := build(o, nil)
			alarms, err := l.resume(nil, false)
			must(t, err)
			must(t, l.active.file.Close())
			return l, alarms
		}
		first, alarms := resume()
		kept := readFile(t, path)
		if !bytes.HasPrefix(content, kept) || len(kept) > 0 && kept[len(kept)-1] != '\n' {
			t.Errorf("%q stays of %q", kept, content)
		}
		torn, err := filepath.Glob(filepath.Join(o.Dir, "*.torn"))
		if err != nil || (len(torn) == 1) != (len(kept) < len(content)) {
			t.Fatalf("%d of %d bytes stay, side files %q, %v", len(kept), len(content), torn, err)
		}
		if len(torn) == 1 && (len(alarms) == 0 || !bytes.Equal(append(kept, readFile(t, torn[0])...), content)) {
			t.Errorf("something of %v is lost, alarms %+v", content, alarms)
		}
		again, more := resume()
		if again.queue.end != first.queue.end || again.active.size != first.active.size || len(more) > len(alarms) {
			t.Errorf("the second start ends at %v %d with %v, the first at %v %d", again.queue.end, again.active.size, more,
				first.queue.end, first.active.size)
		}
	})
}
