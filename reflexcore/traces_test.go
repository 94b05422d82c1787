package reflexcore_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/reflexcore"
	"approver.example/reflexcore/loop"
	"approver.example/reflexcore/memory"
)

// A traced is a line of a trace: a call and what came of it. The first line has
// the title only.
type traced struct {
	Title   string          `json:"title"`
	Tool    string          `json:"tool"`
	Command string          `json:"command"`
	Args    json.RawMessage `json:"args"`
	Result  string          `json:"result"`
	Error   string          `json:"error"`
}

func readTrace(t *testing.T, name string) (title string, calls []traced) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var c traced
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c.Title != "" {
			title = c.Title
			continue
		}
		if c.Command == "" && c.Tool == "Bash" { // with a description
			var args struct{ Command string }
			_ = json.Unmarshal(c.Args, &args)
			c.Command = args.Command
		}
		calls = append(calls, c)
	}
	return title, calls
}

// An outcome is what became of a trace: the calls at which it was warned and
// asked, with the rules.
type outcome struct {
	title         string
	calls         int
	warned, asked []string
	first         string
}

// play judges a trace call by call; people say yes to what they are asked.
func play(t *testing.T, e *reflexcore.Engine, name string) outcome {
	t.Helper()
	e = e.With(memory.New(nil, loop.DefaultLimits, slog.New(slog.DiscardHandler)))
	title, calls := readTrace(t, name)
	out := outcome{title: title, calls: len(calls)}
	for i, c := range calls {
		call := approver.ToolCall{Agent: "claude", Session: "s", Tool: c.Tool, Command: c.Command, Args: c.Args,
			Dir: "/home/ada/shop", Env: map[string]string{"HOME": "/home/ada"}, At: time.Unix(1e9, 0)}
		v, err := e.Judge(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		if rule, ok := strings.CutPrefix(v.Rule, "loop."); ok {
			at := fmt.Sprintf("%d (%s)", i+1, rule)
			if v.Decision == approver.Ask {
				out.asked = append(out.asked, at)
			} else {
				out.warned = append(out.warned, at)
			}
			if out.first == "" {
				out.first = v.Reason
			}
		}
		e.Ran(t.Context(), call, reflexcore.Result{Output: c.Error + c.Result, Failed: c.Error != ""})
	}
	return out
}

// cell shows the calls at which something was said.
func cell(at []string) string {
	const most = 3
	if len(at) == 0 {
		return "–"
	}
	text := strings.Join(at[:min(most, len(at))], ", ")
	if len(at) > most {
		text += fmt.Sprintf(" and %d more", len(at)-most)
	}
	return text
}

// The traces are what the loopbreaker is measured on: each that is stuck is warned
// in time, each honest one is left alone. The page has the table.
func TestTraces(t *testing.T) {
	const page = "../docs/loopbreaker.md"
	e := engine(t)
	files, err := filepath.Glob("loop/testdata/*.jsonl")
	if err != nil || len(files) < 36 {
		t.Fatalf("%d traces, want 36: %v", len(files), err)
	}
	kinds := map[string]int{}
	var table strings.Builder
	table.WriteString("| trace | calls | what happens | warned at call | asked at call |\n|---|---|---|---|---|\n")
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		kind, _, _ := strings.Cut(name, "-")
		kinds[kind]++
		out := play(t, e, file)
		fmt.Fprintf(&table, "| %s | %d | %s | %s | %s |\n", name, out.calls, out.title, cell(out.warned), cell(out.asked))
		switch {
		case kind == "honest" && out.first != "":
			t.Errorf("%s is honest: warned at %s, asked at %s: %s", name, cell(out.warned), cell(out.asked), out.first)
		case kind != "honest" && len(out.warned) == 0:
			t.Errorf("%s is stuck, and nobody was warned", name)
		case len(out.asked) > 0 && len(out.warned) == 0:
			t.Errorf("%s: a person was asked before the agent was warned", name)
		}
	}
	if kinds["loop"] < 12 || kinds["spiral"] < 10 || kinds["honest"] < 14 {
		t.Errorf("traces: %v, want 12 that loop, 10 that spiral and 14 that are honest", kinds)
	}
	if os.Getenv("SHOW") != "" {
		t.Log("\n" + table.String())
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- traces -->\n", "<!-- end of traces -->\n"
	before, rest, ok := strings.Cut(string(got), begin)
	have, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", page)
	}
	if have == table.String() {
		return
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+begin+table.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s has another table: run go test ./reflexcore -run TestTraces -update", page)
}
