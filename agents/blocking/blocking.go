// Package blocking writes each agent's blocking answer.
//
// It is the part of the agents' protocols that must work when nothing else does: the courier prints
// [For] if it cannot reach the daemon, if the daemon's answer is not valid, or if the courier
// itself is being stopped. So it only quotes a string, uses the table of package facts, imports
// almost nothing, and cannot fail.
//
// Agents let a tool run after most failures of a hook: a crash, a signal, a timeout, incomplete
// JSON, an empty reason. All agents that were tested stop if they get everything at once: their own
// document on stdout with a reason that is not empty, the reason on stderr, and exit code 2. The
// facts of a few agents say otherwise: some read the document only if the exit code is 0, and one
// has no document.
package blocking

import (
	"unicode/utf8"

	"approver.example/agents/facts"
)

// An Answer is the output of a hook process. The zero value has exit code 2.
type Answer struct {
	// Stdout is empty, or exactly one JSON document on one line.
	Stdout []byte
	// Stderr is text for the model; never empty when the exit code is 2.
	Stderr []byte
	// ExitZero makes the exit code 0, so that Stdout, even if it is empty, is the answer. Otherwise
	// the exit code is 2, which blocks. It is set only in a complete answer of the daemon, and by For
	// if the facts of an agent say so.
	ExitZero bool
	// Blocks says that For made the answer: the call does not run, whatever the exit code is.
	Blocks bool
}

// Exit returns the exit code: 0 or 2, never another.
func (a Answer) Exit() int {
	if a.ExitZero {
		return 0
	}
	return 2
}

// NoReason replaces a reason that is empty.
const NoReason = "blocked by approver; no reason was given"

// For returns the answer that makes an agent stop at an event, with the reason. For unknown agents
// and events it returns the strictest answer.
func For(agent, event, reason string) Answer {
	reason = Line(reason)
	e := facts.At(agent, event)
	a := Answer{Stderr: append([]byte(reason), '\n'), Blocks: true}
	if e.Before == "" {
		return a
	}
	out := make([]byte, 0, len(e.Before)+len(reason)+len(e.After)+16)
	out = append(out, e.Before...)
	out = AppendQuoted(out, reason)
	out = append(out, e.After...)
	a.Stdout = append(out, '\n')
	a.ExitZero = e.DocumentOnly
	return a
}

// Known reports whether the agent's blocking answer is known. The hook must not be put into the
// settings of another agent, because its answer there may not block.
func Known(agent string) bool { return facts.Of(agent).Name != "" }

// MaxLine is the greatest length in bytes of what Line returns.
const MaxLine = 4096

// Line returns a reason as one line of valid UTF-8 without control characters, with at most MaxLine
// bytes, and never empty.
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

// AppendQuoted appends s as a JSON string, exactly as encoding/json does without HTML escaping:
// bytes that are not UTF-8 become \ufffd.
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
