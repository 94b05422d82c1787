package gate

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"approver.example"
)

// stage is a Stage made of a function.
type stage func(approver.ToolCall) (approver.Verdict, error)

func (s stage) Judge(_ context.Context, c approver.ToolCall) (approver.Verdict, error) { return s(c) }

func says(d approver.Decision) stage {
	return func(approver.ToolCall) (approver.Verdict, error) {
		return approver.Verdict{Decision: d, Severity: approver.High}, nil
	}
}

func modifies(args string) stage {
	return func(approver.ToolCall) (approver.Verdict, error) {
		return approver.Verdict{Decision: approver.Modify, Severity: approver.High, Args: json.RawMessage(args)}, nil
	}
}

func TestGateAlgebra(t *testing.T) {
	once := func(c approver.ToolCall) (approver.Verdict, error) {
		if string(c.Args) == `"safer"` {
			return approver.Verdict{Decision: approver.Pass}, nil
		}
		return approver.Verdict{Decision: approver.Modify, Args: json.RawMessage(`"safer"`)}, nil
	}
	for _, c := range []struct {
		name   string
		stages []approver.Stage
		want   approver.Decision
	}{
		{"no stages", nil, approver.Deny},
		{"all pass", []approver.Stage{says(approver.Pass), says(approver.Pass)}, approver.Pass},
		{"allow beats pass", []approver.Stage{says(approver.Pass), says(approver.Allow), says(approver.Pass)},
			approver.Allow},
		{"warn beats allow", []approver.Stage{says(approver.Allow), says(approver.Warn)}, approver.Warn},
		{"deny beats allow, whatever the order", []approver.Stage{says(approver.Allow), says(approver.Deny)}, approver.Deny},
		{"ask beats allow and is asked", []approver.Stage{says(approver.Allow), says(approver.Ask)}, approver.Allow},
		{"an unknown decision denies", []approver.Stage{says(approver.Decision(9))}, approver.Deny},
		{"an error denies", []approver.Stage{stage(func(approver.ToolCall) (approver.Verdict, error) {
			return approver.Verdict{Decision: approver.Allow}, errors.New("x")
		})}, approver.Deny},
		{"a panic denies", []approver.Stage{stage(func(approver.ToolCall) (approver.Verdict, error) { panic("x") })},
			approver.Deny},
		{"a nil stage denies", []approver.Stage{nil}, approver.Deny},
		{"modify once", []approver.Stage{stage(once)}, approver.Modify},
		{"modify twice denies", []approver.Stage{modifies(`"again"`)}, approver.Deny},
		{"modify without arguments denies", []approver.Stage{says(approver.Modify)}, approver.Deny},
		{"modify and deny", []approver.Stage{stage(once), says(approver.Deny)}, approver.Deny},
	} {
		audit := &memAudit{}
		g := &Gate{
			Stages: c.stages, Audit: audit, Log: slog.New(slog.DiscardHandler),
			Ask: func(_ context.Context, _ approver.ToolCall, v approver.Verdict) approver.Verdict {
				v.Decision = approver.Allow
				return v
			},
			Rewrite: func(call approver.ToolCall, args json.RawMessage) (approver.ToolCall, error) {
				call.Args = args
				return call, nil
			},
		}
		if v := g.Decide(t.Context(), approver.ToolCall{ID: "c", Args: json.RawMessage(`"x"`)}); v.Decision != c.want {
			t.Errorf("%s: %v, want %v (%s)", c.name, v.Decision, c.want, v.Detail)
		}
		if asked := c.name == "ask beats allow and is asked"; !asked && len(audit.recorded()) != 1 {
			t.Errorf("%s: %d audit records", c.name, len(audit.recorded()))
		}
	}
}

func TestGateFailsClosed(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	for name, g := range map[string]*Gate{
		"audit fails": {Stages: []approver.Stage{says(approver.Allow)}, Audit: &memAudit{fail: approver.EventVerdict},
			Log: log},
		"no audit":      {Stages: []approver.Stage{says(approver.Pass)}, Log: log},
		"nobody to ask": {Stages: []approver.Stage{says(approver.Ask)}, Audit: &memAudit{}, Log: log},
		"ask panics": {Stages: []approver.Stage{says(approver.Ask)}, Audit: &memAudit{}, Log: log,
			Ask: func(context.Context, approver.ToolCall, approver.Verdict) approver.Verdict { panic("x") }},
		"ask returns pass": {Stages: []approver.Stage{says(approver.Ask)}, Audit: &memAudit{}, Log: log,
			Ask: func(context.Context, approver.ToolCall, approver.Verdict) approver.Verdict {
				return approver.Verdict{Decision: approver.Pass}
			}},
		"ask returns ask": {Stages: []approver.Stage{says(approver.Ask)}, Audit: &memAudit{}, Log: log,
			Ask: func(_ context.Context, _ approver.ToolCall, v approver.Verdict) approver.Verdict { return v }},
		"ask returns 200": {Stages: []approver.Stage{says(approver.Ask)}, Audit: &memAudit{}, Log: log,
			Ask: func(context.Context, approver.ToolCall, approver.Verdict) approver.Verdict {
				return approver.Verdict{Decision: 200}
			}},
		"cannot rewrite": {Stages: []approver.Stage{modifies(`1`)}, Audit: &memAudit{}, Log: log},
	} {
		if v := g.Decide(t.Context(), approver.ToolCall{ID: "c"}); v.Decision != approver.Deny {
			t.Errorf("%s: %v", name, v.Decision)
		}
	}
}

// What people changed a call to is what runs, and it is never mixed with what a rule changed.
func TestPeopleChangeACall(t *testing.T) {
	for name, c := range map[string]struct {
		edit *approver.Edit
		rule json.RawMessage
		want string // of the arguments; empty: denied
	}{
		"changed":                {&approver.Edit{Args: json.RawMessage(`"b"`)}, nil, `"b"`},
		"nothing to run":         {&approver.Edit{}, nil, ""},
		"a rule changed it, too": {&approver.Edit{Args: json.RawMessage(`"b"`)}, json.RawMessage(`"a"`), ""},
		"only a rule changed it": {nil, json.RawMessage(`"a"`), `"a"`},
	} {
		g := &Gate{Log: slog.New(slog.DiscardHandler)}
		g.Ask = func(_ context.Context, _ approver.ToolCall, v approver.Verdict) approver.Verdict {
			v.Decision, v.By = approver.Allow, approver.ByPeople
			v.Approval = &approver.Yes{Resolution: approver.Resolution{Approve: true, Edit: c.edit}}
			return v
		}
		v := g.ask(t.Context(), approver.ToolCall{ID: "c"}, approver.Verdict{Decision: approver.Ask, Args: c.rule})
		if (v.Decision == approver.Allow) != (c.want != "") || c.want != "" && string(v.Args) != c.want {
			t.Errorf("%s: %v with %s", name, v.Decision, v.Args)
		}
	}
}

// The strictest of two asks is shown: a catastrophic finding must not be
// approved by a thumb because another stage found it merely high.
func TestGateKeepsTheGreaterSeverity(t *testing.T) {
	severe := stage(func(approver.ToolCall) (approver.Verdict, error) {
		return approver.Verdict{Decision: approver.Ask, Severity: approver.Catastrophic}, nil
	})
	for _, order := range [][]approver.Stage{{says(approver.Ask), severe}, {severe, says(approver.Ask)}} {
		g := &Gate{Stages: order, Audit: &memAudit{}, Log: slog.New(slog.DiscardHandler),
			Ask: func(_ context.Context, _ approver.ToolCall, v approver.Verdict) approver.Verdict {
				if v.Severity != approver.Catastrophic {
					t.Errorf("asked with %v", v.Severity)
				}
				return v
			}}
		g.Decide(t.Context(), approver.ToolCall{ID: "c"})
	}
}

// Each stage that asks may narrow who decides; a severer one does not widen it
// again, and where nothing is left, nobody is asked.
func TestGateNarrowsWhoMayAnswer(t *testing.T) {
	asks := func(s approver.Severity, channels, approvers []string) stage {
		return func(approver.ToolCall) (approver.Verdict, error) {
			return approver.Verdict{Decision: approver.Ask, Severity: s, Channels: channels, Approvers: approvers,
				MinTier: uint8(len(approvers))}, nil
		}
	}
	g := &Gate{Log: slog.New(slog.DiscardHandler), Stages: []approver.Stage{
		asks(approver.High, []string{"slack", "web"}, []string{"ada", "bob"}), asks(approver.Catastrophic, nil, nil),
		asks(approver.High, []string{"slack"}, nil),
	}}
	v, _ := g.Judge(t.Context(), approver.ToolCall{})
	if v.Decision != approver.Ask || v.Severity != approver.Catastrophic || len(v.Channels) != 1 ||
		v.Channels[0] != "slack" || len(v.Approvers) != 2 || v.MinTier != 2 {
		t.Errorf("%+v", v)
	}
	g.Stages = append(g.Stages, asks(approver.High, nil, []string{"eve"}))
	if v, _ = g.Judge(t.Context(), approver.ToolCall{}); v.Decision != approver.Deny {
		t.Errorf("nobody in common: %+v", v)
	}
}
