package evaluator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
)

// By is what verdicts of this stage are marked with, and Tier what it is.
const (
	By   = "evaluator"
	Tier = 2
)

// The rules of verdicts that a model's valid answer led to. A verdict without a
// rule is a failure: observe mode does not let it go.
const (
	RuleAllow    = "allow"    // no objection
	RuleBlock    = "block"    // the model says that it is not safe
	RuleEscalate = "escalate" // the model wants a person to decide
	RuleUnsure   = "unsure"   // it would allow, and is not sure
	RuleUnseen   = "unseen"   // it would allow, and did not see all
)

// The categories of verdicts, for alarms.
const (
	CategoryVerdict = "evaluation"        // a valid answer
	CategoryAnswer  = "evaluation-answer" // none that is valid
	CategoryCanary  = "evaluation-canary" // one without the canary: the model was taken over, or is not up to the task
)

// MinConfidence is the confidence below which an ALLOW asks people instead: the
// model says that it would rather toss a coin.
const MinConfidence = 0.5

// An Evaluator asks a model of its own about each call: Tier 2 as an
// [approver.Stage]. It is safe for concurrent use. The zero Evaluator denies.
type Evaluator struct {
	client     *client
	dialect    dialect
	provider   string
	options    options
	deadline   time.Duration
	maxPayload int
	hide       func(string) string // takes the evaluator's own key out of a text
	meter      *approver.ReceptionMeter
}

// New returns an evaluator for a valid configuration. It reads the key, and
// connects to nothing. The error names every problem of cfg at once, and never
// the key.
func New(cfg Config) (*Evaluator, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	key, err := cfg.secret()
	if err != nil {
		return nil, err
	}
	to, err := cfg.endpoint()
	if err != nil {
		return nil, err
	}
	proxy, err := cfg.proxy()
	if err != nil {
		return nil, err
	}
	d := dialects[cfg.Provider]
	tokens := orDefault(cfg.MaxTokens, DefaultMaxTokens)
	if cfg.Reasoning {
		tokens = orDefault(cfg.MaxTokens, DefaultReasoningTokens)
	}
	return &Evaluator{
		client:     newClient(to, proxy, func(h http.Header) { d.authorize(key, h) }),
		dialect:    d,
		provider:   cfg.Provider,
		options:    options{model: cfg.Model, maxTokens: tokens, reasoning: cfg.Reasoning},
		deadline:   orDefault(cfg.Deadline, DefaultDeadline),
		maxPayload: orDefault(cfg.MaxPayload, DefaultMaxPayload),
		meter:      &approver.ReceptionMeter{},
		hide: func(s string) string {
			if key.IsZero() {
				return s
			}
			return strings.ReplaceAll(s, key.Reveal(), "[key of the evaluator]")
		},
	}, nil
}

// String names provider and model.
func (e Evaluator) String() string {
	return "evaluator " + e.provider + " " + e.options.model
}

// Format keeps every verb to String.
func (e Evaluator) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, e.String()) }

// Judge asks the model. The error is an [UnavailableError]: the provider gave no
// answer; unless that is because of too many requests, it is an
// [approver.UnavailableError] too. Every answer is a verdict, and every one that is not exactly as it must
// be is a Deny.
func (e *Evaluator) Judge(ctx context.Context, call approver.ToolCall) (approver.Verdict, error) {
	if e == nil || e.client == nil {
		return failed(errors.New("the evaluator is not made by New")), nil
	}
	line, cut, err := describe(call, e.maxPayload, e.hide)
	if err != nil {
		return failed(err), nil
	}
	ctx, cancel := context.WithTimeout(ctx, e.deadline)
	defer cancel()
	c, whole, err := e.ask(ctx, line)
	if pause(ctx, err) {
		c, whole, err = e.ask(ctx, line)
	}
	e.note(err)
	var unavailable *UnavailableError
	switch {
	case errors.As(err, &unavailable):
		v := approver.Verdict{By: By, Tier: Tier, Category: CategoryAnswer,
			Reason: "the security evaluation that this call needs is not available, so it was blocked"}
		if unavailable.RateLimited() { // an agent can bring that about, so no fail mode opens it
			return v, unavailable
		}
		return v, &approver.UnavailableError{Err: unavailable}
	case err != nil:
		return failed(err), nil
	}
	return e.verdict(c, !cut && whole), nil
}

// ask makes one request, with a canary of its own. The second result says whether
// the provider seems to have read all of it.
func (e *Evaluator) ask(ctx context.Context, line []byte) (claim, bool, error) {
	p := newPrompt(line)
	body, err := marshal(e.dialect.request(p, e.options))
	if err != nil {
		return claim{}, false, errors.New("the request cannot be made")
	}
	raw, err := e.client.post(ctx, body)
	if err != nil {
		return claim{}, false, err
	}
	fields, err := members(raw)
	if err != nil {
		return claim{}, false, errNotWhole
	}
	said, err := e.dialect.answer(fields)
	if err != nil {
		return claim{}, false, err
	}
	c, err := parseReply(said.text, p.canary)
	if err != nil {
		return claim{}, false, err
	}
	// A compromised model might pass it on, or a server the key; of no use by now,
	// and no business of anybody's.
	c.reason = e.hide(strings.ReplaceAll(c.reason, string(p.canary), "[canary]"))
	return c, readAll(p, said.read), nil
}

// Some local servers drop what does not fit into their context and answer as if
// nothing was missing. They tell it by the number of tokens that they read.
const (
	bytesPerToken = 6       // more than texts and commands have
	surelyRead    = 4 << 10 // shorter prompts fit everywhere
)

// readAll reports whether the number of tokens is enough for the prompt. Zero is
// a server that does not count.
func readAll(p prompt, tokens int) bool {
	n := len(p.system) + len(p.user)
	return tokens == 0 || len(p.user) <= surelyRead || n <= tokens*bytesPerToken
}

// verdict is what a valid answer means. Nothing here is looser than Pass: the
// model has no say over what another part asks or denies.
func (e *Evaluator) verdict(c claim, seen bool) approver.Verdict {
	v := approver.Verdict{By: By, Tier: Tier, Category: CategoryVerdict, Confidence: c.confidence}
	switch {
	case c.decision == saysBlock:
		v.Decision, v.Rule = approver.Deny, RuleBlock
		v.Reason = "an independent security evaluation found this call unsafe"
	case c.decision == saysEscalate:
		v.Decision, v.Severity, v.Rule = approver.Ask, approver.High, RuleEscalate
		v.Reason = "an independent security evaluation wants a person to decide"
	case c.decision != saysAllow:
		return failed(errors.New("the answer's decision is none"))
	case !seen:
		v.Decision, v.Severity, v.Rule = approver.Ask, approver.High, RuleUnseen
		v.Reason = "the call is too long for the security evaluation to see all of it, so a person has to decide"
	case !(c.confidence >= MinConfidence):
		v.Decision, v.Severity, v.Rule = approver.Ask, approver.High, RuleUnsure
		v.Reason = "the security evaluation is not sure, so a person has to decide"
	default:
		v.Decision, v.Severity, v.Rule = approver.Pass, approver.High, RuleAllow
	}
	part := ""
	if !seen {
		part = ", of which it saw only a part"
	}
	computed := fmt.Sprintf("tier %d: %s says %s with confidence %.2f%s", Tier, e, c.decision, c.confidence, part)
	// The model's own words come last, so that they cannot pass for ours.
	v.Detail = computed + "; claimed by the model: " + display.OneLine(display.Mask(c.reason))
	v.Chain = []approver.Finding{{
		By: By + ".model", Tier: Tier, Rule: v.Rule, Decision: v.Decision, Severity: v.Severity, Confidence: c.confidence,
		Note: computed + "; prompt sha256 " + PromptHash(),
	}}
	return v
}

// failed is the verdict on an answer that is none. The agent is not told what was
// wrong with it: that would teach it how to get another.
func failed(err error) approver.Verdict {
	v := approver.Verdict{
		By: By, Tier: Tier, Category: CategoryAnswer,
		Reason: "an independent security evaluation gave no valid answer, so the call was blocked",
		Detail: fmt.Sprintf("tier %d: %v", Tier, err),
	}
	v.Chain = []approver.Finding{{By: By + ".model", Tier: Tier, Decision: v.Decision, Severity: v.Severity,
		Note: v.Detail + "; prompt sha256 " + PromptHash()}}
	if errors.Is(err, errCanary) {
		v.Category = CategoryCanary
	}
	return v
}
