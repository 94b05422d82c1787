package reflexcore

import (
	"approver.example/reflexcore/agenttexts"
	"approver.example/reflexcore/gitruns"
)

// understand is stages 3 to 7: what the call itself would do, and what runs with it that no
// hook sees.
func (e *Engine) understand(w *work) {
	place := w.a.Context(w.labels())
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
