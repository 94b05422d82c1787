package judges

import (
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/broadcaster"
	"approver.example/configs"
	"approver.example/gate"
	"approver.example/shieldcore"
	"approver.example/store/sqlitestore"
)

// What the built-in policies make of the first use of a tool in a project: permissive finds nothing,
// the default one records it, strict asks. It is so for all sessions, and over a restart of the store.
func TestPresetsAndFirstUse(t *testing.T) {
	lib, err := configs.NewLibrary(nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	screens, err := LoadScreens()
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	for preset, want := range map[string][]string{ // the first use, the second, and that after a restart
		"permissive": {"pass ", "pass ", "pass "},
		"default":    {"pass first_use", "pass ", "pass "},
		"strict":     {"ask first_use", "ask first_use", "ask unknown_tool"}, // people say yes before the restart
	} {
		cfg := configs.Default()
		cfg.Policy = configs.PresetPrefix + preset
		engine, err := NewReflex(cfg, lib)
		if err != nil {
			t.Fatal(err)
		}
		policy, err := cfg.LoadPolicy()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "db")
		for i, want := range want {
			kv, err := sqlitestore.Open(sqlitestore.Config{Path: path}, log)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				if err := broadcaster.BeginControls(t.Context(), kv); err != nil {
					t.Fatal(err)
				}
			}
			j := &Judges{Reflex: engine, Policy: &shieldcore.Live{}, Screens: screens(cfg.Shield.Classifier, engine.Rules),
				Tools: &shieldcore.Tools{Store: kv, Project: engine.ProjectOf}}
			j.Policy.Set(policy)
			g := &gate.Gate{Stages: j.Stages(kv, nil), Tiers: approver.TierScreen, Log: log}
			call := approver.ToolCall{Agent: "claude", Session: string(rune('a' + i)), Tool: "mcp__x__frobnicate",
				Args: []byte(`{"n":1}`), Dir: "/home/ada/shop", Peer: approver.Peer{Known: true, UID: 1000},
				Env: map[string]string{"HOME": "/home/ada"}, At: time.Now()}
			v, _ := g.Judge(t.Context(), call)
			got := v.Decision.String() + " " + v.Rule
			if slices.ContainsFunc(v.Chain, func(f approver.Finding) bool {
				return f.Rule == shieldcore.RuleFirstUse && strings.Contains(f.Note, "no session of this project has used")
			}) {
				got = v.Decision.String() + " " + shieldcore.RuleFirstUse
			}
			if got != want {
				t.Errorf("%s, use %d: %s, want %s (%v)", preset, i+1, got, want, v.Chain)
			}
			if i == 1 && preset == "strict" {
				err = j.Tools.Answered(t.Context(), approver.Record{Event: approver.EventApproved, Call: call,
					Resolution: approver.Resolution{Approve: true, Cause: approver.ByPerson}})
			}
			if err != nil || kv.Close() != nil {
				t.Fatal(err)
			}
		}
	}
}
