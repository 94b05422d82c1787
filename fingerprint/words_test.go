//go:build unix

package fingerprint

import (
	"slices"
	"testing"
)

// docker build .. took each folder up to the root for one that is given, each from the last, and
// all of the disk was too large. A word leads up once.
func TestAWordLeadsUpOnce(t *testing.T) {
	wide := []string{"cd a/b/c && kubectl apply -f .. -f ../../../a"} // whose words together lead further
	p := newPlayground(t, "x.yaml", "a/x.yaml", "a/b/x.yaml", "a/b/c/x.yaml")
	for command, want := range map[string][]string{
		"cd a/b/c && kubectl apply -f ..":               {"a/b/c/x.yaml", "a/b/x.yaml"},
		"cd a/b/c && kubectl apply -f ../..":            {"a/b/c/x.yaml", "a/b/x.yaml", "a/x.yaml"},
		"cd a/b/c && kubectl apply -f .. -f ../../../a": {"a/b/c/x.yaml", "a/b/x.yaml", "a/x.yaml"},
		"cd a/b/c && kubectl apply -f %/a":              {"a/b/c/x.yaml", "a/b/x.yaml", "a/x.yaml"},
		"cd a/b/c && kubectl apply -f .":                {"a/b/c/x.yaml"},
	} {
		if command == "cd a/b/c && kubectl apply -f %/a" {
			command = "cd a/b/c && kubectl apply -f " + p.path("a")
		}
		bound := p.bound(command)
		for _, file := range want {
			if !slices.Contains(bound, file) {
				t.Errorf("%s: %s is not bound: %q", command, file, bound)
			}
		}
		if slices.Contains(bound, "x.yaml") && !slices.Contains(wide, command) {
			t.Errorf("%s: it leads too high: %q", command, bound)
		}
	}
	p.write("a/Makefile", "x:\n\ttrue\n")
	if !slices.Contains(p.bound("cd a/b/c && make -C .. -C .."), "a/Makefile") {
		t.Error("two words lead up twice")
	}
}
