package reflexcore

// understand is stages 3 to 7: what the call itself would do, and what runs with it that no
// hook sees.
func (e *Engine) understand(w *work) {
	place := w.a.Context(w.labels())
	if w.a.ToolCall.Command != "" {
		w.a.ReadCommand(place)
	} else {
		w.a.ReadTool(place)
		e.loads(w, place)
	}
	e.starts(w, place)
	e.gitHooks(w, place)
	e.prompts(w, place)
	e.todos(w, place)
	e.patches(w, place)
	w.a.ReadHidden(place)
}
