package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What differs from one run to the next: codes, and numbers.
var (
	aCode   = regexp.MustCompile(`CONFIRM-[0-9A-Z]{6}`)
	anID    = regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	aNumber = regexp.MustCompile(`[0-9]+`)
	// How long it still is, which Discord's client words: in 2 minutes, in 119 seconds.
	aWhile = regexp.MustCompile(`\(in\b.*$|^.*(?:seconds|minutes)\)$`)
)

// cells are the texts of a session: a line, or what stands in each column of it.
func cells(text string) (out []string) {
	text = aCode.ReplaceAllString(text, "CODE")
	text = anID.ReplaceAllString(text, "ID")
	text = aNumber.ReplaceAllString(text, "0")
	for line := range strings.Lines(text) {
		for cell := range strings.SplitSeq(line, "│") {
			cell = strings.TrimSpace(aWhile.ReplaceAllString(strings.TrimSpace(cell), ""))
			if cell != "" && cell != "⋮" {
				out = append(out, cell)
			}
		}
	}
	return out
}

// The session that README shows is what the demo prints, with lines left out.
func TestReadmeSession(t *testing.T) {
	startsPrograms(t)
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, session, _ := strings.Cut(string(readme), "```\n$ go run ./cmd/approver demo\n")
	session, _, ok := strings.Cut(session, "```\n")
	if !ok || !strings.Contains(session, "CONFIRM-") {
		t.Fatal("README shows no session of the demo with a code")
	}
	program := filepath.Join(t.TempDir(), "approver")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(program, "demo").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	printed := map[string]bool{}
	for _, cell := range cells(string(out)) {
		printed[cell] = true
	}
	for _, cell := range cells(session) {
		if !printed[cell] {
			t.Errorf("README shows what the demo does not print: %s", cell)
		}
	}
	isPicture(t, "demo", "$ approver demo\n⋮\n"+scenes(string(out), "2", "6"))
}

// scenes are some scenes of the demo without the cards, which name the machine.
func scenes(out string, numbers ...string) string {
	var b strings.Builder
	in := false
	for line := range strings.Lines(out) {
		if title, ok := strings.CutPrefix(line, "━━ "); ok {
			number, _, _ := strings.Cut(title, ".")
			in = slices.Contains(numbers, number)
		}
		if in && !strings.ContainsAny(line, "┌│└") {
			b.WriteString(line)
		}
	}
	return b.String()
}
