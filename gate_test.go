package approver

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
)

// stage is a Stage made of a function.
type stage func(ToolCall) (Verdict, error)

func (s stage) Judge(_ context.Context, c ToolCall) (Verdict, error) { return s(c) }

func says(d Decision) stage {
	return func(ToolCall) (Verdict, error) { return Verdict{Decision: d, Severity: High}, nil }
}

func modifies(args string) stage {
	return func(ToolCall) (Verdict, error) {
		return Verdict{Decision: Modify, Severity: High, Args: json.RawMessage(args)}, nil
	}
}

func TestGateAlgebra(t *testing.T) {
	once := func(c ToolCall) (Verdict, error) {
		if string(c.Args) == `"safer"` {
			return Verdict{Decision: Pass}, nil
		}
		return Verdict{Decision: Modify, Args: json.RawMessage(`"safer"`)}, nil
	}
	for _, c := range []struct {
		name   string
		stages []Stage
		want   Decision
	}{
		{"no stages", nil, Deny},
		{"all pass", []Stage{says(Pass), says(Pass)}, Pass},
		{"allow beats pass", []Stage{says(Pass), says(Allow), says(Pass)}, Allow},
		{"warn beats allow", []Stage{says(Allow), says(Warn)}, Warn},
		{"deny beats allow, whatever the order", []Stage{says(Allow), says(Deny)}, Deny},
		{"ask beats allow and is asked", []Stage{says(Allow), says(Ask)}, Allow},
		{"an unknown decision denies", []Stage{says(Decision(9))}, Deny},
		{"an error denies", []Stage{stage(func(ToolCall) (Verdict, error) { return Verdict{Decision: Allow}, errors.New("x") })}, Deny},
		{"a panic denies", []Stage{stage(func(ToolCall) (Verdict, error) { panic("x") })}, Deny},
		{"a nil stage denies", []Stage{nil}, Deny},
		{"modify once", []Stage{stage(once)}, Modify},
		{"modify twice denies", []Stage{modifies(`"again"`)}, Deny},
		{"modify without arguments denies", []Stage{says(Modify)}, Deny},
		{"modify and deny", []Stage{stage(once), says(Deny)}, Deny},
	} {
		audit := &memAudit{}
		g := &Gate{
			Stages: c.stages, Audit: audit, Log: slog.New(slog.DiscardHandler),
			Ask: func(_ context.Context, _ ToolCall, v Verdict) Verdict { v.Decision = Allow; return v },
			Rewrite: func(call ToolCall, args json.RawMessage) (ToolCall, error) {
				call.Args = args
				return call, nil
			},
		}
		if v := g.Decide(t.Context(), ToolCall{ID: "c", Args: json.RawMessage(`"x"`)}); v.Decision != c.want {
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
		"audit fails":      {Stages: []Stage{says(Allow)}, Audit: &memAudit{fail: EventVerdict}, Log: log},
		"no audit":         {Stages: []Stage{says(Pass)}, Log: log},
		"nobody to ask":    {Stages: []Stage{says(Ask)}, Audit: &memAudit{}, Log: log},
		"ask panics":       {Stages: []Stage{says(Ask)}, Audit: &memAudit{}, Log: log, Ask: func(context.Context, ToolCall, Verdict) Verdict { panic("x") }},
		"ask returns pass": {Stages: []Stage{says(Ask)}, Audit: &memAudit{}, Log: log, Ask: func(context.Context, ToolCall, Verdict) Verdict { return Verdict{Decision: Pass} }},
		"ask returns ask":  {Stages: []Stage{says(Ask)}, Audit: &memAudit{}, Log: log, Ask: func(_ context.Context, _ ToolCall, v Verdict) Verdict { return v }},
		"ask returns 200":  {Stages: []Stage{says(Ask)}, Audit: &memAudit{}, Log: log, Ask: func(context.Context, ToolCall, Verdict) Verdict { return Verdict{Decision: 200} }},
		"cannot rewrite":   {Stages: []Stage{modifies(`1`)}, Audit: &memAudit{}, Log: log},
	} {
		if v := g.Decide(t.Context(), ToolCall{ID: "c"}); v.Decision != Deny {
			t.Errorf("%s: %v", name, v.Decision)
		}
	}
}

// The strictest of two asks is shown: a catastrophic finding must not be
// approved by a thumb because another stage found it merely high.
func TestGateKeepsTheGreaterSeverity(t *testing.T) {
	severe := stage(func(ToolCall) (Verdict, error) { return Verdict{Decision: Ask, Severity: Catastrophic}, nil })
	for _, order := range [][]Stage{{says(Ask), severe}, {severe, says(Ask)}} {
		g := &Gate{Stages: order, Audit: &memAudit{}, Log: slog.New(slog.DiscardHandler),
			Ask: func(_ context.Context, _ ToolCall, v Verdict) Verdict {
				if v.Severity != Catastrophic {
					t.Errorf("asked with %v", v.Severity)
				}
				return v
			}}
		g.Decide(t.Context(), ToolCall{ID: "c"})
	}
}

// Each stage that asks may narrow who decides; a severer one does not widen it
// again, and where nothing is left, nobody is asked.
func TestGateNarrowsWhoMayAnswer(t *testing.T) {
	asks := func(s Severity, channels, approvers []string) stage {
		return func(ToolCall) (Verdict, error) {
			return Verdict{Decision: Ask, Severity: s, Channels: channels, Approvers: approvers, MinTier: uint8(len(approvers))}, nil
		}
	}
	g := &Gate{Log: slog.New(slog.DiscardHandler), Stages: []Stage{
		asks(High, []string{"slack", "web"}, []string{"ada", "bob"}), asks(Catastrophic, nil, nil), asks(High, []string{"slack"}, nil),
	}}
	v, _ := g.Judge(t.Context(), ToolCall{})
	if v.Decision != Ask || v.Severity != Catastrophic || len(v.Channels) != 1 || v.Channels[0] != "slack" || len(v.Approvers) != 2 || v.MinTier != 2 {
		t.Errorf("%+v", v)
	}
	g.Stages = append(g.Stages, asks(High, nil, []string{"eve"}))
	if v, _ = g.Judge(t.Context(), ToolCall{}); v.Decision != Deny {
		t.Errorf("nobody in common: %+v", v)
	}
}
