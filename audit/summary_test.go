package audit

import (
	"strings"
	"testing"

	"approver.example"
	"approver.example/display"
)

// The story: an agent wrote a no-break space into a command, and audit tail showed
// git⟨U+27E8⟩U+00A0⟨U+27E9⟩push: the mark of the space was taken for a text that imitates
// a mark, so one could not be told from the other. Now a mark is shown once, and an
// imitation as one.
func TestMarksAreShownOnce(t *testing.T) {
	long := strings.Repeat("x ", 93) // a mark lies across the limit of a summary
	for _, test := range []struct{ command, want string }{
		{"git\u00a0push", "git⟨U+00A0⟩push"},
		{"git⟨U+00A0⟩push", "git⟨U+27E8⟩U+00A0⟨U+27E9⟩push"},
		{"a\xffb", `a⟨\xFF⟩b`},
		{`a⟨\xFF⟩b`, `a⟨U+27E8⟩\xFF⟨U+27E9⟩b`},
		{"\u202els", "⟨U+202E⟩ls"},
		{"\u2066ls\u2069", "⟨U+2066⟩ls⟨U+2069⟩"},
		{"l\u200bs", "l⟨U+200B⟩s"},
		{"l\u00ads", "l⟨U+00AD⟩s"},
		{"саt x", "⟨U+0441⟩⟨U+0430⟩t x"},
		{"ｌｓ", "⟨U+FF4C⟩⟨U+FF53⟩"},
		{"\x1b[2Jls", "⟨U+001B⟩[2Jls"},
		{"ls\r", "ls⟨U+000D⟩"},
		{"ls\nrm x", "ls ⏎ rm x"},
		{"ls\tx", "ls x"},
		{"⟨⟨U+202E⟩⟩", "⟨U+27E8⟩⟨U+27E8⟩U+202E⟨U+27E9⟩⟨U+27E9⟩"},
		{"⟨U+27E8⟩", "⟨U+27E8⟩U+27E8⟨U+27E9⟩"},
		{"⟨", "⟨U+27E8⟩"},
		{"echo é 漢字", "echo é 漢字"},
		{"ls x… (5 bytes more)", "ls x⟨U+2026⟩ (5 bytes more)"},
		{long + "\u202e\u202e\u202e\u202e", long + "⟨U+202E⟩… (36 bytes more)"},
		{strings.Repeat("y", 201), strings.Repeat("y", 200) + "… (1 bytes more)"},
	} {
		l := lineFor(approver.Record{Event: approver.EventVerdict,
			Call: approver.ToolCall{Tool: "Bash", Command: test.command}, Verdict: approver.Verdict{
				Decision: approver.Pass, By: "reflex", Chain: []approver.Finding{{By: "reflex", Note: test.command}},
			}})
		if got := Summary(l.Summary); got != test.want {
			t.Errorf("%q: %s, want %s", test.command, got, test.want)
		}
		if !strings.Contains(l.Human(), " · "+test.want) {
			t.Errorf("%q: %s", test.command, l.Human())
		}
		if len(test.command) < 100 && !strings.Contains(l.Whole(), ": "+test.want) &&
			!strings.Contains(test.command, "\xff") {
			t.Errorf("%q: the chain is\n%s", test.command, l.Whole())
		}
		l.Severity = "HIGH"
		if got := l.Human(); len(test.want) < 60 && !strings.Contains(got, "🟠 HIGH · "+test.want+" ") &&
			!strings.HasSuffix(strings.Split(got, " · reflex")[0], test.want) {
			t.Errorf("%q: %s", test.command, got)
		}
	}
}

// What is too long to be searched for secrets is named by its length, once.
func TestSummaryOfWhatIsNotShown(t *testing.T) {
	l := lineFor(approver.Record{Event: approver.EventVerdict,
		Call: approver.ToolCall{Tool: "Bash", Command: strings.Repeat("z", maxRedact+1)}})
	if got := Summary(l.Summary); got != l.Summary || !strings.HasPrefix(got, "‹131073 bytes not shown, sha256 ") {
		t.Errorf("%s, then %s", l.Summary, got)
	}
	imitated := lineFor(approver.Record{Event: approver.EventVerdict,
		Call: approver.ToolCall{Tool: "Bash", Command: l.Summary}})
	if got := Summary(imitated.Summary); strings.ContainsAny(got, "‹›") {
		t.Error(got)
	}
}

// A finding says of which tier it is. One that was recorded before tiers were claims
// none: until then each was shown as of tier 0.
func TestFindingsSayTheirTier(t *testing.T) {
	rec := approver.Record{Event: approver.EventVerdict,
		Verdict: approver.Verdict{Decision: approver.Pass, By: "reflex", Chain: []approver.Finding{
			{By: "reflex", Decision: approver.Pass}, {By: "heuristics", Tier: 1, Decision: approver.Warn},
			{By: "evaluator", Tier: 2, Decision: approver.Ask, Severity: approver.High},
		}}}
	for from, want := range map[bool][]string{
		true:  {"T0 reflex pass", "T1 heuristics warn", "T2 evaluator ask HIGH"},
		false: {"  reflex pass", "  heuristics warn", "  evaluator ask HIGH"},
	} {
		l := lineFor(rec)
		b, err := display.EncodeJSON(l)
		must(t, err)
		if !from {
			b = []byte(strings.NewReplacer(`"tier":0,`, "", `"tier":1,`, "", `"tier":2,`, "").Replace(string(b)))
		}
		l, err = ParseLine(b)
		must(t, err)
		for _, w := range want {
			if !strings.Contains(l.Whole(), w) {
				t.Errorf("%s is not in\n%s", w, l.Whole())
			}
		}
		if !from && strings.Contains(l.Whole(), "T0") {
			t.Errorf("of an old record\n%s", l.Whole())
		}
	}
}
