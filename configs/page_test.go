package configs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"approver.example/configs"
	"approver.example/internal/match"
	"approver.example/reflexcore"
)

// rules.gen.json is the built-in rules of the files: a line for each.
func TestGeneratedRules(t *testing.T) {
	rules, err := configs.ReadDefaultRules(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	asText := func(rules []reflexcore.Rule) []byte {
		text := []byte("[\n")
		for i, r := range rules {
			line, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				text = append(text, ",\n"...)
			}
			text = append(text, line...)
		}
		return append(text, "\n]\n"...)
	}
	want := asText(rules)
	const file = "rules.gen.json"
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("rules.gen.json is not what the files in rules say: run go generate ./configs")
	}
	if compiled, err := configs.DefaultRules(); err != nil || !*update && !bytes.Equal(asText(compiled), want) {
		t.Errorf("the compiled rules are not those of the files: %v", err)
	}
}

// docs/rules.md is the built-in rules as a page.
func TestRulesPage(t *testing.T) {
	rules, err := configs.DefaultRules()
	if err != nil {
		t.Fatal(err)
	}
	const page = "../docs/rules.md"
	want := configs.RulesPage(rules)
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/rules.md is not what configs/rules says: run go generate ./configs")
	}
}

// A count in a page stands behind a mark that names it, such as
// <!--count:rules-->300, and is what is compiled. No count stands without one.
func TestCountsInPages(t *testing.T) {
	rules, err := configs.DefaultRules()
	if err != nil {
		t.Fatal(err)
	}
	all, err := configs.NewLibrary(nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	counts := configs.RuleCounts(rules)
	counts["heuristics"] = len(all.Rules().List()) - len(rules)
	marked := regexp.MustCompile(`<!--count:([a-z:-]+)-->(\d+)`)
	bare := regexp.MustCompile(`(^|[^>\d])\d[\d,]* (built-in|reflex|effect|engine|heuristic) rules`)
	for _, pattern := range []string{"../README.md", "../CONTRIBUTING.md", "../docs/*.md", "../docs/*/*.md",
		"rules/README.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want := marked.ReplaceAllStringFunc(string(text), func(mark string) string {
				of := marked.FindStringSubmatch(mark)[1]
				n, known := counts[of]
				if !known {
					t.Errorf("%s: there is no count %q", name, of)
				}
				return fmt.Sprintf("<!--count:%s-->%d", of, n)
			})
			if *update && want != string(text) {
				if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if want != string(text) {
				t.Errorf("%s names other counts than are compiled: run go generate ./configs", name)
			}
			if found := bare.FindString(want); found != "" && !strings.HasSuffix(name, "decisions.md") {
				t.Errorf("%s: %q is tied to nothing: write <!--count:rules--> before the number", name, found)
			}
		}
	}
}

// Patterns of the built-in rules are as quick as those of layers have to be, and each
// is what a rule of a layer may be.
func TestBuiltInPatterns(t *testing.T) {
	rules, err := configs.DefaultRules()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		if r.Pattern == "" {
			continue
		}
		for _, w := range match.Lint(r.Pattern) {
			t.Errorf("%s: %s: %s: %s", r.Where, r.ID, w.Rule, w.Text)
		}
	}
}
