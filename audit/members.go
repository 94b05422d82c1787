package audit

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"approver.example"
)

// onceTag begins the member once. No string of a line has these bytes, because JSON escapes its quotes.
const onceTag = `,"once":"`

// onceOf returns the once of a line that is valid JSON, as it is written; nil if there is none. It relies on
// the order of Line: what agents choose, such as arguments with a member once, comes before it.
func onceOf(line []byte) []byte {
	if once, ok := onceBeforeSeal(line); ok {
		return once
	}
	at := -1
	for rest := 0; ; rest = at + len(onceTag) {
		i := bytes.Index(line[rest:], []byte(onceTag))
		if i < 0 {
			break
		}
		at = rest + i
	}
	if at < 0 {
		return nil
	}
	start := at + len(onceTag) - 1
	end := quoteEnd(line, start)
	if end < 0 || !closesWith(line, end) {
		return nil
	}
	return line[start+1 : end-1]
}

// onceBeforeSeal is onceOf that looks where the once is in nearly every line that has one: before the few
// short members at the end. ok is false if it has to be looked for.
func onceBeforeSeal(line []byte) (once []byte, ok bool) {
	if len(line) < tailLength {
		return nil, false
	}
	rest, ok := cutNumber(line[:len(line)-tailLength], seqTag)
	if !ok {
		return nil, false
	}
	if _, rest, ok = cutText(rest, `,"id":`); !ok {
		return nil, false
	}
	rest = bytes.TrimSuffix(bytes.TrimSuffix(rest, []byte(`,"heard":true`)), []byte(`,"heard":false`))
	rest, _ = cutNumber(rest, `,"stored":`)
	rest, _ = cutNumber(rest, `,"controls":`)
	if bytes.HasSuffix(rest, []byte{'}'}) {
		return nil, false
	}
	once, _, ok = cutText(rest, onceTag[:len(onceTag)-1])
	return once, ok || !bytes.HasSuffix(rest, []byte{'"'})
}

// cutNumber cuts off a member at the end whose value has digits only.
func cutNumber(b []byte, tag string) (rest []byte, ok bool) {
	end := len(b)
	for end > 0 && b[end-1] >= '0' && b[end-1] <= '9' {
		end--
	}
	if end == len(b) || !bytes.HasSuffix(b[:end], []byte(tag)) {
		return b, false
	}
	return b[:end-len(tag)], true
}

// cutText cuts off a member at the end whose value is a string without escaped quotes.
func cutText(b []byte, tag string) (value, rest []byte, ok bool) {
	if !bytes.HasSuffix(b, []byte{'"'}) {
		return nil, b, false
	}
	start := bytes.LastIndexByte(b[:len(b)-1], '"')
	if start < 0 || !bytes.HasSuffix(b[:start], []byte(tag)) {
		return nil, b, false
	}
	return b[start+1 : len(b)-1], b[:start-len(tag)], true
}

// closesWith reports whether the object that the line is, and no other, is open at an offset outside of strings.
func closesWith(line []byte, at int) bool {
	depth := 1
	for at < len(line) {
		switch line[at] {
		case '"':
			if at = quoteEnd(line, at); at < 0 {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at == len(line)-1
			}
		}
		at++
	}
	return false
}

// eachMember calls f for every member of an object that is written without white space: with its name, and
// its value as it is written. It is false for other text, also if f is, and then it may have called f for some of it.
// It does not check what is inside the values.
func eachMember(object []byte, f func(name, value []byte) bool) bool {
	if len(object) < 2 || object[0] != '{' {
		return false
	}
	if object[1] == '}' {
		return len(object) == 2
	}
	for at := 1; ; {
		colon := quoteEnd(object, at)
		if colon < 0 || colon >= len(object) || object[colon] != ':' {
			return false
		}
		end := afterValue(object, colon+1)
		if end <= colon+1 || end >= len(object) || !f(object[at+1:colon-1], object[colon+1:end]) {
			return false
		}
		if object[end] != ',' {
			return object[end] == '}' && end == len(object)-1
		}
		at = end + 1
	}
}

// quoteEnd returns the offset after the string that begins at an offset; -1 if there is none.
func quoteEnd(b []byte, start int) int {
	if start >= len(b) || b[start] != '"' {
		return -1
	}
	for at := start + 1; ; at++ {
		i := bytes.IndexByte(b[at:], '"')
		if i < 0 {
			return -1
		}
		at += i
		escapes := 0
		for b[at-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at + 1
		}
	}
}

// afterValue returns the offset after the value that begins at an offset; -1 if it does not end.
func afterValue(b []byte, at int) int {
	depth := 0
	for at < len(b) {
		switch b[at] {
		case '"':
			if at = quoteEnd(b, at); at < 0 || depth == 0 {
				return at
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return at
			}
			if depth--; depth == 0 {
				return at + 1
			}
		case ',':
			if depth == 0 {
				return at
			}
		}
		at++
	}
	return -1
}

// textIn reads a string.
func textIn[T ~string](to *T, value []byte) bool {
	if len(value) < 2 || value[0] != '"' {
		return false
	}
	if inside := value[1 : len(value)-1]; bytes.IndexByte(inside, '\\') < 0 && utf8.Valid(inside) {
		*to = T(inside)
		return true
	}
	return json.Unmarshal(value, to) == nil
}

// briefly reads of a record what Query.Brief promises. It is false for a line that only ParseLine may read.
func briefly(line []byte) (l Line, ok bool) {
	ok = eachMember(line, func(name, value []byte) bool {
		switch string(name) {
		case "v":
			return json.Unmarshal(value, &l.V) == nil
		case "event":
			return textIn(&l.Event, value)
		case "timestamp":
			return l.Timestamp.UnmarshalJSON(value) == nil
		case "agent":
			return textIn(&l.Agent, value)
		case "tool":
			return textIn(&l.Tool, value)
		case "session":
			return textIn(&l.Session, value)
		case "dir":
			return textIn(&l.Dir, value)
		case "command":
			return textIn(&l.Command, value)
		case "summary":
			return textIn(&l.Summary, value)
		case "args":
			l.Args = slices.Clone(value)
		case "peer_uid":
			return json.Unmarshal(value, &l.PeerUID) == nil
		case "again":
			l.Again = string(value) == "true"
		case "verdict":
			l.Verdict = new(LineVerdict)
			return l.Verdict.briefly(value)
		case "observed":
			l.Observed = new(LineVerdict)
			return l.Observed.briefly(value)
		}
		return true
	})
	return l, ok && l.V == version && l.Event != ""
}

func (v *LineVerdict) briefly(object []byte) bool {
	return eachMember(object, func(name, value []byte) bool {
		switch string(name) {
		case "decision":
			return v.Decision.UnmarshalText(bytes.Trim(value, `"`)) == nil
		case "by":
			return textIn(&v.By, value)
		case "rule":
			return textIn(&v.Rule, value)
		case "severity":
			return textIn(&v.Severity, value)
		case "shadow":
			return json.Unmarshal(value, &v.Shadow) == nil
		case "allowed":
			return json.Unmarshal(value, &v.Allowed) == nil
		}
		return true
	})
}

// headOf reads the event and the time of a record. It is false for a line that only timeOf may read: it relies
// on the line's own hash, which is faster to check than JSON.
func headOf(line []byte) (event approver.Event, at time.Time, ok bool) {
	if _, err := sealOf(line); err != nil {
		return "", at, false
	}
	rest, found := bytes.CutPrefix(line, []byte(`{"v":1,"event":"`))
	name, rest, ended := bytes.Cut(rest, []byte(`","timestamp":`))
	end := afterValue(rest, 0)
	if !found || !ended || bytes.ContainsAny(name, `"\`) || end <= 0 || at.UnmarshalJSON(rest[:end]) != nil {
		return "", at, false
	}
	return approver.Event(name), at, !at.IsZero()
}
