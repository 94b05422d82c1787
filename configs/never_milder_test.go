package configs_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"approver.example"
	"approver.example/configs"
	"approver.example/reflexcore"
)

// dangerous are the commands of testdata/dangerous.txt.
func dangerous(t testing.TB) (out []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/dangerous.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			out = append(out, line)
		}
	}
	return out
}

// verdicts judges as the hook's answer is made: the built-in rules and the default
// policy, the strictest of both. The stages behind them only tighten, and by the letters
// of a text; what they would add is no help here.
func verdicts(t testing.TB) func(command string) approver.Verdict {
	t.Helper()
	rules, err := configs.DefaultRules()
	if err != nil {
		t.Fatal(err)
	}
	reflex, err := reflexcore.New(rules, reflexcore.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	stages := []approver.Stage{reflex, defaultPolicy(t)}
	return func(command string) approver.Verdict {
		call := exampleCall("x")
		call.Command, call.Env = command, map[string]string{"HOME": "/home/ada"}
		strictest := approver.Verdict{Decision: approver.Allow}
		for _, stage := range stages {
			v, err := stage.Judge(context.Background(), call)
			if err != nil {
				t.Fatal(err)
			}
			if v.Decision < strictest.Decision {
				strictest = v
			}
		}
		return strictest
	}
}

// Each of the plain commands is asked about or denied: the fuzzer compares with that.
func TestDangerousCommands(t *testing.T) {
	judge := verdicts(t)
	list := dangerous(t)
	for _, command := range list {
		if v := judge(command); v.Decision > approver.Ask {
			t.Errorf("%s: %v", command, v.Decision)
		}
	}
	if len(list) < 300 {
		t.Errorf("%d commands", len(list))
	}
}

// However a dangerous command is written, it is not judged more mildly than as it stands.
func FuzzNeverMilder(f *testing.F) {
	judge := verdicts(f)
	list := dangerous(f)
	plain := make([]approver.Decision, len(list))
	for i, command := range list {
		plain[i] = judge(command).Decision
		f.Add(uint16(i), bytesOf(i))
	}
	f.Fuzz(func(t *testing.T, n uint16, data []byte) {
		i := int(n) % len(list)
		text := spelled(list[i], data)
		if v := judge(text); v.Decision > plain[i] {
			t.Fatalf("%s\n is %v, and written as\n%s\n it is %v (%s)", list[i], plain[i], text, v.Decision, v.Rule)
		}
	})
}
