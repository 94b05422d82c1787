package reflexcore_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example"
	"approver.example/reflexcore"
)

// BenchmarkSkill is a call that loads a skill, one of a built-in skill among thirty others,
// and one of a tool that loads none.
func BenchmarkSkill(b *testing.B) {
	dir := b.TempDir()
	for i := range 30 {
		name := filepath.Join(dir, ".claude/skills", "s"+strings.Repeat("x", i), "SKILL.md")
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("---\nname: s\n---\n!`git status`\n"+strings.Repeat("text\n", 500)),
			0o600); err != nil {
			b.Fatal(err)
		}
	}
	e, err := reflexcore.New(nil, reflexcore.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	for name, call := range map[string]approver.ToolCall{
		"loaded": {Agent: "claude", Tool: "Skill", Args: []byte(`{"skill":"sxx","args":"a b"}`), Dir: dir,
			Env: map[string]string{"HOME": dir}},
		"built-in": {Agent: "claude", Tool: "Skill", Args: []byte(`{"skill":"pdf"}`), Dir: dir,
			Env: map[string]string{"HOME": dir}},
		"read": {Agent: "claude", Tool: "Read", Args: []byte(`{"file_path":"/srv/a.go"}`), Dir: dir,
			Env: map[string]string{"HOME": dir}},
		"write": {Agent: "claude", Tool: "Write", Args: []byte(`{"file_path":"/srv/a.go","content":"package a"}`),
			Dir: dir, Env: map[string]string{"HOME": dir}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := e.Judge(context.Background(), call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
