package reporting

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/cmd/approver/internal/judging"
	"approver.example/configs"
	"approver.example/daemon/daemontest"
)

// exampleLines are the examples of the built-in rules, what they find and what they
// leave, as lines for judge.
func exampleLines(t *testing.T) (lines []string) {
	t.Helper()
	lib, err := configs.Default().LoadLibrary(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range lib.Rules().List() {
		for _, x := range append(r.Match[:len(r.Match):len(r.Match)], r.Pass...) {
			call := map[string]any{"tool": x.Tool, "cwd": "/home/ada/shop", "args": json.RawMessage(x.Args)}
			if x.Command != "" {
				call = map[string]any{"tool": "Bash", "cwd": "/home/ada/shop", "command": x.Command}
			}
			line, err := json.Marshal(call)
			if err != nil {
				t.Fatalf("%+v: %v", x, err)
			}
			if !seen[string(line)] {
				lines = append(lines, string(line))
			}
			seen[string(line)] = true
		}
	}
	return lines
}

// A verdictSeen is what each way has to say of a call.
type verdictSeen struct{ Decision, Severity, By, Rule string }

func lineOut(t *testing.T, j *judging.Judge, line string) string {
	t.Helper()
	var out bytes.Buffer
	if bad, err := j.Stream(t.Context(), strings.NewReader(line), &out); bad > 0 || err != nil {
		t.Fatalf("%s: %v\n%s", line, err, &out)
	}
	return out.String()
}

func findingIn(t *testing.T, text []byte) (f verdictSeen) {
	t.Helper()
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return f
}

// verdictLine is the line of a text that says the verdict.
func verdictLine(text string) string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "verdict  "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// The story: the quick start sent people to policy explain, which said "verdict pass"
// of git push --force and of rm -rf /, because it asked the policy alone. judge said
// "ask" and "deny". Now judge, judge --explain, policy explain and report take their
// verdict from one function, so none can say something else than the others.
func TestEveryWayHasTheSameVerdict(t *testing.T) {
	for _, preset := range []string{"preset:default", "preset:strict"} {
		j, err := judging.Flags{Policy: preset}.Open("", false)
		if err != nil {
			t.Fatal(err)
		}
		lines := exampleLines(t)
		if testing.Short() {
			lines = lines[:min(len(lines), 100)]
		}
		decisions, tiers := map[string]int{}, map[uint8]int{}
		for _, line := range lines {
			j.Explain, j.AsJSON = false, false
			plain := findingIn(t, []byte(lineOut(t, j, line)))
			j.Explain = true
			text := verdictLine(lineOut(t, j, line))
			j.AsJSON = true
			explainedJSON := findingIn(t, []byte(lineOut(t, j, line)))

			x, err := j.Explained(t.Context(), line)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			policyJSON, err := json.Marshal(x)
			if err != nil {
				t.Fatal(err)
			}
			var policyText bytes.Buffer
			if err := x.Write(&policyText); err != nil {
				t.Fatal(err)
			}
			if got := findingIn(t, policyJSON); got != plain || explainedJSON != plain {
				t.Errorf("%s %s:\njudge %+v\njudge --explain --json %+v\npolicy explain --json %+v", preset, line, plain,
					explainedJSON, got)
			}
			want := strings.ToLower(strings.TrimSpace(plain.Decision + " " + plain.Severity))
			if plain.Decision != "ask" {
				want = plain.Decision
			}
			if plain.By != "" {
				want += fmt.Sprintf(" by %s, tier %d", strings.TrimSuffix(plain.By+"/"+plain.Rule, "/"), x.Verdict.Tier)
			}
			if text != want || verdictLine(policyText.String()) != want {
				t.Errorf("%s %s: judge --explain %q, policy explain %q, want %q", preset, line, text,
					verdictLine(policyText.String()), want)
			}
			decisions[plain.Decision]++
			tiers[x.Verdict.Tier]++
		}
		t.Logf("%s: %d calls, %v, deciding tiers %v", preset, len(lines), decisions, tiers)
		if !testing.Short() && (len(lines) < 500 || preset == "preset:default" && decisions["pass"] < 50 ||
			decisions["ask"] < 50 || decisions["deny"] < 10 || tiers[approver.TierScreen] < 1) {
			t.Errorf("%s: %d calls prove little: %v, %v", preset, len(lines), decisions, tiers)
		}
	}
}

// What report suggests to type says what the report says: every command that it
// suggests is typed here.
func TestWhatReportSuggestsSaysTheSame(t *testing.T) {
	j := defaultJudge(t)
	at := time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)
	var records []approver.Record
	for _, line := range exampleLines(t) {
		call, err := j.Call(line)
		if err != nil {
			t.Fatal(err)
		}
		call.At = at
		v, _ := j.Gate.Judge(t.Context(), call)
		if v.Decision <= approver.Ask {
			records = append(records, approver.Record{Event: approver.EventVerdict, At: at, Call: call, Verdict: v})
		}
	}
	if testing.Short() {
		records = records[:min(len(records), 100)]
	}
	r, err := Cmd{}.read(t.Context(), daemontest.Recorded(t, records...), at, at.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	r.again(t.Context(), judging.Flags{Policy: "preset:default"})
	var script strings.Builder
	script.WriteString(`approver() { printf '%s\0' "$@"; printf '\n\0'; }` + "\n")
	var suggested []*commandReport
	kept := 0
	for _, rule := range r.Rules {
		for _, c := range rule.Commands {
			if c.Now != "" {
				t.Errorf("%s is judged otherwise a moment later: %s by %s, now %s", c.Command, c.found.Decision,
					c.found.Rule, c.Now)
			}
			if kept++; c.Explain != "" {
				suggested = append(suggested, c)
				script.WriteString(c.Explain + "\n")
			}
		}
	}
	out, err := exec.Command("sh", "-c", script.String()).Output()
	if err != nil {
		t.Fatal(err)
	}
	typed := strings.Split(strings.TrimSuffix(string(out), "\n\x00"), "\n\x00")
	if len(typed) != len(suggested) || len(suggested) < min(100, len(records)/2) {
		t.Fatalf("%d of %d commands are suggested, %d typed", len(suggested), kept, len(typed))
	}
	for i, c := range suggested {
		words := strings.Split(strings.TrimSuffix(typed[i], "\x00"), "\x00")
		if strings.Join(words[:2], " ") != "policy explain" && strings.Join(words[:2], " ") != "judge --explain" {
			t.Fatalf("%q", words)
		}
		own := *j
		if err := own.SetDir(words[3]); err != nil || words[2] != "--cwd" || len(words) != 6 {
			t.Fatalf("%q, %v", words, err)
		}
		x, err := own.Explained(t.Context(), words[5])
		if err != nil {
			t.Fatalf("%q: %v", words, err)
		}
		if !sameFinding(x.Verdict, c.found) {
			t.Errorf("the report has %s by %s; %s says %s", c.found.Decision, c.found.Rule, c.Explain,
				judging.Decided(x.Verdict))
		}
	}
	t.Logf("%d findings, %d commands shown, %d suggested and typed", len(records), kept, len(suggested))
}

// A call that would be judged otherwise today is shown with what it would be, and is
// not suggested: a rule was changed, or what counted was what the session did before.
func TestReportSaysWhatIsNowJudgedOtherwise(t *testing.T) {
	at := time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)
	was := judgedAt(t, at, "s", "go test ./...", false)
	was.Verdict = approver.Verdict{Decision: approver.Ask, Severity: approver.High, By: "reflex", Rule: "loop_repeat"}
	r, err := Cmd{}.read(t.Context(), daemontest.Recorded(t, was), at, at.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	r.again(t.Context(), judging.Flags{Policy: "preset:default"})
	var out bytes.Buffer
	if err := r.print(t.Context(), &out, ""); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "go test ./...   (judged again now, alone: pass)") ||
		strings.Contains(out.String(), "See why") {
		t.Error(out.String())
	}
}

// The first thing that the quick start has a newcomer try asks wherever they are: the
// one before it passed without a word on a branch of their own.
func TestTheFirstTryAlwaysAsks(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/quickstart.md")
	if err != nil {
		t.Fatal(err)
	}
	const try = "git branch -D approver-try"
	if !strings.Contains(string(page), "tell it to run `"+try+"`") {
		t.Fatal("the quick start has another first try: test that here")
	}
	for _, branch := range []string{"", "main", "master", "develop", "release/1.0", "fix/cart-rounding", "ada/try",
		"approver-try", "feature/x", "HEAD~0"} {
		dir := t.TempDir()
		script := "git init -q . && git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m x && "
		switch branch {
		case "":
			script = "true"
		case "HEAD~0":
			script += "git checkout -q --detach"
		default:
			script += "git checkout -q -B " + branch
		}
		c := exec.Command("sh", "-c", script)
		if c.Dir = dir; exec.Command("git", "version").Run() != nil {
			t.Skip("there is no git here")
		}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", branch, err, out)
		}
		for _, preset := range []string{"preset:default", "preset:strict", "preset:permissive"} {
			j, err := judging.Flags{Policy: preset}.Open("", false)
			if err != nil {
				t.Fatal(err)
			}
			j.Dir = dir
			if x, err := j.Explained(t.Context(), try); err != nil || judging.InWords(x.Verdict) != "ask high" {
				t.Errorf("branch %q, %s: %s, %v", branch, preset, judging.Decided(x.Verdict), err)
			}
		}
	}
}
