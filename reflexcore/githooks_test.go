package reflexcore_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"approver.example"
	"approver.example/reflexcore"
)

// BenchmarkGit is a command of git in a repository with plain settings, with hooks among its
// files, one that changes its folder first, and one that runs no hook.
func BenchmarkGit(b *testing.B) {
	e, err := reflexcore.New(nil, reflexcore.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	for name, row := range map[string]struct{ settings, command string }{
		"reads": {"[core]\n\tbare = false\n", "git log -1"},
		"plain": {"[core]\n\tbare = false\n", "git commit -m x"},
		"moved": {"[core]\n\tbare = false\n", "cd sub && git commit -m x"},
		"hooks": {"[core]\n\thooksPath = h\n", "git commit -m x"},
	} {
		dir := b.TempDir()
		for file, text := range map[string]string{".git/config": row.settings, ".git/HEAD": "x", "sub/f": "",
			"h/pre-commit": "npm test\n"} {
			file = filepath.Join(dir, file)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		call := approver.ToolCall{Agent: "claude", Tool: "Bash", Command: row.command, Dir: dir,
			Env: map[string]string{"HOME": dir}}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := e.Judge(context.Background(), call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
