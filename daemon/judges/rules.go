package judges

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"approver.example"
	"approver.example/configs"
	"approver.example/display"
	"approver.example/reflexcore"
)

// rulesSpec describes the layers over the built-in rules. If the store has no record, the
// files are compared with the built-in rules alone.
func rulesSpec() spec[*configs.Library] {
	return spec[*configs.Library]{
		noun: "rule set", title: "Loosen the rules",
		tool: "change_rules", rule: "rules_loosened", compare: configs.CompareLibraries,
		keep: func(lib *configs.Library) (stored, error) {
			text, err := json.Marshal(lib.Source())
			return stored{lib.Version(), "rules", text}, err
		},
		load: func(k stored) (*configs.Library, error) {
			var layers []configs.RuleSource
			if err := json.Unmarshal(k.Text, &layers); err != nil {
				return nil, err
			}
			return configs.StoredLibrary(layers)
		},
		first: func() (*configs.Library, error) { return configs.NewLibrary(nil, time.Time{}) },
	}
}

// judgeBy returns a function that makes the engine use a rule set.
func judgeBy(engine *reflexcore.Engine) func(*configs.Library) {
	return func(lib *configs.Library) { engine.SetRules(lib.Rules()) }
}

func reloadRules(cfg configs.Config, standing *inForce[*configs.Library], ask Asking) *reloader[*configs.Library] {
	return &reloader[*configs.Library]{
		inForce: standing, name: "the rule files", files: ruleFiles(cfg), ask: ask, every: reloadEvery,
		warnings: (*configs.Library).Warnings,
		read: func() (*configs.Library, error) {
			sources, err := cfg.RuleSources()
			if err != nil {
				return nil, err
			}
			// Checking again is cheap while nothing changes.
			if now := standing.active.current(); now != nil && now.Version() == configs.RulesVersion(sources) {
				return now, nil
			}
			return configs.NewLibrary(sources, time.Now())
		},
	}
}

// ruleFiles returns the files of the layers, whether they exist or not.
func ruleFiles(cfg configs.Config) (out []string) {
	for _, name := range []string{cfg.Reflex.Rules.Hub, cfg.UserRules()} {
		if name != "" {
			out = append(out, name)
		}
	}
	return out
}

// openRules reads the rules, and warns of those that have no effect or will expire soon.
func openRules(cfg configs.Config, log *slog.Logger) (*configs.Library, error) {
	lib, err := cfg.LoadLibrary(time.Now())
	if err != nil {
		return nil, err
	}
	for _, w := range lib.Warnings() {
		log.Warn("the rule set has what does nothing, or not for long", "what", w.Pos.String()+": "+w.Text)
	}
	return lib, nil
}

// A projectReporter writes to log and audit which of a project's rules do not count. Judging
// does not wait for it.
type projectReporter struct {
	audit    approver.Recorder
	log      *slog.Logger
	problems chan string
}

func newProjectReporter(audit approver.Recorder, log *slog.Logger) *projectReporter {
	return &projectReporter{audit: audit, log: log, problems: make(chan string, 64)}
}

// rules returns the finder of projects' rules, which reports what is wrong with them.
func (r *projectReporter) rules(cfg configs.Config) *configs.ProjectRules {
	return &configs.ProjectRules{Skip: cfg.UserRules(), Report: r.report}
}

func (r *projectReporter) report(file string, problem error) {
	text := ProjectProblem(file, problem)
	r.log.Warn("not all of a project's rules count", "why", text)
	select {
	case r.problems <- text:
	default: // the queue is full; the log has the problem
	}
}

// ProjectProblem formats a problem with its file on one line.
func ProjectProblem(file string, problem error) string {
	return display.OneLine(fmt.Sprintf("%s: %v", file, problem))
}

// run records the reported problems until ctx ends.
func (r *projectReporter) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case text := <-r.problems:
			if _, err := r.audit.Record(ctx,
				approver.Record{Event: approver.EventPolicy, At: time.Now(),
					Note: "not all of a project's rules count: " + text}); err != nil && !errors.Is(err, context.Canceled) {
				r.log.Error("that a project's rules do not count is not recorded", "error", err)
			}
		}
	}
}

// NewReflex returns the engine that judges a call by its effects.
func NewReflex(cfg configs.Config, lib *configs.Library) (*reflexcore.Engine, error) {
	e, err := reflexcore.NewWith(lib.Rules(), cfg.Reflex.Limits())
	if err != nil {
		return nil, err
	}
	policy, err := cfg.Flow()
	if err != nil {
		return nil, err
	}
	e.SetFlow(policy)
	e.Times, e.Heuristics = cfg.Reflex.Budgets.Times(), heuristicsIn
	return e, nil
}
