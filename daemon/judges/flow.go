package judges

import (
	"approver.example/configs"
	"approver.example/internal/strictyaml"
	"approver.example/reflexcore/flow"
)

// flowSpec describes the information flow policy. If the store has no record, the file is
// compared with the default.
func flowSpec() spec[*flow.Policy] {
	return spec[*flow.Policy]{
		noun: "information flow", title: "Loosen the information flow",
		tool: "change_flow", rule: "flow_loosened", compare: configs.CompareFlow,
		keep: func(p *flow.Policy) (stored, error) { return stored{p.Version(), "reflex.flow", p.Text()}, nil },
		load: func(k stored) (*flow.Policy, error) {
			c, err := flow.ParseText(k.Text)
			if err != nil {
				return nil, err
			}
			return flow.Compile(c)
		},
		first: func() (*flow.Policy, error) { return flow.Compile(flow.DefaultConfig()) },
	}
}

// proposeFlow asks people about a configuration that loosens what is in force. The
// configuration is read only at the start.
func proposeFlow(cfg configs.Config, standing *inForce[*flow.Policy], ask Asking) *reloader[*flow.Policy] {
	return &reloader[*flow.Policy]{
		inForce: standing, name: cfg.File, ask: ask, read: cfg.Flow,
		warnings: func(*flow.Policy) []strictyaml.Problem { return nil },
	}
}
