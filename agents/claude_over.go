package agents

import (
	"encoding/json"
	"errors"
	"fmt"
)

// maxBatch bounds the calls of one turn.
const maxBatch = 1024

// over reads a PostToolBatch: the ids of its calls. What they returned was reported with
// each of them; of one that did not run it is Claude Code's own words.
func (c Claude) over(ev *Event, o object) (err error) {
	ev.Call.Agent = c.Name()
	if ev.Call.Session, err = o.need("session_id", maxID); err != nil {
		return err
	}
	if ev.Call.Dir, err = c.dir(o); err != nil {
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
	ev.Kind = Over
	return nil
}
