package judges

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"approver.example"
	"approver.example/daemon/adminapi"
	"approver.example/display"
	"approver.example/internal/strictyaml"
	"approver.example/shieldcore"
)

// A reloader watches the files of a standard: the policy, the rule set or the information
// flow. A change that tightens takes effect at once; one that loosens takes effect only after
// people have approved its exact diff. Files with problems never take effect, and the last
// good version stays in force.
type reloader[V versioned] struct {
	*inForce[V]
	name     string   // of the files, for people
	files    []string // empty if built in
	read     func() (V, error)
	warnings func(V) []strictyaml.Problem
	ask      Asking
	every    time.Duration // the interval between checks of the files

	pending context.CancelCauseFunc // ends the open question; nil if there is none
	done    chan struct{}           // closed when it has ended
}

// Asking puts a call before people, as the Broadcaster's Ask does.
type Asking = func(context.Context, approver.ToolCall, approver.Verdict) approver.Verdict

const (
	reloadEvery = time.Second
	// readAnyway is after how many checks the file is read even if its
	// time and size are the same, because those can be forged.
	readAnyway = 10
)

// run watches until ctx ends. A built-in standard is checked once: it does not change while
// the program runs, but an upgrade may have changed it.
func (r *reloader[V]) run(ctx context.Context) error {
	defer r.withdraw(nil)
	if len(r.files) == 0 {
		r.look(ctx, r.active.Version())
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(r.every)
	defer tick.Stop()
	stamp, said := "", r.active.Version()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := stampOf(r.files)
		if now == stamp && n%readAnyway != 0 {
			continue
		}
		stamp = now
		said = r.look(ctx, said)
	}
}

func stampOf(names []string) (stamp string) {
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			stamp += err.Error() + "\n"
			continue
		}
		stamp += fmt.Sprintln(info.ModTime().UnixNano(), info.Size())
	}
	return stamp
}

// look reads the files and handles what is new. said identifies what was handled last: a
// version, or the text of an error. look returns its successor.
func (r *reloader[V]) look(ctx context.Context, said string) string {
	next, err := r.read()
	noun := r.spec.noun
	switch {
	case err != nil && err.Error() == said, err == nil && next.Version() == said:
		return said
	case err != nil:
		r.withdraw(approver.ErrOutdated)
		r.unused.set(adminapi.BrokenFiles + err.Error())
		r.log.Error("the "+noun+" file has problems, so the last good "+noun+" stays in force", "in_force",
			brief(r.active.Version()), "problems", err.Error())
		return err.Error()
	}
	r.withdraw(approver.ErrOutdated)
	if next.Version() == r.active.Version() {
		r.unused.set("")
		r.log.Info("the " + noun + " file is again the one in force")
		return next.Version()
	}
	for _, w := range r.warnings(next) {
		r.log.Warn("the "+noun+" has what does nothing, or not for long", "what", w.Pos.String()+": "+w.Text)
	}
	change := r.spec.compare(r.active.current(), next)
	if !change.Loosens() {
		r.log.Info("a new "+noun+" is in force: it tightens, or changes no verdict", "version", brief(next.Version()))
		if err := r.tighten(ctx, next); err != nil {
			r.log.Error("the new "+noun+" is in force, and that is not recorded", "error", err)
		}
		return next.Version()
	}
	r.log.Warn("the new "+noun+" loosens, so it takes effect only if people approve it", "version", brief(next.Version()),
		"why", strings.Join(change.Why, "; "))
	r.unused.set("they loosen what is in force, which stays in force until people approve the change: " +
		strings.Join(change.Why, "; "))
	r.propose(ctx, next, change)
	return next.Version()
}

// withdraw ends the open question, if any, with the cause why, and waits until it has ended.
func (r *reloader[V]) withdraw(why error) {
	if r.pending != nil {
		r.pending(why)
		<-r.done
		r.pending = nil
	}
}

// propose asks people about the exact diff, and puts the new version in force if they approve.
// They approve what was read, even if the file changes in the meantime.
func (r *reloader[V]) propose(ctx context.Context, next V, change shieldcore.Change) {
	call, why, err := r.proposal(next, change)
	if err != nil {
		r.log.Error("the looser "+r.spec.noun+" could not be put before people, so it is refused", "error", err)
		return
	}
	ctx, r.pending = context.WithCancelCause(ctx)
	r.done = make(chan struct{})
	go func(done chan<- struct{}) {
		defer close(done)
		v := r.ask(ctx, call, why)
		if v.Decision != approver.Allow && errors.Is(context.Cause(ctx), approver.ErrOutdated) {
			r.log.Info("the question about the looser "+r.spec.noun+" is over: its file was changed again", "version",
				brief(next.Version()))
			return
		}
		if v.Decision != approver.Allow {
			r.unused.set("they loosen what is in force, and people did not approve the change (" + v.Reason +
				"): a change of them asks anew, and so does a restart")
			r.log.Warn("the looser "+r.spec.noun+" was not approved, so the old one stays in force", "version",
				brief(next.Version()), "why", v.Reason)
			return
		}
		if err := r.put(ctx, next, v.Reason); err != nil {
			r.unused.set("people approved the change, which cannot be put in force: " + err.Error())
			r.log.Error("people approved the looser "+r.spec.noun+", which cannot be put in force", "error", err)
			return
		}
		r.log.Warn("people approved the looser "+r.spec.noun+": it is in force", "version", brief(next.Version()))
	}(r.done)
}

// proposal returns a change as a call that people can decide.
func (r *reloader[V]) proposal(next V, change shieldcore.Change) (approver.ToolCall, approver.Verdict, error) {
	// One text for each line of the diff, so that a card shows it line by line.
	shown := map[string]any{"file": r.name, "version": next.Version(),
		"diff": strings.Split(strings.TrimSuffix(change.Diff, "\n"), "\n")}
	says := display.Summary{Title: display.Phrase{Text: r.spec.title},
		Why: display.Sentence("it makes approver less strict than it is now")}
	for _, why := range change.Why {
		says.Does = append(says.Does, display.Phrase{Text: "%s", Args: []string{display.OneLine(why)}})
	}
	effect := "loosens the " + r.spec.noun + ": " + strings.Join(change.Why, "; ")
	return OwnQuestion(r.spec.tool, r.spec.rule, shown, effect, says)
}

// OwnQuestion returns a loosening of what is in force as a call that people can decide, with
// severity CATASTROPHIC. effect is what approver knows about it, and says the same in words for
// people.
func OwnQuestion(
	tool, rule string, shown map[string]any, effect string, says display.Summary,
) (approver.ToolCall, approver.Verdict, error) {
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
	call := approver.ToolCall{ID: hex.EncodeToString(id), Agent: "approver", Tool: tool, Own: true,
		Args: bytes.TrimSpace(args.Bytes()), At: time.Now()}
	if says.Undo.IsZero() {
		says.Undo = display.Sentence("with a no, everything stays as it is")
	}
	why := approver.Verdict{
		Decision: approver.Ask, By: "policy", Rule: rule, Category: "policy", Severity: approver.Catastrophic,
		Reason: effect, Detail: effect, Confidence: 1, Says: says,
	}
	return call, why, nil
}
