//go:build unix

package fingerprint

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"approver.example/reflexcore/effect"
)

func TestZZ(t *testing.T) {
	b, _ := os.ReadFile("/tmp/zz.txt")
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		p := newPlayground(t, "a.py", "app.js", "b.js", "h.rb", "d/x", "bin/node", "bin/git", "bin/java")
		call := p.call(line)
		w, err := engine().Walk(call)
		fmt.Println("==", line, err)
		for i, s := range w.Steps {
			fmt.Printf("   step %d parent %d via %q argv %q prog %q shell %v\n", i, s.Parent, s.Via, s.Argv, s.Program, s.Shell)
		}
		for _, e := range w.Effects {
			fmt.Printf("   eff step %d %v what %q target %q by %q bits %v taint %v\n", e.Step, e.Kind, e.What, strings.ReplaceAll(e.Target, effect.Unknown, "?"), e.By, e.Bits, e.Taint)
		}
		fmt.Printf("   bound %q unbound %q\n", p.bound(line), p.unbound(line))
	}
}
