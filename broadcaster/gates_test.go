package broadcaster

import (
	"context"
	"encoding/json"

	"approver.example"
)

type stage func(approver.ToolCall) (approver.Verdict, error)

func (s stage) Judge(_ context.Context, c approver.ToolCall) (approver.Verdict, error) { return s(c) }

func fixed(v approver.Verdict) approver.Stage {
	return stage(func(approver.ToolCall) (approver.Verdict, error) { return v, nil })
}

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
