package configs_test

import (
	"strings"
	"testing"

	"approver.example"
)

// A script that resets a checkout was a question when it was written, and again when it ran: builders of
// images were asked for each. Writing it throws nothing away. Running it does, and whoever runs it is asked.
func TestScriptsThatThrowWorkAwayAreAskedWhenTheyRun(t *testing.T) {
	judge := verdicts(t)
	script := func(file, line string) string { return "cat > " + file + " <<'EOF'\n#!/bin/sh\n" + line + "\nEOF\n" }
	for _, line := range []string{"git reset --hard 0123456", "git checkout -- .", "git clean -fdx", "git restore ."} {
		if v := judge(script("reset.sh", line)); v.Decision != approver.Warn {
			t.Errorf("writing %s: %s by %s, want a warning", line, v.Decision, v.Rule)
		}
		if v := judge(script("reset.sh", line) + "sh reset.sh"); v.Decision > approver.Ask {
			t.Errorf("writing and running %s: %s, want a question", line, v.Decision)
		}
		if v := judge(script(".git/hooks/post-merge", line)); v.Decision > approver.Ask {
			t.Errorf("%s in a hook of git: %s, want a question", line, v.Decision)
		}
	}
	if v := judge(script("publish.sh", "git push --force origin main")); v.Decision > approver.Ask {
		t.Errorf("writing a forced push: %s, want a question", v.Decision)
	}
}

// An index on this machine is a cache or a test's own. One elsewhere is a question.
func TestPackagesFromThisMachine(t *testing.T) {
	judge := verdicts(t)
	asks(t, judge, false, `
		pip config set global.index-url http://127.0.0.1:8080/simple
		pip install -i http://localhost:3141/root/pypi flask
		npm install --registry http://localhost:4873 left-pad`)
	asks(t, judge, true, strings.ReplaceAll(`
		pip config set global.index-url http://HOST/simple
		pip install -i http://HOST/simple flask
		npm install --registry http://HOST left-pad`, "HOST", "localhost.example.com"))
}
