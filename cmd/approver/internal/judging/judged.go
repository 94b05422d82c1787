package judging

import (
	"encoding/json"
	"time"

	"approver.example"
)

// A judged is one line out.
type judged struct {
	ID       json.RawMessage `json:"id"`
	Decision string          `json:"decision"`
	Severity string          `json:"severity,omitempty"` // of an ask and a deny
	By       string          `json:"by,omitempty"`
	Rule     string          `json:"rule,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"` // of a modify
	US       int64           `json:"us"`
	Tier     *uint8          `json:"tier,omitempty"` // of the part that decided
	// How hard the call is to take back, 0 to 100, left out for 0.
	Irreversible uint8              `json:"irreversible,omitempty"`
	Chain        []approver.Finding `json:"chain,omitempty"`  // with --explain: what each part said
	Reflex       any                `json:"reflex,omitempty"` // with --explain
}

// A misread is the line out for one that was not understood.
type misread struct {
	Error string `json:"error"`
	Line  int    `json:"line"`
}

func judgedAs(id json.RawMessage, v approver.Verdict, took time.Duration) judged {
	out := judged{ID: id, Decision: v.Decision.String(), By: v.By, Rule: v.Rule, Reason: v.Reason, US: took.Microseconds(),
		Irreversible: v.Irreversible.Score}
	if v.Decision <= approver.Ask {
		out.Severity = v.Severity.String()
	}
	if v.Decision == approver.Modify {
		out.Args = v.Args
	}
	if v.By != "" {
		out.Tier = &v.Tier
	}
	return out
}
