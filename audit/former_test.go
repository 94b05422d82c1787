package audit

import (
	"testing"
	"time"

	"approver.example"
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
	if err != nil {
		t.Fatal(err)
	}
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
