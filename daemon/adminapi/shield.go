package adminapi

import (
	"strings"
	"time"

	"approver.example/configs"
	"approver.example/daemon/words"
	"approver.example/shieldcore/quota"
	"approver.example/shieldcore/sidecar"
)

// ProbeMost is the longest time between two attempts of the daemon to reach a failing
// evaluator.
const ProbeMost = 10 * time.Minute

// A Shield is the status of the tiers.
type Shield struct {
	FailMode   string          `json:"fail_mode"`
	FailedOpen uint64          `json:"failed_open"` // calls that went on although they could not be judged
	Model      *sidecar.Status `json:"sidecar,omitempty"`
	Evaluator  string          `json:"evaluator,omitempty"`
	// The state of the evaluator's provider after the last evaluation; zero before the first.
	Answers     bool            `json:"evaluator_answers"`
	Since       time.Time       `json:"evaluator_since,omitzero"`
	LastSuccess time.Time       `json:"evaluator_last_success,omitzero"`
	LastFailure time.Time       `json:"evaluator_last_failure,omitzero"`
	Problem     string          `json:"evaluator_error,omitempty"` // of the last failure, even if it is over
	Allowed     uint64          `json:"evaluations_allowed"`       // since the start, like the counts below
	Blocked     uint64          `json:"evaluations_blocked"`
	Escalated   uint64          `json:"evaluations_escalated"`
	Failed      uint64          `json:"evaluations_failed"`
	Canaries    uint64          `json:"canary_failures"`
	Quota       *quota.Snapshot `json:"quota,omitempty"`
	QuotaErr    string          `json:"quota_error,omitempty"`
}

// Fails reports whether the last evaluation ended without a valid answer.
func (s *Shield) Fails() bool { return s != nil && !s.Answers && !s.Since.IsZero() }

// Lines writes the status of the tiers for people, one call of line for each line.
func (s *Shield) Lines(line func(name, format string, args ...any)) {
	if s.FailMode != configs.FailClosed {
		line("FAIL OPEN", "fail_mode is %s: %s went on that could not be judged", s.FailMode,
			words.Count(s.FailedOpen, "call"))
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
	line("evaluator", "%s: %d allowed, %d blocked, %d to people, %d failed", s.Evaluator, s.Allowed, s.Blocked,
		s.Escalated, s.Failed)
	switch at := time.DateTime + " UTC"; {
	case s.Fails():
		for _, t := range s.troubles() {
			if t.Part == PartEvaluator {
				line("", "%s", strings.TrimPrefix(t.Why, s.Evaluator+" "))
				line("", "to mend it: %s", t.Cure)
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
		line("", "budget of %s: %d of %d taken; refused since the start: %d by rate, %d by budget", q.Day, q.Charged,
			q.Budget, q.RefusedRate, q.RefusedBudget)
	}
}

// troubles returns the parts of the tiers that do not work, so that calls that need them are
// blocked.
func (s *Shield) troubles() (all []trouble) {
	if s == nil {
		return nil
	}
	if m := s.Model; m != nil && !m.Well() && m.Error != "" {
		all = append(all, trouble{PartModel,
			"the classifier's program is " + string(m.State) + ", so calls are blocked that it would score", m.Error,
			"shield.sidecar in the configuration; docs/shield.md"})
	}
	if s.Fails() {
		why := s.Evaluator + " FAILS since " + s.Since.Format(time.DateTime+" UTC")
		if s.LastSuccess.IsZero() {
			why += ", and never answered: " + s.Problem
		} else {
			why += ": " + s.Problem + "; it last answered at " + s.LastSuccess.Format(time.DateTime+" UTC")
		}
		all = append(all, trouble{PartEvaluator,
			"the daemon's last evaluation failed at " + s.LastFailure.Format(time.DateTime+" UTC"), why,
			"shield.evaluator in the configuration, and then restart the daemon; if it was the provider's fault, wait: the " +
				"daemon asks it anew by itself, at least each " + ProbeMost.String()})
	}
	if s.QuotaErr != "" {
		all = append(all, trouble{PartBudget, "the budget of evaluations cannot be read, so nothing is evaluated", s.QuotaErr,
			"approver doctor tells more of the store"})
	}
	return all
}
