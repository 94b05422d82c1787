package daemon

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/configs"
	"approver.example/daemon/codekeys"
	"approver.example/daemon/container"
	"approver.example/daemon/hooks"
	"approver.example/daemon/hookwatch"
	"approver.example/daemon/judges"
	"approver.example/daemon/seat"
	"approver.example/daemon/shield"
	"approver.example/fingerprint"
	"approver.example/gate"
	"approver.example/httpapi"
	"approver.example/reflexcore"
	"approver.example/shieldcore"
	"approver.example/shieldcore/quota"
)

// newGate makes the gate, which judges calls from both sockets and asks people about those
// that need them.
func newGate(base *deps, rules *judges.Judges, tier2 *shield.Shield, people *broadcaster.Broadcaster,
	watching *observer, log *slog.Logger) *gate.Gate {
	cfg := base.cfg
	g := &gate.Gate{
		Stages: rules.Stages(base.store, base.trust.mark), Tiers: approver.TierScreen,
		Evaluator: tier2.Evaluator(), Again: rules.Again(base.store, base.trust.mark), Fresh: rules.Fresh(),
		FailOpen: cfg.FailMode == configs.FailOpen, OnFailOpen: tier2.Opening,
		Ask: func(ctx context.Context, call approver.ToolCall, why approver.Verdict) approver.Verdict {
			call.Changes = hooks.Changes(call)
			hooks.Asking(ctx)
			return people.Ask(ctx, call, why)
		},
		Observe: watching.observe, Paused: people.Controls.PausedFor, Rewrite: hooks.Rewrite,
		Weak:  cfg.Reflex.Gatekeeper.Weak,
		Sum:   rules.Reflex.Sum,
		Times: rules.Reflex.Times, Turns: base.calls, Audit: base.told(log), Pass: base.passed(log),
		Log:     log.With("part", "gate"),
		Appeals: &gate.Appeals{People: people, Within: cfg.Reflex.Gatekeeper.AppealWithin},
	}
	// A command that a person changed is judged like every call, and remembered like one.
	people.Judge = func(ctx context.Context, call approver.ToolCall) approver.Verdict {
		v, _ := g.Judge(ctx, call)
		return v
	}
	return g
}

// newDecide makes the decider that answers hooks, remembers what ran and watches the hooks
// themselves.
func newDecide(
	base *deps, rules *judges.Judges, judge *gate.Gate, people *broadcaster.Broadcaster, log *slog.Logger,
) (*hooks.Decider, error) {
	cfg, records := base.cfg, base.records
	d := &hooks.Decider{
		Gate: judge, Calls: base.calls, Reports: gate.NewTurns(runtime.GOMAXPROCS(0)), Audit: base.told(log),
		Log: log.With("part", "hook"), Agents: cfg.Agents, Remember: rules.Reflex.Ran,
		Told:    hooks.Outcomes{Store: base.store, Released: people.Reports.Released},
		Project: rules.Reflex.ProjectOf, Hold: people.Controls.Hold,
		Became: people.Reports.Became, Missed: people.Reports.Missed, Began: people.Environments.Began,
		Stands: people.Grants.Stands, Rules: rules.Version, Prompts: promptGate(judge, base, rules), Typed: seat.LastTyped,
		Hooks: &hookwatch.Watch{Config: cfg, Audit: records, Log: log.With("part", "hooks")},
	}
	if cfg.Reflex.Container {
		d.Container = container.This().Of
	}
	var err error
	if d.Former, err = base.trust.released(records); err != nil {
		return nil, err
	}
	if cfg.FreezeOnBypass {
		d.Freeze = people.Controls.Freeze
	}
	d.Outputs, err = hooks.NewOutputs(base.inForce(), rules.Reflex.RecordDemands, records, log.With("part", "output"))
	if d.Outputs != nil {
		d.Outputs.Turns = d.Reports
	}
	return d, err
}

// promptGate makes the gate for the agents' own questions. The calls themselves were judged before, so
// its stages record none. What only the evaluation may let go needs people here.
func promptGate(judge *gate.Gate, base *deps, rules *judges.Judges) *gate.Gate {
	g := *judge
	g.Stages = append(rules.Prompting(base.store, base.trust.mark), hooks.PromptStage{})
	g.Evaluator, g.Again, g.Appeals, g.Pass = nil, nil, nil, nil
	return &g
}

// newAdmin makes the Admin, with the fields that depend only on the configuration.
func newAdmin(base *deps, people *broadcaster.Broadcaster, log *slog.Logger) *Admin {
	return &Admin{
		People: people, channels: base.channels, authority: base.authority, audit: base.records,
		cfg: base.cfg, notice: base.isolation.Notice(), output: hooks.OutputLine(base.inForce()),
		log: log.With("part", "admin"),
	}
}

// limit returns the check that limits questions to people. notice is empty if isolated.
func limit(
	asks *quota.Asks, notice string, project func(dir string) string,
) func(context.Context, string, approver.ToolCall) error {
	return func(ctx context.Context, question string, call approver.ToolCall) error {
		switch {
		case call.Control != "" && noAgent(notice, call.Peer):
			return nil
		case call.Control != "":
			return asks.TakeOwn(ctx, call.Peer, question)
		}
		return asks.Take(ctx, quota.Asker{Who: quota.Who{Peer: call.Peer, Agent: call.Agent}, Project: project(call.Dir)},
			question)
	}
}

// newBroadcaster makes the broadcaster, which asks the people whose answers count. What they
// approve is bound to the version of the rules.
func newBroadcaster(
	base *deps, rules *judges.Judges, asks *quota.Asks, log *slog.Logger,
) (*broadcaster.Broadcaster, error) {
	cfg := base.cfg
	codeKeys, err := codekeys.Open(cfg)
	if err != nil {
		return nil, err
	}
	binder, languages := fingerprint.New(rules.Reflex), cfg.Languages()
	b, err := broadcaster.NewBroadcaster(broadcaster.Options{
		Store: base.store, Audit: base.told(log), SyncRelease: cfg.Storage().File == "",
		Shared: cfg.Storage().Shared, Unlimited: !cfg.Pace,
		OnAnswer: remember(rules.Reflex, rules.Tools, log.With("part", "precedents")),
		People:   base.answering(), Channels: base.channels, Destinations: cfg.Destinations(),
		Ladder: cfg.Plan(),
		Fingerprint: func(ctx context.Context, call approver.ToolCall) (approver.Binding, error) {
			if err := base.calls.Take(ctx, call.Peer.UID); err != nil {
				return approver.Binding{}, err
			}
			defer base.calls.Give(call.Peer.UID)
			return binder.Of(ctx, call, rules.Version())
		},
		Language: languages.At, LanguageOf: languages.For,
		Limit: limit(asks, base.isolation.Notice(), rules.Reflex.ProjectOf),
		Rule:  exactRule, CodeKey: codeKeys[0], OldCodeKeys: codeKeys[1:], CodeLength: cfg.CodeLength, TTL: cfg.TTL,
		Wait:    cfg.Wait.Of(),
		KeepFor: cfg.Store.KeepFor,
		Mark:    base.trust.mark, Host: hostname(), Notice: base.isolation.Notice(), Log: log.With("part", "people"),
		Project: rules.Reflex.ProjectOf, Troubles: func(context.Context) []string {
			lines := changesOf(base.store)
			if err := base.records.Err(); err != nil {
				lines = append(lines, "The audit has a problem, so nothing that needs people runs: "+err.Error())
			}
			return lines
		},
	})
	if err != nil {
		return nil, err
	}
	base.authority.admitted = b.Approvers.Set
	return b, nil
}

// remember returns a function that lets the rules learn from people's answers. A failure only
// means that people may be asked again later; it does not affect the answer.
func remember(
	reflex *reflexcore.Engine, tools *shieldcore.Tools, log *slog.Logger,
) func(context.Context, approver.Record) {
	return func(ctx context.Context, r approver.Record) {
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), learnWithin)
		defer cancel()
		if err := reflex.Answered(within, r); err != nil {
			log.Warn("a person's answer could not be remembered: calls like that one are judged by the rules alone",
				"request", r.Request, "error", err)
		}
		if err := tools.Answered(within, r); err != nil {
			log.Warn("that a tool was used could not be remembered: its next use counts as its first", "request", r.Request,
				"error", err)
		}
	}
}

// learnWithin bounds how long an answer may take to be remembered.
const learnWithin = 2 * time.Second

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown host"
	}
	return name
}

// openSockets listens on both sockets and returns what serves each.
func openSockets(
	at configs.Sockets, h isolation, decide *hooks.Decider, ask asker, local localChannel, admin *Admin, log *slog.Logger,
) ([]func(context.Context) error, error) {
	submit := &httpapi.Submit{Hook: decide.Hook, Ack: admin.People.Reports.Acknowledge,
		Missed: admin.People.Reports.Missed, Ask: ask.ask, Appeal: ask.appeal, Admit: h.submit,
		Log: log.With("part", "submit")}
	resolve := &httpapi.Resolve{Admit: h.resolve, Operator: doorkeeper{admin, local}, Log: log.With("part", "resolve")}
	if local != nil {
		resolve.Resolver = doorkeeper{admin, local}
	}
	if err := h.reachable(at.Submit); err != nil {
		return nil, err
	}
	submitOn, err := httpapi.Listen(at.Submit, h.submitMode)
	if err != nil {
		return nil, err
	}
	resolveOn, err := httpapi.Listen(at.Resolve, h.resolveMode)
	if err != nil {
		return nil, errors.Join(err, submitOn.Close())
	}
	admin.doors = []*httpapi.Listener{submitOn, resolveOn}
	kept := func(l *httpapi.Listener) func(context.Context) error {
		return func(ctx context.Context) error { l.Keep(ctx, log); return nil }
	}
	return []func(context.Context) error{
		func(ctx context.Context) error { return submit.Serve(ctx, submitOn) },
		func(ctx context.Context) error { return resolve.Serve(ctx, resolveOn) },
		kept(submitOn), kept(resolveOn),
	}, nil
}
