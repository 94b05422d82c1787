package shieldcore

import (
	"context"
	"sync/atomic"

	"approver.example"
	"approver.example/internal/timing"
)

// Live is the policy in force as an [approver.Stage]. It can be replaced while
// calls are judged; each call is judged by one policy as a whole. The zero value
// denies.
type Live struct {
	policy atomic.Pointer[Policy]
}

// Judge judges by the policy in force.
func (l *Live) Judge(ctx context.Context, call approver.ToolCall) (approver.Verdict, error) {
	return l.policy.Load().Judge(ctx, call)
}

// Policy returns the policy in force, nil for none.
func (l *Live) Policy() *Policy { return l.policy.Load() }

// Version is that of the policy in force.
func (l *Live) Version() string { return l.policy.Load().Version() }

// Set puts a policy in force. Nil denies.
func (l *Live) Set(p *Policy) { l.policy.Store(p) }

// Part is [timing.Arbiter]: the policy has no budget of its own.
func (l *Live) Part() timing.Part { return timing.Arbiter }
