package reflexcore_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestProbe(t *testing.T) {
	f := os.Getenv("PROBE")
	if f == "" {
		t.Skip()
	}
	b, _ := os.ReadFile(f)
	m := machine(t)
	for _, d := range []string{"/home/ada/.claude/settings.json", "/home/ada/shop/.claude/settings.json", "/home/ada/shop/.claude/agents/a.md", "/home/ada/.approver/run/x", "/home/ada/shop/evil/settings.json", "/home/ada/shop/evil/hooks/x.sh", "/home/ada/shop/bring/.claude/settings.json", "/home/ada/shop/tmpl/a.md", "/home/ada/shop/build/x"} {
		m.put(t, d, "{}")
	}
	m.link(t, "/home/ada/shop/guide", "/home/ada/.claude")
	m.link(t, "/home/ada/shop/l3", ".claude")
	m.link(t, "/home/ada/shop/one.json", ".claude/settings.json")
	e := engine(t).WithDisk(m)
	for l := range strings.Lines(string(b)) {
		l = strings.TrimSpace(l)
		if l == "" || l[0] == '#' {
			continue
		}
		l = strings.ReplaceAll(l, `\n`, "\n")
		v, _ := e.Judge(t.Context(), bash(l))
		fmt.Printf("%-5s %-25s %s\n", v.Decision, v.Rule, strings.ReplaceAll(l, "\n", `\n`))
	}
}
