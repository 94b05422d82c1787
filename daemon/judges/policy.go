package judges

import (
	"log/slog"
	"strings"

	"approver.example/configs"
	"approver.example/shieldcore"
)

// policySpec describes the policy.
func policySpec() spec[*shieldcore.Policy] {
	return spec[*shieldcore.Policy]{
		noun: "policy", title: "Loosen the policy",
		tool: "change_policy", rule: "policy_loosened", compare: shieldcore.Compare,
		keep: func(p *shieldcore.Policy) (stored, error) {
			name, text := p.Source()
			return stored{p.Version(), name, text}, nil
		},
		load: func(k stored) (*shieldcore.Policy, error) { return shieldcore.Load(k.Name, k.Text) },
	}
}

// openPolicy reads the configured policy, and warns of rules in it that have no effect.
func openPolicy(cfg configs.Config, log *slog.Logger) (*shieldcore.Policy, error) {
	policy, err := cfg.LoadPolicy()
	if err != nil {
		return nil, err
	}
	for _, w := range policy.Warnings() {
		log.Warn("the policy has a rule that does nothing", "what", w.Pos.String()+": "+w.Text)
	}
	return policy, nil
}

func reloadPolicy(cfg configs.Config, standing *inForce[*shieldcore.Policy], ask Asking) *reloader[*shieldcore.Policy] {
	r := &reloader[*shieldcore.Policy]{inForce: standing, name: cfg.Policy, read: cfg.LoadPolicy,
		warnings: (*shieldcore.Policy).Warnings, ask: ask, every: reloadEvery}
	if cfg.Policy != "" && !strings.HasPrefix(cfg.Policy, configs.PresetPrefix) {
		r.files = []string{cfg.Policy}
	}
	return r
}
