package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
)

// claudeOwn are the tools whose response only repeats what the agent wrote.
const claudeOwn = "Write Edit MultiEdit NotebookEdit TodoWrite TaskCreate TaskUpdate ExitPlanMode EnterPlanMode " +
	"AskUserQuestion KillShell TaskStop"

// claudeNumbered are the tools whose text Claude Code shows with line numbers.
const claudeNumbered = "Read NotebookRead"

// Reading implements [Returner]. PostToolUse replaces what a tool returned by updatedToolOutput,
// which must have the form of that tool's output. With another form, and in a version that does not
// know the field, the model reads the original. PostToolUseFailure can only add to the error.
func (Claude) Reading(ev Event) Reading {
	if ev.Kind != Ran || hasWord(claudeOwn, ev.Call.Tool) && ev.Failure == "" {
		return Reading{}
	}
	return Reading{Reads: true, Replaces: ev.Failure == "" && len(ev.Response) > 0,
		Lines: hasWord(claudeNumbered, ev.Call.Tool), From: origin(ev)}
}

// origin returns the host of the first URL of a call, or its first path.
func origin(ev Event) string {
	if len(ev.Call.URLs) > 0 {
		if u, err := url.Parse(ev.Call.URLs[0]); err == nil {
			return u.Host
		}
	}
	if ev.Call.Command == "" && len(ev.Call.Paths) > 0 {
		return ev.Call.Paths[0]
	}
	return ""
}

// EncodeResult implements [Returner].
func (c Claude) EncodeResult(ev Event, r Result) Answer {
	doc, err := c.result(ev, r)
	return c.answer(ev, doc, err, "what the call returned could not be replaced: ")
}

func (c Claude) result(ev Event, r Result) (*claudeOutput, error) {
	if err := r.fits(c, ev); err != nil || r.isZero() {
		return nil, err
	}
	r = r.lines()
	return &claudeOutput{SystemMessage: r.Notice,
		Specific: &claudeSpecific{Event: ev.Name, Output: r.Response, Context: r.Context}}, nil
}

// maxBatch bounds the calls of one turn.
const maxBatch = 1024

// claudeOver reads the ids of the calls in a PostToolBatch. What the calls returned was reported
// separately. For a call that did not run it is a text by Claude Code.
func claudeOver(ev *Event, o object) error {
	if err := o.optional(maxID, map[string]*string{"agent_id": &ev.Subagent}); err != nil {
		return err
	}
	var calls []json.RawMessage
	if raw := o["tool_calls"]; len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &calls) != nil {
		return errors.New(`"tool_calls" is missing or no list`)
	}
	if len(calls) > maxBatch {
		return fmt.Errorf(`"tool_calls" has %d calls, more than the limit of %d`, len(calls), maxBatch)
	}
	for _, raw := range calls {
		call, err := parseObject(raw)
		if err != nil {
			return fmt.Errorf(`"tool_calls": %w`, err)
		}
		id, err := call.need("tool_use_id", maxID)
		if err != nil {
			return fmt.Errorf(`"tool_calls": %w`, err)
		}
		ev.Over = append(ev.Over, id)
	}
	return nil
}
