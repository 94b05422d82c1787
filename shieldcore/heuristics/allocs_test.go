//go:build !race

package heuristics_test

import (
	"context"
	"testing"

	"approver.example"
)

// What no rule finds costs no memory.
func TestNoAllocations(t *testing.T) {
	e := build(t, rule("XP-001", `\bbadword\b`))
	call := approver.ToolCall{Tool: "Write", Command: "go test ./...", Paths: []string{"/src/x.go"},
		Args: []byte(`{"file_path":"/src/x.go","content":"badword"}`)}
	ctx := context.Background()
	if n := testing.AllocsPerRun(200, func() { _, _ = e.Judge(ctx, call) }); n >= 1 {
		t.Errorf("%v allocations", n)
	}
}
