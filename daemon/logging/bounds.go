package logging

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"unicode"
	"unicode/utf8"

	"approver.example/display"
)

// Bounds of one line of the log, in bytes as written. The journal splits a line
// after 48 KiB and makes the rest an entry of its own: an agent's text would look like a line
// of the daemon there.
const (
	maxLogValue = 2 << 10
	maxLogPanic = 8 << 10 // of an error in a line of level error: it may have a panic's stack
	maxLogError = 1 << 10 // of an error in other lines: it may quote what a peer sent
	maxLogLine  = 32 << 10
	minLogValue = 64 // what a value may take even if the line is full
)

// A lineRoom is the number of bytes left in a line.
type lineRoom int

// record returns r with every value cut to its bound, and all values together cut to the bound
// of a line.
func (l *lineRoom) record(r slog.Record) slog.Record {
	out := slog.NewRecord(r.Time, r.Level, l.text(r.Message, maxLogValue), r.PC)
	failure := maxLogError
	if r.Level >= slog.LevelError {
		failure = maxLogPanic
	}
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(l.attr(a, failure))
		return true
	})
	return out
}

// attr returns an attribute with its values cut; failure is the bound of an error.
func (l *lineRoom) attr(a slog.Attr, failure int) slog.Attr {
	most := maxLogValue
	if a.Key == "error" || a.Key == "err" {
		most = failure
	}
	a.Key = l.text(a.Key, minLogValue)
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(l.text(a.Value.String(), most))
	case slog.KindGroup:
		var group []slog.Attr
		for _, member := range a.Value.Group() {
			group = append(group, l.attr(member, failure))
		}
		a.Value = slog.GroupValue(group...)
	case slog.KindAny:
		whole := fmt.Sprintf("%+v", a.Value.Any())
		cut := l.text(whole, most)
		if doc := asJSON(a.Value.Any()); cut != whole || len(doc) > most || display.NoneHidden(doc) != doc {
			a.Value = slog.StringValue(cut)
		}
	default: // a number or a time
		*l -= minLogValue
	}
	return a
}

// asJSON returns a value as a JSON log writes it: with all its fields, even if the type has a
// short text form.
func asJSON(v any) string {
	if _, isError := v.(error); isError {
		return "" // it is written as its text
	}
	out, err := json.Marshal(v)
	if err != nil {
		return strings.Repeat(" ", maxLogLine)
	}
	return string(out)
}

// text cuts s to most bytes as written, and to what is left of the line. It makes characters
// visible that would reorder or hide others. Line breaks stay, because they are written as \n.
func (l *lineRoom) text(s string, most int) string {
	most = max(min(most, int(*l)), minLogValue)
	written, rest := 0, 0
	if display.NoneHidden(s[:min(len(s), most)]) != s {
		begin := s
		if len(s) > most {
			begin = s[:most]
			for i := range utf8.UTFMax { // no character is cut
				if utf8.RuneStart(s[most-i]) {
					begin = s[:most-i]
					break
				}
			}
		}
		rest = len(s) - len(begin)
		s = display.NoneHidden(begin)
	}
	for i, r := range s {
		n := writtenAs(s[i:], r)
		if written+n > most {
			*l -= lineRoom(written)
			return s[:i] + fmt.Sprintf("… (%d bytes more)", len(s)-i+rest)
		}
		written += n
	}
	*l -= lineRoom(written)
	if rest > 0 {
		s += fmt.Sprintf("… (%d bytes more)", rest)
	}
	return s
}

// writtenAs returns the maximum number of bytes that the first character of s takes in a line
// of text or JSON.
func writtenAs(s string, r rune) int {
	switch {
	case strings.ContainsRune("\"\\\n\r\t", r):
		return 2
	case r == utf8.RuneError, r < ' ', r == 0x7f:
		return 6
	case !unicode.IsPrint(r):
		return 10
	}
	_, size := utf8.DecodeRuneInString(s)
	return size
}
