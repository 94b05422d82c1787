package audit

import (
	"bufio"
	"fmt"
	"strings"
	"testing"
)

// audit show printed the whole reasoning again for each of the five records of a call. It
// is printed once now, and again where it differs.
func TestShowSaysItOnce(t *testing.T) {
	const record = `{"v":1,"seq":%,"timestamp":"2026-03-01T12:00:00Z","event":"asked","call":"c1","reason":"x",` +
		`"verdict":{"decision":"ask","by":"policy","rule":"R","reason":"why R"}}`
	var out strings.Builder
	p := &showPrinter{Writer: bufio.NewWriter(&out), what: "c1"}
	for i, rule := range []string{"one", "one", "two", "one"} {
		line := strings.NewReplacer("%", string(rune('1'+i)), "R", rule).Replace(record)
		must(t, p.print([]byte(line)))
	}
	must(t, p.Flush())
	if text := out.String(); strings.Count(text, "why one") != 2 || strings.Count(text, "why two") != 1 ||
		strings.Count(text, "    as the record before says\n") != 1 {
		t.Error(text)
	}
}

// The yes to a parked call was released to the same call of another session. audit show of the first ended
// before that.
func TestShowGoesOnWithTheRequest(t *testing.T) {
	var out strings.Builder
	p := &showPrinter{Writer: bufio.NewWriter(&out), what: "c1"}
	for i, line := range []string{`"event":"asked","call":"c1","request":"r1"`, `"event":"verdict","call":"c2"`,
		`"event":"released","call":"c2","request":"r1"`, `"event":"asked","call":"c3","request":"r2"`} {
		must(t, p.print(fmt.Appendf(nil, `{"v":1,"seq":%d,"timestamp":"2026-03-01T12:00:00Z",%s}`, i+1, line)))
	}
	must(t, p.Flush())
	if text := out.String(); !strings.Contains(text, "RELEASED") || strings.Contains(text, "c3") ||
		strings.Count(text, "call  ") != 2 {
		t.Error(text)
	}
}
