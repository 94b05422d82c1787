package grammar_test

import (
	"os"
	"testing"

	"approver.example/reflexcore/grammar"
)

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := grammar.LoadFS(os.DirFS("tables")); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	table := load(b)
	for _, line := range []string{
		"ls -la x",
		"git push origin main",
		"curl -sSL --retry 3 -H Accept:x -o out --max-time 5 https://host/x",
		"rm --recurs x",
		"Remove-Item -Rec -Fo x",
		"nosuchprogram -x y",
	} {
		argv := words(line)
		b.Run(line, func(b *testing.B) {
			var p grammar.Parsed
			b.ReportAllocs()
			for b.Loop() {
				table.Parse(argv, &p)
			}
		})
	}
}

// A warm Parsed costs no memory: the guard judges each command of each call.
func TestParseAllocatesNothing(t *testing.T) {
	table := load(t)
	for _, line := range []string{"ls -la x", "git push origin main",
		"curl -sSL --retry 3 -H Accept:x -o out https://host/x", "rd /s/q x", "python3.11 -c x", "/bin/rm --rec x"} {
		argv := words(line)
		var p grammar.Parsed
		if n := testing.AllocsPerRun(100, func() { table.Parse(argv, &p) }); n != 0 {
			t.Errorf("%s: %v allocations", line, n)
		}
	}
}
