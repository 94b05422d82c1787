package courier

import (
	"errors"
	"io"
	"strconv"

	"approver.example/agents/facts"
	"approver.example/httpapi/wire"
)

// maxCall bounds a call before it runs, in bytes. The report of it says some things
// more, and has to fit into what is sent as well: an honest call must not be one of
// which nobody can say what ran.
const maxCall = wire.MaxPayload - 64<<10

// readPayload reads the hook's standard input whole. Of a report that is too long to
// send, it returns a part: the call ran, and the daemon has to hear of it whatever
// came with it. What a tool returned may be of any length: an edit reports the whole
// file.
func readPayload(r io.Reader, report bool, returned []facts.Field) (payload []byte, cut bool, err error) {
	limit := maxCall
	if report {
		limit = wire.MaxPayload
	}
	payload, err = io.ReadAll(io.LimitReader(r, int64(limit)+1))
	switch {
	case err != nil && report:
		return payload[:min(len(payload), limit)], true, nil
	case err != nil:
		return nil, false, errors.New("the approver hook could not read its input (" + err.Error() +
			"), so the call was stopped")
	case len(payload) <= limit:
		return payload, false, nil
	case !report:
		return nil, false, errors.New("the call has more than " + strconv.Itoa(limit) +
			" bytes, which is more than approver judges, so it was stopped; make it smaller")
	}
	if short := withoutResult(payload, r, returned); short != nil {
		return short, true, nil
	}
	return payload[:limit], true, nil
}

// withoutResult reads a report, of which begun was read already, and puts a short value
// in the place of each that says what the call returned. It leaves every other byte, so
// that the daemon checks what is left as always, and keeps no more than that in memory.
// It returns nil for what is not one JSON object, or is too long all the same.
func withoutResult(begun []byte, rest io.Reader, returned []facts.Field) []byte {
	c := cutter{returned: returned}
	c.Write(begun)
	chunk := make([]byte, 64<<10)
	for !c.broken {
		n, err := rest.Read(chunk)
		c.Write(chunk[:n])
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil
		}
	}
	out := c.out
	if i := jsonSpace(out, 0); c.broken || i >= len(out) || out[i] != '{' || jsonSpace(out, jsonEnd(out, i)) != len(out) {
		return nil
	}
	return out
}

// A cutter takes the text of an object and keeps it in out, without what a call
// returned.
type cutter struct {
	returned []facts.Field // what is left out
	out      []byte
	open     []byte // the brackets that are open
	key      []byte // of the object itself, with its quotes
	skips    bool   // within a value that is left out
	wantKey  bool   // the next string is a key
	inKey    bool
	quoted   bool // within a string
	escaped  bool // behind a backslash
	broken   bool
}

// Write takes the next part.
func (c *cutter) Write(part []byte) {
	for _, b := range part {
		switch {
		case c.quoted:
			c.text(b)
		default:
			c.mark(b)
		}
		c.broken = c.broken || len(c.out) > wire.MaxPayload
		if c.broken {
			return
		}
	}
}

func (c *cutter) keep(b byte) {
	if !c.skips {
		c.out = append(c.out, b)
	}
}

// text takes a byte of a string.
func (c *cutter) text(b byte) {
	c.keep(b)
	if c.inKey {
		c.key = append(c.key, b)
	}
	switch {
	case c.escaped:
		c.escaped = false
	case b == '\\':
		c.escaped = true
	case b == '"':
		c.quoted, c.inKey = false, false
	case b < ' ':
		c.broken = true
	}
}

// mark takes a byte outside of strings.
func (c *cutter) mark(b byte) {
	switch b {
	case '"':
		c.quoted = true
		if c.wantKey && len(c.open) == 1 {
			c.inKey, c.wantKey, c.key = true, false, append(c.key[:0], b)
		}
	case '{', '[':
		c.open = append(c.open, b)
		c.broken = len(c.open) > maxNesting
		c.wantKey = c.wantKey || len(c.open) == 1
	case '}', ']':
		if len(c.open) == 0 || c.open[len(c.open)-1] != b-2 { // in ASCII both are two behind
			c.broken = true
			return
		}
		if c.open = c.open[:len(c.open)-1]; len(c.open) == 0 {
			c.skips = false
		}
	case ',':
		if len(c.open) == 1 {
			c.skips, c.wantKey = false, true
		}
	case ':':
		c.keep(b)
		if len(c.open) == 1 {
			c.value()
		}
		return
	}
	c.keep(b)
}

// value begins a value of the object itself.
func (c *cutter) value() {
	for _, f := range c.returned {
		if string(c.key) == `"`+f.Key+`"` {
			c.out = append(c.out, f.Short...)
			c.skips = true
			return
		}
	}
}

// jsonEnd is jsonValue, but for what is no value it returns something behind the end.
func jsonEnd(b []byte, i int) int {
	if end := jsonValue(b, i, 0); end >= 0 {
		return end
	}
	return len(b) + 1
}
