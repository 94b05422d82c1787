package main

import (
	"context"
	"log/slog"
	"sync/atomic"

	"approver.example"
	"approver.example/configs"
	"approver.example/reflexcore"
	"approver.example/reflexcore/flow"
	"approver.example/shieldcore/strictyaml"
)

// liveFlow is the policy of information flow in force, which the engine judges by.
type liveFlow struct {
	engine *reflexcore.Engine
	policy atomic.Pointer[flow.Policy]
}

// Set puts a policy in force.
func (l *liveFlow) Set(p *flow.Policy) {
	l.engine.SetFlow(p)
	l.policy.Store(p)
}

// Version is that of the policy in force, empty for the default.
func (l *liveFlow) Version() string {
	if p := l.policy.Load(); p != nil {
		return p.Version()
	}
	return ""
}

// holdFlow keeps the policy of information flow. What was never in force before is
// compared with the default.
func holdFlow(record sealed, live *liveFlow, audit approver.Recorder, log *slog.Logger) *inForce[*flow.Policy] {
	return &inForce[*flow.Policy]{sealed: record, live: live, audit: audit, log: log, apart: new(apart), kind: kind[*flow.Policy]{
		noun: "information flow", tool: "change_flow", rule: "flow_loosened", current: live.policy.Load, compare: configs.CompareFlow,
		keep: func(p *flow.Policy) (kept, error) { return kept{p.Version(), "reflex.flow", p.Text()}, nil },
		load: func(k kept) (*flow.Policy, error) {
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
func startFlow(ctx context.Context, base judgeDeps, live *liveFlow, log *slog.Logger) (*inForce[*flow.Policy], error) {
	record, err := newSealed(base.cfg, base.store, "flow", base.mark)
	if err != nil {
		return nil, err
	}
	file, err := base.cfg.Flow()
	if err != nil {
		return nil, err
	}
	standing := holdFlow(record, live, base.audit, log)
	return standing, standing.start(ctx, file)
}

// proposeFlow asks people about a configuration that loosens what is in force. The
// configuration is read at the start only.
func proposeFlow(cfg configs.Config, standing *inForce[*flow.Policy], ask asking) *reloader[*flow.Policy] {
	return &reloader[*flow.Policy]{
		inForce: standing, name: cfg.File, ask: ask, read: cfg.Flow, warnings: func(*flow.Policy) []strictyaml.Problem { return nil },
	}
}
