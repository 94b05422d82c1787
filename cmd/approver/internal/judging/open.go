package judging

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"approver.example"
	"approver.example/configs"
	"approver.example/daemon/container"
	"approver.example/daemon/judges"
	"approver.example/reflexcore"
	"approver.example/reflexcore/loop"
	"approver.example/reflexcore/memory"
	"approver.example/shieldcore/evaluator"
)

// Open builds the judge outside the daemon. judge, policy explain and report all get their
// verdicts from it, so that they cannot contradict each other. Its stages are the daemon's: the
// engine, the policy and those of Tier 1.
func (f Flags) Open(agent string, evaluate bool) (*Judge, error) {
	cfg, err := f.Load()
	if err != nil {
		return nil, err
	}
	policy, err := cfg.LoadPolicy()
	if err != nil {
		return nil, err
	}
	reflex, err := ReflexOf(cfg)
	if err != nil {
		return nil, err
	}
	reflex.Warns = policy.Warns
	reflex.Memory = sessions(cfg.Reflex.Loop)
	screens, err := judges.LoadScreens()
	if err != nil {
		return nil, err
	}
	j, err := New(agent, append([]approver.Stage{reflex, policy}, screens(cfg.Shield.Classifier, reflex.Rules)...)...)
	if err != nil {
		return nil, err
	}
	if j.Gate.Evaluator, err = evaluatorFor(cfg, evaluate); err != nil {
		return nil, err
	}
	j.Gate.Tiers, j.Gate.Weak = approver.TierScreen, cfg.Reflex.Gatekeeper.Weak
	j.Policy, j.Reflex, j.ran, j.sockets = policy, reflex, reflex.Ran, cfg.Sockets
	if cfg.Reflex.Container {
		j.container = container.This().Container
	}
	return j, nil
}

// SetDir sets the working directory of calls that name none. Empty means the current folder.
func (j *Judge) SetDir(dir string) (err error) {
	if dir != "" {
		j.Dir, err = filepath.Abs(dir)
	}
	return err
}

// evaluatorFor returns the evaluator of Tier 2. It is nil if people decide at once.
func evaluatorFor(cfg configs.Config, ask bool) (approver.Stage, error) {
	switch configured := cfg.Shield.Evaluator; {
	case configured == nil && ask:
		return nil, errNoEvaluator
	case configured == nil:
		return nil, nil
	case !ask:
		return notEvaluated{}, nil
	default:
		return evaluator.New(*configured)
	}
}

// ReflexOf returns the engine as the daemon would have it once people have approved the current
// files.
func ReflexOf(cfg configs.Config) (*reflexcore.Engine, error) {
	lib, err := cfg.LoadLibrary(time.Now())
	if err != nil {
		return nil, err
	}
	e, err := judges.NewReflex(cfg, lib)
	if err != nil {
		return nil, err
	}
	e.Project = (&configs.ProjectRules{Skip: cfg.UserRules()}).For
	return e, nil
}

// sessions lets each line be judged after the earlier lines of its session. Each session has
// its own memory, as if it ran on another machine. A line without a session has none.
func sessions(limits loop.Limits) func(approver.ToolCall) *memory.Memory {
	const most = 4096
	memories := map[string]*memory.Memory{}
	return func(call approver.ToolCall) *memory.Memory {
		if call.Session == noSession {
			return nil
		}
		m, ok := memories[call.Session]
		if !ok {
			if len(memories) == most {
				clear(memories)
			}
			m = memory.New(nil, limits, slog.New(slog.DiscardHandler))
			memories[call.Session] = m
		}
		return m
	}
}

// notEvaluated takes the evaluator's place, so that nothing is sent to anybody.
type notEvaluated struct{}

// Judge returns the verdict that people would decide if the evaluator does not.
func (notEvaluated) Judge(context.Context, approver.ToolCall) (approver.Verdict, error) {
	return approver.Verdict{
		Decision: approver.Ask, Severity: approver.High, By: evaluator.By, Tier: approver.TierEvaluation, Rule: "not_asked",
		Reason: "the evaluator would be asked: give --evaluate to ask it",
	}, nil
}

var errNoEvaluator = errors.New("--evaluate: no evaluator is configured: shield.evaluator in docs/config.md")
