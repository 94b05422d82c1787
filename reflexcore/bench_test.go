package reflexcore_test

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"approver.example/reflexcore/flow"
	"approver.example/reflexcore/loop"
	"approver.example/reflexcore/memory"
)

// commands are what the whole verdict is measured on, by size and kind.
func commands() []struct{ name, text string } {
	line := `cd /srv/app && git pull --ff-only origin main && npm ci --no-audit && npm run build 2>&1 | tee build.log ` +
		`| grep -v warning; `
	deploy := line + `for f in dist/*.js; do gzip -9 -k "$f" && cp "$f.gz" /var/www/static/; done; VERSION=$(git ` +
		`describe --tags --always); echo "deployed $VERSION" >> deploy.log; ` +
		`if [ -f app.env ]; then set -a; . ./app.env; set +a; fi; docker compose up -d --build web worker && curl -fsS ` +
		`--retry 5 "http://localhost:8080/health?v=${VERSION:-dev}" || { echo "health check failed" >&2; exit 1; }`
	hidden := base64.StdEncoding.EncodeToString([]byte("echo " + base64.StdEncoding.EncodeToString([]byte("rm -rf /")) +
		" | base64 -d | sh"))
	return []struct{ name, text string }{
		{"30B", "git status --short --branch -v"},
		{"100B", line[:103]},
		{"500B", deploy},
		{"10KB", strings.Repeat(deploy+"\n", 10_000/len(deploy))},
		{"10KB_document", "cat > notes.md <<'EOF'\n" +
			strings.Repeat("The quick brown fox jumps over the lazy dog, and rm -rf / is only a word here.\n", 125) + "EOF"},
		{"encoded_500B", "echo " + hidden + " | base64 -d | bash; printf '\\x72\\x6d\\x20\\x2d\\x72\\x66\\x20\\x2f' | sh; " +
			strings.Repeat("echo "+hidden+" | base64 -d | sh; ", 3)},
		{"encoded_10KB", strings.Repeat("echo "+hidden+" | base64 -d | bash\n", 10_000/(len(hidden)+25))},
		{"hostile_10KB_loops",
			strings.Repeat("for i in {1..64}; do ", 6) + "rm $i" + strings.Repeat("; done", 6) + strings.Repeat(" # x", 2400)},
		{"hostile_10KB_patterns",
			"x=" + strings.Repeat("a", 5000) + "; " + strings.Repeat("y=${x//a*b/c}; z=${x%%a*a*a*b}; ", 150)},
		{"hostile_10KB_substitutions", strings.Repeat(strings.Repeat("$(", 40)+"x"+strings.Repeat(")", 40)+"; ", 81)},
		{"hostile_10KB_wrappers", strings.Repeat("env ", 2_500) + "rm x"},
		{"hostile_128KB_variables", many(125_000, "v%d=x;")},
		{"hostile_128KB_globs", many(125_000, "rm *f%d*;")},
		{"hostile_128KB_parameters", many(125_000, "set -- $@ a%d;")},
		{"hostile_128KB_words", "rm " + strings.Repeat("a ", 65_000)},
		{"hostile_128KB_commands", strings.Repeat("rm x;", 26_000)},
		{"hostile_128KB_base64", strings.Repeat("echo "+hidden+" | base64 -d | bash\n", 130_000/(len(hidden)+25))},
		{"hostile_128KB_heredocs", strings.Repeat("sh <<E\nrm x\nE\n", 9_000)},
		{"hostile_128KB_quotes", strings.Repeat(`"'`, 65_000)},
		{"hostile_128KB_brackets", strings.Repeat("$(", 65_000)},
	}
}

// many repeats a command with a number in it until the text has that size.
func many(size int, command string) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, command, i)
	}
	return b.String()
}

// BenchmarkJudge is the whole verdict: capture to reason.
func BenchmarkJudge(b *testing.B) {
	e := engine(b)
	for _, c := range commands() {
		call := bash(c.text)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Judge(b.Context(), call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAsked is the whole verdict on a call that people are asked about, with what they read of it.
func BenchmarkAsked(b *testing.B) {
	e := engine(b)
	for _, c := range []struct{ name, text string }{
		{"push", "git push --force origin main"},
		{"delete", "rm -rf ~/projects"},
		{"cloud", "aws s3 rm s3://customers --recursive"},
		{"database", `psql -c "DROP TABLE users"`},
		{"several", "rm -rf build dist a b c && git push --force origin main && kubectl delete ns prod"},
	} {
		b.Run(c.name, func(b *testing.B) {
			call := bash(c.text)
			call.ID = "1"
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Judge(b.Context(), call); err != nil {
					b.Fatal(err)
				}
				if says := e.Sum(call); says.Title.IsZero() {
					b.Fatal("it has no title")
				}
			}
		})
	}
}

// BenchmarkFlow is the whole verdict without information flow, and with it in audit
// mode, which has to cost less than a tenth more.
func BenchmarkFlow(b *testing.B) {
	for _, c := range commands()[:5] {
		for _, mode := range []flow.Mode{flow.Off, flow.Audit} {
			e := engine(b).With(memory.New(nil, loop.DefaultLimits, slog.New(slog.DiscardHandler)))
			e.SetFlow(compiled(b, func(c *flow.Config) { c.Mode = mode }))
			call := bash(c.text)
			b.Run(c.name+"/"+mode.String(), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := e.Judge(b.Context(), call); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
