package reporting

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example"
	"approver.example/audit"
	"approver.example/broadcaster"
	"approver.example/cmd/approver/internal/judging"
	"approver.example/configs"
	"approver.example/daemon/daemontest"
	"approver.example/reflexcore"
)

var openDefault = sync.OnceValues(func() (*judging.Judge,
	error) {
	return judging.Flags{Policy: "preset:default"}.Open("", false)
})

// defaultJudge judges by what is built in.
func defaultJudge(t *testing.T) *judging.Judge {
	t.Helper()
	j, err := openDefault()
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// judgedAt is the record of a call under the default policy, as observe mode or
// enforcing makes it.
func judgedAt(t *testing.T, at time.Time, session, command string, observe bool) approver.Record {
	t.Helper()
	call := approver.ToolCall{
		ID: "c", Agent: "claude", Session: session, Tool: "Bash", Command: command,
		Args: fmt.Appendf(nil, `{"command":%q}`, command), Dir: "/home/ada/shop", At: at,
	}
	v, _ := defaultJudge(t).Gate.Judge(t.Context(), call)
	r := approver.Record{Event: approver.EventVerdict, At: at, Call: call, Verdict: v}
	switch {
	case v.Decision == approver.Pass:
	case observe:
		r.Verdict, r.Observed = approver.Verdict{Decision: approver.Pass, By: "gate", Rule: "observe",
			Severity: approver.High}, &v
	case v.Decision == approver.Ask:
		r.Event, r.Request = approver.EventAsked, "r"
	}
	return r
}

// aWeek is two sessions of an agent under observe mode.
func aWeek(t *testing.T, monday time.Time) (records []approver.Record) {
	for i, n := range map[string]int{
		"go test ./...": 61, "git status": 40, "git push --force origin main": 6, "git push --force origin fix/login": 2,
		"git reset --hard HEAD~1": 3, "terraform destroy -auto-approve": 1,
	} {
		for k := range n {
			session := "ee0143d7-415e-428d-bcd5-c1de35e71da2"
			if k%3 == 2 {
				session = "73f031b3-0a51-454c-9ecb-5b1830e6ef7b"
			}
			at := time.Duration(k%5)*24*time.Hour + time.Duration(k/5*37+len(i))*time.Minute
			records = append(records, judgedAt(t, monday.Add(at), session, i, true))
		}
	}
	slices.SortFunc(records, func(a, b approver.Record) int { return a.At.Compare(b.At) })
	return records
}

var shownReport = regexp.MustCompile("(?s)```\n\\$ approver report\n(.*?)```")

// The page shows what the command prints.
func TestFirstWeekShowsTheReport(t *testing.T) {
	if testing.Short() {
		t.Skip("a page is followed by the long tests; the race detector runs the short ones")
	}
	page, err := os.ReadFile("../../../../docs/first-week.md")
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)
	to := from.Add(7 * 24 * time.Hour)
	r, err := Cmd{}.read(t.Context(), daemontest.Recorded(t, aWeek(t, from)...), from, to)
	if err != nil {
		t.Fatal(err)
	}
	r.again(t.Context(), judging.Flags{Policy: "preset:default"})
	var out bytes.Buffer
	mode := broadcaster.Controls{Observe: broadcaster.Observe{Since: from, Until: to, By: "approver init"}}.Notice(from)
	if err := r.print(t.Context(), &out, mode); err != nil {
		t.Fatal(err)
	}
	m := shownReport.FindSubmatch(page)
	if m == nil || string(m[1]) != out.String() {
		t.Errorf("docs/first-week.md does not show what the command prints:\n%s", out.String())
	}
}

// Where nothing is suggested, there is no heading for it.
func TestReportSuggestsNothing(t *testing.T) {
	at := time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)
	for command, wanted := range map[string]bool{"ls": false, "git branch -D old": true} {
		r, err := Cmd{}.read(t.Context(), daemontest.Recorded(t, judgedAt(t, at, "s", command, false)), at, at.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		r.again(t.Context(), judging.Flags{Policy: "preset:default"})
		var out bytes.Buffer
		if err := r.print(t.Context(), &out, ""); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "\nNext\n") != wanted {
			t.Errorf("%s: %s", command, out.String())
		}
	}
}

// What the report suggests for the policy does what it says: the command, and no
// other, runs. What cannot be said so is not suggested.
func TestReportSuggestsAGoodRule(t *testing.T) {
	at := time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)
	for command, wanted := range map[string]bool{
		"git branch -D release/1.0+2":                               true,
		"git branch -D old":                                         true,
		"git push --force origin release/1.0+2":                     true,
		"git push --force origin main":                              true,  // its heuristic is one finding with it
		"git push --force origin 'main'":                            false, // an exception means plain words
		`git push --force origin "$X"`:                              false, // no rule can allow it
		"git push --force; ls":                                      false,
		"git push --force \x1b[2J":                                  false,
		"git push --force origin main " + strings.Repeat("a ", 300): false,
		"terraform destroy -auto-approve":                           false, // CATASTROPHIC
	} {
		r, err := Cmd{}.read(t.Context(), daemontest.Recorded(t, judgedAt(t, at, "s", command, true)), at, at.Add(time.Hour))
		if err != nil || len(r.Rules) != 1 {
			t.Fatalf("%q: %+v, %v", command, r, err)
		}
		r.again(t.Context(), judging.Flags{Policy: "preset:default"})
		var text string
		if rule, c := r.loudest(); rule != nil {
			text = r.relax(t.Context(), rule, c)
		}
		if (text != "") != wanted {
			t.Errorf("%q: suggested %q", command, text)
		}
		if text == "" {
			continue
		}
		lib,
			err := configs.NewLibrary([]configs.RuleSource{
			{Layer: reflexcore.UserLayer, File: "rules.yaml", Text: []byte(strings.ReplaceAll("\n"+text, "\n    ", "\n"))}}, at)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		engine, err := reflexcore.NewWith(lib.Rules(), reflexcore.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for c, stopped := range map[string]bool{command: false, command + "; id": true, command + "2 main": true} {
			v, err := engine.Judge(t.Context(), approver.ToolCall{Agent: "claude", Tool: "Bash", Command: c, Dir: "/p", At: at})
			if err != nil || (v.Decision <= approver.Ask) != stopped {
				t.Errorf("%q: %v by %s, %v", c, v.Decision, v.Rule, err)
			}
		}
	}
}

// What was enforced and what was observed are told apart, approver's own requests
// and what was said about changed settings are left out, and so is what lies outside the time or was not asked for.
func TestReportCounts(t *testing.T) {
	at := time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)
	own := judgedAt(t, at, "s", "git push --force", true)
	own.Call.Agent = "approver"
	settings := approver.Record{Event: approver.EventVerdict, At: at, Call: approver.ToolCall{ID: "c", Agent: "claude"},
		Verdict: approver.Verdict{Severity: approver.High, By: "agents", Rule: "settings"}}
	dir := daemontest.Recorded(t,
		judgedAt(t, at.Add(-time.Second), "s", "git push --force", true), own,
		judgedAt(t, at, "s", "git push --force", true), judgedAt(t, at, "s", "git push --force", false),
		judgedAt(t, at, "t", "ls", true),
		approver.Record{Event: approver.EventRan, At: at, Call: own.Call}, settings,
		judgedAt(t, at.Add(time.Hour), "s", "git push --force", true),
	)
	r, err := Cmd{}.read(t.Context(), dir, at, at.Add(time.Hour))
	if err != nil || r.Calls != 3 || r.Asks != 2 || r.Observed != 1 || r.Hours != 1 || len(r.Sessions) != 2 ||
		r.PerHour != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = Cmd{Session: "t"}.read(t.Context(), dir, at, at.Add(time.Hour))
	if err != nil || r.Calls != 1 || len(r.Rules) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = Cmd{observed: true}.read(t.Context(), dir, at, at.Add(time.Hour))
	if err != nil || r.Calls != 1 || r.Asks != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	var out bytes.Buffer
	if err := r.print(t.Context(), &out, ""); err != nil ||
		!strings.Contains(out.String(), "it was only observed, and every call went on") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// The story: Claude Code asked its own user about each call that no rule had found anything in, and the report
// said that there had been twice as many calls, and that a rule allowed the one that people had said yes to.
func TestReportCountsACallOnce(t *testing.T) {
	at := time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)
	left := judgedAt(t, at, "s", "ls", false) // to the agent's dialog
	left.Call.Prompt = &approver.Prompt{Left: true}
	own := left // put before people
	own.Event, own.Request = approver.EventAsked, "r"
	own.Verdict = approver.Verdict{Decision: approver.Ask, By: "agent", Rule: "prompt", Severity: approver.High,
		Prompt: true}
	yes := judgedAt(t, at, "s", "git push --force", false) // people had said yes to the call
	yes.Event, yes.Request, yes.Call.Prompt = approver.EventVerdict, "", left.Call.Prompt
	yes.Verdict = approver.Verdict{Decision: approver.Allow, By: approver.ByPeople, Rule: "prompt"}
	second := judgedAt(t, at, "s", "ls", false) // another hook of the call
	second.Again = true
	dir := daemontest.Recorded(t, judgedAt(t, at, "s", "ls", false), left, judgedAt(t, at, "s", "ls", false), own,
		judgedAt(t, at, "s", "git push --force", false), yes, judgedAt(t, at, "s", "ls", false), second)
	r, err := Cmd{}.read(t.Context(), dir, at, at.Add(time.Hour))
	if err != nil || r.Calls != 4 || r.Asks != 2 || r.Allowed != 0 || r.WentOn != 3 || r.Sessions[0].Calls != 4 {
		t.Errorf("%+v, %v", r, err)
	}
}

// An agent that never runs the same command twice, in sessions without number,
// does not make the report grow; what is not kept is counted.
func TestReportIsBounded(t *testing.T) {
	r := &report{rules: map[string]*ruleReport{}, sessions: map[string]*sessionReport{}}
	const n = maxReportCommands + 2*maxReportRules
	for i := range n {
		rule := "r"
		if i >= maxReportCommands+maxReportRules/2 {
			rule = fmt.Sprint("r", i)
		}
		r.add(audit.Line{
			Agent: "claude", Session: fmt.Sprint("s", i), Tool: "Bash", Summary: fmt.Sprint("c", i), Command: fmt.Sprint("c", i),
			Timestamp: time.Unix(int64(i), 0),
			Verdict:   &audit.LineVerdict{Decision: approver.Ask, By: "policy", Rule: rule, Severity: "HIGH"},
		})
	}
	r.finish()
	if len(r.Rules) != maxReportRules || len(r.Sessions) != maxReportSessions || r.commands > maxReportCommands ||
		r.Asks != n || r.Unnamed == 0 {
		t.Errorf("%d rules, %d sessions, %d commands, %d asks, %d unnamed", len(r.Rules), len(r.Sessions), r.commands,
			r.Asks, r.Unnamed)
	}
}

// Whoever adds up what stands below the first line comes to the first line: every call is in
// one line of the summary, under one rule at the most, and in one session.
func TestTheReportAddsUp(t *testing.T) {
	call := func(session string, d approver.Decision, by, rule string) approver.Record {
		return approver.Record{Event: approver.EventVerdict, At: time.Now(),
			Call:    approver.ToolCall{Agent: "claude", Session: session, Tool: "Bash", Command: "x"},
			Verdict: approver.Verdict{Decision: d, By: by, Rule: rule, Severity: approver.High}}
	}
	dir := daemontest.Recorded(t, call("a", approver.Ask, "policy", "one"), call("a", approver.Ask, "policy", "two"),
		call("b", approver.Deny, "policy", "one"),
		call("b", approver.Pass, "", ""), call("b", approver.Allow, "policy", "lets"),
		call("a", approver.Modify, "policy", "turns"), call("a", approver.Warn, "reflex", "warns"))
	r, err := Cmd{}.read(t.Context(), dir, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := r.print(t.Context(), &out, ""); err != nil {
		t.Fatal(err)
	}
	sum := func(pattern string) (n int) {
		for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(out.String(), -1) {
			var one int
			if _, err := fmt.Sscan(found[1], &one); err != nil {
				t.Fatal(err)
			}
			n += one
		}
		return n
	}
	for name, c := range map[string]struct {
		pattern string
		want    int
	}{
		"the summary":         {`(?m)^  (?:people asked|denied|changed|allowed|went on) +([0-9]+)`, 7},
		"all calls":           {`(?m)^([0-9]+) calls in 2 sessions$`, 7},
		"the head of rules":   {`By rule: ([0-9]+) calls, each under the one rule`, 4},
		"the bars of rules":   {`(?m)█ +([0-9]+)  (?:ask|deny|change)`, 4},
		"the calls of rules":  {`(?m)^ +([0-9]+) x  `, 4},
		"asked, in sessions":  {`(?m)([0-9]+) asked +[0-9]+ denied  of`, 2},
		"calls, in sessions":  {`(?m)denied  of +([0-9]+)  in`, 7},
		"denied, in sessions": {`(?m)([0-9]+) denied  of +[0-9]+  in`, 1},
	} {
		if got := sum(c.pattern); got != c.want {
			t.Errorf("%s: %d, want %d\n%s", name, got, c.want, out.String())
		}
	}
}
