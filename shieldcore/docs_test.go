package shieldcore_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"approver.example/shieldcore"
)

// Every example in docs/policy.md loads.
func TestDocumentedExamplesLoad(t *testing.T) {
	page, err := os.ReadFile("../docs/policy.md")
	must(t, err)
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 5 {
		t.Fatalf("%d examples", len(blocks))
	}
	for _, b := range blocks {
		text := b[1]
		if !strings.HasPrefix(text, "version:") {
			text = "version: 1\n" + text
		}
		if _, err := shieldcore.Load("docs/policy.md", []byte(text)); err != nil {
			t.Errorf("%s\n%v", text, err)
		}
	}
}

// The errors that docs/policy.md shows are the ones that are given.
func TestDocumentedErrors(t *testing.T) {
	page, err := os.ReadFile("../docs/policy.md")
	must(t, err)
	_,
		err = shieldcore.Load("policy.yaml",
		[]byte("version: 1\n\n\n\nrules:\n  - name: a\n    desicion: ask\n    command: 'rm (?!-i)x'\n    decision: ask\n"))
	if err == nil || !strings.Contains(string(page), "```\n"+err.Error()+"\n```") {
		t.Errorf("docs/policy.md does not show\n%v", err)
	}
}
