package bench

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	"approver.example"
	"approver.example/configs"
	"approver.example/fingerprint"
	"approver.example/gate"
	"approver.example/reflexcore"
	"approver.example/shieldcore/classifier"
)

// judgeCalls are a few kinds of calls, from everyday ones to a catastrophic one.
var judgeCalls = []struct{ kind, tool, command string }{
	{"plain shell", "Bash", "git status --short && go test ./..."},
	{"long shell", "Bash", strings.Repeat("printf '%s\\n' \"$line\" | sed -e 's/a/b/' >> out.log; ", 10)},
	{"10 KB shell", "Bash", strings.Repeat("install -m 0644 build/object.o dist/lib/object.o && ", 200) + "true"},
	{"asks people", "Bash", "git push --force origin main"},
	{"catastrophic", "Bash", "rm -rf /"},
	{"reads a file", "Read", ""},
}

// judge measures the whole fast path in this process: the reflex engine with the default rules, the
// default policy, the heuristics and the classifier.
func (b *bench) judge(ctx context.Context) ([]JudgeFigures, error) {
	policy, err := configs.Default().LoadPolicy()
	if err != nil {
		return nil, err
	}
	rules, err := configs.DefaultRules()
	if err != nil {
		return nil, err
	}
	reflex, err := reflexcore.New(rules, reflexcore.Limits{})
	if err != nil {
		return nil, err
	}
	heuristics, err := configs.Heuristics()
	if err != nil {
		return nil, err
	}
	model, err := classifier.Load()
	if err != nil {
		return nil, err
	}
	tier1 := []approver.Stage{heuristics, configs.Default().Shield.Classifier.Stage(model)}
	gate := &gate.Gate{Stages: append([]approver.Stage{reflex, policy}, tier1...), Tiers: approver.TierScreen,
		Log: slog.New(slog.DiscardHandler)}
	var out []JudgeFigures
	for _, c := range judgeCalls {
		call, err := judgeCall(c.tool, c.command)
		if err != nil {
			return nil, err
		}
		var took []time.Duration
		var v approver.Verdict
		for end := time.Now().Add(2 * time.Second); len(took) < b.judgeRuns && (len(took) == 0 || time.Now().Before(end)); {
			start := time.Now()
			v, _ = gate.Judge(ctx, call)
			took = append(took, time.Since(start))
		}
		out = append(out, JudgeFigures{
			Kind: c.kind, Bytes: len(call.Args), Decision: v.Decision.String(),
			P50US: microseconds(quantile(took, 0.50)), P99US: microseconds(quantile(took, 0.99)),
		})
	}
	return out, nil
}

// fingerprints measures, in this process, how long it takes to bind an approval to what would run:
// only the canonical form, and with the files of the command.
func (b *bench) fingerprints(ctx context.Context) (f FingerprintFigures, err error) {
	call, err := judgeCall("Bash", "git push --force origin main")
	if err != nil {
		return f, err
	}
	reflex, err := reflexcore.New(nil, reflexcore.Limits{}) // no rules are needed to find the files
	if err != nil {
		return f, err
	}
	binder := fingerprint.New(reflex)
	measure := func(path string) (float64, error) {
		call.Env = map[string]string{"PATH": path}
		var took []time.Duration
		for end := time.Now().Add(time.Second); len(took) < b.judgeRuns && (len(took) == 0 || time.Now().Before(end)); {
			start := time.Now()
			if path == "" {
				_, err = fingerprint.Bind(call, "bench", nil, nil)
			} else {
				_, err = binder.Of(ctx, call, "bench")
			}
			if err != nil {
				return 0, err
			}
			took = append(took, time.Since(start))
		}
		return microseconds(quantile(took, 0.5)), nil
	}
	d, err := b.prepare("fingerprint", embeddedStore)
	if err != nil {
		return f, err
	}
	for path, to := range map[string]*float64{"": &f.CanonicalUS, d.programs(): &f.SmallUS, "/usr/bin:/bin": &f.SystemUS} {
		if *to, err = measure(path); err != nil {
			return f, err
		}
	}
	return f, nil
}

func judgeCall(tool, command string) (approver.ToolCall, error) {
	args := map[string]string{"command": command}
	call := approver.ToolCall{ID: "bench", Agent: "claude", Tool: tool, Command: command, Dir: "/repo"}
	if command == "" {
		args = map[string]string{"file_path": "/repo/main.go"}
		call.Paths = []string{"/repo/main.go"}
	}
	var err error
	call.Args, err = json.Marshal(args)
	return call, err
}
