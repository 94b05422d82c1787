package agents

import (
	"encoding/json"

	"approver.example"
)

// The documents that Copilot reads. Field order is the order of the output.
type (
	copilotOutput struct {
		Decision string          `json:"permissionDecision,omitempty"`
		Reason   string          `json:"permissionDecisionReason,omitempty"`
		Args     json.RawMessage `json:"modifiedArgs,omitempty"`
		Context  string          `json:"additionalContext,omitempty"`
		Result   *copilotResult  `json:"modifiedResult,omitempty"`
		// Specific is read by Visual Studio Code, which does not read the keys above.
		Specific *claudeSpecific `json:"hookSpecificOutput,omitempty"`
	}
	copilotBehavior struct {
		Behavior string `json:"behavior"`
	}
	// A copilotResult is what a tool returned, with the names of both forms.
	copilotResult struct {
		Type      string  `json:"resultType,omitempty"`
		Text      *string `json:"textResultForLlm,omitempty"`
		SnakeType string  `json:"result_type,omitempty"`
		SnakeText *string `json:"text_result_for_llm,omitempty"`
	}
)

// text returns the text for the model, or nil.
func (r copilotResult) text() *string {
	if r.Text != nil {
		return r.Text
	}
	return r.SnakeText
}

// likeClaude reports whether an event's hooks may be run by Visual Studio Code.
func likeClaude(event string) bool { return event != "" && event[0] >= 'A' && event[0] <= 'Z' }

// permitCopilot returns the document for an answer that does not block.
func permitCopilot(ev Event, v approver.Verdict, args json.RawMessage) any {
	out := &copilotOutput{}
	specific := &claudeSpecific{Event: ev.Name}
	switch {
	case ev.Kind == Prompted && v.Decision == approver.Allow:
		return copilotBehavior{"allow"}
	case ev.Kind == Decide && (v.Decision == approver.Modify || v.Decision == approver.Allow):
		out.Decision, out.Args, out.Reason = "allow", args, allowed(v)
		specific.Decision, specific.Input, specific.Reason = out.Decision, args, out.Reason
	case ev.Kind != Prompted && v.Decision == approver.Warn:
		out.Context = warning(v)
		specific.Context = out.Context
	default:
		return nil
	}
	if likeClaude(ev.Name) {
		out.Specific = specific
	}
	return out
}

// copilotOwn are the tools whose result only repeats what the agent wrote.
const copilotOwn = "Write Edit apply_patch AskUserQuestion ExitPlanMode report_intent update_todo stop_bash"

// Reading implements [Returner]. The answer to postToolUse replaces the result of the CLI. The answer to
// postToolUseFailure, and those that Visual Studio Code reads, can only add to it.
func (c copilotAdapter) Reading(ev Event) Reading {
	if ev.Kind != Ran || hasWord(copilotOwn, ev.Call.Tool) && ev.Failure == "" {
		return Reading{}
	}
	var result copilotResult
	return Reading{Reads: true, From: origin(ev),
		Replaces: ev.Failure == "" && ev.Derived && json.Unmarshal(ev.Response, &result) == nil && result.text() != nil}
}

// EncodeResult implements [Returner]. There is no place for a notice to the user.
func (c copilotAdapter) EncodeResult(ev Event, r Result) Answer {
	return encodeResult(c, ev, r, func(r Result) (any, error) {
		if len(r.Response) == 0 && r.Context == "" {
			return nil, nil
		}
		out := copilotOutput{Context: r.Context}
		if len(r.Response) > 0 {
			var was, is copilotResult
			if err := json.Unmarshal(r.Response, &is); err != nil || is.text() == nil ||
				json.Unmarshal(ev.Response, &was) != nil {
				return nil, errForm
			}
			// The answer has the first form's names, whatever the payload has.
			out.Result = &copilotResult{Type: was.Type + was.SnakeType, Text: is.text()}
		}
		if r.Context != "" && likeClaude(ev.Name) {
			out.Specific = &claudeSpecific{Event: ev.Name, Context: r.Context}
		}
		return out, nil
	})
}
