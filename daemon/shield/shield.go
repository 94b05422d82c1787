// Package shield is Tier 2 in the daemon: the evaluator with its limits, and counts of its
// results since the start.
package shield

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"approver.example"
	"approver.example/configs"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/logging"
	"approver.example/shieldcore/evaluator"
	"approver.example/shieldcore/quota"
	"approver.example/shieldcore/sidecar"
)

// A Shield is Tier 2 with its limits and its counts since the start. The zero Shield has no
// evaluator.
type Shield struct {
	stage    approver.Stage // nil: none is configured, or people have not approved it
	quota    *quota.Quota
	name     string
	asks     *evaluator.Evaluator // inside stage
	failMode string
	Model    *sidecar.Sidecar // nil: none is configured
	audit    approver.Recorder
	log      *slog.Logger

	allowed, blocked, escalated, failed, canaries, opened atomic.Uint64

	told   sync.Mutex
	said   string    // the trouble with the evaluator that was last logged; empty while it answers
	saidAt time.Time // when a trouble was last logged
}

// Open makes the evaluator. It does not connect.
func Open(cfg configs.Config, kv approver.KV, audit approver.Recorder, log *slog.Logger) (*Shield, error) {
	s := &Shield{failMode: cfg.FailMode, audit: audit, log: log}
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

// Evaluator returns the gate's evaluator; nil if there is none.
func (s *Shield) Evaluator() approver.Stage { return s.stage }

// Run keeps the program of the user's own model running until ctx ends, and checks whether a
// failing evaluator answers again.
func (s *Shield) Run(ctx context.Context) error {
	if s.Model == nil {
		s.probe(ctx, probeFirst, adminapi.ProbeMost)
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	var probing sync.WaitGroup
	probing.Go(func() { s.probe(ctx, probeFirst, adminapi.ProbeMost) })
	defer probing.Wait()
	defer stop()
	return s.Model.Run(ctx)
}

// probeFirst is how long after a failed evaluation the first probe is sent.
const probeFirst = time.Minute

// probe asks a failing evaluator about a plain ls, at growing intervals. Without it, the
// evaluator would count as failing until a call needs it, which may take hours.
func (s *Shield) probe(ctx context.Context, first, most time.Duration) {
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
		_, _ = s.asks.Health(ctx) // the evaluator records the result
		s.logState(s.asks.Reception())
		wait = min(2*wait, most)
	}
}

// Close closes the quota: no evaluation is charged after it.
func (s *Shield) Close() error {
	s.quota.Close()
	return nil
}

// evaluating counts the verdicts of a stage, and raises an alarm if its model was hijacked.
type evaluating struct {
	approver.Stage
	shield *Shield
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
		s.alarm(ctx, call, "the evaluator's answer did not carry its canary: the call's text took its model over, or the "+
			"model is not up to the task")
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

// A toldError is the failure of an evaluation that logState has logged.
type toldError struct{ error }

func (e toldError) Unwrap() error { return e.error }

func (toldError) Is(target error) bool { return target == approver.ErrTold }

// logState logs once that the evaluator does not work and why, and once that it works again.
// If it fails again so soon that the log would hold the line back, a later call logs it:
// otherwise the log would end with "answers again".
func (s *Shield) logState(now approver.Reception) {
	now.Problem, _, _ = strings.Cut(now.Problem, "; it asks to wait") // the time differs each time
	s.told.Lock()
	defer s.told.Unlock()
	switch was := s.said; {
	case now.Since.IsZero(), now.Up && was == "":
		return
	case now.Up:
		s.said = ""
		s.log.Info("the evaluator answers again", "evaluator", s.name)
	case was == "" && time.Since(s.saidAt) < logging.Quiet: // see onceEach
	case now.Problem != was:
		s.log.Error("the evaluator does not work, so calls that need it are blocked; approver doctor tests it", "evaluator",
			s.name, "error", now.Problem)
		s.said, s.saidAt = now.Problem, time.Now()
	}
}

// Opening implements the OnFailOpen function of [gate.Gate]. It only counts, for the status;
// the gate flags the verdict.
func (s *Shield) Opening(approver.ToolCall, string, error) { s.opened.Add(1) }

func (s *Shield) budgetAlarm(a quota.Alarm) {
	s.alarm(context.Background(), approver.ToolCall{},
		fmt.Sprintf("%d %% of the evaluations of %s are taken: %d of %d", a.Share, a.Day, a.Charged, a.Budget))
}

func (s *Shield) alarm(ctx context.Context, call approver.ToolCall, note string) {
	s.log.Error("SHIELD ALARM", "what", note, "call", call.ID)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if _, err := s.audit.Record(ctx,
		approver.Record{Event: approver.EventAlarm, At: time.Now(), Call: call, Note: note}); err != nil {
		s.log.Error("an alarm is not recorded", "what", note, "error", err)
	}
}

// Status returns what `approver status` shows of the tiers.
func (s *Shield) Status(ctx context.Context) *adminapi.Shield {
	out := &adminapi.Shield{
		FailMode: s.failMode, FailedOpen: s.opened.Load(), Evaluator: s.name, Allowed: s.allowed.Load(),
		Blocked:   s.blocked.Load(),
		Escalated: s.escalated.Load(), Failed: s.failed.Load(), Canaries: s.canaries.Load(),
	}
	if s.asks != nil {
		r := s.asks.Reception()
		out.Answers, out.Since, out.LastSuccess, out.LastFailure, out.Problem = r.Up, r.Since.UTC(), r.Good.UTC(),
			r.Bad.UTC(), r.Problem
	}
	if s.Model != nil {
		st := s.Model.Status()
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
