package shield

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"approver.example"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/daemontest"
	"approver.example/daemon/logging"
	"approver.example/gate"
	"approver.example/internal/secret"
	"approver.example/shieldcore/evaluator"
	"approver.example/shieldcore/evaluator/evaluatortest"
)

// The model's name had a typing error: six calls were blocked, status said "6 blocked, 0
// failed", the log nothing. Status now says that it fails, since when and why; the log says
// it once, and once that it is over; and doctor finds it without a call.
func TestAnEvaluatorThatFailsIsTold(t *testing.T) {
	p := evaluatortest.New()
	defer p.Close()
	cfg := evaluator.Config{Provider: evaluator.OpenAI, URL: p.URL(evaluatortest.OpenAI), Model: evaluatortest.Model,
		Key: secret.New(p.Key()), Deadline: time.Second}
	e, err := evaluator.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	s := &Shield{name: e.String(), asks: e, failMode: configs.FailClosed, log: slog.New(slog.NewTextHandler(&log, nil))}
	said := func() string {
		var b strings.Builder
		s.Status(t.Context()).Lines(func(name, format string, args ...any) {
			fmt.Fprintf(&b, name+" "+format+"\n", args...)
		})
		return b.String()
	}
	ask := func(n int) {
		for i := range n {
			_, _ = evaluating{e, s}.Judge(t.Context(), approver.ToolCall{Tool: "Bash", Command: fmt.Sprint("ls ", i)})
		}
	}
	if st := s.Status(t.Context()); st.Fails() || !strings.Contains(said(), "not asked since the daemon started") {
		t.Errorf("before it is asked: %s", said())
	}
	p.Behave(daemontest.WrongModel())
	ask(6)
	text := said()
	if st := s.Status(t.Context()); !st.Fails() || (adminapi.Status{Up: true, Shield: st}).Well() ||
		!strings.Contains(text, "0 blocked, 0 to people, 6 failed") || !strings.Contains(text, "FAILS since ") ||
		!strings.Contains(text, "(HTTP 400, model not found)") {
		t.Errorf("%s", text)
	}
	if lines := strings.Count(log.String(), "\n"); lines != 1 ||
		!strings.Contains(log.String(), "HTTP 400, model not found") {
		t.Errorf("%d lines: %s", lines, &log)
	}
	p.Behave(evaluatortest.Honest())
	ask(3)
	if st := s.Status(t.Context()); st.Fails() || !strings.Contains(said(), "answers since") || st.Problem == "" ||
		st.LastFailure.IsZero() {
		t.Errorf("%s", said())
	}
	if lines := strings.Count(log.String(), "\n"); lines != 2 || !strings.Contains(log.String(), "answers again") {
		t.Errorf("%d lines: %s", lines, &log)
	}
}

// The story: the evaluator failed, answered one call, and failed again within the same
// minute, for hours. The log held the second failure back as the same trouble, and nothing
// told of it later: its last word was "answers again" while every call was blocked. Now the
// log ends with what is so, also after each call has gone another way, and stays short.
func TestTheLogEndsWithHowTheEvaluatorIs(t *testing.T) {
	bad := func(problem string) approver.Reception {
		return approver.Reception{Since: time.Now(), Problem: problem}
	}
	good := approver.Reception{Up: true, Since: time.Now()}
	for name, tt := range map[string]struct {
		states []approver.Reception // one each second, the last of them for two minutes
		last   string
		most   int // lines
	}{
		"fails once":              {[]approver.Reception{bad("HTTP 400")}, "does not work", 1},
		"answers again":           {[]approver.Reception{bad("HTTP 400"), good}, "answers again", 2},
		"fails anew":              {[]approver.Reception{bad("HTTP 400"), good, bad("HTTP 400")}, "does not work", 3},
		"fails in another way":    {[]approver.Reception{bad("HTTP 400"), good, bad("HTTP 500")}, "does not work", 3},
		"fails for another cause": {[]approver.Reception{bad("HTTP 400"), good, bad("no route")}, "does not work", 3},
		"one cause after another": {[]approver.Reception{bad("no route"), bad("HTTP 400")}, "HTTP 400", 2},
		"answers after all":       {[]approver.Reception{bad("HTTP 400"), good, bad("HTTP 400"), good}, "answers again", 2},
		"flaps, and fails": {append(slices.Repeat([]approver.Reception{bad("HTTP 400"), good}, 100), bad("HTTP 400")),
			"does not work", 10},
		"flaps, and answers":  {slices.Repeat([]approver.Reception{bad("HTTP 400"), good}, 100), "answers again", 10},
		"has always answered": {[]approver.Reception{good}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				s := &Shield{log: logging.New(&log, configs.Log{})}
				for _, now := range tt.states {
					s.logState(now)
					time.Sleep(time.Second)
				}
				for range 120 {
					s.logState(tt.states[len(tt.states)-1])
					time.Sleep(time.Second)
				}
				lines := strings.Split(strings.TrimSpace(log.String()), "\n")
				if !strings.Contains(lines[len(lines)-1], tt.last) || strings.Count(log.String(), "\n") > tt.most ||
					tt.last == "" && log.Len() > 0 {
					t.Errorf("%d lines: %s", len(lines), &log)
				}
			})
		})
	}
}

// The log had a line of the gate for each call that met it, beside the shield's own.
func TestAFailingEvaluatorIsToldOnce(t *testing.T) {
	p := evaluatortest.New()
	defer p.Close()
	e, err := evaluator.New(evaluator.Config{Provider: evaluator.OpenAI, URL: p.URL(evaluatortest.OpenAI),
		Model: evaluatortest.Model, Key: secret.New(p.Key()), Deadline: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	logger := logging.New(&log, configs.Log{})
	s := &Shield{name: e.String(), asks: e, log: logger.With("part", "shield")}
	gate := gate.Gate{Stages: []approver.Stage{evaluating{e, s}}, Log: logger.With("part", "gate")}
	judge := func(does evaluatortest.Behavior, want bool) {
		p.Behave(does)
		for i := range 5 {
			v, _ := gate.Judge(t.Context(),
				approver.ToolCall{ID: fmt.Sprint("c", i), Tool: "Bash", Command: fmt.Sprint("ls ", i)})
			if got := v.Decision == approver.Deny; got != want {
				t.Errorf("call %d: %+v", i, v)
			}
		}
	}
	judge(daemontest.WrongModel(), true)
	if n := strings.Count(log.String(), "level=ERROR") + strings.Count(log.String(), "level=WARN"); n != 1 ||
		!strings.Contains(log.String(), "model not found") {
		t.Errorf("%d lines of one cause: %s", n, &log)
	}
	judge(evaluatortest.Honest(), false)
	if n := strings.Count(log.String(), "\n"); n != 2 || !strings.Contains(log.String(), "answers again") {
		t.Errorf("%d lines with its end: %s", n, &log)
	}
}
