package fingerprint

import (
	"testing"

	"approver.example"
)

func BenchmarkBind(b *testing.B) {
	call := approver.ToolCall{
		Agent: "claude", Tool: "Bash", Args: []byte(`{"command":"git push --force origin main","description":"x"}`),
		Dir: "/repo", Env: map[string]string{"PATH": "/usr/bin:/bin"},
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Bind(call, "policy", nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}
