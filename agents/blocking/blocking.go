// Package blocking knows how each agent is told "no".
//
// It is the part of the agents' dialects that must work when nothing else does:
// the courier links it in and prints [For] when the daemon cannot be reached,
// answers nonsense, or the courier itself is being stopped. It is therefore a
// table and a string escaper, imports next to nothing, and cannot fail.
//
// Agents let a tool run after most things that a broken hook does: a crash, a
// signal, a timeout, cut-off JSON, an empty reason. What stops all of those that
// were measured is all of it at once: the dialect's own document on stdout with
// a reason that is not empty, the reason on stderr, and exit code 2.
package blocking

import "unicode/utf8"

// An Answer is what a hook process leaves behind. The zero value ends with exit
// code 2.
type Answer struct {
	// Stdout is empty, or exactly one JSON document on one line.
	Stdout []byte
	// Stderr is text for the model; never empty when the exit code is 2.
	Stderr []byte
	// ExitZero makes the exit code 0, so that Stdout, or its emptiness, is the
	// answer. Otherwise the exit code is 2, which blocks.
	ExitZero bool
}

// Exit returns the exit code: 0 or 2, never another.
func (a Answer) Exit() int {
	if a.ExitZero {
		return 0
	}
	return 2
}

// A row is one event of one agent: the document is before, the reason as a JSON
// string, and after.
type row struct{ agent, event, before, after string }

// rows holds the blocking answers. The first row of an agent is also its answer
// to an event that is not listed, and the first row of all that of an agent that
// is not listed.
var rows = [...]row{
	{"claude", "PreToolUse", denyTool, "}}"},
	{"claude", "PermissionRequest", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":`, "}}}"},
	{"claude", "PostToolUse", `{"decision":"block","reason":`, "}"},
	{"claude", "PostToolUseFailure", `{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":`, "}}"},
	{"claude", "ConfigChange", `{"decision":"block","reason":`, "}"},
	{"codex", "PreToolUse", denyTool, "}}"},
	{"qwen", "PreToolUse", denyTool, "}}"},
	{"droid", "PreToolUse", denyTool, "}}"},
	{"gemini", "BeforeTool", `{"decision":"deny","reason":`, "}"},
	{"copilot", "preToolUse", `{"permissionDecision":"deny","permissionDecisionReason":`, "}"},
	{"copilot", "permissionRequest", `{"behavior":"deny","message":`, "}"},
}

const denyTool = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":`

// NoReason stands in for a reason that is empty.
const NoReason = "blocked by approver; no reason was given"

// For returns the answer that makes agent stop at event, and tells it why.
// Unknown agents and events get the strictest answer known.
func For(agent, event, reason string) Answer {
	reason = Line(reason)
	r := find(agent, event)
	out := make([]byte, 0, len(r.before)+len(reason)+len(r.after)+16)
	out = append(out, r.before...)
	out = AppendQuoted(out, reason)
	out = append(out, r.after...)
	return Answer{Stdout: append(out, '\n'), Stderr: append([]byte(reason), '\n')}
}

func find(agent, event string) row {
	best := -1
	for i, r := range rows {
		if r.agent != agent {
			continue
		}
		if r.event == event {
			return r
		}
		if best < 0 {
			best = i
		}
	}
	return rows[max(best, 0)]
}

// MaxLine is the greatest length in bytes of what Line returns.
const MaxLine = 4096

// Line makes a reason fit to be told: one line of valid UTF-8 without control
// characters, at most MaxLine bytes, and never empty.
func Line(s string) string {
	out := make([]byte, 0, min(len(s), MaxLine))
	space := true // leading white space is dropped, runs of it become one
	for _, r := range s {
		switch {
		case r < ' ' || r == ' ' || r >= 0x7f && r <= 0x9f || r == 0x2028 || r == 0x2029:
			if space {
				continue
			}
			r, space = ' ', true
		default:
			space = false
		}
		if len(out)+utf8.RuneLen(r) > MaxLine {
			break
		}
		out = utf8.AppendRune(out, r)
	}
	if n := len(out); n > 0 && out[n-1] == ' ' {
		out = out[:n-1]
	}
	if len(out) == 0 {
		return NoReason
	}
	return string(out)
}

const hex = "0123456789abcdef"

// AppendQuoted appends s as a JSON string, byte for byte as encoding/json does
// without HTML escaping: bytes that are no UTF-8 become \ufffd.
func AppendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		b := s[i]
		if b < utf8.RuneSelf {
			dst = appendASCII(dst, b)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(dst, `\ufffd`...)
		case r == 0x2028 || r == 0x2029: // line ends in JavaScript
			dst = append(dst, `\u202`...)
			dst = append(dst, hex[r&0xf])
		default:
			dst = append(dst, s[i:i+size]...)
		}
		i += size
	}
	return append(dst, '"')
}

func appendASCII(dst []byte, b byte) []byte {
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	if b < ' ' {
		return append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&0xf])
	}
	return append(dst, b)
}
