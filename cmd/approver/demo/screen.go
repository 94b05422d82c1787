package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// A screen tells the story: to a person as text, to a program as one JSON
// object per line.
type screen struct {
	mu     sync.Mutex
	out    io.Writer
	json   bool
	start  time.Time
	failed int
	step   string
}

// An event is one line for programs.
type event struct {
	Step    string  `json:"step"`
	Event   string  `json:"event"`
	Request string  `json:"request,omitempty"`
	Audit   string  `json:"audit,omitempty"`
	OK      *bool   `json:"ok,omitempty"`
	Text    string  `json:"text,omitempty"`
	Seconds float64 `json:"t"`
}

func (s *screen) emit(e event) {
	e.Step, e.Seconds = s.step, float64(time.Since(s.start).Milliseconds())/1000
	line, err := json.Marshal(e)
	if err != nil {
		line = []byte(`{"event":"error"}`)
	}
	fmt.Fprintf(s.out, "%s\n", line)
}

// title begins a step.
func (s *screen) title(step, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.step = step
	if s.json {
		s.emit(event{Event: "step", Text: text})
		return
	}
	fmt.Fprintf(s.out, "\n━━ %s ━━\n", text)
}

// say tells one thing that happens.
func (s *screen) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	if s.json {
		s.emit(event{Event: "note", Text: text})
		return
	}
	fmt.Fprintf(s.out, "  %s\n", strings.ReplaceAll(text, "\n", "\n  "))
}

// check tells whether something is as it should be, and remembers if not.
func (s *screen) check(ok bool, format string, args ...any) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	if !ok {
		s.failed++
	}
	switch {
	case s.json:
		s.emit(event{Event: "check", OK: &ok, Text: text})
	case ok:
		fmt.Fprintf(s.out, "  ✓ %s\n", text)
	default:
		fmt.Fprintf(s.out, "  ✗ NOT SO: %s\n", text)
	}
	return ok
}

// settled tells which request ended and which audit record says so.
func (s *screen) settled(request, what, hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.json {
		s.emit(event{Event: what, Request: request, Audit: hash})
		return
	}
	fmt.Fprintf(s.out, "  audit: %s · request %s · %.16s…\n", what, request, hash)
}

const panelWidth = 38

// panels shows messages side by side, as the three apps show them.
func (s *screen) panels(titles, texts []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.json {
		for i, t := range titles {
			s.emit(event{Event: "card", Text: t + "\n" + texts[i]})
		}
		return
	}
	columns, height := make([][]string, len(texts)), 0
	for i, text := range texts {
		for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
			columns[i] = append(columns[i], wrap(line, panelWidth)...)
		}
		height = max(height, len(columns[i]))
	}
	row := func(left, right string, cell func(int) string) {
		for i := range columns {
			fmt.Fprint(s.out, "  ", left, cell(i), right)
		}
		fmt.Fprintln(s.out)
	}
	row("┌─", "─┐", func(i int) string {
		return " " + titles[i] + " " + strings.Repeat("─", max(0, panelWidth-2-width(titles[i])))
	})
	for n := range height {
		row("│ ", " │", func(i int) string {
			line := ""
			if n < len(columns[i]) {
				line = columns[i][n]
			}
			return line + strings.Repeat(" ", max(0, panelWidth-width(line)))
		})
	}
	row("└─", "─┘", func(int) string { return strings.Repeat("─", panelWidth) })
}

// wrap breaks a line at spaces where it can.
func wrap(line string, limit int) []string {
	var out []string
	for width(line) > limit {
		cut, at, n := 0, 0, 0
		for i, r := range line {
			if n += runeWidth(r); n > limit {
				break
			}
			cut = i + len(string(r))
			if r == ' ' && i > 0 {
				at = i
			}
		}
		if at > 0 {
			out, line = append(out, line[:at]), line[at+1:]
		} else {
			out, line = append(out, line[:cut]), line[cut:]
		}
	}
	return append(out, line)
}

func width(s string) (n int) {
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	switch {
	case r == 0xfe0f || r == 0x200b || r == 0x200d:
		return 0
	case r >= 0x1f300 && r <= 0x1faff, r == '✅', r == '⛔', r == '⌛', r == '⏳', r == '❌':
		return 2
	}
	return 1
}
