package gate

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"approver.example"
)

// Only a call against which nothing stood is recorded a moment later. Everything else is in the audit
// first: what stops a call, what people are asked, and what goes on although something stood against it.
func TestOnlyPlainPassesAreRecordedLater(t *testing.T) {
	unavailable := func(approver.ToolCall) (approver.Verdict, error) {
		return approver.Verdict{By: "t"}, &approver.UnavailableError{Err: errors.New("away")}
	}
	ruled := func(d approver.Decision) stage {
		return func(approver.ToolCall) (approver.Verdict, error) {
			return approver.Verdict{Decision: d, Severity: approver.High, Rule: "r", By: "t"}, nil
		}
	}
	asksModel := func(approver.ToolCall) (approver.Verdict, error) {
		return approver.Verdict{Decision: approver.Ask, Severity: approver.High, Rule: "r", By: "t",
			MinTier: approver.TierEvaluation}, nil
	}
	once := func(c approver.ToolCall) (approver.Verdict, error) {
		if string(c.Args) == `"safer"` {
			return approver.Verdict{Decision: approver.Pass}, nil
		}
		return approver.Verdict{Decision: approver.Modify, Args: json.RawMessage(`"safer"`)}, nil
	}
	paused := func(context.Context, approver.Severity) (string, bool) { return "paused", true }
	observed := func(context.Context, approver.Verdict) (string, bool) { return "observing", true }
	for _, c := range []struct {
		name  string
		gate  Gate
		want  approver.Decision
		later bool
	}{
		{"pass", Gate{Stages: []approver.Stage{says(approver.Pass)}}, approver.Pass, true},
		{"allow", Gate{Stages: []approver.Stage{ruled(approver.Allow)}}, approver.Allow, true},
		{"warn", Gate{Stages: []approver.Stage{ruled(approver.Warn)}}, approver.Warn, true},
		{"modify", Gate{Stages: []approver.Stage{stage(once)}}, approver.Modify, true},
		{"deny", Gate{Stages: []approver.Stage{says(approver.Deny)}}, approver.Deny, false},
		{"nobody to ask", Gate{Stages: []approver.Stage{says(approver.Ask)}}, approver.Deny, false},
		{"paused", Gate{Stages: []approver.Stage{says(approver.Ask)}, Paused: paused}, approver.Pass, false},
		{"observed denial", Gate{Stages: []approver.Stage{ruled(approver.Deny)}, Observe: observed}, approver.Pass, false},
		{"observed warning", Gate{Stages: []approver.Stage{ruled(approver.Warn)}, Observe: observed}, approver.Pass, false},
		{"fail open", Gate{Stages: []approver.Stage{stage(unavailable)}, FailOpen: true}, approver.Pass, false},
		{"a question that a model settled", Gate{Stages: []approver.Stage{stage(asksModel)}, Evaluator: says(approver.Pass),
			Tiers: approver.TierEvaluation}, approver.Pass, false},
		{"no stages", Gate{}, approver.Deny, false},
	} {
		audit, later := &memAudit{}, 0
		g := c.gate
		g.Audit, g.Log = audit, slog.New(slog.DiscardHandler)
		g.Rewrite = func(call approver.ToolCall, args json.RawMessage) (approver.ToolCall, error) {
			call.Args = args
			return call, nil
		}
		g.Pass = func(_ context.Context, r approver.Record) error {
			if r.Event != approver.EventVerdict || r.Verdict.Decision != c.want {
				t.Errorf("%s: recorded as %s %v", c.name, r.Event, r.Verdict.Decision)
			}
			later++
			return nil
		}
		v := g.Decide(t.Context(), approver.ToolCall{ID: "c", Args: json.RawMessage(`"x"`)})
		if first := len(audit.recorded()); v.Decision != c.want || (later == 1) != c.later || first+later != 1 {
			t.Errorf("%s: %v, %d records before the answer and %d after it", c.name, v.Decision, first, later)
		}
	}
}

// A call that cannot be recorded does not run, and its denial is recorded before the answer.
func TestAPassThatIsNotRecordedIsDenied(t *testing.T) {
	audit := &memAudit{}
	g := &Gate{Stages: []approver.Stage{says(approver.Pass)}, Audit: audit, Log: slog.New(slog.DiscardHandler),
		Pass: func(context.Context, approver.Record) error { return errors.New("disk full") }}
	v := g.Decide(t.Context(), approver.ToolCall{ID: "c"})
	if all := audit.recorded(); v.Decision != approver.Deny || len(all) != 1 ||
		all[0].Verdict.Decision != approver.Deny {
		t.Errorf("%v, recorded %+v", v.Decision, all)
	}
	g.Audit = nil
	g.Pass = func(context.Context, approver.Record) error { return nil }
	if v := g.Decide(t.Context(), approver.ToolCall{ID: "c"}); v.Decision != approver.Deny {
		t.Errorf("without an audit: %v", v.Decision)
	}
}
