package main

import (
	"context"
	"log/slog"
	"sync"

	"approver.example"
	"approver.example/agents/canary"
	"approver.example/configs"
	"approver.example/reflexcore"
	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/memory"
	"approver.example/reflexcore/precedent"
	"approver.example/shieldcore"
	"approver.example/shieldcore/screen"
)

// ruleFilesRead are the files by which calls are judged, and what is made of the
// built-in tables meanwhile.
type ruleFilesRead struct {
	policy  *shieldcore.Policy
	rules   *configs.Library
	reflex  func() (*reflexcore.Engine, error)
	screens func() (func(screen.Config) []approver.Stage, error)
}

// readFiles reads them. The built-in tables are loaded beside whatever comes next.
func readFiles(cfg configs.Config, log *slog.Logger) (f ruleFilesRead, err error) {
	if f.policy, err = openPolicy(cfg, log); err != nil {
		return f, err
	}
	if f.rules, err = openRules(cfg, log); err != nil {
		return f, err
	}
	f.reflex = sync.OnceValues(func() (*reflexcore.Engine, error) { return newReflex(cfg, f.rules) })
	f.screens = sync.OnceValues(loadScreens)
	go func() { _, _ = f.reflex() }() // whoever needs them looks at the errors
	go func() { _, _ = f.screens() }()
	return f, nil
}

// A judgement is what decides before anybody is asked: the engine, the policy and the
// stages of Tier 1, as they are in force. What a file loosens waits for people.
type judgement struct {
	reflex   *reflexcore.Engine
	policy   *shieldcore.Live
	ruling   *liveRules
	flowing  *liveFlow
	screens  []approver.Stage
	memory   *memory.Memory
	projects *projectReporter

	policies *inForce[*shieldcore.Policy]
	rules    *inForce[*configs.Library]
	flows    *inForce[*flow.Policy]
}

// judgeDeps are what the judges stand on.
type judgeDeps struct {
	cfg   configs.Config
	store approver.KV
	audit approver.Recorder
	older bool                  // the audit has records of before this start
	mark  *approver.ControlMark // counts the changes of what is in force
	doubt func(format string, args ...any)
}

// openJudgement puts in force what the files say, or what was in force before where
// they say less.
func openJudgement(ctx context.Context, base judgeDeps, files ruleFilesRead, log *slog.Logger) (j *judgement, err error) {
	cfg, records := base.cfg, base.audit
	j = &judgement{policy: &shieldcore.Live{}}
	record, err := newSealed(cfg, base.store, "policy", base.mark)
	if err != nil {
		return nil, err
	}
	j.policies = holdPolicy(record, j.policy, records, log.With("part", "policy"))
	j.policies.older, j.policies.doubt = base.older, base.doubt
	if err := j.policies.start(ctx, files.policy); err != nil {
		return nil, err
	}

	if j.reflex, err = files.reflex(); err != nil {
		return nil, err
	}
	if record, err = newSealed(cfg, base.store, "rules", base.mark); err != nil {
		return nil, err
	}
	j.ruling = &liveRules{engine: j.reflex}
	j.rules = holdRules(record, j.ruling, records, log.With("part", "rules"))
	if err := j.rules.start(ctx, files.rules); err != nil {
		return nil, err
	}
	j.flowing = &liveFlow{engine: j.reflex}
	if j.flows, err = startFlow(ctx, base, j.flowing, log.With("part", "flow")); err != nil {
		return nil, err
	}
	j.projects = newProjectReporter(records, log.With("part", "rules"))
	j.reflex.Project = j.projects.rules(cfg).For
	j.reflex.Precedents = precedent.New(base.store, cfg.Reflex.Precedents.Limits())
	j.memory = memory.New(base.store, cfg.Reflex.Loop.Limits(), log.With("part", "memory"))
	j.reflex.Memory = func(approver.ToolCall) *memory.Memory { return j.memory }

	tier1, err := files.screens()
	if err != nil {
		return nil, err
	}
	j.screens = tier1(cfg.Shield.Classifier)
	return j, nil
}

// version is that of all that decides: what people approve is bound to it.
func (j *judgement) version() string {
	return j.policy.Version() + j.ruling.Version() + j.flowing.Version()
}

// stages are the gate's, the cheapest denial first.
func (j *judgement) stages(kv approver.KV, mark *approver.ControlMark) []approver.Stage {
	return append([]approver.Stage{canary.Stage{Next: approver.FreezeStage{Store: kv, Mark: mark}}, j.reflex, j.policy}, j.screens...)
}

// again are the stages that look once more after an evaluation, which takes seconds:
// what may have changed meanwhile.
func (j *judgement) again(kv approver.KV, mark *approver.ControlMark) []approver.Stage {
	return []approver.Stage{approver.FreezeStage{Store: kv, Mark: mark}, j.policy}
}

// fresh are the stages that judge a call that has run: those that say of the call
// itself whether it may.
func (j *judgement) fresh() []approver.Stage {
	return append([]approver.Stage{reflexcore.Fresh{Engine: j.reflex}, j.policy}, j.screens...)
}

// runs keep it up to date until their context ends.
func (j *judgement) runs(cfg configs.Config, ask asking) []func(context.Context) error {
	return []func(context.Context) error{
		reloadPolicy(cfg, j.policies, ask).run, reloadRules(cfg, j.rules, ask).run, proposeFlow(cfg, j.flows, ask).run,
		j.projects.run, j.memory.Run,
	}
}

// openPolicy reads the configured policy, and warns of rules in it that do nothing.
func openPolicy(cfg configs.Config, log *slog.Logger) (*shieldcore.Policy, error) {
	policy, err := cfg.LoadPolicy()
	if err != nil {
		return nil, err
	}
	for _, w := range policy.Warnings() {
		log.Warn("the policy has a rule that does nothing", "what", w.Pos.String()+": "+w.Text)
	}
	return policy, nil
}
