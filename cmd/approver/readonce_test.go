package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

// Ada was taken out of the approver list, or a typing error in the evaluator's model was
// mended, and nobody restarted the daemon: her yes went on to count, and every command said
// that all was well. What was changed since the start is told, until a restart or until it is
// as it was.
func TestAChangedConfigurationIsNotUsed(t *testing.T) {
	m := newUsualMachine(t, usualConfigText)
	path := m.path(".approver/approver.yaml")
	says := func(want string) {
		t.Helper()
		for _, command := range [][]string{{"status"}, {"doctor", "--offline"}, {"check"}} {
			out, _ := m.run("", command...)
			out = strings.Join(strings.Fields(out), " ")
			if told := strings.Contains(out, "approver.yaml was changed at") || strings.Contains(out, "not there any more") ||
				strings.Contains(out, "none any more"); told != (want != "") || !strings.Contains(out, want) {
				if command[0] == "check" && strings.Contains(want, "any more") {
					continue // there is nothing to check
				}
				t.Errorf("%v: want %q\n%s", command, want, out)
			}
		}
	}
	says("")
	m.must(os.Chtimes(path, time.Now(), time.Now().Add(time.Hour)))
	says("") // it says the same
	m.file(".approver/approver.yaml", usualConfigText+"ttl: 6m\n")
	says("restart the daemon")
	m.file(".approver/approver.yaml", usualConfigText)
	says("")
	m.must(os.Rename(path, path+".old"))
	says("any more")
	m.must(os.Rename(path+".old", path))
	says("")
}
