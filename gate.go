package approver

import "context"

// A Stage judges calls: reflexcore and each tier of shieldcore. An error means
// that the stage is configured but could not judge.
type Stage interface {
	Judge(ctx context.Context, call ToolCall) (Verdict, error)
}
