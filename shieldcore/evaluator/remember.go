package evaluator

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"

	"approver.example"
)

// RememberFor is how long an objection to a call is repeated.
const RememberFor = time.Hour

// maxRemembered bounds the objections that are remembered: the newest, between half
// of it and all of it.
const maxRemembered = 8192

// A Remembering is a stage that repeats an objection of Stage to the same call, without
// asking it again. A model may answer differently the next time, so an agent could retry
// until it gets the answer that it wants. It does not remember consent, nor failures
// except those of the canary. The memory ends with the process. The zero value denies.
type Remembering struct {
	Stage approver.Stage

	mu         sync.Mutex
	young, old map[callKey]objection
}

// A callKey identifies what the model gets of a call. Of a shell call only the command
// counts, because the agent can vary the other arguments.
type callKey [sha256.Size]byte

type objection struct {
	verdict approver.Verdict
	at      time.Time
}

// Judge returns a remembered objection, or the verdict of Stage.
func (r *Remembering) Judge(ctx context.Context, call approver.ToolCall) (approver.Verdict, error) {
	key, ok := keyOf(call)
	if r == nil || r.Stage == nil || !ok {
		return approver.Verdict{By: By, Tier: Tier,
			Reason: "the security evaluation that this call needs is not available, so it was blocked",
			Detail: "no stage, or arguments that are not JSON"}, nil
	}
	if v, ok := r.recall(key); ok {
		return v, nil
	}
	v, err := r.Stage.Judge(ctx, call)
	if err == nil && v.Decision <= approver.Ask && (v.Rule != "" || v.Category == CategoryCanary) {
		r.note(key, v)
	}
	return v, err
}

func keyOf(call approver.ToolCall) (callKey, bool) {
	told := action{Tool: call.Tool, Command: call.Command, Paths: call.Paths, URLs: call.URLs}
	if call.Command == "" && len(call.Args) > 0 {
		told.Arguments = call.Args
	}
	text, err := json.Marshal(told)
	return sha256.Sum256(text), err == nil
}

func (r *Remembering) recall(key callKey) (approver.Verdict, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o, ok := r.young[key]
	if !ok {
		o, ok = r.old[key]
	}
	if !ok || time.Since(o.at) >= RememberFor {
		return approver.Verdict{}, false
	}
	v := o.verdict
	v.Detail = "as of the same call at " + o.at.UTC().Format("15:04:05 UTC") + ": " + v.Detail
	return v, true
}

func (r *Remembering) note(key callKey, v approver.Verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.young[key]; !ok && len(r.young) >= maxRemembered/2 {
		r.young, r.old = nil, r.young
	}
	if r.young == nil {
		r.young = map[callKey]objection{}
	}
	r.young[key] = objection{v, time.Now()}
}
