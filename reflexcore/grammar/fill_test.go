package grammar_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"approver.example/reflexcore/grammar"
)

// TestFill is a scratch tool: fills in "=>" of examples which have none.
func TestFill(t *testing.T) {
	if os.Getenv("FILL") == "" {
		t.Skip()
	}
	names, _ := os.ReadDir("tables")
	table, err := grammar.Default()
	if err != nil {
		t.Fatal(err)
	}
	var p grammar.Parsed
	for _, n := range names {
		b, _ := os.ReadFile("tables/" + n.Name())
		lines := strings.Split(string(b), "\n")
		changed := false
		for i, l := range lines {
			if tr := strings.TrimSpace(l); strings.HasPrefix(tr, "? ") && strings.HasSuffix(tr, "=>") {
				argv := words(strings.TrimSpace(strings.TrimSuffix(tr[2:], "=>")))
				table.Parse(argv, &p)
				lines[i] = l + " " + show(argv, &p)
				if show(argv, &p) == "" {
					lines[i] = l
				}
				if p.Program == nil {
					fmt.Println("UNKNOWN PROGRAM", lines[i])
				}
				fmt.Println(n.Name(), strings.TrimSpace(lines[i]))
				changed = true
			}
		}
		if changed {
			os.WriteFile("tables/"+n.Name(), []byte(strings.Join(lines, "\n")), 0o644)
		}
	}
}
