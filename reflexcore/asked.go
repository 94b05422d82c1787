package reflexcore

import (
	"reflect"
	"sync"

	"approver.example"
)

// Limits of the judgments that are kept for [Engine.Sum].
const (
	maxAsked      = 64
	maxAskedBytes = 16 << 10 // of a command, and of arguments
)

// asked keeps the newest judgments that people may be asked about: so [Engine.Sum] need not judge the same call
// once more. The zero value is empty. All methods are safe for concurrent use.
type asked struct {
	mu sync.Mutex
	of map[string]askedCall // by the id of the call
}

type askedCall struct {
	call approver.ToolCall // as it was judged
	j    *judgment
	v    approver.Verdict
}

// keep keeps a judgment, and reports whether it did. Then the judgment belongs to asked.
func (a *asked) keep(call approver.ToolCall, j *judgment, v approver.Verdict) bool {
	if call.ID == "" || len(call.Command) > maxAskedBytes || len(call.Args) > maxAskedBytes {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = map[string]askedCall{}
	}
	if _, ok := a.of[call.ID]; !ok && len(a.of) >= maxAsked {
		for id := range a.of { // any: it costs one judgment
			delete(a.of, id)
			break
		}
	}
	a.of[call.ID] = askedCall{call, j, v}
	return true
}

// take returns the judgment of exactly this call, if it is kept, and forgets it.
func (a *asked) take(call approver.ToolCall) (j *judgment, v approver.Verdict, ok bool) {
	a.mu.Lock()
	k, ok := a.of[call.ID]
	delete(a.of, call.ID)
	a.mu.Unlock()
	if !ok || !reflect.DeepEqual(k.call, call) {
		return nil, v, false
	}
	return k.j, k.v, true
}
