package reflexcore_test

import (
	"log/slog"
	"testing"
	"time"

	"approver.example"
	"approver.example/reflexcore"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/loop"
	"approver.example/reflexcore/memory"
	"approver.example/reflexcore/precedent"
)

// leaves is a rule that leaves deletes, or what else is named, to the evaluation.
func leaves(id string, layer reflexcore.Layer, kinds ...effect.Kind) reflexcore.Rule {
	if len(kinds) == 0 {
		kinds = []effect.Kind{effect.Delete}
	}
	r := ask(id, reflexcore.Condition{Effects: kinds})
	r.MinTier, r.Layer = approver.TierEvaluation, layer
	return r
}

// The story: people are asked about what cannot be taken back. A rule that leaves
// calls to the evaluation does not take them from people, if it is the project's or
// about something else that the call does.
func TestTheEvaluationTakesNothingFromPeople(t *testing.T) {
	for name, tt := range map[string]struct {
		rules   []reflexcore.Rule
		command string
		want    string
	}{
		"no rule": {nil, "git stash clear", "ask irreversible"},
		"a rule about it": {[]reflexcore.Rule{leaves("a", reflexcore.BuiltInLayer, effect.Discard)},
			"git stash clear", "ask a, evaluation"},
		"the project's rule about it": {[]reflexcore.Rule{leaves("a", reflexcore.ProjectLayer, effect.Discard)},
			"git stash clear", "ask irreversible"},
		"a rule about the rest": {[]reflexcore.Rule{leaves("a", reflexcore.BuiltInLayer, effect.Read)},
			"cat x; git stash clear", "ask irreversible"},
		"a rule about what is worse": {[]reflexcore.Rule{leaves("a", reflexcore.BuiltInLayer)},
			"rm -rf /home/ada/x; git stash clear", "ask irreversible"},
		"the project's rule about a trifle": {[]reflexcore.Rule{leaves("a", reflexcore.ProjectLayer, effect.Read)}, "cat x",
			"ask a, evaluation"},
		"the project's rule beside another": {[]reflexcore.Rule{leaves("a", reflexcore.ProjectLayer, effect.Discard),
			leaves("b", reflexcore.UserLayer, effect.Discard)}, "git stash clear", "ask a, evaluation"},
		"a rule that asks people beside one": {[]reflexcore.Rule{leaves("a", reflexcore.ProjectLayer, effect.Discard),
			ask("z", reflexcore.Condition{Effects: []effect.Kind{effect.Discard}})}, "git stash clear", "ask a"},
	} {
		v := judge(t, engineOf(t, tt.rules...), bash(tt.command))
		got := v.Decision.String() + " " + v.Rule
		if v.Escalates() {
			got += ", evaluation"
		}
		if got != tt.want {
			t.Errorf("%s: %s of score %d, want %s", name, got, v.Irreversible.Score, tt.want)
		}
	}
}

// What people said no to is not left to the evaluation, nor what an agent repeats.
func TestPeopleGoBeforeTheEvaluation(t *testing.T) {
	kv := &shelf{values: map[string][]byte{}, revs: map[string]approver.Rev{}}
	e := engineOf(t, leaves("a", reflexcore.BuiltInLayer))
	e.Precedents = precedent.New(kv, precedent.DefaultLimits)
	call := at(1000, "/home/ada/shop", "rm -rf src internal docs")
	v := judge(t, e, call)
	if !v.Escalates() {
		t.Fatalf("%+v", v)
	}
	err := e.Answered(t.Context(), approver.Record{
		Event: approver.EventDenied, Call: call, Verdict: v,
		Resolution: approver.Resolution{Cause: approver.ByPerson, Person: approver.Person{ID: "1", Name: "Ada"},
			At: time.Now()},
	})
	if err != nil {
		t.Fatal(err)
	}
	if v := judge(t, e, call); v.Rule != reflexcore.RulePrecedent || v.Escalates() {
		t.Errorf("after a no: %+v", v)
	}

	e = engineOf(t, leaves("a", reflexcore.BuiltInLayer)).With(memory.New(nil, loop.DefaultLimits,
		slog.New(slog.DiscardHandler)))
	last := approver.Verdict{}
	for range 12 {
		call.Session, call.At = "s", time.Now()
		last = judge(t, e, call)
		if last.Decision > approver.Ask {
			t.Fatalf("a warning of a loop took the question away: %+v", last)
		}
		e.Ran(t.Context(), call, reflexcore.Result{Output: "the same"})
	}
	if last.Category != "loop" || last.Escalates() {
		t.Errorf("again and again: %+v", last)
	}
}
