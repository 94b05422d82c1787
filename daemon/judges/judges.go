// Package judges decides calls before anybody is asked: with the reflex engine, the policy and
// the stages of Tier 1 that are in force. A file that loosens one takes effect only after
// people have approved its exact change.
//
// Read judges.go first. versioned.go keeps the version in force, reload.go watches the files;
// policy.go, rules.go and flow.go describe the three standards that have versions.
package judges

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"approver.example"
	"approver.example/agents/canary"
	"approver.example/agents/facts"
	"approver.example/broadcaster"
	"approver.example/configs"
	"approver.example/reflexcore"
	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/memory"
	"approver.example/reflexcore/precedent"
	"approver.example/shieldcore"
	"approver.example/shieldcore/screen"
)

// Files are the files by which calls are judged, and the built-in tables, which are loaded in
// the background.
type Files struct {
	policy  *shieldcore.Policy
	rules   *configs.Library
	reflex  func() (*reflexcore.Engine, error)
	screens func() (func(screen.Config, func() *reflexcore.Rules) []approver.Stage, error)
}

// ReadFiles reads the files of the configuration. The built-in tables load in the background, meanwhile.
func ReadFiles(cfg configs.Config, log *slog.Logger) (f Files, err error) {
	f.screens = sync.OnceValues(LoadScreens)
	go func() { _, _ = f.screens() }() // the errors are checked where the values are used
	go func() { _, _ = grammar.Default() }()
	if f.policy, err = openPolicy(cfg, log); err != nil {
		return f, err
	}
	if f.rules, err = openRules(cfg, log); err != nil {
		return f, err
	}
	f.reflex = sync.OnceValues(func() (*reflexcore.Engine, error) { return NewReflex(cfg, f.rules) })
	go func() { _, _ = f.reflex() }()
	return f, nil
}

// A Judges decides calls before anybody is asked: with the engine, the policy and the stages
// of Tier 1 that are in force. Whatever a file loosens waits for people.
type Judges struct {
	Reflex   *reflexcore.Engine
	Policy   *shieldcore.Live
	Tools    *shieldcore.Tools // that were used in each project
	Screens  []approver.Stage
	memory   *memory.Memory
	projects *projectReporter

	policies *inForce[*shieldcore.Policy]
	rules    *inForce[*configs.Library]
	flows    *inForce[*flow.Policy]
}

// Deps are what the judges depend on.
type Deps struct {
	Config configs.Config
	Store  approver.KV
	Audit  approver.Recorder
	Older  bool                     // the audit has records from before this start
	Mark   *broadcaster.ControlMark // counts the changes of what is in force
	Doubt  func(format string, args ...any)
}

// Open puts in force what the files say, or, if they loosen what was in force before, keeps
// that.
func Open(ctx context.Context, base Deps, files Files, log *slog.Logger) (j *Judges, err error) {
	cfg := base.Config
	j = &Judges{Policy: &shieldcore.Live{}}
	if j.policies, err = hold(base, "policy", policySpec(), j.Policy.Set, log.With("part", "policy")); err != nil {
		return nil, err
	}
	j.policies.older, j.policies.doubt = base.Older, base.Doubt
	if err := j.policies.start(ctx, files.policy); err != nil {
		return nil, err
	}

	if j.Reflex, err = files.reflex(); err != nil {
		return nil, err
	}
	if j.rules, err = hold(base, "rules", rulesSpec(), judgeBy(j.Reflex), log.With("part", "rules")); err != nil {
		return nil, err
	}
	if err := j.rules.start(ctx, files.rules); err != nil {
		return nil, err
	}
	if j.flows, err = hold(base, "flow", flowSpec(), j.Reflex.SetFlow, log.With("part", "flow")); err != nil {
		return nil, err
	}
	// The information flow of the configuration, unless it loosens what was last in force.
	policy, err := cfg.Flow()
	if err == nil {
		err = j.flows.start(ctx, policy)
	}
	if err != nil {
		return nil, err
	}
	j.Tools = &shieldcore.Tools{Store: base.Store, Project: j.Reflex.ProjectOf}
	j.projects = newProjectReporter(base.Audit, log.With("part", "rules"))
	j.Reflex.Warns = j.Policy.Warns
	j.Reflex.Project = j.projects.rules(cfg).For
	j.Reflex.Precedents = precedent.New(base.Store, cfg.Reflex.Precedents)
	j.memory = memory.New(base.Store, cfg.Reflex.Loop, log.With("part", "memory"))
	j.Reflex.Memory = func(approver.ToolCall) *memory.Memory { return j.memory }

	tier1, err := files.screens()
	if err != nil {
		return nil, err
	}
	j.Screens = tier1(cfg.Shield.Classifier, j.Reflex.Rules)
	return j, nil
}

// Version combines the versions of everything that decides: what people approve is bound to
// it.
func (j *Judges) Version() string {
	return j.Policy.Version() + j.rules.active.Version() + j.flows.active.Version()
}

// Stages returns the stages of the gate, the cheapest denial first.
func (j *Judges) Stages(kv approver.KV, mark *broadcaster.ControlMark) []approver.Stage {
	return append([]approver.Stage{canary.Stage{Next: broadcaster.FreezeStage{Store: kv, Mark: mark}}, j.Reflex,
		shieldcore.Using{Live: j.Policy, Tools: j.Tools}}, j.Screens...)
}

// Again returns the stages that judge again after an evaluation, which takes seconds: those
// whose state may have changed in the meantime.
func (j *Judges) Again(kv approver.KV, mark *broadcaster.ControlMark) []approver.Stage {
	return []approver.Stage{broadcaster.FreezeStage{Store: kv, Mark: mark}, j.Policy}
}

// Fresh returns the stages that judge a call that has run: those that depend only on the call
// itself.
func (j *Judges) Fresh() []approver.Stage {
	return append([]approver.Stage{reflexcore.Fresh{Engine: j.Reflex}, j.Policy}, j.Screens...)
}

// Warm judges a harmless call that nobody made, so that what is compiled when it is first used does not delay
// the first call of an agent. It changes no state.
func (j *Judges) Warm(ctx context.Context) {
	defer func() { _ = recover() }() // a call like it would be denied
	call := approver.ToolCall{Agent: facts.Example(), Tool: facts.Of(facts.Example()).Shell, Dir: "/", At: time.Now(),
		Command: "cd src && grep -n x a.txt | head -3; curl -s https://example.com -o /tmp/x && rm -f /tmp/x"}
	for _, stage := range j.Fresh() {
		_, _ = stage.Judge(ctx, call) // whatever it says of it
	}
}

// Prompting returns the stages that judge an agent's own question about a call that was judged before:
// a freeze, and those that depend only on the call itself.
func (j *Judges) Prompting(kv approver.KV, mark *broadcaster.ControlMark) []approver.Stage {
	return append([]approver.Stage{broadcaster.FreezeStage{Store: kv, Mark: mark}}, j.Fresh()...)
}

// Runs returns the functions that keep the judges up to date until their context ends.
func (j *Judges) Runs(cfg configs.Config, ask Asking) []func(context.Context) error {
	return []func(context.Context) error{
		reloadPolicy(cfg, j.policies, ask).run, reloadRules(cfg, j.rules, ask).run, proposeFlow(cfg, j.flows, ask).run,
		j.projects.run, j.memory.Run,
	}
}
