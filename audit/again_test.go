package audit

import (
	"bufio"
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
