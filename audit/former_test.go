package audit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
)

// The story: people approved a long build, and the daemon was upgraded while it ran.
// The version before kept no record of what it let run, so that the report of the build
// looked like a call around the gate, and its agent was frozen. The audit knows it; but
// only that very call, once, and only from lines of that version.
func TestCallsReleasedByTheVersionBefore(t *testing.T) {
	build := shell("make release")
	build.Peer = approver.Peer{Known: true, UID: 1000, PID: 1}
	with := func(change func(*approver.ToolCall)) approver.ToolCall { c := build; change(&c); return c }
	o, _ := options(t)
	l := open(t, o)
	for _, c := range []approver.ToolCall{build, build, with(func(c *approver.ToolCall) { c.Dir = "/other" })} {
		record(t, l, approver.Record{Event: approver.EventReleased, Call: c})
	}
	record(t, l, approver.Record{Event: approver.EventRan, Call: with(func(c *approver.ToolCall) { c.ID = "another" })})
	record(t, l, approver.Record{Event: approver.EventVerdict, Call: shell("never approved")})
	closeLog(t, l)
	o.Controls = func() uint64 { return 1 }
	l = open(t, o)
	record(t, l, approver.Record{Event: approver.EventReleased, Call: shell("of this version")})
	r, err := l.Released(time.Now().Add(-time.Hour))
	must(t, err)
	for name, c := range map[string]approver.ToolCall{
		"other arguments":   with(func(c *approver.ToolCall) { c.Args = []byte(`{"command":"make  release"}`) }),
		"another user":      with(func(c *approver.ToolCall) { c.Peer.UID = 1001 }),
		"an unknown user":   with(func(c *approver.ToolCall) { c.Peer = approver.Peer{} }),
		"another agent":     with(func(c *approver.ToolCall) { c.Agent = "codex" }),
		"another session":   with(func(c *approver.ToolCall) { c.Session = "s-2" }),
		"another folder":    with(func(c *approver.ToolCall) { c.Dir = "/" }),
		"another tool":      with(func(c *approver.ToolCall) { c.Tool = "Write" }),
		"no tool":           with(func(c *approver.ToolCall) { c.Tool = "" }),
		"never approved":    with(func(c *approver.ToolCall) { c.Args = shell("never approved").Args }),
		"of this version":   with(func(c *approver.ToolCall) { c.Args = shell("of this version").Args }),
		"no arguments":      with(func(c *approver.ToolCall) { c.Args = nil }),
		"the zero value":    {},
		"no session at all": with(func(c *approver.ToolCall) { c.Session = "" }),
	} {
		if r.Take(c) {
			t.Errorf("%s is taken for it", name)
		}
	}
	again := with(func(c *approver.ToolCall) { c.ID, c.Peer.PID = "its report", 7 })
	if !r.Take(again) || r.Take(again) {
		t.Error("of two releases one was reported: the other counts, once")
	}
	if old, err := l.Released(time.Now().Add(time.Hour)); err != nil || old.Take(build) || (*Released)(nil).Take(build) {
		t.Errorf("too old, or nothing known: %v", err)
	}
}

// asStored is a call as it comes back out of the store, where released lines are from.
func asStored(t *testing.T, c approver.ToolCall) approver.ToolCall {
	t.Helper()
	b, err := json.Marshal(broadcaster.Request{Call: c})
	var r broadcaster.Request
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	must(t, err)
	r.Call.Peer = c.Peer
	return r.Call
}

// The story: people approved `git add x && git push`, and the daemon was upgraded while
// it ran. The line of the release has the arguments as the store keeps them, with & as
// an escape, and the report has them as the agent sent them: the call was not known, and
// its agent was frozen. Both are the same call now. Another command is still another.
func TestCallsOfTheVersionBeforeInOtherSpellings(t *testing.T) {
	for name, args := range map[string]string{
		"and":               `{"command":"git add x && git push --force"}`,
		"into a file":       `{"command":"make >out"}`,
		"a here-document":   `{"command":"cat <<EOF\nx\nEOF"}`,
		"both streams":      `{"command":"make 2>&1 | tee log"}`,
		"in the background": `{"command":"make &"}`,
		"escaped by agent":  `{"command":"a \u0026\u0026 b"}`,
		"escaped, capital":  `{"command":"a \u003E b > c"}`,
		"white space":       `{ "command" : "make" }`,
		"lines":             "{\n\t\"command\": \"make && x\"\r\n}\n",
		"a line separator":  "{\"command\":\"a\u2028b\"}",
		"in a name":         `{"a&b":"x"}`,
		"nested":            `{"edits":[{"old":"a<b","new":"a>b"}, {"old":"<","new":"&"}]}`,
		"a secret":          `{"command":"export API_TOKEN=sk-live-0123456789abcdef0123 && make"}`,
		"two of one name":   `{"command":"a","command":"b && c"}`,
		"a number":          `{"n": 1.0e2, "command":"a&b"}`,
		"an array":          `[ 1, "<" ]`,
		"plain":             `{"command":"make"}`,
		"an emoji":          `{"command":"echo \ud83d\ude00 && x"}`,
		"a slash":           `{"path":"a\/b", "c":"<"}`,
		"an empty object":   `{ }`,
		"html":              `{"content": "<p>a &amp; b</p>"}`,
	} {
		t.Run(name, func(t *testing.T) {
			call := shell("x")
			call.Peer, call.Args = approver.Peer{Known: true, UID: 1000, PID: 1}, []byte(args)
			for reported := range 3 { // how many of two releases were reported before the upgrade
				o, _ := options(t)
				l := open(t, o)
				for range 2 {
					record(t, l, approver.Record{Event: approver.EventReleased, Call: asStored(t, call)})
				}
				for range reported {
					record(t, l, approver.Record{Event: approver.EventRan, Call: call})
				}
				r, err := l.Released(time.Now().Add(-time.Hour))
				must(t, err)
				other := call
				other.Args = fmt.Appendf(nil, `{"command":"rm -rf / && true","and":%s}`, args)
				if r.Take(other) {
					t.Error("another call is taken for it")
				}
				left := 0
				for r.Take(call) {
					left++
				}
				if want := 2 - reported; left != want {
					t.Errorf("%d reported: %d are left, want %d", reported, left, want)
				}
			}
		})
	}
}

// Long arguments are cut in the log, and look alike. A report that fits none of two calls
// to the byte takes both out, so that neither counts for a second run. Two calls that
// differ in a secret only are still told from each other.
func TestReportsThatFitSeveralCalls(t *testing.T) {
	long := strings.Repeat("x", 2*textLimit)
	for name, tt := range map[string]struct {
		first, second string
		report        string // empty is the first
		left          bool   // of the second
	}{
		"cut": {first: "a && " + long + "1", second: "b && " + long + "2", report: "c && " + long + "3"},
		"secret": {first: "API_TOKEN=sk-live-0123456789abcdef0123 a && b",
			second: "API_TOKEN=sk-live-9876543210abcdef3210 a && b", left: true},
	} {
		o, _ := options(t)
		l := open(t, o)
		call := func(command string) approver.ToolCall {
			c := shell("x")
			c.Peer, c.Args = approver.Peer{Known: true, UID: 1000}, []byte(`{"command":"`+command+`"}`)
			return c
		}
		first, second := call(tt.first), call(tt.second)
		for _, c := range []approver.ToolCall{first, second} {
			record(t, l, approver.Record{Event: approver.EventReleased, Call: asStored(t, c)})
		}
		report := first
		if tt.report != "" {
			report = call(tt.report)
		}
		record(t, l, approver.Record{Event: approver.EventRan, Call: report})
		r, err := l.Released(time.Now().Add(-time.Hour))
		if err != nil || r.Take(first) || r.Take(second) != tt.left {
			t.Errorf("%s: %v", name, err)
		}
	}
}
