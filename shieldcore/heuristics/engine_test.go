package heuristics_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"approver.example"
	"approver.example/internal/match"
	"approver.example/shieldcore/heuristics"
)

// rule is a rule for a test.
func rule(id, pattern string, change ...func(*heuristics.Rule)) heuristics.Rule {
	x := heuristics.Example{Command: "x"}
	r := heuristics.Rule{
		ID: id, Name: "name of " + id, Category: "test", Pattern: pattern, Level: heuristics.High, Escalate: true,
		Fields:      heuristics.Command,
		Description: "d", Reason: "reason of " + id, Cure: "cure", Match: []heuristics.Example{x, x},
		Pass: []heuristics.Example{x, x},
	}
	switch {
	case strings.HasPrefix(id, "WIN"):
		r.Platform = heuristics.Windows
	case strings.HasPrefix(id, "UX"):
		r.Platform = heuristics.Unix
	}
	for _, c := range change {
		c(&r)
	}
	return r
}

func blocks(r *heuristics.Rule) {
	r.Level, r.AlwaysBlock, r.Escalate = heuristics.Critical, true, false
}
func notes(r *heuristics.Rule) { r.Level, r.Escalate = heuristics.Medium, false }
func in(f heuristics.Fields) func(*heuristics.Rule) {
	return func(r *heuristics.Rule) { r.Fields = f }
}

func build(t testing.TB, rules ...heuristics.Rule) *heuristics.Engine {
	t.Helper()
	e, err := heuristics.New(rules, match.Limits{})
	must(t, err)
	return e
}

func judge(t testing.TB, e *heuristics.Engine, call approver.ToolCall) approver.Verdict {
	t.Helper()
	v, err := e.Judge(context.Background(), call)
	must(t, err)
	return v
}

func bash(command string) approver.ToolCall { return approver.ToolCall{Tool: "Bash", Command: command} }

func tool(name, args string) approver.ToolCall {
	return approver.ToolCall{Tool: name, Args: []byte(args)}
}

// What was not built denies.
func TestTheZeroEngineDenies(t *testing.T) {
	for name, e := range map[string]*heuristics.Engine{"nil": nil, "zero": {}} {
		if v := judge(t, e, bash("ls")); v.Decision != approver.Deny || v.Reason == "" ||
			v.Severity != approver.Catastrophic {
			t.Errorf("the %s engine says %+v", name, v)
		}
	}
}

// What comes of a rule: the strictest decides, and the others are in the chain.
func TestWhatComesOfRules(t *testing.T) {
	e := build(t, rule("XP-001", `\bfirst\b`, notes), rule("XP-002", `\bsecond\b`), rule("XP-003", `\bthird\b`, blocks),
		rule("XP-004", `\bfourth\b`, func(r *heuristics.Rule) { r.Level = heuristics.Critical }))
	for text, want := range map[string]struct {
		decision   approver.Decision
		rule       string
		severity   approver.Severity
		confidence float64
		chain      string
	}{
		"nothing":                   {approver.Pass, "", approver.High, 0, ""},
		"first":                     {approver.Pass, "", approver.High, 0, "XP-001"},
		"second":                    {approver.Ask, "XP-002", approver.High, 0.85, ""},
		"fourth":                    {approver.Ask, "XP-004", approver.Catastrophic, 0.95, ""},
		"third":                     {approver.Deny, "XP-003", approver.Catastrophic, 0.95, ""},
		"second first":              {approver.Ask, "XP-002", approver.High, 0.85, "XP-001"},
		"second fourth third first": {approver.Deny, "XP-003", approver.Catastrophic, 0.95, "XP-001 XP-002 XP-004"},
		"second fourth":             {approver.Ask, "XP-004", approver.Catastrophic, 0.95, "XP-002"},
	} {
		v := judge(t, e, bash(text))
		var chain []string
		for _, f := range v.Chain {
			chain = append(chain, f.Rule)
			if f.Rule == "XP-001" && (f.Decision != approver.Pass || f.Confidence != 0.7 || f.Note != "reason of XP-001") {
				t.Errorf("%q: the reason is %+v", text, f)
			}
		}
		if v.Decision != want.decision || v.Rule != want.rule || v.Severity != want.severity ||
			v.Confidence != want.confidence || strings.Join(chain, " ") != want.chain {
			t.Errorf("%q: %+v, want %+v", text, v, want)
		}
		if asks := v.Decision == approver.Ask; asks != (v.MinTier == 2) {
			t.Errorf("%q: %s of tier %d", text, v.Decision, v.MinTier)
		}
		if v.By != heuristics.By {
			t.Errorf("%q: signed by %q", text, v.By)
		}
	}
}

// Only what tells somebody what to do is looked at, by the nearest name.
func TestFields(t *testing.T) {
	all := heuristics.Fields(1<<7 - 1)
	e := build(t, rule("XP-001", `\bbadword\b`, in(all)))
	for args, want := range map[string]approver.Decision{
		`{"command":"badword"}`:                      approver.Ask,
		`{"CommandLine":"badword"}`:                  approver.Ask,
		`{"file_path":"/x/badword"}`:                 approver.Ask,
		`{"filePath":"/x/badword"}`:                  approver.Ask,
		`{"source":"badword"}`:                       approver.Ask,
		`{"destination":"badword"}`:                  approver.Ask,
		`{"url":"https://badword.example"}`:          approver.Ask,
		`{"urls":["https://a","https://badword/"]}`:  approver.Ask,
		`{"pattern":"badword"}`:                      approver.Ask,
		`{"prompt":"badword"}`:                       approver.Ask,
		`{"a":[{"prompt":["x",["badword"]]}]}`:       approver.Ask,
		`{"content":{"command":"badword"}}`:          approver.Ask,
		`{"prompt":["x",{"content":"y"},"badword"]}`: approver.Ask,
		`{"prompt":"bad\u0077ord"}`:                  approver.Ask,
		`{"pr\u006fmpt":"badword"}`:                  approver.Ask,
		`{"prompt":"x","prompt":"badword"}`:          approver.Ask,
		`{"prompt":"\"","x":1,"task":"badword"}`:     approver.Ask,
		`{"prompt":"\ufe0fbad\u200bword"}`:           approver.Ask, // not seen
		`{"prompt":"ｂａｄｗｏｒｄ"}`:                       approver.Ask,
		`{"content":"badword"}`:                      approver.Pass,
		`{"body":"badword","new_string":"badword"}`:  approver.Pass,
		`{"message":"badword","text":"badword"}`:     approver.Pass,
		`{"description":"badword"}`:                  approver.Pass,
		`{"prompt":{"content":"badword"}}`:           approver.Pass,
		`{"prompt":["x",{"content":"badword"},"y"]}`: approver.Pass,
		`{"badword":"x","prompt":{"badword":1}}`:     approver.Pass,
		`{"a":["prompt","badword"]}`:                 approver.Pass,
		`{"prompt":["x"],"content":"badword"}`:       approver.Pass,
		`{"prompt":1,"content":["badword"]}`:         approver.Pass,
		`{"prompt":"badwords badword_ abadword"}`:    approver.Pass,
		`"badword"`: approver.Pass,
		`[]`:        approver.Pass,
		`{"` + strings.Repeat("prompt", 9) + `":"badword"}`: approver.Pass,
	} {
		if v := judge(t, e, tool("mcp__x__y", args)); v.Decision != want {
			t.Errorf("%s: %s, want %s", args, v.Decision, want)
		}
	}
	for _, call := range []approver.ToolCall{{Command: "badword"}, {Paths: []string{"/x", "/badword"}},
		{URLs: []string{"https://badword/"}}} {
		if v := judge(t, e, call); v.Decision != approver.Ask {
			t.Errorf("%+v: %s", call, v.Decision)
		}
	}
}

// A rule looks at its own fields only.
func TestFieldsOfARule(t *testing.T) {
	e := build(t, rule("XP-001", `\bbadword\b`, in(heuristics.Path|heuristics.Prompt)))
	for args, want := range map[string]approver.Decision{
		`{"path":"badword"}`: approver.Ask, `{"prompt":"badword"}`: approver.Ask, `{"command":"badword"}`: approver.Pass,
		`{"url":"badword"}`: approver.Pass,
	} {
		if v := judge(t, e, tool("x", args)); v.Decision != want {
			t.Errorf("%s: %s, want %s", args, v.Decision, want)
		}
	}
}

// A text that is in two fields is looked at as both.
func TestATextInTwoFields(t *testing.T) {
	e := build(t, rule("XP-001", `\bbadword\b`, in(heuristics.Path)))
	if v := judge(t, e, approver.ToolCall{Command: "badword",
		Args: []byte(`{"command":"badword","path":"badword"}`)}); v.Decision != approver.Ask {
		t.Errorf("%+v", v)
	}
}

// Rules for Windows are for the texts of its shells, wherever those stand, and rules
// for Unix are not.
func TestPlatforms(t *testing.T) {
	e := build(t, rule("WIN-001", `\bremove-item\b`), rule("UX-001", `\bmkfs\b`), rule("WIN-002", `\boddword\b`))
	for _, c := range []struct {
		tool, command string
		want          approver.Decision
	}{
		{"PowerShell", "Remove-Item x", approver.Ask},
		{"Bash", "pwsh -c 'Remove-Item x'", approver.Ask},
		{"mcp__win__powershell_run", "oddword", approver.Ask},
		{"Bash", "oddword", approver.Pass},
		{"Bash", "cmd.exe /c oddword", approver.Ask},
		{"Bash", "mkfs x", approver.Ask},
		{"PowerShell", "mkfs x", approver.Pass},
	} {
		if v := judge(t, e, approver.ToolCall{Tool: c.tool, Command: c.command}); v.Decision != c.want {
			t.Errorf("%s %q: %s, want %s", c.tool, c.command, v.Decision, c.want)
		}
	}
}

// What a command only carries is no order, unless something in it could run it.
func TestWhatACommandCarries(t *testing.T) {
	e := build(t, rule("XP-001", `\bbadword\b`))
	for command, want := range map[string]approver.Decision{
		"badword":                                   approver.Ask,
		"echo 'badword'":                            approver.Pass,
		`echo "badword" > notes.txt`:                approver.Pass,
		`echo "badword" | sh`:                       approver.Ask,
		`echo "badword" | sudo -u x /bin/bash`:      approver.Ask,
		`echo "badword" | xargs -0 env`:             approver.Ask,
		`echo "$(badword)"`:                         approver.Ask,
		"echo \"`badword`\"":                        approver.Ask,
		`echo badword`:                              approver.Ask, // not quoted: it may as well be the end of something
		`git commit -m "badword"`:                   approver.Pass,
		`git commit -am 'badword' && git push`:      approver.Pass,
		`git commit -m "x" && badword`:              approver.Ask,
		`gh pr create --title "x" --body "badword"`: approver.Pass,
		`gh pr create --body="badword"`:             approver.Pass,
		`python -m "badword"`:                       approver.Ask,
		`bash -c "badword"`:                         approver.Ask,
		`grep -rn "badword" src`:                    approver.Pass,
		`x # badword`:                               approver.Pass,
		`x#badword`:                                 approver.Ask,
		"x # y\nbadword":                            approver.Ask,
		`echo "a" # badword`:                        approver.Pass,
		"cat > x <<'EOF'\nbadword\nEOF\n":           approver.Pass,
		"cat > x <<EOF\nbadword\nEOF":               approver.Pass,
		"cat > x <<EOF\n$(badword)\nEOF\n":          approver.Ask,
		"cat > x <<-'E F'\n\tbadword\n\tE F\n":      approver.Ask, // not read as one
		"cat <<-EOF\n\tbadword\n\tEOF\nls":          approver.Pass,
		"cat <<'EOF'\nx\nEOF\nbadword":              approver.Ask,
		"bash <<'EOF'\nbadword\nEOF\n":              approver.Ask,
		"cat <<'EOF' | sh\nbadword\nEOF\n":          approver.Ask,
		"cat <<'EOF' > x; bash x\nbadword\nEOF\n":   approver.Ask,
		"psql <<'EOF'\nbadword\nEOF\n":              approver.Ask,
		"cat <<'EOF'\nbadword\n":                    approver.Ask, // without an end
		"echo 'a":                                   approver.Pass,
		"echo 'badword":                             approver.Ask, // without an end
		`echo 'badword' 'x`:                         approver.Ask, // so it may have been read wrongly
		"cat <<EOF # badword":                       approver.Ask,
		`eval "$x" 'badword'`:                       approver.Ask,
		`echo 'x' <<< 'badword'`:                    approver.Ask,
		`$(echo 'badword')`:                         approver.Ask,
		"`echo 'badword'`":                          approver.Ask,
		`. <(echo 'badword')`:                       approver.Ask,
		`X=1 sudo echo 'badword'`:                   approver.Pass,
		`echo \'badword\'`:                          approver.Ask,
		`foo 'badword'`:                             approver.Ask,
		`echo 'badword' | ssh host`:                 approver.Ask,
	} {
		if v := judge(t, e, bash(command)); v.Decision != want {
			t.Errorf("%q: %s, want %s", command, v.Decision, want)
		}
	}
	if v := judge(t, e, approver.ToolCall{Tool: "PowerShell", Command: "x # badword"}); v.Decision != approver.Ask {
		t.Error("the quotes of a shell of Windows are not those of others, so nothing is left out")
	}
}

// What cannot be looked at as a whole is asked about; what was found before stands.
func TestTooMuch(t *testing.T) {
	e := build(t, rule("XP-001", `\bbadword\b[^\n]*\bend\b`, blocks, in(heuristics.Command|heuristics.Prompt)),
		rule("XP-002", `\bworse\b`))
	long := strings.Repeat("a ", heuristics.MaxBytes)
	if v := judge(t, e, bash(long)); v.Decision != approver.Ask || v.Rule != heuristics.RuleLong || v.MinTier != 2 {
		t.Errorf("a long command: %+v", v)
	}
	v := judge(t, e, approver.ToolCall{Command: "badword end", Args: []byte(`{"prompt":"` + long + `"}`)})
	if v.Decision != approver.Deny || len(v.Chain) != 1 || v.Chain[0].Rule != heuristics.RuleLong {
		t.Errorf("a long prompt beside a bad command: %+v", v)
	}
	v = judge(t, e, approver.ToolCall{Command: "worse", Args: []byte(`{"prompt":"` + long + `"}`)})
	if v.Decision != approver.Ask || v.Rule != heuristics.RuleLong || v.Severity != approver.Catastrophic {
		t.Errorf("a long prompt beside a command that is asked about: %+v", v)
	}
	many := make([]heuristics.Rule, 40)
	var ends strings.Builder // all keys are there, on another line
	for i := range many {
		fmt.Fprintf(&ends, "end%d ", i)
		many[i] = rule(fmt.Sprintf("XP-%03d", i), fmt.Sprintf(`\bbadword\b[^\n]*\bend%d\b`, i))
	}
	v = judge(t, build(t, many...), bash(ends.String()+"\n"+strings.Repeat("badword ", heuristics.MaxBytes/8-40)))
	if v.Decision != approver.Ask || v.Rule != heuristics.RuleComplex {
		t.Errorf("much work: %+v", v)
	}
	v = judge(t, build(t, many...), bash(strings.Repeat("badword ", heuristics.MaxBytes/8-40)))
	if v.Decision != approver.Pass {
		t.Errorf("patterns are tried without all of their keys: %+v", v)
	}
	if v := judge(t, e, tool("x", `{"content":"`+long+`"}`)); v.Decision != approver.Pass {
		t.Errorf("content is not looked at, and not counted: %+v", v)
	}
}

func TestArgumentsThatAreNotJSON(t *testing.T) {
	e := build(t, rule("XP-001", `\bbadword\b`))
	for _, args := range []string{`{`, `{"prompt":}`, `x`, `{"a":"b"`, "{\"a\":\"\n\"}"} {
		if _, err := e.Judge(context.Background(), tool("x", args)); err == nil {
			t.Errorf("%q was judged", args)
		}
	}
}

// One rule that cannot be built stops all.
func TestNothingIsBuiltByHalves(t *testing.T) {
	good := rule("XP-001", `\bgood\b`)
	for name, c := range map[string]struct {
		rules  []heuristics.Rule
		limits match.Limits
		want   string
	}{
		"none":       {nil, match.Limits{}, "no heuristic rules"},
		"syntax":     {[]heuristics.Rule{good, rule("XP-002", `(`)}, match.Limits{}, `rule "XP-002": pattern`},
		"no word":    {[]heuristics.Rule{good, rule("XP-002", `a.*b`)}, match.Limits{}, "no word of two letters"},
		"everything": {[]heuristics.Rule{good, rule("XP-002", `(?:word)?`)}, match.Limits{}, "no word of two letters"},
		"twice":      {[]heuristics.Rule{good, good}, match.Limits{}, "there twice"},
		"fault": {[]heuristics.Rule{good, rule("XP-002", `\bx1\b`, func(r *heuristics.Rule) { r.AlwaysBlock = true })},
			match.Limits{}, "exclude each other"},
		"compiler": {[]heuristics.Rule{good}, match.Limits{Instructions: 1}, "instructions"},
	} {
		e, err := heuristics.New(c.rules, c.limits)
		if e != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v, want an error with %q", name, e, err, c.want)
		}
	}
	e, err := heuristics.New([]heuristics.Rule{good}, match.Limits{BuildWork: -1, MatchWork: 1})
	must(t, err)
	if v := judge(t, e, bash("ls")); v.Decision != approver.Ask || v.Rule != heuristics.RuleComplex {
		t.Errorf("a matcher that gives up: %+v", v)
	}
}

func TestFaults(t *testing.T) {
	for want, change := range map[string]func(*heuristics.Rule){
		"id: an id is":                  func(r *heuristics.Rule) { r.ID = "XP-1" },
		`id: there is no group "ZZ"`:    func(r *heuristics.Rule) { r.ID = "ZZ-001" },
		"platform: the platform is not": func(r *heuristics.Rule) { r.ID = "WIN-001" },
		"name: name is missing":         func(r *heuristics.Rule) { r.Name = " " },
		"reason: it ends with a period": func(r *heuristics.Rule) { r.Reason = "bad." },
		"cure: cure is missing":         func(r *heuristics.Rule) { r.Cure = "" },
		"fields: fields are missing":    func(r *heuristics.Rule) { r.Fields = 0 },
		"always_block: always_block and": func(r *heuristics.Rule) {
			r.AlwaysBlock, r.Level = true,
				heuristics.Critical
		},
		"always_block: only a critical": func(r *heuristics.Rule) {
			r.AlwaysBlock, r.Escalate = true,
				false
		},
		"escalate: a rule of medium":                            func(r *heuristics.Rule) { r.Level = heuristics.Medium },
		"severity: a critical or high rule":                     func(r *heuristics.Rule) { r.Escalate = false },
		"examples: at least 2 calls that the rule finds":        func(r *heuristics.Rule) { r.Match = r.Match[:1] },
		"examples: at least 2 calls that the rule leaves alone": func(r *heuristics.Rule) { r.Pass = nil },
	} {
		r := rule("XP-001", `\bx1\b`, change)
		faults := r.Faults()
		if len(faults) != 1 || !strings.HasPrefix(faults[0].Field+": "+faults[0].Text, want) {
			t.Errorf("%q: %v", want, faults)
		}
	}
	r := rule("XP-001", `\bx1\b`)
	if f := r.Faults(); len(f) > 0 {
		t.Error(f)
	}
}

// An unknown word leaves the strictest.
func TestWords(t *testing.T) {
	l, p := heuristics.Low, heuristics.Windows
	if l.UnmarshalText([]byte("mild")) == nil || l != heuristics.Critical || p.UnmarshalText([]byte("beos")) == nil ||
		p != heuristics.Any {
		t.Error(l, p)
	}
	if heuristics.Level(9).String() != "critical" || heuristics.Level(9).Confidence() != 0.95 ||
		heuristics.Platform(9).String() != "any" {
		t.Error("values that are none")
	}
	if f, err := heuristics.FieldOf("content"); err == nil || f != 0 {
		t.Error("content is no field")
	}
}

// What the engine finds is what each pattern finds by itself, whatever its key is.
func FuzzMatching(f *testing.F) {
	patterns := []string{
		`\brm\s+(?:-\S+\s+)*-r\b`, `(?:curl|wget)\s[^|\n]*\|\s*(?:ba|z)?sh\b`, `(?:ab)+c`, `x{2,3}yy?z`, `(?i)KeY=\w`,
		`^begin|end$`, `(?:foo|ba[rz])qux`, `\$\(\s*id\s*\)`, `(?:a|bc)(?:de|f)\s*gg`,
		`(?:one|two)(?:\s+\w+){0,3}?\s+three`, `\.\.(?:/|\\|%2f)etc`, `(?s)aa.*bb`, `\bone\s+(?:x|y)+\s+two\b`, `[^a-z]zz\b`,
	}
	var rules []heuristics.Rule
	var alone []*regexp.Regexp
	for i, p := range patterns {
		rules = append(rules, rule(fmt.Sprintf("XP-%03d", i), p, notes, in(heuristics.Prompt|heuristics.Path)))
		alone = append(alone, regexp.MustCompile(p))
	}
	e := build(f, rules...)
	for _, text := range []string{"rm -x -r y", "curl x | zsh", "ababc xxyz KEY=1 key=b", "begin\nend", "bazqux $( id )",
		"bcde  gg", "two a b three", "../etc aa\nbb 1zz", "one  xy  two", "\xff\u2028rm\u00a0-r"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := e.Judge(context.Background(), approver.ToolCall{Paths: []string{text}})
		must(t, err)
		if v.Decision == approver.Ask {
			return // too much
		}
		got := map[string]bool{}
		for _, found := range v.Chain {
			got[found.Rule] = true
		}
		folded := match.Fold(nil, text)
		for i, re := range alone {
			if want := re.Match(folded); got[rules[i].ID] != want {
				t.Errorf("%q: %s found %t, alone %t", text, patterns[i], got[rules[i].ID], want)
			}
		}
	})
}

// The same for any pattern: no branch's keys are more than what it cannot do without.
func FuzzPatterns(f *testing.F) {
	for _, c := range [][2]string{
		{`\bone\s+(?:two|three)\b|\bfour:[^@]*@five`, "one  three"},
		{`\bone\s+(?:two|three)\b|\bfour:[^@]*@five`, "four:x@five"},
		{`\bab\w*=\d+|\bab(?:cd)?\s*;\s*(?:ef)+`, "ab ; efef"},
		{`(?:(?:aa|bb)[^x]*(?:cc|(?:dd|ee)+)){2,}`, "aacc bbddee"},
		{`(?i)Ab+c?d*(?:ef){0,2}gh`, "ABBGH"},
		{`(?:^|\s)(?:ab(?:\s+\S+)*?\s+cd|ef\s*\|\s*gh)(?:$|\s)`, "x\nef|gh"},
		{`aa(?:bb|)cc|(?:|dd)ee`, "aacc ee"},
	} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		re, err := regexp.Compile(pattern)
		if err != nil || len(pattern) > 200 || len(text) > 1000 {
			return
		}
		e, err := heuristics.New([]heuristics.Rule{rule("XP-001", pattern, notes, in(heuristics.Path))}, match.Limits{})
		if err != nil {
			return // it has no key, or is no pattern for a rule
		}
		v, err := e.Judge(context.Background(), approver.ToolCall{Paths: []string{text}})
		must(t, err)
		if v.Decision == approver.Ask {
			return // too much
		}
		if got, want := len(v.Chain) > 0, re.Match(match.Fold(nil, text)); got != want {
			t.Errorf("%q: %q found %t, alone %t; keys %q", text, pattern, got, want, e.Keys())
		}
	})
}

// Whatever the arguments are, they are judged or refused, and never let through
// with a word in a prompt that a rule is for.
func FuzzArguments(f *testing.F) {
	e := build(f, rule("XP-001", `\bbadword\b`, in(heuristics.Prompt)), rule("XP-002", `\bbadword\b`))
	for _, s := range []string{`{"prompt":"x"}`, `[1,{"a":[]}]`, `"`, `{"a":"\\\""}`, `{"a":{"prompt":["b"]},"c":null}`} {
		f.Add(s, "echo 'x' <<EOF\ny\nEOF\n")
	}
	f.Fuzz(func(t *testing.T, inner, command string) {
		args := `{"a":` + inner + `,"prompt":"badword"}`
		v, err := e.Judge(context.Background(), approver.ToolCall{Tool: "x", Command: command, Args: []byte(args)})
		if err == nil && v.Decision != approver.Ask {
			t.Errorf("%s: %+v", args, v)
		}
		if v := judge(t, e, bash(command+"\nbadword")); v.Decision != approver.Ask && !strings.Contains(command, "<<") &&
			!strings.ContainsAny(command, `'"\#`) {
			t.Errorf("%q: %+v", command, v)
		}
	})
}

// must fails a test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
