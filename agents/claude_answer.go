package agents

import (
	"encoding/json"
	"errors"

	"approver.example"
	"approver.example/agents/blocking"
)

// Encode writes the verdict for Claude Code:
//
//	Pass    nothing, exit 0: its own permission flow goes on
//	Allow   an allow document, exit 0
//	Modify, and an Allow with arguments: an allow document with updatedInput, exit 0
//	Warn    additionalContext for the model and systemMessage for the user, exit 0
//	Deny, Ask and everything else: a deny document, stderr and exit 2
//
// For a call that already ran, only Warn and Deny have an answer. The answer to a Notice and an
// Over is always empty. Changed settings are used only after a Pass.
func (c Claude) Encode(ev Event, v approver.Verdict) Answer {
	if ev.Kind == Notice || ev.Kind == Over {
		return Answer{ExitZero: true}
	}
	doc, err := c.document(ev, v)
	return c.answer(ev, doc, err, "the answer could not be written: ")
}

// answer returns the answer with a document, or an empty one without a document. An error is the
// reason for a block.
func (c Claude) answer(ev Event, doc *claudeOutput, err error, failed string) Answer {
	if err != nil {
		return blocking.For(c.Name(), ev.Name, err.Error())
	}
	if doc == nil {
		return Answer{ExitZero: true}
	}
	out, err := encoded(doc, "")
	if err != nil {
		return blocking.For(c.Name(), ev.Name, failed+err.Error())
	}
	return Answer{Stdout: out, ExitZero: true}
}

// document returns the document for exit 0, nil for an empty answer, or an error with the reason
// for a block.
func (c Claude) document(ev Event, v approver.Verdict) (*claudeOutput, error) {
	switch {
	case ev.Kind == Settings && v.Decision == approver.Pass:
		return nil, nil
	case ev.Kind != Decide && ev.Kind != Prompted && ev.Kind != Ran:
		return nil, errors.New(v.Reason)
	}
	out := &claudeOutput{Specific: &claudeSpecific{Event: ev.Name}}
	switch {
	case v.Decision == approver.Pass,
		v.Decision == approver.Allow && ev.Kind == Ran,
		v.Decision == approver.Warn && ev.Kind == Prompted: // has no place for a warning
		return nil, nil
	case v.Decision == approver.Warn:
		text := warning(v)
		out.SystemMessage, out.Specific.Context = "approver: "+text, text
	case v.Decision == approver.Allow && v.Args == nil:
		return out, out.allow(ev, v, nil)
	case (v.Decision == approver.Modify || v.Decision == approver.Allow) && ev.Kind != Ran:
		if _, err := parseObject(v.Args); err != nil || !wellFormed(v.Args) {
			return nil, errors.New("the changed arguments are not a JSON object, so the call was stopped")
		}
		return out, out.allow(ev, v, v.Args)
	default:
		return nil, errors.New(v.Reason)
	}
	return out, nil
}

func (o *claudeOutput) allow(ev Event, v approver.Verdict, input json.RawMessage) error {
	if ev.Kind == Prompted {
		return o.prompted(ev, v.Yes().Choice, input)
	}
	o.Specific.Decision, o.Specific.Input = "allow", input
	o.Specific.Reason = allowed(v)
	return nil
}
