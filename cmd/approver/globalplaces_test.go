package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"approver.example/agents/claudesettings"
)

// What Claude Code notes of a user is read beside ~/.claude and in the folder that
// CLAUDE_CONFIG_DIR names, by doctor, by the watch and when settings change.
func TestWatchReadsTheGlobalFiles(t *testing.T) {
	for _, home := range []string{".claude", "elsewhere"} {
		for _, name := range []string{".claude.json", ".claude-custom-oauth.json", ".config.json", "../.claude.json", "../.claude-custom-oauth.json"} {
			dir := filepath.Join(t.TempDir(), home)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(`{"env":{"CLAUDE_CODE_SIMPLE":"1"}}`), 0o600); err != nil {
				t.Fatal(err)
			}
			want := home == ".claude" || !strings.HasPrefix(name, "..")
			for _, p := range []claudePlaces{{managed: "/nowhere", home: dir}, {managed: "/nowhere", config: dir}} {
				found := claudesettings.Compare(p.sources(), claudesettings.Want{Hooks: map[string][]claudesettings.Matcher{"PreToolUse": nil}, In: "/x"})
				got := slices.ContainsFunc(found, func(f claudesettings.Finding) bool {
					return f.Path == path && strings.Contains(f.Text, "CLAUDE_CODE_SIMPLE")
				})
				if got != want {
					t.Errorf("%s in %s: found %v", name, home, found)
				}
			}
			in := installed{Path: filepath.Join(dir, "settings.json"), Hooks: map[string][]claudesettings.Matcher{"PreToolUse": nil}}
			weak := strings.Join((&hookWatch{managed: "/nowhere"}).weakness(in, installs{}), "\n")
			if got := strings.Contains(weak, "CLAUDE_CODE_SIMPLE"); got != want {
				t.Errorf("%s in %s: the watch says %s", name, home, weak)
			}
		}
	}
}
