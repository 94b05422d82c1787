package tryhook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example/agents"
)

// Root ran "approver doctor --agent claude" in the folder of an agent that had made its
// own configuration unreadable for doctor. The look at it ended early, before doctor
// became that user, and the hook test went on: Claude Code ran the hooks of the agent's
// project as root. Now root starts it only where every setting is root's own.
func TestRootRunsNobodysHooks(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give files to others")
	}
	for name, tt := range map[string]struct {
		theirs string // what belongs to uid 61000
		sudo   string
		euid   int
		want   string
	}{
		"root's own":            {want: ""},
		"a user's folder":       {theirs: ".", want: "uid 61000"},
		"a folder above":        {theirs: "..", want: "uid 61000"},
		"settings of a user":    {theirs: ".claude", want: "uid 61000"},
		"one file of a user":    {theirs: ".claude/settings.json", want: "uid 61000"},
		"the local file":        {theirs: ".claude/settings.local.json", want: "uid 61000"},
		"settings above":        {theirs: "../.claude/settings.json", want: "uid 61000"},
		"by sudo":               {sudo: "61000", want: "a user's settings"},
		"by sudo, of root":      {sudo: "0", want: ""},
		"a user, in their own":  {theirs: ".", euid: 61000, want: ""},
		"a folder that is away": {theirs: "gone", want: "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			above := t.TempDir()
			dir := filepath.Join(above, "project")
			for _, f := range []string{"../.claude/settings.json", ".claude/settings.json", ".claude/settings.local.json"} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, f)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, f), []byte("{}"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			switch tt.theirs {
			case "":
			case "gone":
				dir = filepath.Join(dir, "gone")
			default:
				if err := os.Chown(filepath.Join(dir, tt.theirs), 61000, 61000); err != nil {
					t.Fatal(err)
				}
			}
			got := othersAgent(agents.Claude{}.Files(), tt.euid, tt.sudo, dir)
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("it says %q, want %q", got, tt.want)
			}
		})
	}
}
