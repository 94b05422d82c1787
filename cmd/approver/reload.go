package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"approver.example"
	"approver.example/configs"
	"approver.example/shieldcore"
)

// A reloader watches the policy file. A policy that tightens takes effect at
// once; one that loosens only after people have approved its exact diff; one
// with problems never does, and the last good one stays in force.
type reloader struct {
	*inForce
	cfg   configs.Config
	ask   func(context.Context, approver.ToolCall, approver.Verdict) approver.Verdict
	every time.Duration // between two looks at the file

	pending context.CancelFunc // ends the question that is open; nil: none is
	done    chan struct{}      // closed when it has ended
}

const (
	reloadEvery = time.Second
	// readAnyway is how many looks go by until the file is read although its
	// time and size are the same, because those can be set.
	readAnyway = 10
)

// run watches until ctx ends. A built-in policy does not change while the program
// runs, and may have changed since the last one did.
func (r *reloader) run(ctx context.Context) error {
	defer r.withdraw()
	if r.cfg.Policy == "" || strings.HasPrefix(r.cfg.Policy, configs.PresetPrefix) {
		r.look(ctx, r.live.Version())
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(r.every)
	defer tick.Stop()
	stamp, said := "", r.live.Version()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := stampOf(r.cfg.Policy)
		if now == stamp && n%readAnyway != 0 {
			continue
		}
		stamp = now
		said = r.look(ctx, said)
	}
}

func stampOf(name string) string {
	info, err := os.Stat(name)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size())
}

// look reads the file and deals with what is new in it. said names what was
// dealt with last: a version, or the text of an error.
func (r *reloader) look(ctx context.Context, said string) string {
	next, err := r.cfg.LoadPolicy()
	switch {
	case err != nil && err.Error() == said, err == nil && next.Version() == said:
		return said
	case err != nil:
		r.withdraw()
		r.log.Error("the policy file has problems, so the last good policy stays in force", "in_force", r.live.Version()[:12], "problems", err.Error())
		return err.Error()
	}
	r.withdraw()
	if next.Version() == r.live.Version() {
		r.log.Info("the policy file is again the one in force")
		return next.Version()
	}
	for _, w := range next.Warnings() {
		r.log.Warn("the policy has a rule that does nothing", "what", w.Pos.String()+": "+w.Text)
	}
	change := shieldcore.Compare(r.live.Policy(), next)
	if !change.Loosens() {
		r.log.Info("a new policy is in force: it tightens, or changes no verdict", "version", next.Version()[:12])
		if err := r.tighten(ctx, next); err != nil {
			r.log.Error("the new policy is in force, and that is not recorded", "error", err)
		}
		return next.Version()
	}
	r.log.Warn("the new policy loosens, so it takes effect only if people approve it", "version", next.Version()[:12], "why", strings.Join(change.Why, "; "))
	r.propose(ctx, next, change)
	return next.Version()
}

// withdraw ends the question that is open and waits for its end.
func (r *reloader) withdraw() {
	if r.pending != nil {
		r.pending()
		<-r.done
		r.pending = nil
	}
}

// propose puts the exact diff before people, and the policy in force if they
// approve. What they approve is the policy that was read, whatever becomes of
// the file meanwhile.
func (r *reloader) propose(ctx context.Context, next *shieldcore.Policy, change shieldcore.Change) {
	call, why, err := proposal(r.cfg.Policy, next, change)
	if err != nil {
		r.log.Error("the looser policy could not be put before people, so it is refused", "error", err)
		return
	}
	ctx, r.pending = context.WithCancel(ctx)
	r.done = make(chan struct{})
	go func(done chan<- struct{}) {
		defer close(done)
		v := r.ask(ctx, call, why)
		if v.Decision != approver.Allow {
			r.log.Warn("the looser policy was not approved, so the old one stays in force", "version", next.Version()[:12], "why", v.Reason)
			return
		}
		if err := r.put(ctx, next, v.Reason); err != nil {
			r.log.Error("people approved the looser policy, which cannot be put in force", "error", err)
			return
		}
		r.log.Warn("people approved the looser policy: it is in force", "version", next.Version()[:12])
	}(r.done)
}

// proposal is a change of policy as a call that people can decide.
func proposal(file string, next *shieldcore.Policy, change shieldcore.Change) (approver.ToolCall, approver.Verdict, error) {
	// One text for each line of the diff, so that a card shows it line by line.
	shown := map[string]any{"file": file, "version": next.Version(), "diff": strings.Split(strings.TrimSuffix(change.Diff, "\n"), "\n")}
	return ownQuestion("change_policy", "policy_loosened", shown, "loosens the policy: "+strings.Join(change.Why, "; "))
}

// ownQuestion is a loosening of what is in force as a call that people can decide,
// as CATASTROPHIC. effect is what we know of it.
func ownQuestion(tool, rule string, shown map[string]any, effect string) (approver.ToolCall, approver.Verdict, error) {
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		return approver.ToolCall{}, approver.Verdict{}, err
	}
	var args bytes.Buffer
	enc := json.NewEncoder(&args)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(shown); err != nil {
		return approver.ToolCall{}, approver.Verdict{}, err
	}
	call := approver.ToolCall{ID: hex.EncodeToString(id), Agent: "approver", Tool: tool, Args: bytes.TrimSpace(args.Bytes()), At: time.Now()}
	why := approver.Verdict{
		Decision: approver.Ask, By: "policy", Rule: rule, Category: "policy", Severity: approver.Catastrophic,
		Reason: effect, Detail: effect, Confidence: 1,
	}
	return call, why, nil
}
