package judges

import (
	"context"
	"fmt"

	"approver.example"
	"approver.example/configs"
	"approver.example/reflexcore"
	"approver.example/shieldcore/classifier"
	"approver.example/shieldcore/screen"
	"approver.example/shieldcore/sidecar"
)

// LoadScreens loads the data of the Tier 1 stages, and returns a function that makes the
// stages for a configuration and the rules in force. An error means that the built-in data is
// damaged, and is a reason not to start.
func LoadScreens() (func(screen.Config, func() *reflexcore.Rules) []approver.Stage, error) {
	rules, err := configs.Heuristics()
	if err != nil {
		return nil, fmt.Errorf("the heuristic rules: %w", err)
	}
	model, err := classifier.Load()
	if err != nil {
		return nil, fmt.Errorf("the classifier: %w", err)
	}
	return func(c screen.Config, inForce func() *reflexcore.Rules) []approver.Stage {
		return []approver.Stage{heuristicStage{rules, inForce}, c.Stage(model)}
	}, nil
}

// added adapts the user's own model to the classifier stage.
type added struct{ *sidecar.Sidecar }

// Score returns the score of a text, and whether all of it was scored.
func (a added) Score(ctx context.Context, text string) (value float64, whole bool, err error) {
	value, cut, err := a.Sidecar.Score(ctx, text)
	return value, !cut, err
}

// AddModel makes the classifier of Tier 1 also ask the configured model. It returns nil if
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
