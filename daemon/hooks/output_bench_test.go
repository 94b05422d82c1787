package hooks

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"approver.example/shieldcore/sanitize"
)

// What a look at a result costs, with the rules and the model of the daemon, on the
// response of a shell that printed honest text.
func BenchmarkOutput(b *testing.B) {
	s, err := newSanitizer()
	if err != nil {
		b.Fatal(err)
	}
	const line = "2026-11-22 10:31:07 INFO  api/orders: GET /v1/orders?page=3 200 18ms user=4711 token_type=bearer " +
		"key=none\n"
	for _, size := range []int{1 << 10, 100 << 10, 1 << 20} {
		text := strings.Repeat(line, size/len(line)+1)[:size]
		doc, err := json.Marshal(map[string]any{"stdout": text, "stderr": "", "interrupted": false})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if r, err := s.JSON(b.Context(), sanitize.Origin{Tool: "Bash", ID: "0123456789abcdef"}, doc); err != nil ||
					len(r.Findings) > 0 {
					b.Fatal(err, r.Findings)
				}
			}
		})
	}
}
