package logging

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"approver.example/broadcaster"
	"approver.example/configs"
	"approver.example/daemon/daemontest"
)

// A logBench is the daemon's log at times that the test says.
type logBench struct {
	*testing.T
	out   bytes.Buffer
	log   *slog.Logger
	begin time.Time
}

func newLogBench(t *testing.T, format configs.LogFormat) *logBench {
	b := &logBench{T: t, begin: time.Unix(1_800_000_000, 0)}
	b.log = New(&b.out, configs.Log{Format: format})
	return b
}

// say tells a line and returns what the log made of it.
func (b *logBench) say(after time.Duration, level slog.Level, text string, args ...any) string {
	b.Helper()
	b.out.Reset()
	r := slog.NewRecord(b.begin.Add(after), level, text, 0)
	r.Add(args...)
	if err := b.log.Handler().Handle(context.Background(), r); err != nil {
		b.Fatal(err)
	}
	return b.out.String()
}

// The story: an agent's user sent malformed requests over one connection, each with other
// letters in a header. Each was another trouble, and beyond 256 of them each was told:
// 5,042 lines and 16 MB in five seconds. The journal drops what is beyond 10,000 lines in
// half a minute, the alarm of a bypass among it. Now the first few are told, and one line
// that there are more; what others meet, and every alarm, is told as before.
func TestOneUserDoesNotFillTheLog(t *testing.T) {
	for name, line := range map[string]struct {
		level slog.Level
		args  func(i int) []any
	}{
		"a request": {slog.LevelWarn,
			func(i int) []any { return []any{"uid", 7, "err", fmt.Errorf("the header %q", letters(i))} }},
		"a payload": {slog.LevelWarn,
			func(i int) []any { return []any{"agent", "claude", "uid", 7, "error", errors.New(letters(i))} }},
		"an agent": {slog.LevelWarn,
			func(i int) []any { return []any{"agent", letters(i), "uid", 7, "error", errors.New("x")} }},
		"a session": {slog.LevelWarn,
			func(i int) []any { return []any{"session", letters(i), "uid", uint32(7), "error", errors.New("x")} }},
		"a long text": {slog.LevelWarn,
			func(i int) []any { return []any{"uid", 7, "err", errors.New(letters(i) + strings.Repeat("Z", 8000))} }},
		"a process": {slog.LevelWarn,
			func(i int) []any { return []any{"uid", 7, "pid", i, "err", errors.New(letters(i))} }},
		"a folder": {slog.LevelWarn,
			func(i int) []any { return []any{"dir", "/" + letters(i), "uid", 7, "error", errors.New("x")} }},
		"without an error": {slog.LevelWarn, func(i int) []any { return []any{"uid", 7, "tool", letters(i)} }},
		"a denied call": {slog.LevelInfo, func(i int) []any {
			return []any{"call", letters(i), "uid", 7, "what", "rm " + letters(i), "verdict", "deny"}
		}},
		"a call with an error": {slog.LevelInfo,
			func(i int) []any { return []any{"call", letters(i), "uid", 7, "error", errors.New(letters(i))} }},
		"a watch that comes": {slog.LevelInfo, func(i int) []any { return []any{"uid", "7"} }},
		"nobody's, of many texts": {slog.LevelWarn,
			func(i int) []any { return []any{"use", letters(i), "error", errors.New(letters(i))} }},
	} {
		b := newLogBench(t, configs.LogJSON)
		told, bytes, more := 0, 0, 0
		const seconds = 5
		for i := range 1000 * seconds {
			got := b.say(time.Duration(i)*time.Millisecond, line.level, "a line", line.args(i)...)
			told += strings.Count(got, "\n")
			bytes += len(got)
			more += strings.Count(got, "MANY LINES like the last ones")
		}
		if told > maxCauses+2 || told > 2+seconds*maxLinesOf && name != "nobody's, of many texts" || bytes > 400<<10 ||
			more < 1 || more > 2 {
			t.Errorf("%s: %d lines, %d bytes, %d say that there are more", name, told, bytes, more)
		}
		for what, args := range map[string][]any{
			"another user's trouble": {"uid", 8, "error", errors.New("x")},
			"the daemon's trouble":   {"error", errors.New("the store is away")},
			"a request's line":       {"request", "r1", "uid", 7, "by", "ada"},
			"an alarm":               {"uid", 7, "what", "what ran is not what was judged"},
		} {
			if what == "the daemon's trouble" && name == "nobody's, of many texts" {
				continue
			}
			if got := b.say((1000*seconds-1)*time.Millisecond, slog.LevelWarn, what, args...); !strings.Contains(got, what) {
				t.Errorf("%s: %s is held back: %q", name, what, got)
			}
		}
		for i := range 3 * maxCauses { // no error is held back for what else there is
			if got := b.say((1000*seconds-1)*time.Millisecond, slog.LevelError, "an error", "uid", 7, "error",
				errors.New(letters(i))); !strings.Contains(got, "an error") {
				t.Fatalf("%s: error %d is held back", name, i)
			}
		}
		if got := b.say(2*time.Minute, slog.LevelWarn, "later", "uid", 7, "error", errors.New("new")); !strings.Contains(got,
			"later") {
			t.Errorf("%s: a minute later: %q", name, got)
		}
	}
}

// letters are other letters for each number: numbers alone make no other trouble.
func letters(i int) string {
	var b strings.Builder
	for ; i > 0 || b.Len() == 0; i /= 26 {
		b.WriteByte(byte('a' + i%26))
	}
	return b.String()
}

// Many users together, as those of one agent's range of uids, fill it no more than some,
// and what is remembered of them is bounded.
func TestManyUsersDoNotFillTheLog(t *testing.T) {
	for _, level := range []slog.Level{slog.LevelInfo, slog.LevelWarn} {
		b := newLogBench(t, "")
		told := 0
		for i := range 20000 {
			told += strings.Count(b.say(time.Duration(i)*100*time.Microsecond, level, "a line", "uid", i%5000, "error",
				errors.New(letters(i))), "\n")
		}
		if told > 2*maxLines+maxCauses+2 {
			t.Errorf("%v: %d lines in two seconds", level, told)
		}
		h, ok := b.log.Handler().(onceEach)
		if !ok {
			t.Fatal("another handler")
		}
		if n := len(h.causes.others.last) + len(h.causes.more); n > 2*maxCauses+2 {
			t.Errorf("%d are remembered", n)
		}
	}
}

// What is held back is counted, and a later line says how often it was.
func TestMoreLinesAreCounted(t *testing.T) {
	b := newLogBench(t, "")
	say := func(after time.Duration) string {
		return b.say(after, slog.LevelInfo, "denied without asking", "uid", 7, "what", "rm")
	}
	for i := range maxLinesOf {
		if got := say(0); !strings.Contains(got, "denied without asking") {
			t.Fatalf("line %d: %q", i, got)
		}
	}
	if got := say(0); !strings.Contains(got, "MANY LINES") || !strings.Contains(got, "uid=7") ||
		!strings.Contains(got, "level=WARN") {
		t.Errorf("the first that is held back: %q", got)
	}
	for range 9 {
		if got := say(0); got != "" {
			t.Errorf("told: %q", got)
		}
	}
	if got := say(time.Second); !strings.Contains(got, "denied without asking") {
		t.Errorf("a second later: %q", got)
	}
	for range maxLinesOf {
		_ = say(2 * time.Minute)
	}
	if got := say(2 * time.Minute); !strings.Contains(got, "held_back=9") {
		t.Errorf("minutes later: %q", got)
	}
}

// The story: an agent named its session so that it turned round what stood behind it, and
// broke the line where readers of the journal do. In a log of JSON the alarm of its bypass
// had the characters as they were. Now they are visible, wherever they stand.
func TestNoCharacterTurnsALineOfTheLog(t *testing.T) {
	for _, bad := range []string{
		"\u202e", "\u202a", "\u2066", "\u2069", "\u200f", "\u061c", "\u0085", "\u2028", "\u2029", "\u200b", "\ufeff",
		"\u00ad", "\u2060", "\x1b", "\x7f", "\x9b",
		"\u009b", "\xff", "\u115f", "\u3164", "\U000e0041", "\ufe0f", "\u0336", "\r", "\x00", "\u2800", "\ufffc",
	} {
		text := "s" + bad + "gnp"
		for _, format := range []configs.LogFormat{"", configs.LogJSON} {
			var out bytes.Buffer
			log := New(&out, configs.Log{Format: format})
			log.Error("the hook was bypassed", "what", text, "session", text, "tool", text, "use", text)
			log.With("session", text).WithGroup(text).Warn(text, text, text, "error", errors.New(text))
			log.Warn("x", "list", []string{text}, "who", broadcaster.Who{Session: text}, slog.Group("g", "a", text), "late",
				lazy(text), "q", fmt.Stringer(shout(text)))
			log.Warn("long", "session", text+strings.Repeat(text, 3000), "honest", "ls … · é привет", "error",
				errors.New(strings.Repeat("x", maxLogError-1)+text))
			if n := strings.Count(out.String(), "\n"); n != 4 || strings.Contains(out.String(), bad) ||
				strings.Contains(out.String(), fmt.Sprintf("%+q", bad)) && bad != "\xff" {
				t.Errorf("%+q, format %q: %d lines: %+.600q", bad, format, n, out.String())
			}
			if out.Len() > 3*daemontest.JournalLine || !strings.Contains(out.String(), "⟨") ||
				!strings.Contains(out.String(), "ls … · é привет") {
				t.Errorf("%+q, format %q: %d bytes", bad, format, out.Len())
			}
		}
	}
}

type shout string

func (s shout) String() string { return string(s) }
