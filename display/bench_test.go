package display

import (
	"strings"
	"testing"
)

func BenchmarkMask(b *testing.B) {
	text := strings.Repeat("git push --force origin main && make -C build all ", 4)
	b.ReportAllocs()
	for b.Loop() {
		Mask(text)
	}
}

func BenchmarkVisible(b *testing.B) {
	text := strings.Repeat("git push --force origin main && make -C build all ", 4) + "é"
	b.ReportAllocs()
	for b.Loop() {
		Visible(text)
	}
}

func BenchmarkShown(b *testing.B) {
	call := shellCall("curl -fsS -H 'Authorization: Bearer abc123def456ghi789jkl' https://api.example/v1/x && docker " +
		"login -u me -p hunter22 h && git push --force origin main")
	b.ReportAllocs()
	for b.Loop() {
		call.Shown()
	}
}
