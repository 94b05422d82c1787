package quota_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"approver.example"
	"approver.example/shieldcore/quota"
	"approver.example/store/sqlitestore"
)

// askedRecord is a stage that counts.
type askedRecord struct{ n int }

func (a *askedRecord) Judge(context.Context, approver.ToolCall) (approver.Verdict, error) {
	a.n++
	return approver.Verdict{Decision: approver.Pass, By: "evaluator"}, nil
}

// A call beyond the limits is not evaluated: a spent budget is unavailable, for the
// fail mode; a rate and an unknown caller block in every mode.
func TestLimited(t *testing.T) {
	ada := approver.ToolCall{Agent: "claude", Peer: approver.Peer{Known: true, UID: 1000}}
	for name, tt := range map[string]struct {
		change      func(*quota.Config)
		call        approver.ToolCall
		evaluated   int // of three
		unavailable bool
		kind        error
	}{
		"within": {func(*quota.Config) {}, ada, 3, false, nil},
		"budget": {func(c *quota.Config) { c.DailyBudget = 2 }, ada, 2, true, quota.ErrBudget},
		"rate": {func(c *quota.Config) { c.Agent = quota.Rate{Count: 1, Per: time.Minute, Burst: 1} }, ada, 1, false,
			quota.ErrRate},
		"who is it": {func(*quota.Config) {}, approver.ToolCall{Agent: "claude"}, 0, false, quota.ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			store, err := sqlitestore.Open(sqlitestore.Config{Path: filepath.Join(t.TempDir(), "db")},
				slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			c := quota.DefaultConfig()
			tt.change(&c)
			q, err := quota.New(store, c, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer q.Close()
			stage := &askedRecord{}
			var v approver.Verdict
			for range 3 {
				v, err = quota.Limited{Quota: q, Stage: stage}.Judge(t.Context(), tt.call)
			}
			var gone *approver.UnavailableError
			if stage.n != tt.evaluated || errors.As(err, &gone) != tt.unavailable || !errors.Is(err, tt.kind) {
				t.Errorf("%d evaluated, %v", stage.n, err)
			}
			if tt.kind != nil && (v.Decision != approver.Deny || v.Reason == "" || v.Tier != approver.TierEvaluation) {
				t.Errorf("%+v", v)
			}
		})
	}
	for _, l := range []quota.Limited{{}, {Stage: &askedRecord{}}} {
		if v, err := l.Judge(t.Context(), ada); err == nil || v.Decision != approver.Deny {
			t.Errorf("%+v: %+v, %v", l, v, err)
		}
	}
}
