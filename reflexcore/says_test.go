package reflexcore_test

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"approver.example"
	"approver.example/configs"
	"approver.example/display"
	"approver.example/reflexcore"
	"approver.example/reflexcore/effect"
)

// said writes what people read of a call as plain text.
func said(v approver.Verdict) string {
	var b strings.Builder
	line := func(name string, p display.Phrase) {
		if !p.IsZero() {
			fmt.Fprintf(&b, "  %-6s %s\n", name, p.Plain())
		}
	}
	fmt.Fprintf(&b, "  %s %s\n", v.Decision, v.Rule)
	if title := v.Says.Title; v.Says.More > 0 {
		fmt.Fprintf(&b, "  %-6s %s and %d more\n", "title", title.Plain(), v.Says.More)
	} else {
		line("title", title)
	}
	line("why", v.Says.Why)
	for _, p := range v.Says.Does {
		line("does", p)
	}
	line("undo", v.Says.Undo)
	if v.Says.Part != "" {
		fmt.Fprintf(&b, "  %-6s %s\n", "part", v.Says.Part)
	}
	if in := strings.TrimSpace(v.Says.Project + " " + v.Says.Branch); in != "" {
		fmt.Fprintf(&b, "  %-6s %s\n", "in", in)
	}
	return b.String()
}

// saysFile has calls, each with what people read of it: "$ command", with \n for a line break, or
// "> tool arguments".
const saysFile = "testdata/says.txt"

// callOf reads the first line of a block.
func callOf(t *testing.T, line string) approver.ToolCall {
	kind, rest, _ := strings.Cut(line, " ")
	switch kind {
	case "$":
		return bash(strings.ReplaceAll(rest, `\n`, "\n"))
	case ">":
		name, args, _ := strings.Cut(rest, " ")
		return tool(name, args)
	}
	t.Fatalf("%s: %q is no call", saysFile, line)
	return approver.ToolCall{}
}

// inWords returns the verdict on a call with what people read if they are asked about it.
func inWords(t testing.TB, e *reflexcore.Engine, call approver.ToolCall) (approver.Verdict, error) {
	t.Helper()
	v, err := e.Judge(t.Context(), call)
	if v.Decision <= approver.Ask {
		v.Says = v.Says.Or(e.Sum(call))
	}
	return v, err
}

// What people read of a call that is stopped, call by call.
func TestSays(t *testing.T) {
	b, err := os.ReadFile(saysFile)
	if err != nil {
		t.Fatal(err)
	}
	e, calls := engine(t), 0
	var now strings.Builder
	for block := range strings.SplitSeq(strings.TrimSpace(string(b)), "\n\n") {
		first, want, _ := strings.Cut(block, "\n")
		if calls++; calls > 1 {
			now.WriteString("\n")
		}
		v, err := inWords(t, e, callOf(t, first))
		if err != nil {
			t.Fatal(err)
		}
		got := said(v)
		now.WriteString(first + "\n" + got)
		if strings.TrimRight(got, "\n") != strings.TrimRight(want, "\n") && !*update {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", first, got, want)
		}
	}
	if calls < 60 {
		t.Errorf("there are %d calls: at least 60", calls)
	}
	if *update {
		if err := os.WriteFile(saysFile, []byte(now.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// saysWell checks what holds of everything that people read.
func saysWell(t *testing.T, call approver.ToolCall, v approver.Verdict) {
	t.Helper()
	texts := allTexts()
	phrases := append([]display.Phrase{v.Says.Title, v.Says.Why, v.Says.Undo}, v.Says.Does...)
	for _, p := range phrases {
		if n := strings.Count(p.Text, "%s"); n != len(p.Args)+len(p.Own) {
			t.Errorf("%+v: %q has room for %d words and %d are given", call, p.Text, n, len(p.Args))
		}
		for _, a := range p.Args {
			if strings.ContainsAny(a, "\n\r\v\f\x00\u0085\u2028\u2029") || a == "" ||
				p.Text != v.Says.Why.Text && utf8.RuneCountInString(a) > 60 {
				t.Errorf("%+v: %q has the word %q", call, p.Text, a)
			}
		}
	}
	for _, p := range append([]display.Phrase{v.Says.Title, v.Says.Undo}, v.Says.Does...) {
		if !p.IsZero() && !texts[p.Text] {
			t.Errorf("%+v: %q is no text that a catalog knows", call, p.Text)
		}
	}
	for _, own := range v.Says.Undo.Own {
		if !texts[own] {
			t.Errorf("%+v: %q is no loss that a catalog knows", call, own)
		}
	}
	if len(v.Says.Does) > 5 {
		t.Errorf("%+v does %d things", call, len(v.Says.Does))
	}
	if part := v.Says.Part; part != "" && (!strings.Contains(call.Command, part) || part == call.Command) {
		t.Errorf("%q is no part of %q", part, call.Command)
	}
}

var allTexts = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, text := range reflexcore.Texts() {
		out[text] = true
	}
	return out
})

// Most rules have a title, and what is said of each is well formed. A call that goes on says nothing.
func TestSaysOfRules(t *testing.T) {
	if testing.Short() {
		t.Skip("it computes in one goroutine: the race detector, which runs the short tests, has nothing to find")
	}
	rules, err := configs.DefaultRules()
	if err != nil {
		t.Fatal(err)
	}
	e, asked, titled := engine(t), 0, 0
	for _, r := range rules {
		for _, x := range append(slices.Clone(r.Match), r.Pass...) {
			call := x.Call()
			v, err := inWords(t, e, call)
			if err != nil {
				t.Fatal(err)
			}
			saysWell(t, call, v)
			switch {
			case v.Decision > approver.Warn && !reflect.DeepEqual(v.Says, display.Summary{}):
				t.Errorf("%+v goes on, and says %+v", call, v.Says)
			case v.Decision <= approver.Ask:
				if asked++; !v.Says.Title.IsZero() {
					titled++
				}
				if v.Says.Why.IsZero() {
					t.Errorf("%+v: %s does not say why", call, v.Rule)
				}
			}
		}
	}
	t.Logf("%d of %d calls have a title", titled, asked)
	if titled*100 < asked*93 {
		t.Errorf("%d of %d calls have a title", titled, asked)
	}
}

// The rule of a project speaks for itself, and no word of it is a format.
func TestSaysProjectRule(t *testing.T) {
	e := engine(t)
	mine := reflexcore.Rule{ID: "mine", Category: "publishing", Decision: approver.Ask, Severity: approver.High,
		Confidence: 0.9, Reason: "100% sure: %s is ours", Layer: reflexcore.ProjectLayer,
		When: []reflexcore.Condition{{Effects: []effect.Kind{effect.Publish}, By: []string{"git push"}}}}
	for layer, want := range map[reflexcore.Layer]string{
		reflexcore.ProjectLayer: "A rule of the project says: 100% sure: %s is ours",
		reflexcore.UserLayer:    "100% sure: %s is ours",
	} {
		mine.Layer = layer
		set, err := reflexcore.Compile([]reflexcore.Rule{mine})
		if err != nil {
			t.Fatal(err)
		}
		e.Project = func(string) *reflexcore.Rules { return set }
		v, err := inWords(t, e, bash("git push origin topic"))
		if err != nil || v.Rule != "mine" || v.Says.Why.Plain() != want {
			t.Errorf("%s: got %s %q, want %q", layer, v.Rule, v.Says.Why.Plain(), want)
		}
	}
}

// A part is a part of the command, and no word breaks a line, whatever the command is.
func FuzzSays(f *testing.F) {
	b, err := os.ReadFile(saysFile)
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if command, is := strings.CutPrefix(line, "$ "); is && len(command) < 1000 {
			f.Add(strings.TrimSpace(strings.ReplaceAll(command, `\n`, "\n")))
		}
	}
	f.Add("rm -rf '/home/ada/a\nb'; rm -rf $'/home/ada/c\u2028d' | sh")
	e := engine(f)
	f.Fuzz(func(t *testing.T, command string) {
		call := bash(command)
		v, err := inWords(t, e, call)
		if err != nil {
			t.Fatal(err)
		}
		saysWell(t, call, v)
	})
}

// What people read of a call is of that very call: another one with the same id, which its agent chooses, is judged
// by itself, and so is a call that was judged long ago.
func TestSumIsOfTheCallItself(t *testing.T) {
	e := engine(t)
	call := func(id, command string) approver.ToolCall {
		c := bash(command)
		c.ID = id
		return c
	}
	remove, push := call("1", "rm -rf ~/projects"), call("1", "git push --force origin main")
	want := map[string]string{}
	for _, c := range []approver.ToolCall{remove, push} {
		want[c.Command] = e.Sum(c).Title.Plain()
	}
	for name, after := range map[string]approver.ToolCall{"same": remove, "other": push} {
		if v, err := e.Judge(t.Context(), remove); err != nil || v.Decision != approver.Ask {
			t.Fatalf("%v, %v", v.Decision, err)
		}
		for range 2 {
			if got := e.Sum(after).Title.Plain(); got != want[after.Command] || got == "" {
				t.Errorf("%s: got %q, want %q", name, got, want[after.Command])
			}
		}
	}
	for n := range 200 {
		c := call(strconv.Itoa(n), fmt.Sprintf("rm -rf ~/projects/p%d", n))
		if _, err := e.Judge(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 200 {
		c := call(strconv.Itoa(n), fmt.Sprintf("rm -rf ~/projects/p%d", n))
		if got := e.Sum(c).Title.Plain(); !strings.HasSuffix(got, fmt.Sprintf("p%d", n)) {
			t.Errorf("call %d: got %q", n, got)
		}
	}
}
