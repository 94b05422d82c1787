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
}

// findingLimit bounds each text of a finding, so that a whole chain stays far
// below MaxLine.
const findingLimit = 160

func (r *redactor) findings(chain []approver.Finding) []LineFinding {
	if len(chain) > approver.MaxChain {
		chain = chain[:approver.MaxChain]
	}
	var out []LineFinding
	for _, f := range chain {
		l := LineFinding{
			By: r.mask(f.By, findingLimit), Tier: new(f.Tier), Rule: r.mask(f.Rule, findingLimit), Decision: f.Decision,
			Score: f.Score, Shadow: f.Shadow,
			US: f.Took.Microseconds(), Note: r.mask(f.Note, findingLimit),
		}
		if !math.IsNaN(f.Confidence) && !math.IsInf(f.Confidence, 0) { // JSON has neither
			l.Confidence = f.Confidence
		}
		if f.Decision <= approver.Ask || f.Decision > approver.Allow {
			l.Severity = f.Severity.String()
		}
		out = append(out, l)
	}
	return out
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
		Took:   time.Duration(f.US) * time.Microsecond, Note: f.Note,
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
