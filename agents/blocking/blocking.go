// Package blocking knows how each agent is told "no".
//
// It is the part of the agents' dialects that must work when nothing else does:
// the courier links it in and prints [For] when the daemon cannot be reached,
// answers nonsense, or the courier itself is being stopped. It is therefore a
// string escaper over the table of package facts, imports next to nothing, and cannot fail.
//
// Agents let a tool run after most things that a broken hook does: a crash, a
// signal, a timeout, cut-off JSON, an empty reason. What stops all of those that
// were measured is all of it at once: the dialect's own document on stdout with
// a reason that is not empty, the reason on stderr, and exit code 2. A few agents
// read it otherwise, and their facts say so: some heed the document only where the
// exit code is 0, and one has no document.
package blocking

import (
	"unicode/utf8"

	"approver.example/agents/facts"
)

// An Answer is what a hook process leaves behind. The zero value ends with exit
// code 2.
type Answer struct {
	// Stdout is empty, or exactly one JSON document on one line.
	Stdout []byte
	// Stderr is text for the model; never empty when the exit code is 2.
	Stderr []byte
	// ExitZero makes the exit code 0, so that Stdout, or its emptiness, is the
	// answer. Otherwise the exit code is 2, which blocks. It is set only in a whole
	// answer of the daemon, and by For where the row of an agent says so.
	ExitZero bool
}

// Exit returns the exit code: 0 or 2, never another.
func (a Answer) Exit() int {
	if a.ExitZero {
		return 0
	}
	return 2
}

// NoReason stands in for a reason that is empty.
const NoReason = "blocked by approver; no reason was given"

// For returns the answer that makes agent stop at event, and tells it why.
// Unknown agents and events get the strictest answer known.
func For(agent, event, reason string) Answer {
	reason = Line(reason)
	e := facts.At(agent, event)
	a := Answer{Stderr: append([]byte(reason), '\n')}
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

// Known reports whether it is known how the agent is told "no". The hook must not
// be put into the settings of another one: what it answers when it cannot ask may
// be no objection there.
func Known(agent string) bool { return facts.Of(agent).Name != "" }

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
