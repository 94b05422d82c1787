package daemon

import (
	"context"
	"errors"
	"log/slog"

	"approver.example/configs"
	"approver.example/daemon/hooks"
	"approver.example/httpapi"
)

// openSockets listens on both sockets and returns what serves each.
func openSockets(at configs.Sockets, h isolation, decide *hooks.Decider, ask asker, local localChannel, admin *Admin, log *slog.Logger) ([]func(context.Context) error, error) {
	submit := &httpapi.Submit{Hook: decide.Hook, Ack: admin.People.Reports.Acknowledge, Missed: admin.People.Reports.Missed, Ask: ask.ask, Appeal: ask.appeal, Admit: h.submit, Log: log.With("part", "submit")}
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
