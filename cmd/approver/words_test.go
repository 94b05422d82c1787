package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/agents/canary"
	"approver.example/daemon/adminapi"
	"approver.example/daemon/daemontest"
)

// Root was asked to read all of a request before typing its code, and its lines had up to
// 777 columns. Each is broken now, and nothing that a command says on a line of its own can
// look like the label of another text.
func TestTheWholeRequestFitsTheTerminal(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("several words ", 60))
	shown := adminapi.Shown{
		Severity: approver.Catastrophic, Command: "rm -rf /srv\nwhy: harmless\n" + long, Why: long, Rule: long, Claimed: long, Agent: "claude", Session: long,
		Dir: long, Host: long, Env: long, Notice: long, Until: long, Result: long,
	}
	for _, width := range []int{40, 80, 132} {
		var out strings.Builder
		printRequest(&out, width, shown)
		for line := range strings.Lines(out.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width {
				t.Errorf("%d columns of %d: %s", n, width, line)
			}
		}
		if text := out.String(); strings.Contains(text, "\nwhy: harmless") || !strings.Contains(text, "\n  why: harmless\n") {
			t.Errorf("a line of the command looks like a label:\n%s", text)
		}
		if words := strings.Count(out.String(), "several"); words != 11*60 {
			t.Errorf("%d words are left", words)
		}
	}
}

// A newcomer typed y, as in approver watch, and "nothing was approved": the request was
// lost two minutes later. Whoever means it is asked for the whole word now; everything
// else stays a no.
func TestOnlyTheWholeYesCounts(t *testing.T) {
	for typed, want := range map[string]bool{
		"yes\n": true, " yes \n": true, "yes": true, "y\nyes\n": true, "Y\ny\nyes\n": true, "YES\nyes\n": true, "Yes\nyes": true,
		"": false, "\n": false, "no\n": false, "y\n": false, "y\ny\ny\n": false, "y\ny\ny\nyes\n": false, "y\nno\nyes\n": false, "\nyes\n": false,
		"ja\nyes\n": false, "yes please\n": false, "yess\n": false, "1\nyes\n": false, "CONFIRM-AAAA\nyes\n": false, "y e s\n": false, "n\nyes\n": false,
	} {
		if got := typedYes(strings.NewReader(typed), io.Discard, "?"); got != want {
			t.Errorf("%q: %t", typed, got)
		}
	}
}

// Root typed "approver approve ID" for a CATASTROPHIC request, and was told to type "sudo
// approver approve ID". And where the terminal takes no answers, the request was shown and
// asked about all the same.
func TestApproveSaysWhatWorks(t *testing.T) {
	catastrophic := adminapi.Shown{Severity: approver.Catastrophic}
	if err := notByID(catastrophic, "id", true); err == nil || strings.Contains(err.Error(), "sudo") || !strings.Contains(err.Error(), "approver approve CODE") {
		t.Error(err)
	}
	if err := notByID(catastrophic, "id", false); err == nil || !strings.Contains(err.Error(), "sudo approver approve id") {
		t.Error(err)
	}
	if err := notByID(adminapi.Shown{Severity: approver.High, NotTaken: "not here"}, "id", false); err == nil || err.Error() != "not here" {
		t.Error(err)
	}
	if err := notByID(adminapi.Shown{Severity: approver.High}, "id", false); err != nil {
		t.Error(err)
	}
	if err := notByID(adminapi.Shown{}, "id", false); err == nil { // the zero severity
		t.Error("a request without a severity is approved by its id")
	}
}

// A week's decision rested on a zero: report printed reflex/git_force_push, took only
// git_force_push, and said of every other name that no rule asked anything. And it counted
// the calls of approver's own hook test as denied.
func TestReportTakesTheNamesThatItPrints(t *testing.T) {
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	was := approver.Record{Event: approver.EventVerdict, At: at, Call: approver.ToolCall{ID: "1", Agent: "claude", Session: "s", Tool: "Bash", Command: "git push --force"}}
	was.Verdict = approver.Verdict{Decision: approver.Ask, Severity: approver.High, By: "reflex", Rule: "git_force_push"}
	own := was
	own.Call.ID, own.Call.Command = "2", daemontest.CanaryCommand
	own.Verdict = approver.Verdict{Decision: approver.Deny, Severity: approver.High, By: canary.By}
	dir := recorded(t, was, own)
	for rule, want := range map[string]int{
		"": 1, "reflex/git_force_push": 1, "git_force_push": 1, "git.force_push": 0, "heuristics/git_force_push": 0, "reflex": 0, "reflex/": 0, "policy/git_force_push": 0, "hook-test": 0,
	} {
		r, err := reportCmd{Rule: rule}.read(t.Context(), dir, at.Add(-time.Hour), time.Now().Add(time.Hour))
		if err != nil || r.Calls != want || r.Denies != 0 {
			t.Fatalf("%q: %+v, %v", rule, r, err)
		}
		r.about = reportCmd{Rule: rule}.about()
		var out strings.Builder
		if err := r.print(t.Context(), &out, ""); err != nil {
			t.Fatal(err)
		}
		if none := strings.Contains(out.String(), "No call here is of rule "+rule+".\nRules that asked or denied something in this time: reflex/git_force_push\n"); none != (want == 0) {
			t.Errorf("%q:\n%s", rule, out.String())
		}
	}
}
