package agents

import (
	"cmp"
	"errors"
	"fmt"

	"approver.example"
	"approver.example/agents/blocking"
)

// Encode writes the verdict for the agent. Deny, Ask, an event that is not understood and everything
// that the agent's protocol cannot express block. The answer to a Notice is empty.
func (h *hooked) Encode(ev Event, v approver.Verdict) Answer {
	var doc any
	var err error
	if ev.Kind != Notice {
		if doc, err = h.document(ev, v); err != nil {
			return blocking.For(h.name, ev.Name, err.Error())
		}
	}
	if quiet := cmp.Or(h.at(ev.Name).quiet, h.quiet); doc == nil && quiet != "" {
		return Answer{Stdout: []byte(quiet + "\n"), ExitZero: true}
	}
	if doc == nil {
		return Answer{ExitZero: true}
	}
	out, err := encoded(doc, "")
	if err != nil {
		return blocking.For(h.name, ev.Name, "the answer could not be written: "+err.Error())
	}
	return Answer{Stdout: out, ExitZero: true}
}

// document returns the document for exit 0, nil for an empty answer, or an error with the reason for a
// block.
func (h *hooked) document(ev Event, v approver.Verdict) (any, error) {
	switch {
	case ev.Kind != Decide && ev.Kind != Prompted && ev.Kind != Ran:
		return nil, errors.New(v.Reason)
	case v.Decision == approver.Pass, v.Decision == approver.Warn,
		v.Decision == approver.Allow && (v.Args == nil || ev.Kind == Ran):
		return h.permit(ev, v, nil), nil
	case v.Decision != approver.Modify && v.Decision != approver.Allow || ev.Kind == Ran:
		return nil, errors.New(v.Reason)
	}
	v.Decision = approver.Modify // people may have said yes to the changed call
	if _, err := parseObject(v.Args); err != nil || !wellFormed(v.Args) {
		return nil, errors.New("the changed arguments are not a JSON object, so the call was stopped")
	}
	_, args, err := h.changed(ev, ev.Call.Raw, v.Args)
	switch {
	case err != nil:
		return nil, errors.New("the changed arguments could not be written, so the call was stopped")
	case !h.modifies || h.at(ev.Name).call != nil || h.merges && !keeps(args, ev.Call.Raw, h.keys.input):
		return nil, fmt.Errorf("this call must run with other arguments, so it was stopped: run it with these instead: %s",
			args)
	}
	return h.permit(ev, v, args), nil
}
