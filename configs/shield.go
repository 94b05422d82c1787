package configs

import (
	"fmt"

	"approver.example/reflexcore/flow"
	"approver.example/shieldcore"
	"approver.example/shieldcore/evaluator"
	"approver.example/shieldcore/quota"
	"approver.example/shieldcore/screen"
	"approver.example/shieldcore/sidecar"
	"github.com/rogpeppe/go-internal/diff"
)

// The values of Config.FailMode.
const (
	FailClosed = "closed" // what cannot be judged is blocked
	FailOpen   = "open"   // it goes on in the cases that docs/shield.md lists
)

// Shield is the section of the tiers above the policy.
type Shield struct {
	// Classifier is the classifier of Tier 1.
	Classifier screen.Config `yaml:"classifier"`
	// Sidecar is a model of the user's own, in a separate program, used in addition to
	// Classifier. Nil means none.
	Sidecar *sidecar.Config `yaml:"sidecar"`
	// Evaluator is Tier 2. Nil means none: people decide in its place.
	Evaluator *evaluator.Config `yaml:"evaluator"`
	// Quota limits the evaluations of Tier 2.
	Quota quota.Config `yaml:"quota"`
	// Output says whether the output of tools is sanitized.
	Output OutputMode `yaml:"output_sanitization"`
}

func defaultShield() Shield {
	return Shield{Classifier: screen.DefaultConfig(), Quota: quota.DefaultConfig()}
}

// shieldAuthorities returns the settings that are set and either let a call go that people
// would be asked about, or take a protection away.
func (c *Config) shieldAuthorities() (on []authority) {
	if c.FailMode == FailOpen {
		on = append(on, authority{"fail_mode: " + FailOpen, func() { c.FailMode = FailClosed }})
	}
	if e := c.Shield.Evaluator; e != nil {
		line := fmt.Sprintf("shield.evaluator: %s %s", e.Provider, e.Model)
		if e.URL != "" {
			line += " at " + withoutPassword(e.URL)
		}
		if e.Proxy != "" {
			line += " through " + withoutPassword(e.Proxy)
		}
		on = append(on, authority{line, func() { c.Shield.Evaluator = nil }})
	}
	if c.OutputOptOut() != "" {
		on = append(on, authority{"shield.output_sanitization: off", func() { c.Shield.Output = OutputAuto }})
	}
	for _, kind := range c.Shield.Classifier.Widened() {
		on = append(on, authority{"shield.classifier.skip: " + kind,
			func() { c.Shield.Classifier = c.Shield.Classifier.Without(kind) }})
	}
	return on
}

// An OutputMode says when the output of tools is sanitized. The zero value is auto: if people
// are reached over a network.
type OutputMode uint8

// The modes.
const (
	OutputAuto OutputMode = iota
	OutputOn
	OutputOff
)

var outputModes = [...]string{"auto", "on", "off"}

// String returns the mode as it is configured; an unknown value is "on".
func (m OutputMode) String() string {
	if int(m) < len(outputModes) {
		return outputModes[m]
	}
	return outputModes[OutputOn]
}

// UnmarshalText reads auto, on or off.
func (m *OutputMode) UnmarshalText(b []byte) error {
	for i, word := range outputModes {
		if word == string(b) {
			*m = OutputMode(i)
			return nil
		}
	}
	return fmt.Errorf("unknown mode %q: one of auto, on, off", b)
}

// SanitizesOutput reports whether the output of tools is sanitized.
func (c Config) SanitizesOutput() bool {
	return c.Shield.Output == OutputOn || c.Shield.Output == OutputAuto && c.Channels.IsRemote()
}

// OutputOptOut returns the warning for a configuration that turns the sanitization off where
// it would otherwise be on; else it is empty.
func (c Config) OutputOptOut() string {
	if c.Shield.Output != OutputOff || !c.Channels.IsRemote() {
		return ""
	}
	return "OUTPUT NOT SANITIZED: shield.output_sanitization is off although people are reached over a network, so " +
		"what tools return goes to the model unmarked, with its secrets"
}

// Flow returns the information flow policy.
func (c Config) Flow() (*flow.Policy, error) {
	p, err := flow.Compile(c.Reflex.Flow)
	if err != nil {
		return nil, fmt.Errorf("reflex: %w", err)
	}
	return p, nil
}

// CompareFlow returns what changes between two information flow policies.
func CompareFlow(old, next *flow.Policy) shieldcore.Change {
	return shieldcore.Change{Diff: string(diff.Diff("reflex.flow in force", old.Text(), "reflex.flow proposed",
		next.Text())), Why: old.Loosens(next.Config)}
}
