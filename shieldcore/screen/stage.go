// Package screen is the classifier part of Tier 1 as a stage: it scores the texts of
// calls. It uses the linear model of package classifier. A second model that a person
// installed can be added.
package screen

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"approver.example"
	"approver.example/display"
	"approver.example/internal/timing"
	"approver.example/shieldcore"
	"approver.example/shieldcore/classifier"
	"approver.example/shieldcore/internal/leaves"
)

// By is what verdicts of the stage are signed with.
const By = "classifier"

// The rules of the stage.
const (
	RuleInjection = "injection"  // a text of the call reads like orders to a model
	RuleTooLong   = "not_scored" // a text goes on beyond what is looked at
)

// MaxTexts is how many texts of a call are scored. A call with more goes to the
// evaluation.
const MaxTexts = 4096

// A Scorer is another classifier. value is 0 to 1; whole is false if it scored only a
// part of the text.
type Scorer interface {
	Score(ctx context.Context, text string) (value float64, whole bool, err error)
}

// A Stage is the classifier part of Tier 1 as an [approver.Stage]. It only escalates: a
// call with a text that reaches the threshold goes to the evaluation, or to people if
// there is none. The zero Stage is unavailable.
type Stage struct {
	// Model is our own; it must be loaded.
	Model *classifier.Model
	// Point is the operating point of Model. The zero Point finds everything.
	Point classifier.Point
	// Second, if not nil, is asked too. Its threshold is SecondFrom.
	Second     Scorer
	SecondFrom float64
	// Skip are kinds of action, in the words of [shieldcore.ActionTypes], whose calls
	// are not scored, because classifiers over-fire on written and sent text. They go
	// to the evaluation if there is one.
	Skip []string
}

// Judge implements [approver.Stage]. If a model fails, the error is an
// [approver.UnavailableError]: with an open fail mode a higher tier decides.
func (s *Stage) Judge(ctx context.Context, call approver.ToolCall) (v approver.Verdict, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = notScored(fmt.Errorf("it crashed: %v", p))
		}
	}()
	if s == nil || s.Model == nil {
		return notScored(classifier.ErrUnavailable)
	}
	v = approver.Verdict{Decision: approver.Pass, By: By, Tier: approver.TierScreen, Severity: approver.High}
	if kind, skip := s.skips(call); skip {
		v.WantTier = approver.TierEvaluation
		v.Chain = []approver.Finding{{By: By, Tier: approver.TierScreen, Decision: approver.Pass, Severity: approver.High,
			Rule: "skipped", Note: "not scored: classifiers over-fire on " + kind}}
		return v, nil
	}
	texts, err := textsOf(call)
	if err != nil {
		return approver.Verdict{By: By, Tier: approver.TierScreen}, err
	}
	if len(texts) > MaxTexts {
		return finding(RuleTooLong, 0, "the call has too many texts to be scored",
			fmt.Sprintf("%d texts, more than %d", len(texts), MaxTexts)), nil
	}
	for _, text := range texts {
		if worse, err := s.score(text); err != nil {
			return notScored(err)
		} else if worse.Decision == approver.Ask && (v.Decision != approver.Ask || worse.Confidence > v.Confidence) {
			v = worse
		}
	}
	if v.Decision == approver.Ask || s.Second == nil || len(texts) == 0 {
		return v, nil
	}
	worse, err := s.scoreSecond(ctx, texts)
	if err != nil {
		return notScored(err)
	}
	if worse.Decision == approver.Ask {
		v = worse
	}
	return v, nil
}

// score scores one text by our own model.
func (s *Stage) score(text string) (approver.Verdict, error) {
	own, err := s.Model.Score(text)
	if err != nil {
		return approver.Verdict{}, err
	}
	if from := s.Model.Threshold(s.Point); own.Value >= from {
		return finding(RuleInjection, own.Value, likeOrders,
			fmt.Sprintf("score %.3f of at least %.3f: %s", own.Value, from, excerpt(text, own.Window))), nil
	}
	if own.Truncated {
		return finding(RuleTooLong, 0, tooLong, "what lies beyond the limits was not looked at"), nil
	}
	return approver.Verdict{Decision: approver.Pass}, nil
}

// What the agent is told.
const (
	likeOrders = "a text of the call has what reads like orders to a model"
	tooLong    = "a text of the call is too long to be scored"
)

// scoreSecond scores all texts of a call together by the second model.
func (s *Stage) scoreSecond(ctx context.Context, texts []string) (approver.Verdict, error) {
	value, whole, err := s.Second.Score(ctx, strings.Join(texts, "\n\n"))
	switch {
	case err != nil:
		return approver.Verdict{}, err
	case !(value >= 0 && value <= 1): // not a number, too
		return approver.Verdict{}, fmt.Errorf("a score of %v", value)
	case value >= s.SecondFrom:
		return finding(RuleInjection, value, likeOrders,
			fmt.Sprintf("score %.3f of at least %.3f by the model that was added", value, s.SecondFrom)), nil
	case !whole:
		return finding(RuleTooLong, 0, tooLong, "the model that was added did not see all of it"), nil
	}
	return approver.Verdict{Decision: approver.Pass}, nil
}

// skips reports whether all of the call's kinds of action are skipped, and returns one
// of them. The kind "mcp" does not count.
func (s *Stage) skips(call approver.ToolCall) (kind string, skip bool) {
	// A command is known to be of a kind by itself, and most calls are one.
	if len(s.Skip) == 0 || call.Command != "" && !slices.Contains(s.Skip, "exec") {
		return "", false
	}
	for _, kind = range shieldcore.ActionTypes(call) {
		if kind == "mcp" {
			continue
		}
		if !slices.Contains(s.Skip, kind) {
			return "", false
		}
		skip = true
	}
	return kind, skip
}

// textsOf returns the texts of a call that somebody may read, each once.
func textsOf(call approver.ToolCall) (out []string, err error) {
	if call.Command != "" {
		out = append(out, call.Command)
	}
	err = leaves.Each(call.Args, func(text string) {
		if text != call.Command && !isName(text) {
			out = append(out, text)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("the call's arguments: %w", err)
	}
	return out, nil
}

// isName reports whether a text is one word of plain letters and digits, as most names
// of arguments are. Every other text is scored, because any character may separate the
// words of a sentence.
func isName(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) < 0
}

func finding(rule string, score float64, reason, detail string) approver.Verdict {
	return approver.Verdict{
		Decision: approver.Ask, Severity: approver.High, By: By, Tier: approver.TierScreen, Rule: rule, Category: "injection",
		Confidence: score,
		MinTier:    approver.TierEvaluation, Reason: reason, Detail: detail,
		Says: display.Summary{Why: display.Sentence(reason)},
	}
}

// notScored is the verdict for a model that fails: fail mode closed blocks, open goes on
// to the next tier.
func notScored(err error) (approver.Verdict, error) {
	return approver.Verdict{By: By, Tier: approver.TierScreen,
			Reason: "approver's classifier is not working, so the call was blocked"},
		&approver.UnavailableError{Err: err, MinTier: approver.TierEvaluation}
}

// excerpt is the window of a score on one line.
func excerpt(text string, window [2]int) string {
	const most = 120
	from, to := min(window[0], len(text)), min(window[1], len(text))
	if from > to {
		return ""
	}
	text = text[from:to]
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return display.OneLine(display.Mask(text))
}

// Part is [timing.Reflex]: the stage needs nothing but the call.
func (*Stage) Part() timing.Part { return timing.Reflex }
