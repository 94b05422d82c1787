package reflexcore

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"approver.example"
	"approver.example/internal/timing"
	"approver.example/reflexcore/code"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/decode"
	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/loop"
	"approver.example/reflexcore/precedent"
	"approver.example/reflexcore/shell"
	"approver.example/reflexcore/sqltext"
	"approver.example/reflexcore/tools"
)

// A Config is the section reflex of the configuration: the rule files, and the budgets for the
// analysis of one call. A call that exceeds a budget becomes a question.
type Config struct {
	Rules      RuleFiles        `yaml:"rules"`
	Shell      shell.Limits     `yaml:"shell"`
	Decode     decode.Limits    `yaml:"decode"`
	Code       CodeBudget       `yaml:"code"`
	SQL        sqltext.Limits   `yaml:"sql"`
	Tools      tools.Limits     `yaml:"tools"`
	Content    content.Limits   `yaml:"content"`
	Loop       loop.Limits      `yaml:"loop"`
	Gatekeeper GatekeeperConfig `yaml:"gatekeeper"`
	Budgets    TimeBudgets      `yaml:"budgets"`
	Precedents precedent.Limits `yaml:"precedents"`
	Flow       flow.Config      `yaml:"flow"`
	// Container lets calls change the own system of the container that they run in.
	Container bool `yaml:"container"`
}

// TimeBudgets say from which duration on a call counts as slow, for each part of the path. See
// [timing.Times].
type TimeBudgets struct {
	Reflex    time.Duration `yaml:"reflex"`
	Intuition time.Duration `yaml:"intuition"`
	Coherence time.Duration `yaml:"coherence"`
	Arbiter   time.Duration `yaml:"arbiter"`
}

// Times returns counters of how long judging takes, with these budgets.
func (c TimeBudgets) Times() *timing.Times {
	t := &timing.Times{}
	t.Limits[timing.Reflex], t.Limits[timing.Intuition] = c.Reflex, c.Intuition
	t.Limits[timing.Coherence], t.Limits[timing.Arbiter] = c.Coherence, c.Arbiter
	return t
}

// A GatekeeperConfig says when a denial is weak, and how long it can be appealed.
type GatekeeperConfig struct {
	// Weak is a confidence, 0 to 1. A denial below it that may be appealed becomes a question if
	// there is a strong approval; 0 turns this off.
	Weak float64 `yaml:"weak"`
	// AppealWithin is how long after its denial a call can be appealed.
	AppealWithin time.Duration `yaml:"appeal_within"`
}

// RuleFiles are the layers over the built-in rules, lowest first. An empty Hub is no layer. An empty
// User is the file rules.yaml in the data folder, if there is one.
type RuleFiles struct {
	Hub  string `yaml:"hub"`
	User string `yaml:"user"`
}

// A CodeBudget bounds the reading of other languages, see [code.Limits].
type CodeBudget struct {
	Bytes  int `yaml:"bytes"`
	Tokens int `yaml:"tokens"`
	Steps  int `yaml:"steps"`
	Depth  int `yaml:"depth"`
}

// DefaultConfig returns the configuration that is used where nothing is set.
func DefaultConfig() Config {
	t := tools.DefaultLimits()
	b := timing.DefaultLimits()
	return Config{
		Budgets:    TimeBudgets{b[timing.Reflex], b[timing.Intuition], b[timing.Coherence], b[timing.Arbiter]},
		Shell:      shell.DefaultLimits,
		Decode:     decode.Limits{Depth: 4, Bytes: decode.MaxOutput, Layers: 64},
		Code:       CodeBudget{Bytes: 256 << 10, Tokens: 20_000, Steps: 100_000, Depth: 64},
		SQL:        t.SQL,
		Tools:      t,
		Content:    t.Content,
		Gatekeeper: GatekeeperConfig{Weak: approver.DefaultWeak, AppealWithin: approver.DefaultAppealWithin},
		Loop:       loop.DefaultLimits,
		Precedents: precedent.DefaultLimits,
		Flow:       flow.DefaultConfig(),
		Container:  true,
	}
}

// Validate lists the problems, each by its key. A budget of zero would ask about every call, and an
// unlimited one would let a call block the daemon.
func (c Config) Validate() error {
	var errs []error
	for _, b := range []struct {
		key       string
		have, max int
	}{
		{"shell.bytes", c.Shell.Bytes, 1 << 20},
		{"shell.nesting", c.Shell.Nesting, 256},
		{"shell.depth", c.Shell.Depth, 32},
		{"shell.steps", c.Shell.Steps, 1_000_000},
		{"shell.expanded", c.Shell.Expanded, 64 << 20},
		{"shell.words", c.Shell.Fields, 1 << 20},
		{"shell.rounds", c.Shell.Rounds, 10_000},
		{"shell.alternatives", c.Shell.Alternatives, 1024},
		{"shell.effects", c.Shell.Effects, 1 << 20},
		{"decode.depth", c.Decode.Depth, 16},
		{"decode.bytes", c.Decode.Bytes, 1 << 20},
		{"decode.layers", c.Decode.Layers, 1024},
		{"code.bytes", c.Code.Bytes, 4 << 20},
		{"code.tokens", c.Code.Tokens, 1_000_000},
		{"code.steps", c.Code.Steps, 10_000_000},
		{"code.depth", c.Code.Depth, 256},
		{"sql.bytes", c.SQL.Bytes, 4 << 20},
		{"sql.tokens", c.SQL.Tokens, 1_000_000},
		{"sql.depth", c.SQL.Depth, 64},
		{"tools.bytes", c.Tools.Bytes, 8 << 20},
		{"tools.values", c.Tools.Args, 1 << 20},
		{"tools.depth", c.Tools.Depth, 64},
		{"tools.links", c.Tools.Paths, 1024},
		{"tools.bulk", c.Tools.Bulk, 1_000_000},
		{"tools.file", c.Tools.File, 16 << 20},
		{"content.bytes", c.Content.Bytes, 16 << 20},
		{"content.yaml", c.Content.YAML, 64 << 10},
		{"content.payloads", c.Content.Payloads, 100_000},
		{"content.depth", c.Content.Depth, 256},
	} {
		if b.have < 1 || b.have > b.max {
			errs = append(errs, fmt.Errorf("%s must be 1 to %d", b.key, b.max))
		}
	}
	for _, b := range []struct {
		key  string
		have time.Duration
	}{
		{"budgets.reflex", c.Budgets.Reflex}, {"budgets.intuition", c.Budgets.Intuition},
		{"budgets.coherence", c.Budgets.Coherence}, {"budgets.arbiter", c.Budgets.Arbiter},
	} {
		if b.have < time.Millisecond || b.have > 5*time.Second {
			errs = append(errs, fmt.Errorf("%s must be 1ms to 5s", b.key))
		}
	}
	if g := c.Gatekeeper; !(g.Weak >= 0 && g.Weak <= maxWeak) {
		errs = append(errs, fmt.Errorf("gatekeeper.weak must be 0 to %v: what is surer is no weak denial", maxWeak))
	}
	if w := c.Gatekeeper.AppealWithin; w < time.Minute || w > time.Hour {
		errs = append(errs, errors.New("gatekeeper.appeal_within must be 1m to 1h"))
	}
	return errors.Join(slices.Concat(errs, c.Loop.Faults(), c.Precedents.Faults(), c.Flow.Faults())...)
}

// maxWeak keeps denials by rules with a high confidence from counting as weak.
const maxWeak = 0.85

// Limits returns the same budgets for [New].
func (c Config) Limits() Limits {
	t := c.Tools
	t.Content, t.SQL = c.Content, c.SQL
	return Limits{
		Shell:  c.Shell,
		Decode: c.Decode,
		Code:   code.Limits{Bytes: c.Code.Bytes, Tokens: c.Code.Tokens, Steps: c.Code.Steps, Depth: c.Code.Depth},
		SQL:    c.SQL,
		Tools:  t,
	}
}
