package demo

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Events describes what the demo prints for programs.
//
//go:embed events.txt
var Events string

// An event is one line of output for programs.
type event struct {
	T        float64         `json:"t"`
	Step     string          `json:"step"`
	Event    string          `json:"event"`
	Request  string          `json:"request,omitempty"`
	Audit    string          `json:"audit,omitempty"`
	OK       *bool           `json:"ok,omitempty"`
	Failed   *int            `json:"failed,omitempty"`
	App      string          `json:"app,omitempty"`
	Message  string          `json:"message,omitempty"`
	Push     string          `json:"push,omitempty"`
	Text     string          `json:"text,omitempty"`
	Buttons  []string        `json:"buttons,omitempty"`
	Attached int             `json:"attached,omitempty"`
	Exit     *int            `json:"exit,omitempty"`
	Seconds  *float64        `json:"seconds,omitempty"`
	Answer   json.RawMessage `json:"answer,omitempty"`
}

// A screen writes the output of the demo: text for a person, or one JSON object per line for a
// program.
type screen struct {
	mu     sync.Mutex
	out    io.Writer
	json   bool
	width  int // in columns
	start  time.Time
	stop   context.CancelCauseFunc // ends the demo
	unread error                   // the error of the first write that failed
	failed int
	step   string
	// The request that is being shown, and the newest of its audit records that was shown.
	request, audit string
}

var (
	errUnread = errors.New("nobody reads its output any more")
	errOver   = errors.New("the show is over")
)

// tell writes e for a program, or text for a person.
func (s *screen) tell(e event, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.json {
		text = s.line(e)
	}
	s.print(text)
}

// print writes the text. If the write fails, it ends the demo. The caller holds s.mu.
func (s *screen) print(text string) {
	if _, err := io.WriteString(s.out, text); err != nil && s.unread == nil {
		s.unread = err
		s.stop(fmt.Errorf("%w: %w", errUnread, err))
	}
}

// line returns an event as a line, with the fields that all events have. The caller holds s.mu.
func (s *screen) line(e event) string {
	e.T, e.Step = seconds(time.Since(s.start)), s.step
	if e.Request == "" {
		e.Request = s.request
	}
	if e.Audit == "" {
		e.Audit = s.audit
	}
	line, err := json.Marshal(e)
	if err != nil { // cannot happen: an answer that is not JSON is never put into an event
		line = []byte(`{"event":"error"}`)
	}
	return string(line) + "\n"
}

func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }

// title begins a step.
func (s *screen) title(step, text string) {
	s.about("", "")
	s.mu.Lock()
	s.step = step
	s.mu.Unlock()
	s.tell(event{Event: "step", Text: text}, "\n━━ "+strings.Join(wrap(text, s.width-6), "\n   ")+" ━━\n")
}

// about sets the request of the following events, and its newest audit record.
func (s *screen) about(request, audit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.request, s.audit = request, audit
}

// say writes a note about what happens.
func (s *screen) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.tell(event{Event: "note", Text: text}, s.indented(text))
}

// indented returns a text indented under its scene's title, in lines that fit on the screen.
func (s *screen) indented(text string) string {
	var out strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		body := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(body)]
		lead := indent
		for _, piece := range wrap(body, s.width-4-len(indent)) {
			out.WriteString("  " + lead + piece + "\n")
			lead = indent + "  "
		}
	}
	return out.String()
}

// check writes whether something is as expected, and counts it as failed if not. It returns ok.
func (s *screen) check(ok bool, format string, args ...any) bool {
	text, mark := fmt.Sprintf(format, args...), "✓ "
	if !ok {
		mark = "✗ NOT SO: "
		s.mu.Lock()
		s.failed++
		s.mu.Unlock()
	}
	s.tell(event{Event: "check", OK: &ok, Text: text}, s.indented(mark+text))
	return ok
}

// recorded shows an audit record of the current request.
func (s *screen) recorded(l auditLine) {
	s.about(l.Request, l.Hash)
	s.tell(event{Event: l.Event, Text: l.Note},
		s.indented(fmt.Sprintf("log: %s · request %s · %.10s…", l.Event, l.Request, l.Hash)))
}

// answered shows what a hook process returned to its agent.
func (s *screen) answered(o outcome) {
	stdout, took := strings.TrimSpace(o.stdout), seconds(o.took)
	e := event{Event: "answer", Exit: &o.exit, Seconds: &took}
	if json.Valid([]byte(stdout)) {
		e.Answer = json.RawMessage(stdout)
	} else {
		e.Text = strings.TrimSpace(stdout + "\n" + o.stderr)
	}
	s.tell(e,
		s.indented(fmt.Sprintf("the agent gets, with exit code %d after %.1f s:\n    %s", o.exit, o.took.Seconds(), stdout)))
}

// result writes the last line.
func (s *screen) result(err error) {
	s.about("", "")
	took, ok := seconds(time.Since(s.start)), err == nil
	text := fmt.Sprintf("All as it should be, in %.1f s", took)
	if !ok {
		text = "NOT as it should be: " + err.Error()
	}
	s.step = "done"
	s.tell(event{Event: "result", OK: &ok, Failed: &s.failed, Seconds: &took, Text: text},
		"\n━━ "+strings.ReplaceAll(text, "\n", " · ")+" ━━\n")
}
