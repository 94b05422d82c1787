package configs

import (
	"fmt"
	"slices"

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
	FailOpen   = "open"   // where the fail-closed table has a row for it, it goes on; see docs/shield.md
)

// Shield is the section of the tiers above the policy.
type Shield struct {
	// Classifier is the classifier of Tier 1.
	Classifier screen.Config `yaml:"classifier"`
	// Sidecar is a model of the user's own beside Classifier, in a program of its own.
	// Nil is none.
	Sidecar *sidecar.Config `yaml:"sidecar"`
	// Evaluator is Tier 2. Nil is none: people look where it would have to.
	Evaluator *evaluator.Config `yaml:"evaluator"`
	// Quota bounds the evaluations of Tier 2.
	Quota quota.Config `yaml:"quota"`
	// Output says whether what tools return is made fit to be read.
	Output OutputMode `yaml:"output_sanitization"`
}

func defaultShield() Shield {
	return Shield{Classifier: screen.DefaultConfig(), Quota: quota.DefaultConfig()}
}

// shieldAuthorities are the settings that are on and let a call go which people would
// be asked about, or take a protection away.
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

// held takes out what is not granted.
func held(all []authority, granted []string) {
	for _, a := range all {
		if !slices.Contains(granted, a.line) {
			a.drop()
		}
	}
}

// An OutputMode says when what tools return is made fit to be read. The zero value is
// auto: as soon as people are reached over a network.
type OutputMode uint8

// The modes.
const (
	OutputAuto OutputMode = iota
	OutputOn
	OutputOff
)

var outputModes = [...]string{"auto", "on", "off"}

// String returns the word; an unknown value is "on".
func (m OutputMode) String() string {
	if int(m) < len(outputModes) {
		return outputModes[m]
	}
	return outputModes[OutputOn]
}

// UnmarshalText reads the word.
func (m *OutputMode) UnmarshalText(b []byte) error {
	for i, word := range outputModes {
		if word == string(b) {
			*m = OutputMode(i)
			return nil
		}
	}
	return fmt.Errorf("unknown mode %q: one of auto, on, off", b)
}

// SanitizesOutput reports whether what tools return is made fit to be read.
func (c Config) SanitizesOutput() bool {
	return c.Shield.Output == OutputOn || c.Shield.Output == OutputAuto && c.Channels.IsRemote()
}

// OutputOptOut is what to say of a configuration that turns the sanitization off where
// it would be on; else empty.
func (c Config) OutputOptOut() string {
	if c.Shield.Output != OutputOff || !c.Channels.IsRemote() {
		return ""
	}
	return "OUTPUT NOT SANITIZED: shield.output_sanitization is off although people are reached over a network, so " +
		"what tools return goes to the model unmarked, with its secrets"
}

// Flow returns the policy of information flow.
func (c Config) Flow() (*flow.Policy, error) {
	p, err := flow.Compile(c.Reflex.Flow)
	if err != nil {
		return nil, fmt.Errorf("reflex: %w", err)
	}
	return p, nil
}

// CompareFlow says what lies between two policies of information flow.
func CompareFlow(old, next *flow.Policy) shieldcore.Change {
	return shieldcore.Change{Diff: string(diff.Diff("reflex.flow in force", old.Text(), "reflex.flow proposed",
		next.Text())), Why: old.Loosens(next.Config)}
}
