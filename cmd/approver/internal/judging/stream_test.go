package judging

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"approver.example/configs"
	"approver.example/shieldcore"
)

func testJudge(t testing.TB, agent string) *Judge {
	t.Helper()
	policy, err := shieldcore.Load("policy.default.yaml", configs.DefaultPolicyYAML())
	if err != nil {
		t.Fatal(err)
	}
	reflex, err := ReflexOf(configs.Default())
	if err != nil {
		t.Fatal(err)
	}
	j, err := New(agent, reflex, policy)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// A million calls: one line out for each, in order, in memory that does not
// grow. With -short it is fewer.
func TestJudgeStreams(t *testing.T) {
	lines := 50_000
	if testing.Short() {
		lines = 2_000
	}
	in, feed := io.Pipe()
	out, sink := io.Pipe()
	go func() {
		w := bufio.NewWriter(feed)
		for i := range lines {
			if i%1000 == 7 {
				fmt.Fprintln(w, "garbage")
				continue
			}
			fmt.Fprintf(w, "{\"id\":%d,\"tool\":\"Bash\",\"command\":\"echo %d\"}\n", i, i)
		}
		w.Flush()
		feed.Close()
	}()
	bad := make(chan int, 1)
	go func() {
		n, err := testJudge(t, "").Stream(t.Context(), in, sink)
		sink.CloseWithError(err)
		bad <- n
	}()
	var before, after runtime.MemStats
	i := 0
	for s := bufio.NewScanner(out); s.Scan(); i++ {
		if i == lines/10 {
			runtime.GC()
			runtime.ReadMemStats(&before)
		}
		want := fmt.Sprintf(`{"id":%d,"decision":"pass",`, i)
		if i%1000 == 7 {
			want = fmt.Sprintf(`"line":%d}`, i+1)
		}
		if !strings.Contains(s.Text(), want) {
			t.Fatalf("line %d: %s", i+1, s.Text())
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if n := <-bad; i != lines || n != lines/1000 {
		t.Errorf("%d lines, %d bad ones", i, n)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}

func TestJudgeLines(t *testing.T) {
	long := `{"id":1,"tool":"Bash","command":"` + strings.Repeat("x", 5<<20) + "\"}\n"
	for name, tt := range map[string]struct{ agent, in, want string }{
		"too long, then good": {"", long + `{"id":2,"tool":"Bash","command":"ls"}` + "\n",
			`{"error":"the line is longer than 4194304 bytes","line":1}|{"id":2,"decision":"pass"`},
		"no tool":      {"", `{"id":1}`, `{"error":"\"tool\" is missing","line":1}`},
		"empty lines":  {"", "\n\n" + `{"tool":"Bash"}`, `"line":3}`},
		"twice":        {"", `{"tool":"Bash","command":"ls","args":{"command":"rm"}}`, `given twice`},
		"args a text":  {"", `{"tool":"Read","args":"x"}`, `\"args\" is not an object`},
		"relative cwd": {"", `{"tool":"Bash","command":"ls","cwd":"x"}`, `not an absolute path`},
		"cwd": {"", `{"id":1,"tool":"Write","cwd":"/etc","args":{"file_path":"hosts","content":""}}`,
			`"rule":"write_hosts"`},
		"last line": {"", `{"id":{"a":1},"tool":"Bash","command":"rm -rf /"}`,
			`{"id":{"a":1},"decision":"deny","severity":"CATASTROPHIC","by":"reflex","rule":"delete_root"`},
		"native": {"claude",
			`{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/x","tool_name":"Bash","tool_input":{"command":"git ` +
				`push -f"},"tool_use_id":"t1"}`,
			`{"id":"t1","decision":"ask","severity":"HIGH","by":"reflex","rule":"git_force_push"`},
		"native, nothing to decide": {"claude", `{"hook_event_name":"SessionStart","session_id":"s","cwd":"/x"}`,
			`"decision":"pass","by":"agents"`},
		"native, bad": {"claude", `{"hook_event_name":"PreToolUse"}`, `{"error":"the payload is not what Claude Code sends`},
	} {
		var out bytes.Buffer
		if _, err := testJudge(t, tt.agent).Stream(t.Context(), strings.NewReader(tt.in), &out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for want := range strings.SplitSeq(tt.want, "|") {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: got %s, want %s", name, out.String(), want)
			}
		}
		for line := range strings.Lines(out.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: not JSON: %s", name, line)
			}
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	j := testJudge(b, "")
	line := []byte(`{"id":1,"tool":"Bash","command":"git commit -m \"mend the parser\""}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := j.judgeLine(b.Context(), line); err != nil {
			b.Fatal(err)
		}
	}
}

// Commands of the sizes for which docs and limits name a time.
func BenchmarkJudgeLong(b *testing.B) {
	words := "for f in src/*.go; do echo \"$f\" | sed -e 's/a/b/' >> out.txt; done # a comment\n"
	for name, command := range map[string]string{
		"10KB script":  strings.Repeat(words, 10<<10/len(words)),
		"10KB one":     "echo " + strings.Repeat("x", 10<<10),
		"10KB rm":      strings.Repeat("rm build/cache/object-file.o\n", 10<<10/29),
		"10KB install": strings.Repeat("install -m 0644 build/object.o dist/lib/object.o && ", 200),
	} {
		b.Run(name, func(b *testing.B) {
			j := testJudge(b, "")
			line, err := json.Marshal(map[string]any{"id": 1, "tool": "Bash", "command": command})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := j.judgeLine(b.Context(), line); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
