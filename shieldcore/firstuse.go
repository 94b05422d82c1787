package shieldcore

import (
	"context"
	"fmt"
	"slices"

	"approver.example"
	"approver.example/display"
)

// RuleFirstUse is the finding that no session of the project has used the tool before, and
// RuleUnknownVerb that the name of a tool does not say what it does.
const (
	RuleFirstUse    = "first_use"
	RuleUnknownVerb = "unknown_verb"
)

// findingFile is what comes of a finding, as written.
type findingFile struct {
	Decision string `yaml:"decision"`
	Severity string `yaml:"severity"`
}

// toolFinding returns what comes of a finding about a tool; nil if the file does not say.
func (c *compiler) toolFinding(at, name string, file findingFile) *approver.Verdict {
	if !c.Has(at) || !c.Good(at) {
		return nil
	}
	if !c.Has(at + ".decision") {
		c.ReportKey(at, name+" has no decision: add decision: pass, ask or deny")
		return nil
	}
	v := approver.Verdict{By: By, Rule: name, Category: "policy", Severity: approver.High, Confidence: 1,
		Where: c.Position(at)}
	switch decisionWord(file.Decision) {
	case "pass":
		v.Decision = approver.Pass
	case "ask":
		v.Decision = approver.Ask
	case "deny":
		v.Decision = approver.Deny
	default:
		c.Report(at+".decision", unknownWord("decision", file.Decision, []string{"pass", "ask", "deny"}))
	}
	switch {
	case !c.Good(at + ".severity"):
	case v.Decision != approver.Ask:
		c.Report(at+".severity", "severity is for a decision that asks: leave it out")
	case v.Severity.UnmarshalText([]byte(file.Severity)) != nil:
		c.Report(at+".severity", unknownWord("severity", file.Severity, []string{"high", "catastrophic"}))
	}
	return &v
}

// about completes the verdict of a finding about a call's tool.
func (p *Policy) about(v approver.Verdict, text string) approver.Verdict {
	v.Reason, v.Detail = text, text
	if v.Decision == approver.Ask {
		v.TTL = p.ttl
	}
	return v
}

// ownTool reports whether a tool belongs to an agent, as its shell and its editor do.
func ownTool(call approver.ToolCall) bool {
	_, own := toolActions[call.Tool]
	return own || call.Command != ""
}

// saysNothing reports whether a tool is no agent's own, and its name does not say what it does.
func saysNothing(call approver.ToolCall) bool {
	return !ownTool(call) && !slices.ContainsFunc(ActionTypes(call), func(a string) bool {
		return a != "mcp" && a != "other" && (a != "http" || len(call.URLs) == 0)
	})
}

// Using is the policy in force, which also knows the tools that were used in each project.
type Using struct {
	*Live
	Tools *Tools
}

// Judge judges by the policy in force, and notes no use.
func (u Using) Judge(ctx context.Context, call approver.ToolCall) (approver.Verdict, error) {
	return u.judge(ctx, call, false)
}

// JudgeAfter implements [approver.Informed]. If nothing stops the call so far, its tool counts as
// used from then on; if people are asked, once they said yes: see [Tools.Answered].
func (u Using) JudgeAfter(
	ctx context.Context, call approver.ToolCall, before []approver.Verdict,
) (approver.Verdict, error) {
	stopped := slices.ContainsFunc(before, func(v approver.Verdict) bool { return v.Decision <= approver.Ask })
	return u.judge(ctx, call, !stopped)
}

func (u Using) judge(ctx context.Context, call approver.ToolCall, uses bool) (approver.Verdict, error) {
	p := u.Policy()
	v, err := p.Judge(ctx, call)
	if err != nil || v.Decision == approver.Deny || p.firstUse == nil || ownTool(call) {
		return v, err
	}
	used, err := u.Tools.Used(ctx, call)
	if used {
		return v, nil
	}
	text := fmt.Sprintf("no session of this project has used the tool %q before", call.Tool)
	if err != nil {
		text = fmt.Sprintf("which tools this project has used cannot be read, so it is not known whether %q is new: %v",
			call.Tool, err)
	}
	first := p.about(*p.firstUse, text)
	first.Says.Why = display.Phrase{Text: "no session of this project has used the tool %s before",
		Args: []string{display.OneLine(call.Tool)}}
	if err != nil {
		first.Says.Why = display.Sentence("which tools this project has used before cannot be read")
	}
	if first.Decision == approver.Pass || v.Rule != "" && v.Decision > approver.Ask { // a rule of the call decides
		v.Chain = append(v.Chain, approver.Finding{By: By, Rule: RuleFirstUse, Decision: approver.Pass,
			Severity: approver.High, Confidence: 1, Note: text})
		if uses && err == nil && v.Decision > approver.Ask {
			_ = u.Tools.Use(ctx, call) // or it is found again
		}
		return v, nil
	}
	if !approver.Stricter(&first, &v) {
		v.Chain = append(v.Chain, approver.Finding{By: By, Rule: RuleFirstUse, Decision: first.Decision,
			Severity: first.Severity, Confidence: 1, Note: text})
		return v, nil
	}
	first.Chain = v.Chain
	if v.Rule != "" {
		first.Chain = append(first.Chain, v.Finding(0))
	}
	return first, nil
}
