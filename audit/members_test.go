package audit

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"approver.example"
	"approver.example/display"
)

// sealedLine is a line of a log as it is written.
func sealedLine(t testing.TB, l Line) []byte {
	t.Helper()
	body, err := display.EncodeJSON(l)
	must(t, err)
	return bytes.TrimSuffix(seal(nil, body, "log", &place{hash: genesis()}), []byte("\n"))
}

// An agent chooses what is in the arguments, and cannot pass a member of them for the line's own.
func TestOnceIsTheLinesOwn(t *testing.T) {
	trick := json.RawMessage(`{"a":1,"once":"forged","b":{"c":[],"once":"forged"},"d":",\"once\":\"forged\""}`)
	base := Line{V: version, Event: approver.EventAsked, Timestamp: testTime}
	for name, change := range map[string]func(*Line){
		"nothing":         func(*Line) {},
		"arguments":       func(l *Line) { l.Args = trick },
		"verdict":         func(l *Line) { l.Verdict = &LineVerdict{Args: trick} },
		"observed":        func(l *Line) { l.Observed = &LineVerdict{Args: trick} },
		"numbers":         func(l *Line) { l.Controls, l.Stored = 12, 34 },
		"heard":           func(l *Line) { l.Heard = new(true) },
		"not heard":       func(l *Line) { l.Heard, l.Stored = new(false), 3 },
		"removed":         func(l *Line) { l.Removed = &Removed{To: 1, Hash: "h"} },
		"broken":          func(l *Line) { l.Broken = &Part{From: 1} },
		"note":            func(l *Line) { l.Note = `,"once":"forged"` },
		"alarm":           func(l *Line) { l.Alarm = `x\",\"once\":\"forged` },
		"a quote at last": func(l *Line) { l.Args, l.Note = trick, `"` },
	} {
		for _, once := range []string{"", "r1:asked", `r1:withdrawn:a"b\`, "r1:é\x01"} {
			l := base
			change(&l)
			l.Once = once
			line := sealedLine(t, l)
			var got string
			if raw := onceOf(line); raw != nil {
				must(t, json.Unmarshal(slices.Concat([]byte{'"'}, raw, []byte{'"'}), &got))
			}
			if got != once {
				t.Errorf("%s: %q, not %q, in %s", name, got, once, line)
			}
		}
	}
}

// onceOf relies on it.
func TestNothingAfterOnceIsFree(t *testing.T) {
	line := reflect.TypeFor[Line]()
	once, _ := line.FieldByName("Once")
	for i := once.Index[0] + 1; i < line.NumField(); i++ {
		switch f := line.Field(i); f.Type {
		case reflect.TypeFor[*Removed](), reflect.TypeFor[*Part](), reflect.TypeFor[uint64](), reflect.TypeFor[*bool](),
			reflect.TypeFor[string]():
		default:
			t.Errorf("%s stands behind once and may have a member once: %s", f.Name, f.Type)
		}
	}
}

// brief is what Query.Brief promises of a line.
func brief(l Line) Line {
	finding := func(v *LineVerdict) *LineVerdict {
		if v == nil {
			return nil
		}
		return &LineVerdict{Decision: v.Decision, By: v.By, Rule: v.Rule, Severity: v.Severity, Shadow: v.Shadow,
			Allowed: v.Allowed}
	}
	return Line{
		V: l.V, Event: l.Event, Timestamp: l.Timestamp, Agent: l.Agent, Tool: l.Tool, Session: l.Session, Dir: l.Dir,
		Command: l.Command, Summary: l.Summary, Args: l.Args, PeerUID: l.PeerUID, Again: l.Again,
		Verdict: finding(l.Verdict), Observed: finding(l.Observed),
	}
}

func TestBriefly(t *testing.T) {
	v := approver.Verdict{Decision: approver.Ask, By: "policy", Rule: "<r>", Severity: approver.High,
		Shadow: []string{"a"}, Allowed: []string{`b"`}, Reason: "why", Args: []byte(`{"decision":"deny"}`),
		Chain: []approver.Finding{{By: "x", Rule: "y", Decision: approver.Deny}}}
	c := shell("echo \"a\\\" é\x01\n")
	c.Peer = approver.Peer{Known: true, UID: 7}
	for name, r := range map[string]approver.Record{
		"verdict":  {Event: approver.EventVerdict, Call: c, Verdict: v},
		"observed": {Event: approver.EventVerdict, Call: c, Observed: &v, Again: true},
		"bare":     {Event: approver.EventStarted},
	} {
		line := sealedLine(t, newRedactor(asIs).lineOf(r, "host", testTime))
		whole, err := ParseLine(line)
		must(t, err)
		got, ok := briefly(line)
		if want := brief(whole); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v\nnot %+v", name, got, want)
		}
		if event, at, ok := headOf(line); !ok || event != r.Event || !at.Equal(testTime) {
			t.Errorf("%s: head %v %v %v", name, event, at, ok)
		}
		line[20] ^= 1
		if _, _, ok := headOf(line); ok {
			t.Errorf("%s: a changed line was believed without a look at its JSON", name)
		}
	}
	for _, line := range []string{
		``, `{`, `{}`, `[]`, `{"v":2,"event":"verdict"}`, `{"v":1}`, `{"v":1,"event":"a"`, `{"v":1,"event":"a"}x`,
		`{"v":1,"event":"a",}`,
		`{ "v":1,"event":"a"}`, `{"v":1,"event":3}`, `{"v":1,"event":"a","verdict":"deny"}`,
		`{"v":1,"event":"a","verdict":{"decision":"x"}}`,
		`{"v":1,"event":"a","args":{]}`, `{"v":1,"event":"\q"}`, `{"v":1,"event":"a","peer_uid":-1}`,
	} {
		if l, ok := briefly([]byte(line)); ok && json.Valid([]byte(line)) {
			t.Errorf("%s: %+v", line, l)
		}
	}
}

// What eachMember finds in valid JSON is what encoding/json finds, and no bytes make it fail.
func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"v":1,"event":"asked","a":[1,{"b":"\\\""}],"once":"r:asked","c":{},"d":null}`))
	f.Add([]byte(`{"a":"x","once":"y"`))
	f.Add([]byte(`{"a":{"once":"y","once":"z"},"seq":1}`))
	f.Add([]byte(`{"a":"\`))
	f.Add(sealedLine(f, newRedactor(asIs).lineOf(benchRecord(1), "host", testTime)))
	f.Fuzz(func(t *testing.T, b []byte) {
		once := onceOf(b)
		got := map[string]string{}
		ok := eachMember(b, func(name, value []byte) bool {
			got[string(name)] = string(value)
			return true
		})
		_, _ = briefly(b)
		_, _, _ = headOf(b)
		var want map[string]json.RawMessage
		if !ok || json.Unmarshal(b, &want) != nil {
			return
		}
		for name, value := range got {
			var plain string
			must(t, json.Unmarshal([]byte(`"`+name+`"`), &plain))
			if len(got) == len(want) && value != string(want[plain]) {
				t.Errorf("%q is %q, not %q", name, value, want[plain])
			}
		}
		if once != nil && got["once"] == "" {
			t.Errorf("once %q is no member of the object", once)
		}
	})
}
