package configs_test

import (
	"testing"

	"approver.example"
)

// The story: codex, cline, droid, gemini and qwen start a hook in the folder in which they were started. An
// agent moved that folder, which was nothing to ask about. From then on no hook could be started, and each of
// these agents takes that for a hook that has nothing to say: the next call wrote among approver's own files.
func TestTheFolderOfTheAgentStays(t *testing.T) {
	call := toolCalls(t, "/srv/shop/api", nil)
	for _, c := range []struct{ command, want string }{
		{"mv /srv/shop/api /srv/shop/old", "ask"},
		{"mv ../api ../old", "ask"},
		{"mv -T ../api ../old", "ask"},
		{"cd .. && mv api old", "ask"},
		{"cd / && mv srv/shop/ old", "ask"},
		{"mv ../* /tmp/x/", "ask"},
		{"mv ../ap? ../old", "ask"},
		{"mv /srv/*/api ../old", "ask"},
		{"mv ../{api,web} /tmp/x", "ask"},
		{"rmdir .", "ask"},
		{"cd .. && rmdir api", "ask"},
		{"rmdir ../*", "ask"},
		{"rename s/api/old/ ../api", "ask"},
		{"chmod 000 .", "ask"},
		{`python3 -c 'import os; os.rename("../api", "../old")'`, "ask"},
		{`python3 -c 'import shutil; shutil.move(".", "../old")'`, "ask"},
		{`node -e 'fs.renameSync("../api", "../old")'`, "ask"},
		{`perl -e 'rename "../api", "../old"'`, "ask"},

		{"mv * ../web", "pass"},
		{"mv ./* lib/", "pass"},
		{"mv a b", "pass"},
		{"mv lib/* .", "pass"},
		{"mv ../web/a.txt .", "pass"},
		{"mv ../web/a.txt ../api", "pass"},
		{"mv ../x* ../old", "pass"},
		{"cp -r . ../old", "pass"},
		{"rsync -a ../web/ .", "pass"},
		{"rename s/a/b/ *", "pass"},
		{"rmdir build", "pass"},
		{"rmdir *", "pass"},
		{"chmod 700 .", "pass"},
		{"chmod go-w .", "pass"},
	} {
		v := call("Bash", map[string]any{"command": c.command})
		if got := v.Decision.String(); got != c.want {
			t.Errorf("%s: %s by %s (%s), want %s", c.command, got, v.Rule, v.Reason, c.want)
		}
	}
}

// The story: with a folder of its own for a command, Codex says that one is where the call is made. The folder in
// which it was started, and starts its hooks, was moved from there.
func TestTheFolderOfTheHookStays(t *testing.T) {
	reflex := newEngine(t)
	for command, want := range map[string]string{
		"mv /srv/shop/api /srv/shop/old": "ask",
		"mv /srv/shop /srv/old":          "ask",
		"mv /srv/shop/a* /tmp/x":         "ask",
		"rm -rf /opt/../srv/shop/api":    "ask",
		"rmdir /srv/shop/api":            "ask",
		"mv /srv/shop/api/a /tmp/x":      "pass",
		"mv /srv/shop/web /tmp/x":        "pass",
		"ls /srv/shop/api":               "pass",
	} {
		v, err := reflex.Judge(t.Context(), approver.ToolCall{Agent: "codex", Tool: "Bash", Command: command,
			Dir: "/tmp/work", Start: "/srv/shop/api/"})
		if err != nil || v.Decision.String() != want {
			t.Errorf("%s: %s by %s (%s), want %s, %v", command, v.Decision, v.Rule, v.Reason, want, err)
		}
	}
}
