package configs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/configs"
	"approver.example/internal/strictyaml"
	"approver.example/reflexcore"
)

// largeLibrary is a user's layer of n rules, as somebody writes them who has a rule for each of their
// services: by the program, by the folder, by the kind of thing, or by the text, in turn.
func largeLibrary(n int) configs.RuleSource {
	var b strings.Builder
	b.WriteString("version: 1\nrules:\n")
	for i := range n {
		how := []string{
			"when:\n      - {effects: [delete, write], by: [tool%d, helper%[1]d]}",
			"when:\n      - {effects: [delete, write], targets: ['/srv/service%d/*']}",
			"when:\n      - {effects: [exec, publish, net-out], by: ['git push', 'git sub%d'], " +
				"targets: ['*service%[1]d.example*']}",
			"when:\n      - {effects: [delete], by: [rm], targets: ['*/cache%d/*'], places: [outside]}",
			"pattern: '\\bservice%d\\s+--force\\b'",
		}[i%5]
		fmt.Fprintf(&b, "  - id: own_%d\n    category: bulk\n    decision: ask\n    severity: high\n    confidence: 0.5\n"+
			"    reason: it changes what belongs to service %[1]d\n    cure: ask its owner\n    "+how+
			"\n    examples:\n      match: [rm -rf /srv/service%[1]d/x]\n      pass: [ls /srv/service%[1]d]\n", i, i)
	}
	return configs.RuleSource{Layer: reflexcore.UserLayer, File: "rules.yaml", Text: []byte(b.String())}
}

// BenchmarkLargeLibrary is how long a layer of so many rules takes to load, and a call to be judged
// with it.
func BenchmarkLargeLibrary(b *testing.B) {
	for _, n := range []int{1, 1000, 10_000} {
		source := largeLibrary(n)
		b.Run(fmt.Sprintf("load/%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := configs.NewLibrary([]configs.RuleSource{source}, january); err != nil {
					b.Fatal(err)
				}
			}
		})
		lib, err := configs.NewLibrary([]configs.RuleSource{source}, january)
		if err != nil {
			b.Fatal(err)
		}
		e, err := reflexcore.NewWith(lib.Rules(), reflexcore.DefaultConfig().Limits())
		if err != nil {
			b.Fatal(err)
		}
		for name, command := range map[string]string{
			"status": "git status --short && go test ./...",
			"delete": "rm -rf build/cache && rm -f /tmp/x.log && cp a.txt /srv/www/index.html",
			"push":   "git push origin topic",
		} {
			b.Run(fmt.Sprintf("judge/%d/%s", n, name), func(b *testing.B) {
				call := approver.ToolCall{Agent: "claude", Tool: "Bash", Command: command, Dir: "/home/ada/shop",
					Env: map[string]string{"HOME": "/home/ada"}, At: january}
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

// The story: a team wrote ten thousand rules, and the file was refused at the thousandth. It loads,
// a mistake in its last rule is told with its line, and each rule finds what it is for.
func TestTenThousandRulesLoad(t *testing.T) {
	source := largeLibrary(10_000)
	lib, err := configs.NewLibrary([]configs.RuleSource{source}, january)
	if err != nil {
		t.Fatal(err)
	}
	e, err := reflexcore.NewWith(lib.Rules(), reflexcore.DefaultConfig().Limits())
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"cp a /srv/service9996/x":  "own_9996",
		"rm -f /srv/cache9998/old": "own_9998",
		"service9999 --force":      "own_9999",
		"rm -f /srv/service1/x":    "own_1",
		"git status":               "",
	} {
		how := e.Explain(approver.ToolCall{Agent: "claude", Tool: "Bash", Command: command,
			Dir: "/home/ada/shop", At: january, Env: map[string]string{"HOME": "/home/ada"}})
		own := 0
		for _, f := range how.Findings {
			if strings.HasPrefix(f.Rule, "own_") {
				own++
				if f.Rule != want {
					t.Errorf("%s: found by %s", command, f.Rule)
				}
			}
		}
		if want != "" && own != 1 {
			t.Errorf("%s: found by %d rules, want %s", command, own, want)
		}
	}

	lines := strings.Count(string(source.Text), "\n")
	source.Text = append(source.Text, "  - {id: last, category: misc}\n"...)
	_, err = configs.NewLibrary([]configs.RuleSource{source}, january)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("rules.yaml:%d:26: there is no category", lines+1)) {
		t.Error(err)
	}
}

// A hostile file gets one clear error with a place and what to do, in little time and memory.
func TestHostileFilesOfRules(t *testing.T) {
	bomb := "version: 1\na: &a [x, x, x]\nb: &b [*a, *a, *a]\nrules: *b\n"
	for name, c := range map[string]struct{ text, want string }{
		"an alias bomb": {bomb, "rules.yaml:2:4: an anchor is not allowed: write the value out"},
		"ten million empty rules": {"version: 1\nrules:\n" + strings.Repeat("- {}\n", 10_000_000),
			"rules.yaml:1:1: the file has more than 16777216 bytes: take out what no call needs"},
		"three million empty rules": {"version: 1\nrules:\n" + strings.Repeat("- {}\n", 3_000_000),
			"values and marks: take out what no call needs, or split it"},
		"a hundred thousand empty rules": {"version: 1\nrules:\n" + strings.Repeat("- {}\n", 100_001),
			"rules.yaml:100003:3: a file may have 100000 rules"},
		"one entry with all": {"version: 1\ndisable: [" + strings.Repeat("a,", 40_000) + "a]\n",
			"rules.yaml:2:1: this entry is too long: more than 50000 values and marks: split it"},
		"deep":   {"version: 1\nrules: " + strings.Repeat("[", 1000) + "\n", "nested more than 32 levels deep"},
		"a list": {"version: 1\nrules:\n" + strings.Repeat("- ", 1000) + "a\n", "nested more than 32 levels deep"},
		"a pattern that costs": {"version: 1\nrules: [" + strings.Replace(ownRule, "cure: c",
			"cure: c, pattern: 'x.{1,900}y.{1,900}z'", 1) + "]\n", "rules.yaml:2:"},
	} {
		start := time.Now()
		_, err := configs.NewLibrary([]configs.RuleSource{{Layer: reflexcore.UserLayer, File: "rules.yaml",
			Text: []byte(c.text)}}, january)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %.300v\nwant %s", name, err, c.want)
		}
		if took := time.Since(start); took > 2*time.Minute {
			t.Errorf("%s: it took %s", name, took)
		}
	}

	file := filepath.Join(t.TempDir(), "rules.yaml")
	write(t, file, "")
	if err := os.Truncate(file, 1<<30); err != nil { // takes no room on the disk
		t.Fatal(err)
	}
	cfg := configs.Default()
	cfg.Reflex.Rules.User = file
	sources, err := cfg.RuleSources()
	if err != nil || len(sources[0].Text) > strictyaml.MaxLibraryBytes+1 {
		t.Fatal(err)
	}
	if _, err := configs.NewLibrary(sources, january); err == nil ||
		!strings.Contains(err.Error(), "rules.yaml:1:1: the file has more than") {
		t.Error(err)
	}
}
