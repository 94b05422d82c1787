package display

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A recordedCall is a call in testdata: one that was recorded of an agent, as its adapter reads it,
// or one that was made for these tests.
type recordedCall struct {
	Name      string          `json:"name"`
	Tool      string          `json:"tool"`
	Command   string          `json:"command"`
	Args      json.RawMessage `json:"args"`
	Claimed   string          `json:"claimed"`
	Dir       string          `json:"dir"`
	OwnShell  bool            `json:"own_shell"`
	Describes bool            `json:"describes"`
	Question  bool            `json:"question"`
}

func (r recordedCall) call() Call {
	return Call{Tool: r.Tool, Command: r.Command, Args: r.Args, Claimed: r.Claimed, Dir: r.Dir, OwnShell: r.OwnShell,
		Describes: r.Describes, Question: r.Question}
}

func recordedCalls(t testing.TB) (all []recordedCall) {
	t.Helper()
	data, err := os.ReadFile("testdata/calls.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var r recordedCall
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, r)
	}
	return all
}

// Each call of every agent reads as the golden file says.
func TestBodiesAndTitles(t *testing.T) {
	var b strings.Builder
	calls := recordedCalls(t)
	for _, r := range calls {
		blocks, obscured := r.call().Body()
		fmt.Fprintf(&b, "== %s\n%s\n", r.Name, PushLine("HIGH", said(r.call().Title()), ""))
		if obscured {
			b.WriteString("(obscured)\n")
		}
		for _, block := range blocks {
			b.WriteString(shownBlock(block))
		}
		if shown, before := r.call().Shown(); before != obscured {
			t.Errorf("%s: obscured is %t, and was %t in %s", r.Name, obscured, before, shown)
		}
	}
	got := maskedPattern().ReplaceAllString(b.String(), "‹hidden›") // the key of the notes is random
	if *update {
		if err := os.WriteFile("testdata/calls.golden", []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/calls.golden")
	if err != nil {
		t.Fatal(err)
	}
	gotParts, wantParts := strings.Split(got, "== "), strings.Split(string(want), "== ")
	for i := range min(len(gotParts), len(wantParts)) {
		if gotParts[i] != wantParts[i] {
			t.Errorf("got\n%s\nwant\n%s", gotParts[i], wantParts[i])
		}
	}
	if len(gotParts) != len(wantParts) || len(calls) < 60 {
		t.Errorf("%d calls, %d in the golden file", len(calls), len(wantParts)-1)
	}
}

func shownBlock(b Block) string {
	if b.Kind == Line {
		return "  " + b.Label + ": " + b.Text + "\n"
	}
	mark := map[BlockKind]string{Code: "  | ", Diff: "  ± "}[b.Kind]
	return "  [" + b.Label + "]\n" + mark + strings.ReplaceAll(b.Text, "\n", "\n"+mark) + "\n"
}

// What is no plain object is shown as it is: a key that is there twice, or half of a character.
func TestArgumentsThatAreNoPlainObject(t *testing.T) {
	for args, want := range map[string]string{
		`{"a":1,"a":2}`:       "  [Arguments]\n  | {\n  |   \"a\": 1,\n  |   \"a\": 2\n  | }\n  Tool: x\n",
		`{"a":{"b":1,"b":2}}`: "  [a (JSON)]\n  | {\n  |   \"b\": 1,\n  |   \"b\": 2\n  | }\n  Tool: x\n",
		`{"a":"\ud800x"}`:     "  [a (JSON)]\n  | \"\\ud800x\"\n  Tool: x\n",
		`{"a"`:                "  [Arguments]\n  | {\"a\"\n  Tool: x\n",
	} {
		got := ""
		blocks, _ := Call{Tool: "x", Args: []byte(args)}.Body()
		for _, b := range blocks {
			got += shownBlock(b)
		}
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", args, got, want)
		}
	}
}

// A value that Shown shows although it looks like a secret, because it says where the call acts, is
// shown in the blocks too.
func TestAValueThatMustBeSeenIsSeenInBlocks(t *testing.T) {
	c := Call{Tool: "deploy", Args: []byte(`{"env":"TOKEN=prod4417a1b2","cluster":"prod4417a1b2"}`)}
	shown, _ := c.Shown()
	blocks, _ := c.Body()
	if !strings.Contains(shown, "TOKEN=prod4417a1b2") || blocks[0].Text != "TOKEN=prod4417a1b2" {
		t.Errorf("%q, %q", shown, blocks)
	}
}

func TestAPushLineThatIsCut(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, c := range []struct{ title, where, want string }{
		{"Force-push main", "acme/shop", "🟠 HIGH · Force-push main (acme/shop)"},
		{"a · b", "c · d", "🟠 HIGH · a ⟨U+00B7⟩ b (c ⟨U+00B7⟩ d)"},
		{"a\nb", "", "🟠 HIGH · a ⏎ b"},
		{long, "acme/shop", "🟠 HIGH · " + long[:98] + "… (acme/shop)"},
		{"Edit", long, "🟠 HIGH · Edit (" + long[:104] + "…"},
		{long[:105] + "\u202e", "", "🟠 HIGH · " + long[:105] + "…"},
	} {
		if got := PushLine("HIGH", c.title, c.where); got != c.want {
			t.Errorf("%q\nwant %q", got, c.want)
		}
	}
}
