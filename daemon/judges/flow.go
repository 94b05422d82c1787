package judges

import (
	"context"
	"log/slog"
	"sync/atomic"

	"approver.example"
	"approver.example/configs"
	"approver.example/daemon/sealed"
	"approver.example/internal/strictyaml"
	"approver.example/reflexcore"
	"approver.example/reflexcore/flow"
)

// activeFlow is the policy of information flow in force, which the engine judges by.
type activeFlow struct {
	engine *reflexcore.Engine
	policy atomic.Pointer[flow.Policy]
}

// Set puts a policy in force.
func (l *activeFlow) Set(p *flow.Policy) {
	l.engine.SetFlow(p)
	l.policy.Store(p)
}

// Version is that of the policy in force, empty for the default.
func (l *activeFlow) Version() string {
	if p := l.policy.Load(); p != nil {
		return p.Version()
	}
	return ""
}

// holdFlow keeps the policy of information flow. What was never in force before is
// compared with the default.
func holdFlow(
	record sealed.Record, live *activeFlow, audit approver.Recorder, log *slog.Logger,
) *inForce[*flow.Policy] {
	return &inForce[*flow.Policy]{Record: record, active: live, audit: audit, log: log, unused: new(unusedReason),
		spec: spec[*flow.Policy]{
			noun: "information flow", tool: "change_flow", rule: "flow_loosened", current: live.policy.Load,
			compare: configs.CompareFlow,
			keep:    func(p *flow.Policy) (stored, error) { return stored{p.Version(), "reflex.flow", p.Text()}, nil },
			load: func(k stored) (*flow.Policy, error) {
				c, err := flow.ParseText(k.Text)
				if err != nil {
					return nil, err
				}
				return flow.Compile(c)
			},
			first: func() (*flow.Policy, error) { return flow.Compile(flow.DefaultConfig()) },
		}}
}

// startFlow puts the policy of the configuration in force, unless that loosens the
// one that was in force last.
func startFlow(ctx context.Context, base Deps, live *activeFlow, log *slog.Logger) (*inForce[*flow.Policy], error) {
	record, err := sealed.New(base.Config, base.Store, "flow", base.Mark)
	if err != nil {
		return nil, err
	}
	file, err := base.Config.Flow()
	if err != nil {
		return nil, err
	}
	standing := holdFlow(record, live, base.Audit, log)
	return standing, standing.start(ctx, file)
}

// proposeFlow asks people about a configuration that loosens what is in force. The
// configuration is read at the start only.
func proposeFlow(cfg configs.Config, standing *inForce[*flow.Policy], ask Asking) *reloader[*flow.Policy] {
	return &reloader[*flow.Policy]{
		inForce: standing, name: cfg.File, ask: ask, read: cfg.Flow,
		warnings: func(*flow.Policy) []strictyaml.Problem { return nil },
	}
}
