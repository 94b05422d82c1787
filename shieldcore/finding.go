package shieldcore

import "approver.example"

// By is the name under which a policy's verdicts appear.
const By = "policy"

func finding(d approver.Decision, name, text string) approver.Verdict {
	return approver.Verdict{Decision: d, By: By, Rule: name, Category: "policy", Reason: text, Detail: text, Confidence: 1}
}

// Names of the findings of the path denylist, which stands above all rules.
const (
	RuleRestricted = "restricted_path" // a path that no agent reads or writes
	RuleProtected  = "protected_path"  // a path that agents only read
)
