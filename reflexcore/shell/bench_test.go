package shell_test

import (
	"fmt"
	"strings"
	"testing"

	"approver.example/reflexcore/shell"
	"mvdan.cc/sh/v3/syntax"
)

// texts are what the benchmarks read, by size.
func texts() []struct{ name, src string } {
	line := `cd /srv/app && git pull --ff-only origin main && npm ci --no-audit && npm run build 2>&1 | tee build.log ` +
		`| grep -v warning; `
	deploy := line + `for f in dist/*.js; do gzip -9 -k "$f" && cp "$f.gz" /var/www/static/; done; VERSION=$(git ` +
		`describe --tags --always); echo "deployed $VERSION" >> deploy.log; ` +
		`if [ -f .env ]; then set -a; . ./.env; set +a; fi; docker compose up -d --build web worker && curl -fsS --retry ` +
		`5 "http://localhost:8080/health?v=${VERSION:-dev}" || { echo "health check failed" >&2; exit 1; }`
	return []struct{ name, src string }{
		{"100B", line[:103]},
		{"500B", deploy},
		{"10KB", strings.Repeat(deploy+"\n", 10_000/len(deploy))},
	}
}

func BenchmarkParse(b *testing.B) {
	for _, t := range texts() {
		b.Run(t.name, func(b *testing.B) {
			p := syntax.NewParser(syntax.Variant(syntax.LangBash))
			b.SetBytes(int64(len(t.src)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Parse(strings.NewReader(t.src), ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAnalyze(b *testing.B) {
	a := analyzer(b)
	for _, t := range texts() {
		b.Run(t.name, func(b *testing.B) {
			var r shell.Result
			b.SetBytes(int64(len(t.src)))
			b.ReportAllocs()
			for b.Loop() {
				a.Analyze(t.src, place, &r)
			}
			if r.How != shell.Parsed || r.Over != "" {
				b.Fatal(r.How, r.Over)
			}
		})
	}
}

// hostile are texts that are made to cost time.
func hostile() map[string]string {
	return map[string]string{
		"substitutions": strings.Repeat("$(", 60) + "x" + strings.Repeat(")", 60),
		"doubling":      "x=xx;" + strings.Repeat("x=$x$x;", 60) + "echo $x",
		"braces":        "echo " + strings.Repeat("{a,b}", 40),
		"loops":         strings.Repeat("for i in {1..64}; do ", 6) + "rm $i" + strings.Repeat("; done", 6),
		"functions": "f() { g; g; }; g() { h; h; }; h() { i; i; }; i() { j; j; }; j() { k; k; }; k() { rm x; rm y; }; " +
			strings.Repeat("f;", 1000),
		"evals":        strings.Repeat("eval ", 200) + "rm x",
		"wrappers":     strings.Repeat("env ", 10_000) + "rm x",
		"alternatives": strings.Repeat("[ $a ] && b=$b$RANDOM; ", 500) + "rm $b$a$b",
		"patterns":     "x=" + strings.Repeat("a", 5000) + "; " + strings.Repeat("y=${x//a*b/c}; z=${x%%a*a*a*b}; ", 100),
		"words":        "rm " + strings.Repeat("a ", 60_000),
		"quotes":       strings.Repeat(`"$(echo '`, 15) + "x" + strings.Repeat(`')"`, 15),
		"unlisted":     strings.Repeat("zz sudo ", 5_000) + "rm x",
		"heredocs":     strings.Repeat("sh <<E\nrm x\nE\n", 5_000),
		"find":         "find . " + strings.Repeat(`-exec rm {} \; `, 5_000),
	}
}

func BenchmarkHostile(b *testing.B) {
	a := analyzer(b)
	for name, src := range hostile() {
		src = src[:min(len(src), 128<<10)]
		b.Run(fmt.Sprintf("%s/%dB", name, len(src)), func(b *testing.B) {
			var r shell.Result
			b.ReportAllocs()
			for b.Loop() {
				a.Analyze(src, place, &r)
			}
		})
	}
}
