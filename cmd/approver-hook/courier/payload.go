package courier

import (
	"errors"
	"io"
	"strconv"

	"approver.example/agents/facts"
	"approver.example/httpapi/wire"
)

// maxCall limits a call before it runs, in bytes. The report of the same call is somewhat
// longer and must fit into wire.MaxPayload too; otherwise nobody could tell what an honest call
// ran.
const maxCall = wire.MaxPayload - 64<<10

// readPayload reads all of the hook's standard input. Of a report that is too long to send, it
// returns a part, with cut set: the call has run, and the daemon must hear of it in any case.
// What a tool returned may have any length: an edit reports the whole file.
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

// withoutResult reads a report, whose beginning has already been read, and replaces each value
// that the call returned by a short one. It keeps every other byte, so that the daemon checks
// the rest as usual, and holds no more than that in memory. It returns nil if the input is not
// one JSON object, or is still too long.
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

// A cutter copies the text of a JSON object to out, without what the call returned.
type cutter struct {
	returned []facts.Field // the fields to leave out
	out      []byte
	open     []byte // the brackets that are open
	key      []byte // the current key of the outermost object, with its quotes
	skips    bool   // inside a value that is left out
	wantKey  bool   // the next string is a key
	inKey    bool
	quoted   bool // inside a string
	escaped  bool // after a backslash
	broken   bool
}

// Write processes the next part of the text.
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

// text processes a byte inside a string.
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

// mark processes a byte outside of strings.
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
		if len(c.open) == 0 || c.open[len(c.open)-1] != b-2 { // in ASCII, closing is opening + 2
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

// value starts a value of the outermost object.
func (c *cutter) value() {
	for _, f := range c.returned {
		if string(c.key) == `"`+f.Key+`"` {
			c.out = append(c.out, f.Short...)
			c.skips = true
			return
		}
	}
}

// jsonEnd is jsonValue, but returns an index beyond the end if there is no valid value.
func jsonEnd(b []byte, i int) int {
	if end := jsonValue(b, i, 0); end >= 0 {
		return end
	}
	return len(b) + 1
}
