package canary_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"approver.example/agents/canary"
	"approver.example/agents/canary/model"
)

// Each real agent makes the one call of the model, without a hook, and tells the model the result.
// What it offers is logged: see it with -v.
func TestRealAgentsMakeACall(t *testing.T) {
	for _, a := range reals() {
		t.Run(a.recipe.Agent, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			program := a.program(t, home)
			marker := filepath.Join(home, "work", "marker")
			if err := os.Mkdir(filepath.Dir(marker), 0o700); err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			var results []model.Result
			server := model.Server{Next: func(_ context.Context, c model.Conversation) []model.Call {
				mu.Lock()
				defer mu.Unlock()
				results = append(results, c.Results...)
				if c.Turn > 0 {
					return nil
				}
				t.Logf("it offers\n%s", listed(c.Tools))
				return []model.Call{a.recipe.Call("call1", "touch "+marker)}
			}}
			ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
			defer cancel()
			url, wait, err := server.Listen(ctx)
			if err != nil {
				t.Fatal(err)
			}
			cmd, err := a.recipe.Command(ctx, program, canary.Setting{
				URL: url, Dir: filepath.Dir(marker), Temp: t.TempDir(), Command: "touch " + marker,
				Env: a.environment(home),
			})
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			start := time.Now()
			err = cmd.Run()
			t.Logf("%v after %.1f s", err, time.Since(start).Seconds())
			if err := canary.End(cmd); err != nil {
				t.Error(err)
			}
			if _, statErr := os.Stat(marker); err != nil || statErr != nil {
				t.Errorf("%v, %v; it printed %s", err, statErr, &out)
			}
			mu.Lock()
			if len(results) != 1 || !strings.Contains(results[0].ID, "call1") || results[0].Failed {
				t.Errorf("the model was told %+v", results)
			}
			mu.Unlock()
			cancel()
			if err := wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// listed lists tools with the names of their arguments.
func listed(tools []model.Tool) string {
	var all strings.Builder
	for _, tool := range tools {
		var schema struct{ Properties map[string]any }
		_ = json.Unmarshal(tool.Input, &schema) // without a schema there are no names
		about, _, _ := strings.Cut(tool.About, "\n")
		fmt.Fprintf(&all, "%s %v: %.80s\n", tool.Name, slices.Sorted(maps.Keys(schema.Properties)), about)
	}
	return all.String()
}

// The canary of each real agent finds whether the user's own hook stops the call: with the usual
// settings of the user in force, and not with a model of the user's.
func TestRealAgentsCanary(t *testing.T) {
	for _, a := range reals() {
		for _, tt := range []struct {
			name, reason string
			want         canary.Outcome
		}{
			{"no hook", "", canary.Ran},
			{"a hook that stops it", approverSays, canary.Stopped},
			{"without a daemon", "approver is not running, so the call was stopped", canary.StoppedAlone},
			{"another one's", "no", canary.NotProven},
		} {
			t.Run(a.recipe.Agent+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				home := t.TempDir()
				program := a.program(t, home)
				if tt.reason != "" {
					a.install(t, home, tt.reason)
				}
				work := filepath.Join(home, "work")
				if err := os.Mkdir(work, 0o700); err != nil {
					t.Fatal(err)
				}
				r := canary.Run(t.Context(), canary.Options{
					Recipe: a.recipe, Program: program, Dir: work,
					Env: a.environment(home),
				})
				t.Logf("%.1f s", r.Took.Seconds())
				if r.Outcome != tt.want {
					t.Errorf("%+v", r)
				}
			})
		}
	}
}
