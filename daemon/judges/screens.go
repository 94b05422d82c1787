package judges

import (
	"context"
	"fmt"

	"approver.example"
	"approver.example/configs"
	"approver.example/shieldcore/classifier"
	"approver.example/shieldcore/screen"
	"approver.example/shieldcore/sidecar"
)

// LoadScreens reads what the stages of Tier 1 are made of, and returns what makes them
// of the part of the configuration that counts. An error is a reason not to start: what
// is built in would be damaged.
func LoadScreens() (func(screen.Config) []approver.Stage, error) {
	rules, err := configs.Heuristics()
	if err != nil {
		return nil, fmt.Errorf("the heuristic rules: %w", err)
	}
	model, err := classifier.Load()
	if err != nil {
		return nil, fmt.Errorf("the classifier: %w", err)
	}
	return func(c screen.Config) []approver.Stage { return []approver.Stage{rules, c.Stage(model)} }, nil
}

// added is a model of the user's own as the classifier stage asks it.
type added struct{ *sidecar.Sidecar }

// Score returns the score of a text, and whether all of it was looked at.
func (a added) Score(ctx context.Context, text string) (value float64, whole bool, err error) {
	value, cut, err := a.Sidecar.Score(ctx, text)
	return value, !cut, err
}

// AddModel lets the classifier of Tier 1 ask the configured model too. Nil is returned where
// none is configured.
func AddModel(cfg *sidecar.Config, tier1 []approver.Stage) (*sidecar.Sidecar, error) {
	if cfg == nil {
		return nil, nil
	}
	program, err := sidecar.New(*cfg)
	if err != nil {
		return nil, err
	}
	for _, s := range tier1 {
		if classifiers, ok := s.(*screen.Stage); ok {
			classifiers.Second, classifiers.SecondFrom = added{program}, program.Threshold()
		}
	}
	return program, nil
}
