package evaluator

import (
	"cmp"
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

// By and Tier are in all verdicts of this stage.
const (
	By   = "evaluator"
	Tier = 2
)

// The rules of verdicts on a model's valid answer. A verdict without a rule is a
// failure, which observe mode does not ignore.
const (
	RuleAllow    = "allow"    // no objection
	RuleBlock    = "block"    // the model says that it is not safe
	RuleEscalate = "escalate" // the model wants a person to decide
	RuleUnsure   = "unsure"   // it would allow, and is not sure
	RuleUnseen   = "unseen"   // it would allow, and saw only a part
)

// The categories of verdicts, for alarms.
const (
	CategoryVerdict = "evaluation"        // a valid answer
	CategoryAnswer  = "evaluation-answer" // no valid answer
	CategoryCanary  = "evaluation-canary" // no canary: the model was taken over, or is too weak for the task
)

// MinConfidence is the confidence below which an ALLOW asks people instead.
const MinConfidence = 0.5

// An Evaluator asks a separate model about each call: Tier 2 as an [approver.Stage].
// It is safe for concurrent use. The zero Evaluator denies.
type Evaluator struct {
	client     *client
	dialect    dialect
	provider   string
	options    options
	deadline   time.Duration
	maxPayload int
	hide       func(string) string // removes the evaluator's own key from a text
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
	tokens := cmp.Or(cfg.MaxTokens, DefaultMaxTokens)
	if cfg.Reasoning {
		tokens = cmp.Or(cfg.MaxTokens, DefaultReasoningTokens)
	}
	return &Evaluator{
		client:     newClient(to, proxy, func(h http.Header) { d.authorize(key, h) }),
		dialect:    d,
		provider:   cfg.Provider,
		options:    options{model: cfg.Model, maxTokens: tokens, reasoning: cfg.Reasoning},
		deadline:   cmp.Or(cfg.Deadline, DefaultDeadline),
		maxPayload: cmp.Or(cfg.MaxPayload, DefaultMaxPayload),
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

// Judge asks the model. Every answer is a verdict, and an invalid one is a Deny. If the
// provider gave no answer, the error is an [UnavailableError]. It is an
// [approver.UnavailableError] too, unless the provider limited the rate.
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
	// A compromised model may repeat the canary, and a server the key.
	c.reason = e.hide(strings.ReplaceAll(c.reason, string(p.canary), "[canary]"))
	return c, readAll(p, said.read), nil
}

// Some local servers silently drop text that does not fit into their context. The
// number of tokens that they report shows it.
const (
	bytesPerToken = 6       // more than texts and commands have
	surelyRead    = 4 << 10 // shorter prompts fit everywhere
)

// readAll reports whether the number of tokens is enough for the prompt. Zero means
// that the server reports none.
func readAll(p prompt, tokens int) bool {
	n := len(p.system) + len(p.user)
	return tokens == 0 || len(p.user) <= surelyRead || n <= tokens*bytesPerToken
}

// verdict is the verdict for a valid answer. It is never looser than Pass: the model
// cannot override another stage's ask or deny.
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
	v.Says.Why = display.Sentence(v.Reason)
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

// failed is the verdict for an invalid answer. The agent does not get the error, which
// could teach it to cause another.
func failed(err error) approver.Verdict {
	v := approver.Verdict{
		By: By, Tier: Tier, Category: CategoryAnswer,
		Reason: "an independent security evaluation gave no valid answer, so the call was blocked",
		Detail: fmt.Sprintf("tier %d: %v", Tier, err),
	}
	v.Says.Why = display.Sentence(v.Reason)
	v.Chain = []approver.Finding{{By: By + ".model", Tier: Tier, Decision: v.Decision, Severity: v.Severity,
		Note: v.Detail + "; prompt sha256 " + PromptHash()}}
	if errors.Is(err, errCanary) {
		v.Category = CategoryCanary
	}
	return v
}
