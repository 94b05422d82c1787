package courier

import (
	"errors"
	"io"
	"strconv"

	"approver.example/httpapi/wire"
)

// maxReport bounds what is read of a report, in bytes. What a tool returned can be
// much longer than its call: an edit reports the whole file.
const maxReport = 64 << 20

// readPayload reads the hook's standard input whole. Of a report that is too long to
// send, it returns a part: the call ran, and the daemon has to hear of it whatever
// came with it.
func readPayload(r io.Reader, report bool) (payload []byte, cut bool, err error) {
	limit := int64(wire.MaxPayload)
	if report {
		limit = maxReport
	}
	payload, err = io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil && report:
		return payload[:min(len(payload), wire.MaxPayload)], true, nil
	case err != nil:
		return nil, false, errors.New("the approver hook could not read its input (" + err.Error() + "), so the call was stopped")
	case len(payload) <= wire.MaxPayload:
		return payload, false, nil
	case !report:
		return nil, false, errors.New("the call has more than " + strconv.Itoa(wire.MaxPayload) + " bytes, which is more than approver judges, so it was stopped; make it smaller")
	}
	if short := withoutResult(payload); short != nil && len(short) <= wire.MaxPayload {
		return short, true, nil
	}
	return payload[:wire.MaxPayload], true, nil
}

// withoutResult puts a short value in the place of each value that says what the call
// returned, and leaves every other byte, so that the daemon checks what is left as
// always. It returns nil for what is not one JSON object.
func withoutResult(b []byte) (out []byte) {
	i := jsonSpace(b, 0)
	if i >= len(b) || b[i] != '{' || jsonSpace(b, jsonEnd(b, i)) != len(b) {
		return nil
	}
	from := 0
	for i = jsonSpace(b, i+1); i < len(b) && b[i] == '"'; {
		end := jsonString(b, i)
		value := jsonSpace(b, jsonSpace(b, end)+1)
		after := jsonValue(b, value, 1)
		short := ""
		switch string(b[i:end]) {
		case `"tool_response"`:
			short = "null"
		case `"error"`:
			short = `"not read"`
		}
		if short != "" && after-value > len(short) {
			out = append(append(out, b[from:value]...), short...)
			from = after
		}
		i = jsonSpace(b, after)
		if b[i] == '}' {
			break
		}
		i = jsonSpace(b, i+1)
	}
	return append(out, b[from:]...)
}

// jsonEnd is jsonValue, but for what is no value it returns something behind the end.
func jsonEnd(b []byte, i int) int {
	if end := jsonValue(b, i, 0); end >= 0 {
		return end
	}
	return len(b) + 1
}
