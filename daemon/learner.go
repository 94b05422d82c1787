package daemon

import (
	"context"
	"log/slog"
	"time"

	"approver.example"
	"approver.example/reflexcore"
)

// A learner is the audit of requests. What people answered is remembered as it is
// recorded, before anybody is told.
type learner struct {
	approver.Recorder
	reflex *reflexcore.Engine
	log    *slog.Logger
}

// learnWithin bounds how long an answer waits to be remembered.
const learnWithin = 2 * time.Second

// Record records, and then remembers. What cannot be remembered is a question less
// later, and no reason to take an answer back.
func (l learner) Record(ctx context.Context, r approver.Record) (string, error) {
	hash, err := l.Recorder.Record(ctx, r)
	if err != nil {
		return hash, err
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), learnWithin)
	defer cancel()
	if err := l.reflex.Answered(within, r); err != nil {
		l.log.Warn("a person's answer could not be remembered: calls like that one are judged by the rules alone", "request", r.Request, "error", err)
	}
	return hash, nil
}
