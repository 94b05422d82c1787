package reflexcore

import (
	"approver.example/reflexcore/agenttexts"
	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/gitruns"
)

// understand is stages 3 to 7: what the call itself would do, and what runs with it that no
// hook sees.
func (e *Engine) understand(w *work) {
	place := w.a.Context(w.flows.Labels())
	texts := &w.agentTexts
	*texts = agenttexts.Reader{Call: &w.a, Place: place}
	if w.a.ToolCall.Command != "" {
		w.a.ReadCommand(place)
	} else {
		w.a.ReadTool(place)
		texts.Loads()
	}
	texts.Starts()
	git := &w.git
	*git = gitruns.Reader{Call: &w.a, Place: place, Texts: texts}
	git.Hooks()
	texts.Written()
	git.Todos()
	git.Patches()
	w.a.ReadHidden(place)
}

// projectSources are those of labels that the project names.
func (w *work) projectSources() flow.Sources {
	if w.sets[1] == nil {
		return flow.Sources{}
	}
	return w.sets[1].Sources
}

// excepted are the effects of which an exception drops what a rule found.
func (w *work) excepted() (out []int) {
	for i := range w.findings {
		if f := &w.findings[i]; f.allowed != nil && f.effect >= 0 {
			out = append(out, f.effect)
		}
	}
	return out
}
