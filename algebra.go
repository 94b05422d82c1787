package approver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"approver.example/display"
)

// This file is the algebra: it combines what several parts of the path say of one call into one
// verdict, and keeps how that verdict came about.

// Bounds of confidence, 0 to 1.
const (
	// DefaultWeak is the confidence below which a denial is weak, unless the configuration says
	// otherwise. A rule of medium certainty lies above it.
	DefaultWeak = 0.7
	// StrongApproval is the least confidence of an Allow that a weak denial yields to: that of
	// a rule that people wrote for exactly such calls.
	StrongApproval = 0.9
)

// MaxChain is how many findings of one verdict are kept at most.
const MaxChain = 24

// A Finding is what one part of the path said of a call: a stage, a module of a
// stage, or a rule that matched and was not the strictest.
type Finding struct {
	By         string        `json:"by"`
	Tier       uint8         `json:"tier,omitempty"`
	Rule       string        `json:"rule,omitempty"`
	Decision   Decision      `json:"decision"`
	Severity   Severity      `json:"severity"`
	Confidence float64       `json:"confidence,omitempty"`
	Score      uint8         `json:"score,omitempty"`   // irreversibility, 0 to 100
	Shadow     bool          `json:"shadow,omitempty"`  // recorded and not enforced
	Took       time.Duration `json:"took_ns,omitempty"` // zero: included in another finding's time
	Note       string        `json:"note,omitempty"`    // what became of it, in a few words
	Same       []string      `json:"same,omitempty"`    // the rules of other stages that say the same
}

// String returns one line: the tier, who, what and how sure.
func (f Finding) String() string { return fmt.Sprintf("T%d %s", f.Tier, f.Text()) }

// Text is String without the tier.
func (f Finding) Text() string {
	text := f.By
	if text == "" {
		text = "no rule"
	}
	if f.Rule != "" {
		text += "/" + f.Rule
	}
	text += " " + f.Decision.String()
	if f.Decision <= Ask {
		text += " " + f.Severity.String()
	}
	if f.Confidence > 0 {
		text += fmt.Sprintf(" %.2f", f.Confidence)
	}
	if f.Score > 0 {
		text += fmt.Sprintf(" irreversible %d/100", f.Score)
	}
	if f.Shadow {
		text += " (shadow)"
	}
	if len(f.Same) > 0 {
		text += " (as " + strings.Join(f.Same, ", ") + ")"
	}
	if f.Took > 0 {
		text += " " + f.Took.Round(time.Microsecond).String()
	}
	if f.Note != "" {
		text += ": " + f.Note
	}
	return text
}

// Finding returns v as one finding of a chain.
func (v Verdict) Finding(took time.Duration) Finding {
	return Finding{By: v.By, Tier: v.Tier, Rule: v.Rule, Decision: v.Decision, Severity: v.Severity,
		Confidence: v.Confidence, Score: v.Irreversible.Score, Took: took}
}

// Chained appends findings to a chain. Those beyond MaxChain are dropped; the note of the
// chain's last finding says how many.
func Chained(chain []Finding, more ...Finding) []Finding {
	for _, f := range more {
		if len(chain) < MaxChain {
			chain = append(chain, f)
			continue
		}
		last := &chain[MaxChain-1]
		n := 1
		if _, err := fmt.Sscanf(last.Note, "and %d more", &n); err == nil {
			n++
		}
		last.Note = fmt.Sprintf("and %d more", n)
	}
	return chain
}

// Combine makes one verdict of several. Any Deny denies. Otherwise any Ask asks, and keeps the
// arguments of a Modify. Otherwise the strictest of Modify, Warn and Allow wins; if all are
// Pass, so is the result. No verdict at all is a Deny.
//
// A Deny may be appealed only if every Deny in found may be and no Modify is among them. Its
// severity is the strictest of all that stop the call, by a Deny or an Ask. Only the people on
// whom all Asks agree may decide the appeal. Its confidence is the combined confidence of all
// that stop the call: two rules that are half sure count for more than one. A Deny without a
// confidence is a failure, and makes the combined confidence 0.
func Combine(found []Verdict) Verdict {
	if len(found) == 0 {
		return Verdict{Reason: "nothing judged the call", Detail: "there was no verdict to combine"}
	}
	best := Verdict{Decision: Pass, Severity: High}
	severity, loss := High, Irreversibility{}
	appealable := true
	var args json.RawMessage
	var asks []Verdict
	for i := range found {
		v := &found[i]
		switch v.Decision {
		case Deny:
			appealable = appealable && v.Appealable
			severity = min(severity, v.Severity)
		case Ask:
			asks = append(asks, *v)
			severity = min(severity, v.Severity)
		case Modify:
			args = v.Args
		case Warn, Pass, Allow:
		}
		if v.Irreversible.Score > loss.Score {
			loss = v.Irreversible
		}
		if Stricter(v, &best) {
			best = *v
		}
	}
	best.Irreversible = loss
	for i := range found { // whoever decides, people read of all that was found
		if found[i].Decision <= Ask && best.Decision <= Ask {
			best.Says = best.Says.Or(found[i].Says)
		}
	}
	switch best.Decision {
	case Deny:
		best.Confidence, best.Severity = together(found), severity
		best.Appealable = appealable && args == nil
		if best.Appealable && len(asks) > 0 {
			best = Narrowed(best, asks...)
		}
		return best
	case Ask:
		best = Narrowed(best, asks...)
	case Modify:
		if args == nil {
			return best.Blocked("the call would have to be changed, but no change was given", "modify without arguments")
		}
	case Warn, Pass, Allow:
		return best
	}
	if best.Decision == Ask {
		best.Args = args
	}
	return best
}

// together is the combined confidence of all that stop the call, each counted as independent
// evidence. It is 0 if a Deny has no confidence, which marks a failure.
func together(found []Verdict) float64 {
	doubt := 1.0
	for i := range found {
		switch v := &found[i]; {
		case v.Decision > Ask:
		case v.Confidence > 0 && v.Confidence <= 1:
			doubt *= 1 - v.Confidence
		case v.Decision == Deny:
			return 0
		}
	}
	return 1 - doubt
}

// Stricter reports whether v outranks best. Allow, which is an opinion, outranks only Pass,
// which is none; every other decision outranks both.
func Stricter(v, best *Verdict) bool {
	switch {
	case best.Decision == Pass && v.Decision == Allow:
		return true
	case best.Decision == Allow && v.Decision == Pass:
		return false
	case v.Decision == Ask && best.Decision == Ask:
		// Of two equal Asks the later one wins: a rule that people wrote says more than the
		// engine before it. A heuristic, which has a higher tier, says less.
		return v.Severity < best.Severity || v.Severity == best.Severity && v.Tier <= best.Tier
	case v.Decision == Deny && best.Decision == Deny:
		return best.Appealable && !v.Appealable // the agent is told of the denial that people cannot lift
	}
	return v.Decision < best.Decision
}

// Weighed turns a weak denial into a question if a strong approval contradicts it. This is the
// only place where the path is looser than its strictest part. A denial is weak if it may be
// appealed, its severity is HIGH, and the combined confidence of all that stop the call is less
// than below. The approval must come from a rule and have a confidence of at least
// StrongApproval.
func Weighed(v Verdict, found []Verdict, below float64) Verdict {
	if v.Decision != Deny || !v.Appealable || v.Severity != High || v.Confidence <= 0 || v.Confidence >= below {
		return v
	}
	for _, a := range found {
		if a.Decision != Allow || a.Rule == "" || !(a.Confidence >= StrongApproval && a.Confidence <= 1) {
			continue
		}
		v.Decision, v.Weakened = Ask, true
		v.Detail = fmt.Sprintf("%s; a denial of confidence %.2f that %s/%s (%.2f) speaks against", cmp.Or(v.Detail, v.Reason),
			v.Confidence, a.By, a.Rule, a.Confidence)
		return v
	}
	return v
}

// Narrowed returns v with what all asks agree on: the people and channels that they have in
// common, the highest tier and the shortest time. If they have no person or no channel in
// common, nobody can be asked, and it returns a Deny.
func Narrowed(v Verdict, asks ...Verdict) Verdict {
	v.Channels, v.Approvers, v.TTL = nil, nil, 0
	nobody := false
	for _, ask := range asks {
		v.MinTier = max(v.MinTier, ask.MinTier)
		if ask.TTL > 0 && (v.TTL == 0 || ask.TTL < v.TTL) {
			v.TTL = ask.TTL // the shortest that a rule names
		}
		for of, more := range map[*[]string][]string{&v.Channels: ask.Channels, &v.Approvers: ask.Approvers} {
			switch {
			case len(more) == 0:
			case len(*of) == 0:
				*of = more
			default:
				*of = slices.DeleteFunc(slices.Clone(*of), func(name string) bool { return !slices.Contains(more, name) })
				nobody = nobody || len(*of) == 0
			}
		}
	}
	if nobody {
		return v.Blocked("nobody may decide this", "the rules that ask name no person or no channel in common")
	}
	return v
}

// Blocked turns a verdict into a Deny that still names its rule. It is CATASTROPHIC and cannot
// be appealed.
func (v Verdict) Blocked(reason, detail string) Verdict {
	v.Decision, v.Severity, v.Args, v.Ruled = Deny, Catastrophic, nil, false
	v.Appealable, v.Weakened, v.Confidence, v.Unasked, v.Approval = false, false, 0, false, nil
	v.Reason, v.Detail = reason, detail
	v.Says.Why = display.Phrase{} // it is blocked because of something else
	return v
}

// Escalates reports whether v leaves the call to the evaluation: an Ask of severity
// HIGH that a rule raised to exactly that tier, without naming people. Every other
// Ask is for people: no model has a say over what is CATASTROPHIC.
func (v Verdict) Escalates() bool {
	return v.Decision == Ask && v.MinTier == TierEvaluation && v.Severity == High && len(v.Approvers) == 0
}

// Floor is the lowest tier that has to look at the call because of v. For a Deny it is
// TierPolicy: no further tier has to.
func (v Verdict) Floor() uint8 {
	switch {
	case v.Decision == Deny:
		return TierPolicy
	case v.Decision == Ask && !v.Escalates():
		return TierPeople
	}
	return v.MinTier
}
