package reflexcore

import (
	"errors"
	"fmt"

	"approver.example"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/shell"
)

// A Walk is what a call would run and do, for those who bind an approval to it.
type Walk struct {
	// Steps are the simple commands that would run, also those in payloads. A step
	// comes after the one that leads to it.
	Steps []shell.Step
	// Effects are what they do. The step of an effect is an index of Steps, or less
	// than 0.
	Effects []effect.Effect
}

// Walk returns what a call would run and do. It looks at the call alone and at no
// rule, and remembers nothing: the same call has the same walk. A call that the
// engine cannot walk is an error, and never an empty walk.
func (e *Engine) Walk(call approver.ToolCall) (walk Walk, err error) {
	defer func() {
		if p := recover(); p != nil {
			walk, err = Walk{}, fmt.Errorf("the engine failed at the call: %v", p)
		}
	}()
	if e == nil || e.analyzer.Shell.Table == nil {
		return Walk{}, errors.New("there is no engine: use reflexcore.New")
	}
	w := &work{}
	w.a.Explain, w.a.Sure, w.a.Binds = true, true, true
	w.sets[0] = e.rules.Load()
	w.a.Capture(&e.analyzer, call)
	w.flows.Begin(&w.a, e.flow.Load(), w.projectSources(), &e.remotes)
	e.understand(w)
	return Walk{Steps: w.a.Steps, Effects: w.a.Effects}, nil
}
