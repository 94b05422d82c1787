package screen

import (
	"errors"
	"fmt"
	"slices"

	"approver.example/shieldcore"
	"approver.example/shieldcore/classifier"
)

// Config is the classifier's part of the configuration file.
type Config struct {
	// Point is "default" or "strict": the operating point.
	Point string `yaml:"point"`
	// Skip are the kinds of action that are not scored and go to the evaluation, in
	// the words of a rule's action_types.
	Skip []string `yaml:"skip"`
}

// points are the operating points by their words.
var points = map[string]classifier.Point{"default": classifier.Default, "strict": classifier.Strict}

// DefaultConfig is the default point, and the kinds on which classifiers over-fire.
func DefaultConfig() Config {
	return Config{Point: "default", Skip: []string{"write_file", "delete_file", "move_file", "copy_file", "send_email",
		"send_message", "http_request"}}
}

// Validate returns every mistake.
func (c Config) Validate() error {
	var errs []error
	if points[c.Point] == 0 {
		errs = append(errs, fmt.Errorf("point: unknown operating point %q: default or strict", c.Point))
	}
	for i, word := range c.Skip {
		if _, ok := shieldcore.ActionType(word); !ok {
			errs = append(errs,
				fmt.Errorf("skip[%d]: unknown action type %q: one of those in docs/policy.md, such as write or write_file", i,
					word))
		}
	}
	return errors.Join(errs...)
}

// Widened are the kinds of action in Skip that the default does not skip, each once.
func (c Config) Widened() (out []string) {
	usual := kindsOf(DefaultConfig().Skip)
	for _, kind := range kindsOf(c.Skip) {
		if !slices.Contains(usual, kind) && !slices.Contains(out, kind) {
			out = append(out, kind)
		}
	}
	return out
}

// Without returns the configuration with calls of a kind scored.
func (c Config) Without(kind string) Config {
	c.Skip = slices.DeleteFunc(slices.Clone(c.Skip),
		func(word string) bool { return slices.Contains(kindsOf([]string{word}), kind) })
	return c
}

// kindsOf are the kinds that words mean. A word that means none is one by itself.
func kindsOf(words []string) (out []string) {
	for _, word := range words {
		kind, ok := shieldcore.ActionType(word)
		if !ok {
			kind = word
		}
		out = append(out, kind)
	}
	return out
}

// Stage returns the stage of a valid configuration, with a loaded model.
func (c Config) Stage(m *classifier.Model) *Stage {
	s := &Stage{Model: m, Point: points[c.Point]}
	for _, word := range c.Skip {
		kind, _ := shieldcore.ActionType(word)
		s.Skip = append(s.Skip, kind)
	}
	return s
}
