package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"approver.example"
	"approver.example/configs"
	"approver.example/shieldcore/classifier"
	"approver.example/shieldcore/evaluator"
	"approver.example/shieldcore/quota"
	"approver.example/shieldcore/screen"
	"approver.example/shieldcore/sidecar"
)

// loadScreens reads what the stages of Tier 1 are made of, and returns what makes them
// of the part of the configuration that counts. An error is a reason not to start: what
// is built in would be damaged.
func loadScreens() (func(screen.Config) []approver.Stage, error) {
	rules, err := configs.Heuristics()
	if err != nil {
		return nil, fmt.Errorf("the heuristic rules: %w", err)
	}
	model, err := classifier.Load()
	if err != nil {
		return nil, fmt.Errorf("the classifier: %w", err)
	}
	return func(c screen.Config) []approver.Stage { return []approver.Stage{rules, c.Stage(model)} }, nil
}

// added is a model of the user's own as the classifier stage asks it.
type added struct{ *sidecar.Sidecar }

// Score returns the score of a text, and whether all of it was looked at.
func (a added) Score(ctx context.Context, text string) (value float64, whole bool, err error) {
	value, cut, err := a.Sidecar.Score(ctx, text)
	return value, !cut, err
}

// addModel lets the classifier of Tier 1 ask the configured model too. Nil is returned where
// none is configured.
func addModel(cfg *sidecar.Config, tier1 []approver.Stage) (*sidecar.Sidecar, error) {
	if cfg == nil {
		return nil, nil
	}
	program, err := sidecar.New(*cfg)
	if err != nil {
		return nil, err
	}
	for _, s := range tier1 {
		if classifiers, ok := s.(*screen.Stage); ok {
			classifiers.Second, classifiers.SecondFrom = added{program}, program.Threshold()
		}
	}
	return program, nil
}

// A shield is Tier 2 with its limits, and what it has done since the start. The zero
// shield has no evaluator.
type shield struct {
	stage    approver.Stage // nil: none is configured, or people have not approved it
	quota    *quota.Quota
	name     string
	asks     *evaluator.Evaluator // inside stage
	failMode string
	model    *sidecar.Sidecar // nil: none is configured
	audit    approver.Recorder
	log      *slog.Logger

	allowed, blocked, escalated, failed, canaries, opened atomic.Uint64

	told   sync.Mutex
	said   string    // the trouble with the evaluator that was last logged; empty while it answers
	saidAt time.Time // when a trouble was last logged
}

// openShield makes the evaluator. It connects to nothing.
func openShield(cfg configs.Config, kv approver.KV, audit approver.Recorder, log *slog.Logger) (*shield, error) {
	s := &shield{failMode: cfg.FailMode, audit: audit, log: log}
	if cfg.FailMode == configs.FailOpen {
		log.Warn("FAIL OPEN: fail_mode is open, so calls go on that the shield cannot judge, where docs/shield.md says so")
	}
	if cfg.Shield.Evaluator == nil {
		return s, nil
	}
	e, err := evaluator.New(*cfg.Shield.Evaluator)
	if err != nil {
		return nil, err
	}
	limits := cfg.Shield.Quota
	limits.OnAlarm = s.budgetAlarm
	if s.quota, err = quota.New(kv, limits, log.With("part", "quota")); err != nil {
		return nil, err
	}
	s.name, s.asks = e.String(), e
	s.stage = &evaluator.Remembering{Stage: quota.Limited{Quota: s.quota, Stage: evaluating{e, s}}}
	return s, nil
}

// evaluator is the gate's; nil where there is none.
func (s *shield) evaluator() approver.Stage { return s.stage }

// run keeps the added model's program running until ctx ends, and looks whether an
// evaluator that fails answers again.
func (s *shield) run(ctx context.Context) error {
	if s.model == nil {
		s.probe(ctx, probeFirst, probeMost)
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	var probing sync.WaitGroup
	probing.Go(func() { s.probe(ctx, probeFirst, probeMost) })
	defer probing.Wait()
	defer stop()
	return s.model.Run(ctx)
}

// probeFirst is how long after a failed evaluation the evaluator is asked by itself.
const probeFirst = time.Minute

// probeMost is the longest time between two such questions.
const probeMost = 10 * time.Minute

// probe asks an evaluator that fails about a plain ls, ever more rarely: else it would count
// as failing until a call needs it, for hours.
func (s *shield) probe(ctx context.Context, first, most time.Duration) {
	if s.asks == nil {
		return
	}
	for wait := first; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		if now := s.asks.Reception(); now.Up || now.Since.IsZero() {
			wait = first
			continue
		}
		_, _ = s.asks.Health(ctx) // the meter keeps what came of it
		s.logState(s.asks.Reception())
		wait = min(2*wait, most)
	}
}

func (s *shield) close() error {
	if s.quota == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return s.quota.Close(ctx)
}

// evaluating counts what a stage says, and raises an alarm where its model was taken
// over.
type evaluating struct {
	approver.Stage
	shield *shield
}

// Judge asks the stage.
func (w evaluating) Judge(ctx context.Context, call approver.ToolCall) (approver.Verdict, error) {
	v, err := w.Stage.Judge(ctx, call)
	s := w.shield
	switch {
	case err != nil:
		s.failed.Add(1)
	case v.Category == evaluator.CategoryCanary:
		s.canaries.Add(1)
		s.alarm(ctx, call, "the evaluator's answer did not carry its canary: the call's text took its model over, or the model is not up to the task")
	case v.Category == evaluator.CategoryAnswer:
		s.failed.Add(1) // it blocks, and is no decision of the model
	case v.Decision == approver.Deny:
		s.blocked.Add(1)
	case v.Decision == approver.Ask:
		s.escalated.Add(1)
	default:
		s.allowed.Add(1)
	}
	now := s.asks.Reception()
	s.logState(now)
	if err != nil && !now.Up && !now.Since.IsZero() {
		err = toldError{err}
	}
	return v, err
}

// A toldError is the failure of an evaluation that logState has told of.
type toldError struct{ error }

func (e toldError) Unwrap() error      { return e.error }
func (toldError) Is(target error) bool { return target == approver.ErrTold }

// logState says once that the evaluator does not work, and why, and once that it does
// again. Where it fails anew so soon that the log holds that back, a later call says it:
// else the log would go on to end with "answers again".
func (s *shield) logState(now approver.Reception) {
	now.Problem, _, _ = strings.Cut(now.Problem, "; it asks to wait") // for another time each time
	s.told.Lock()
	defer s.told.Unlock()
	switch was := s.said; {
	case now.Since.IsZero(), now.Up && was == "":
		return
	case now.Up:
		s.said = ""
		s.log.Info("the evaluator answers again", "evaluator", s.name)
	case was == "" && time.Since(s.saidAt) < quiet: // see onceEach
	case now.Problem != was:
		s.log.Error("the evaluator does not work, so calls that need it are blocked; approver doctor tests it", "evaluator", s.name, "error", now.Problem)
		s.said, s.saidAt = now.Problem, time.Now()
	}
}

// opening is the gate's OnFailOpen: the verdict is flagged, and the count is for who
// watches.
func (s *shield) opening(approver.ToolCall, string, error) { s.opened.Add(1) }

func (s *shield) budgetAlarm(a quota.Alarm) {
	s.alarm(context.Background(), approver.ToolCall{}, fmt.Sprintf("%d %% of the evaluations of %s are taken: %d of %d", a.Share, a.Day, a.Charged, a.Budget))
}

func (s *shield) alarm(ctx context.Context, call approver.ToolCall, note string) {
	s.log.Error("SHIELD ALARM", "what", note, "call", call.ID)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if _, err := s.audit.Record(ctx, approver.Record{Event: approver.EventAlarm, At: time.Now(), Call: call, Note: note}); err != nil {
		s.log.Error("an alarm is not recorded", "what", note, "error", err)
	}
}

// A shieldStatus is what `approver status` tells of the tiers.
type shieldStatus struct {
	FailMode   string          `json:"fail_mode"`
	FailedOpen uint64          `json:"failed_open"` // calls that went on unjudged
	Model      *sidecar.Status `json:"sidecar,omitempty"`
	Evaluator  string          `json:"evaluator,omitempty"`
	// What the evaluator's provider said last; zero before the first evaluation.
	Answers     bool            `json:"evaluator_answers"`
	Since       time.Time       `json:"evaluator_since,omitzero"`
	LastSuccess time.Time       `json:"evaluator_last_success,omitzero"`
	LastFailure time.Time       `json:"evaluator_last_failure,omitzero"`
	Problem     string          `json:"evaluator_error,omitempty"` // of the last failure, also where it is over
	Allowed     uint64          `json:"evaluations_allowed"`       // since the start, as the following
	Blocked     uint64          `json:"evaluations_blocked"`
	Escalated   uint64          `json:"evaluations_escalated"`
	Failed      uint64          `json:"evaluations_failed"`
	Canaries    uint64          `json:"canary_failures"`
	Quota       *quota.Snapshot `json:"quota,omitempty"`
	QuotaErr    string          `json:"quota_error,omitempty"`
}

func (s *shield) status(ctx context.Context) *shieldStatus {
	out := &shieldStatus{
		FailMode: s.failMode, FailedOpen: s.opened.Load(), Evaluator: s.name, Allowed: s.allowed.Load(), Blocked: s.blocked.Load(),
		Escalated: s.escalated.Load(), Failed: s.failed.Load(), Canaries: s.canaries.Load(),
	}
	if s.asks != nil {
		r := s.asks.Reception()
		out.Answers, out.Since, out.LastSuccess, out.LastFailure, out.Problem = r.Up, r.Since.UTC(), r.Good.UTC(), r.Bad.UTC(), r.Problem
	}
	if s.model != nil {
		st := s.model.Status()
		out.Model = &st
	}
	if s.quota == nil {
		return out
	}
	snapshot, err := s.quota.Snapshot(ctx)
	out.Quota = &snapshot
	if err != nil {
		out.QuotaErr = err.Error()
	}
	return out
}

// fails reports an evaluator whose last evaluation ended without a valid answer.
func (s *shieldStatus) fails() bool { return s != nil && !s.Answers && !s.Since.IsZero() }

// lines writes the status of the tiers for people, a line each.
func (s *shieldStatus) lines(line func(name, format string, args ...any)) {
	if s.FailMode != configs.FailClosed {
		line("FAIL OPEN", "fail_mode is %s: %s went on that could not be judged", s.FailMode, counted(s.FailedOpen, "call"))
	}
	if m := s.Model; m != nil && m.Well() {
		line("model", "%s: %d texts scored, %d not, %d restarts", m.State, m.Scored, m.Unavailable, m.Restarts)
	} else if m != nil {
		line("MODEL", "%s, so calls are blocked that it would score: %s", m.State, m.Error)
	}
	if s.Evaluator == "" {
		line("evaluator", "none: people look where it would have to")
		return
	}
	line("evaluator", "%s: %d allowed, %d blocked, %d to people, %d failed", s.Evaluator, s.Allowed, s.Blocked, s.Escalated, s.Failed)
	switch at := time.DateTime + " UTC"; {
	case s.fails():
		for _, t := range s.troubles() {
			if t.of == ofEvaluator {
				line("", "%s", strings.TrimPrefix(t.why, s.Evaluator+" "))
				line("", "to mend it: %s", t.cure)
			}
		}
	case s.Since.IsZero():
		line("", "not asked since the daemon started; approver doctor tests it")
	default:
		line("", "answers since %s, the last time at %s", s.Since.Format(at), s.LastSuccess.Format(at))
	}
	if s.Canaries > 0 {
		line("", "ALARM: %d answers did not carry the canary", s.Canaries)
	}
	if s.QuotaErr != "" {
		line("", "the budget cannot be read, so nothing is evaluated: %s", s.QuotaErr)
	} else if q := s.Quota; q != nil {
		line("", "budget of %s: %d of %d taken; refused since the start: %d by rate, %d by budget", q.Day, q.Charged, q.Budget, q.RefusedRate, q.RefusedBudget)
	}
}

// notEvaluated stands where the evaluator would: nothing is sent to anybody.
type notEvaluated struct{}

// Judge says that people would decide if the evaluator does not.
func (notEvaluated) Judge(context.Context, approver.ToolCall) (approver.Verdict, error) {
	return approver.Verdict{
		Decision: approver.Ask, Severity: approver.High, By: evaluator.By, Tier: approver.TierEvaluation, Rule: "not_asked",
		Reason: "the evaluator would be asked: give --evaluate to ask it",
	}, nil
}

var errNoEvaluator = errors.New("--evaluate: no evaluator is configured: shield.evaluator in docs/config.md")
