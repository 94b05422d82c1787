package reflexcore

import (
	"errors"
	"fmt"

	"approver.example"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// A Walk is what a call would run and do. An approval is bound to it.
type Walk struct {
	// Steps are the simple commands that would run, including those in payloads. A step comes after
	// the step that leads to it.
	Steps []shell.Step
	// Effects are what the steps do. An effect's Step is an index of Steps, or negative.
	Effects []effect.Effect
}

// Walk returns what a call would run and do. It depends on the call alone, not on rules or memory:
// the same call has the same walk. A call that the engine cannot walk gives an error, never an empty
// walk.
func (e *Engine) Walk(call approver.ToolCall) (walk Walk, err error) {
	defer func() {
		if p := recover(); p != nil {
			walk, err = Walk{}, fmt.Errorf("the engine failed at the call: %v", p)
		}
	}()
	if e == nil || e.analyzer.Shell.Table == nil {
		return Walk{}, errors.New("there is no engine: use reflexcore.New")
	}
	j := &judgment{}
	j.call.Explain, j.call.Sure, j.call.Binds = true, true, true
	j.sets[0] = e.rules.Load()
	j.call.Capture(&e.analyzer, call)
	j.flows.Begin(&j.call, e.flow.Load(), j.projectSources(), &e.remotes)
	e.understand(j)
	return Walk{Steps: j.call.Steps, Effects: j.call.Effects}, nil
}
