package audit

import (
	"math"
	"time"

	"approver.example"
	"approver.example/display"
)

// A LineFinding is an approver.Finding in a Line.
type LineFinding struct {
	By         string            `json:"by"`
	Tier       *uint8            `json:"tier,omitempty"` // nil in older records
	Rule       string            `json:"rule,omitempty"`
	Decision   approver.Decision `json:"decision"`
	Severity   string            `json:"severity,omitempty"` // only if the finding stops the call
	Confidence float64           `json:"confidence,omitempty"`
	Score      uint8             `json:"score,omitempty"` // irreversibility
	Shadow     bool              `json:"shadow,omitempty"`
	US         int64             `json:"us,omitempty"`
	Note       string            `json:"note,omitempty"`
	Same       []string          `json:"same,omitempty"` // rules of other stages that say the same
}

// findingLimit bounds each text of a finding, so that a whole chain stays far
// below MaxLine.
const findingLimit = 160

func (r *redactor) findings(chain []approver.Finding) []LineFinding {
	if len(chain) > approver.MaxChain {
		chain = chain[:approver.MaxChain]
	}
	if len(chain) == 0 {
		return nil
	}
	out := make([]LineFinding, 0, len(chain))
	for _, f := range chain {
		out = append(out, LineFinding{
			By: r.mask(f.By, findingLimit), Tier: new(f.Tier), Rule: r.mask(f.Rule, findingLimit), Decision: f.Decision,
			Severity: severityOf(f.Decision, f.Severity), Confidence: finite(f.Confidence), Score: f.Score, Shadow: f.Shadow,
			US: f.Took.Microseconds(), Note: r.mask(f.Note, findingLimit), Same: r.names(f.Same),
		})
	}
	return out
}

// sameLimit bounds how many rules a finding names that say the same.
const sameLimit = 8

func (r *redactor) names(list []string) []string {
	var out []string
	for _, name := range list[:min(len(list), sameLimit)] {
		out = append(out, r.mask(name, findingLimit))
	}
	return out
}

// severityOf is the severity of a decision that stops a call; empty for others.
func severityOf(d approver.Decision, s approver.Severity) string {
	if d <= approver.Ask || d > approver.Allow {
		return s.String()
	}
	return ""
}

// finite is a number that JSON can have: zero in place of NaN and infinity.
func finite(n float64) float64 {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return 0
	}
	return n
}

// Text is the finding on one line for people.
func (f LineFinding) Text() string {
	sev := approver.High
	if f.Severity != "" {
		_ = sev.UnmarshalText([]byte(f.Severity)) // unknown words become the strictest severity
	}
	whole := approver.Finding{
		By: f.By, Rule: f.Rule, Decision: f.Decision, Severity: sev, Confidence: f.Confidence, Score: f.Score,
		Shadow: f.Shadow,
		Took:   time.Duration(f.US) * time.Microsecond, Note: f.Note, Same: f.Same,
	}
	if f.Tier == nil { // String would show tier 0
		return display.OneLine(whole.Text())
	}
	whole.Tier = *f.Tier
	return display.OneLine(whole.String())
}

// irreversibility is a verdict's irreversibility; nil for score 0, so that JSON leaves it out.
func (r *redactor) irreversibility(i approver.Irreversibility) *approver.Irreversibility {
	if i.Score == 0 {
		return nil
	}
	return &approver.Irreversibility{Score: i.Score, Why: r.mask(i.Why, wordLimit)}
}
