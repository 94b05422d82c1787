package shield

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"approver.example/daemon/daemontest"
	"approver.example/internal/secret"
	"approver.example/shieldcore/evaluator"
	"approver.example/shieldcore/evaluator/evaluatortest"
)

// A provider was down for a minute while a call needed it. Nobody's call needed it for
// hours, and status failed all that time. The daemon now asks it anew by itself, ever more
// rarely, and an evaluator that works is never asked.
func TestAnEvaluatorThatFailedIsAskedAnew(t *testing.T) {
	p := evaluatortest.New()
	defer p.Close()
	e, err := evaluator.New(evaluator.Config{Provider: evaluator.OpenAI, URL: p.URL(evaluatortest.OpenAI),
		Model: evaluatortest.Model, Key: secret.New(p.Key()), Deadline: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	s := &Shield{name: e.String(), asks: e, log: slog.New(slog.DiscardHandler)}
	ctx, stop := context.WithCancel(t.Context())
	var probing sync.WaitGroup
	probing.Go(func() { s.probe(ctx, time.Millisecond, 4*time.Millisecond) })
	defer probing.Wait()
	defer stop()
	time.Sleep(50 * time.Millisecond)
	if p.Count() > 0 {
		t.Error("one that no call needed was asked")
	}
	p.Behave(daemontest.WrongModel())
	if _, err := e.Health(t.Context()); err == nil || !s.Status(t.Context()).Fails() {
		t.Fatalf("%v: this tests nothing", err)
	}
	p.Behave(evaluatortest.Honest())
	for end := time.Now().Add(20 * time.Second); s.Status(t.Context()).Fails(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it answers for long, and still counts as failing")
		}
	}
	asked := p.Count()
	time.Sleep(50 * time.Millisecond)
	if p.Count() > asked {
		t.Errorf("one that works was asked %d times", p.Count()-asked)
	}
}
