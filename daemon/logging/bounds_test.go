package logging

import (
	"bytes"
	"encoding/json"
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

type lazy string

func (l lazy) LogValue() slog.Value { return slog.StringValue(string(l)) }

// The story: an agent named its session with a million letters, and among them, where the
// journal cuts a long line, stood a whole line of the daemon's: an approval by people
// that never was. No line is as long as what the journal cuts, whatever value of it is
// long, in whatever form.
func TestNoLineOfTheLogIsLong(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: the race detector runs the short tests")
	}
	for _, format := range []configs.LogFormat{"", configs.LogJSON} {
		for name, fill := range map[string]string{
			"letters": "q", "a forged line": daemontest.ForgedLine, "quotes": `"`, "controls": "\x01", "lines": "\n",
			"no UTF-8":                  "\xff",
			"a character of four bytes": "𝄞", "not printed": "\U000e0001", "a line separator": "\u2028", "backslashes": `\`,
			"blanks": " ", "equals": "=",
		} {
			long := strings.Repeat(fill, 1+(1<<17)/len(fill))
			many := make([]any, 0, 40)
			for i := range 20 {
				many = append(many, fmt.Sprint("key", i), long)
			}
			for where, say := range map[string]func(*slog.Logger){
				"a value":                       func(l *slog.Logger) { l.Info("asked", "session", long) },
				"the message":                   func(l *slog.Logger) { l.Info(long) },
				"an error":                      func(l *slog.Logger) { l.Error("failed", "error", errors.New(long)) },
				"a list":                        func(l *slog.Logger) { l.Warn("files", "what", []string{long, long}) },
				"a struct":                      func(l *slog.Logger) { l.Warn("who", "who", struct{ Session string }{long}) },
				"a type with a text of its own": func(l *slog.Logger) { l.Warn("who", "who", broadcaster.Who{Session: long}) },
				"a group": func(l *slog.Logger) {
					l.Info("x",
						slog.Group("g", "a", long, slog.Group("h", "b", long)))
				},
				"with": func(l *slog.Logger) {
					l.With("a", long, "b", long).With("c", long).Info("x", "d",
						long)
				},
				"with a group":  func(l *slog.Logger) { l.WithGroup(long).Info("x", "d", long) },
				"a late value":  func(l *slog.Logger) { l.Info("x", "d", lazy(long)) },
				"a key":         func(l *slog.Logger) { l.Info("x", long, "y") },
				"twenty values": func(l *slog.Logger) { l.Error("x", many...) },
				"all of it": func(l *slog.Logger) {
					l.With(many...).Error(long,
						append(many, "error", errors.New(long))...)
				},
			} {
				var out bytes.Buffer
				say(New(&out, configs.Log{Format: format}))
				if out.Len() == 0 || out.Len() >= daemontest.JournalLine || strings.Count(out.String(), "\n") != 1 ||
					where != "a type with a text of its own" && !strings.Contains(out.String(), "bytes more)") {
					t.Errorf("%s of %s, %q: a line of %d bytes", where, name, format, out.Len())
				}
				if format == configs.LogJSON && !json.Valid(out.Bytes()) {
					t.Errorf("%s of %s is no JSON: %.300s", where, name, &out)
				}
			}
		}
	}
}

// What is as long as in honest work is written whole.
func TestTheLogKeepsWhatIsShort(t *testing.T) {
	var out bytes.Buffer
	path := "/" + strings.Repeat("d", maxLogValue-1)
	New(&out, configs.Log{}).With("part", "calls").Error("x", "dir", path, "error",
		errors.New(strings.Repeat("line\n", 1000)), "n", 5, "took", time.Second, "list", []string{"a", "b"})
	for _, want := range []string{"part=calls", "dir=" + path + " ", strings.Repeat(`line\n`, 1000) + `"`, "n=5",
		"took=1s", `list="[a b]"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%.80s is not in %.200s", want, &out)
		}
	}
}

// Two troubles that differ behind the cut are two, and what is remembered of each has one
// size.
func TestALongTroubleIsToldOnce(t *testing.T) {
	var out bytes.Buffer
	log := New(&out, configs.Log{})
	long := strings.Repeat("q", 1<<20)
	for _, session := range []string{long + "a", long + "b", long + "a", long + "b"} {
		log.Error("a trouble", "session", session, "error", errors.New("x"))
	}
	if n := strings.Count(out.String(), "\n"); n != 2 {
		t.Errorf("%d lines", n)
	}
}
