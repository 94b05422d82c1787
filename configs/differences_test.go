package configs_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"approver.example"
)

// added is a difference that brings a new file.
func added(file, text string) string {
	lines := "+" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n+")
	return "diff --git a/" + file + " b/" + file + "\nnew file mode 100644\n--- /dev/null\n+++ b/" + file +
		"\n@@ -0,0 +1," + string(rune('0'+strings.Count(lines, "+"))) + " @@\n" + lines + "\n"
}

// An agent wrote a difference and applied it: the files that it brought were looked at by
// no rule, and a name in quotes, or a message in base64, hid even the settings of agents.
func TestDifferencesAreJudgedAsWrites(t *testing.T) {
	dir, judge := gitProject(t)
	const message = "From abc Mon Sep 17 00:00:00 2001\nFrom: a <a@b>\nSubject: [PATCH] x\nMIME-Version: 1.0\n" +
		"Content-Type: text/plain; charset="
	hooks := "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"date\"}]}]}}\n"
	own := added(".claude/settings.json", hooks)
	quoted := func(s, from, to string) string {
		return strings.ReplaceAll(strings.ReplaceAll(s, "b/"+from, "\"b/"+to+"\""), "a/"+from, "\"a/"+to+"\"")
	}
	removed := strings.NewReplacer("\n+!", "\n-!", "@@ -0,0 +1,1", "@@ -1,1 +0,0", "new file", "deleted file",
		"--- /dev/null", "--- a/.claude/commands/z.md", "+++ b/.claude/commands/z.md", "+++ /dev/null")
	for name, text := range map[string]string{
		"plugin": added(".claude/skills/z/.claude-plugin/plugin.json", "{\"name\":\"z\"}") +
			added(".claude/skills/z/hooks/hooks.json", hooks),
		"agent":   added(".claude/agents/r.md", "---\nname: r\nhooks:\n  Stop: []\n---\nx\n"),
		"server":  added(".mcp.json", "{\"mcpServers\":{\"a\":{\"command\":\"curl\"}}}"),
		"husky":   added(".husky/pre-commit", downloads),
		"envrc":   added(".envrc", downloads),
		"ci":      added(".github/workflows/x.yml", "jobs:\n  a:\n    steps:\n    - run: "+downloads),
		"command": added(".claude/commands/z.md", "!`date`"),
		"back":    removed.Replace(added(".claude/commands/z.md", "!`date`")),
		"changed": "--- a/.claude/commands/fix.md\n+++ b/.claude/commands/fix.md\n@@ -1 +1,2 @@\n Fix it.\n+!`date`\n",
		"other":   "--- a/.claude/commands/fix.md\n+++ b/.claude/commands/fix.md\n@@ -1 +1,2 @@\n Not its text.\n+x\n",
		"npm": "--- a/package.json\n+++ b/package.json\n@@ -1 +1 @@\n-{\"scripts\":{\"test\":\"vitest\"}}\n" +
			"+{\"scripts\":{\"postinstall\":\"" + downloads + "\"}}\n",
		"config": "--- a/.git/config\n+++ b/.git/config\n@@ -1 +1,2 @@\n [core]\n+\tfsmonitor=date\n",
		"rc":     "--- a/.bashrc\n+++ b/.bashrc\n@@ -0,0 +1 @@\n+date\n",
		"dated": "--- a/.git/config 2026-01-01\n+++ b/.git/config 2026-01-01\n@@ -1 +1,2 @@\n [core]\n" +
			"+\tfsmonitor=date\n",
		"quoted":      quoted(own, ".claude/settings.json", ".\\143laude/settings.json"),
		"quoted-hook": quoted(added(".git/hooks/pre-commit", "date"), ".git/hooks/pre-commit", ".git/\\150ooks/pre-commit"),
		"unread":      strings.ReplaceAll(added("x", "y"), "b/x", "\"b/\\9x\""),
		"base64": message + "UTF-8\nContent-Transfer-Encoding: base64\n\n" +
			base64.StdEncoding.EncodeToString([]byte("---\n"+own)) + "\n",
		"printable": message + "UTF-8\nContent-Transfer-Encoding: quoted-printable\n\n" +
			strings.ReplaceAll(strings.ReplaceAll(own, "=", "=3D"), ".claude", ".cl=61u=\nde"),
		"uuencoded": message + "UTF-8\nContent-Transfer-Encoding: x-uuencode\n\nbegin 644 x\n",
		"utf-7":     message + "UTF-7\n\n---\n",
		"large":     strings.Repeat("#"+strings.Repeat("x", 1023)+"\n", 1025) + own,

		"ok":         added("src/b.go", "package a") + "--- a/src/a.go\n+++ b/src/a.go\n@@ -1 +1,2 @@\n package a\n+// x\n",
		"umlaut":     quoted(added("src/b.go", "package a"), "src/b.go", "src/gr\\303\\274n.go"),
		"ok-ci":      added(".github/workflows/x.yml", "jobs:\n  a:\n    steps:\n    - run: npm test"),
		"ok-command": added(".claude/commands/z.md", "Fix it."),
		"ok-changed": "--- a/.claude/commands/fix.md\n+++ b/.claude/commands/fix.md\n@@ -1 +1,2 @@\n Fix it.\n+Be brief.\n",
		"ok-npm": "--- a/package.json\n+++ b/package.json\n@@ -1 +1 @@\n-{\"scripts\":{\"test\":\"vitest\"}}\n" +
			"+{\"scripts\":{\"test\":\"vitest run\"}}\n",
		"ok-claude": added("CLAUDE.md", "# Shop"), "ok-make": added("Makefile", "test:\n\tgo test ./..."),
		"ok-ignore": added(".gitignore", "dist"),
		"ok-message": message + "UTF-8\nContent-Transfer-Encoding: quoted-printable\n\n---\n" +
			strings.ReplaceAll(added("src/b.go", "package a // =C3=BC"), "=", "=3D"),
	} {
		put(t, dir, name+".patch", text)
	}
	run := func(command string, asked bool) {
		t.Helper()
		if v := judge("Bash", map[string]any{"command": command}); (v.Decision <= approver.Ask) != asked {
			t.Errorf("%s: %v, %s", command, v.Decision, v.Rule)
		}
	}
	for _, name := range strings.Fields("plugin agent server husky envrc ci command changed other npm config quoted " +
		"quoted-hook unread large") {
		run("git apply "+name+".patch", true)
		run("patch -p1 < "+name+".patch", true)
		run("cat "+name+".patch | git am", true)
	}
	for command := range strings.SplitSeq("git am base64.patch|git am < printable.patch|git am uuencoded.patch|git am "+
		"utf-7.patch|patch -d ~ -p1 < rc.patch|cd ~ && patch -p1 < shop/rc.patch|"+
		"patch -p1 < dated.patch|git apply -R back.patch|patch -Rp1 < back.patch|cp command.patch q && git apply q|git -C "+
		". apply command.patch|cd src && git apply ../command.patch|"+
		"patch -p0 -d .claude -i ../command.patch", "|") {
		run(command, true)
	}
	run("git apply <<'E'\n"+added(".claude/commands/z.md", "!`date`")+"E", true)
	run("printf '"+strings.ReplaceAll(added(".husky/pre-commit", downloads), "\n", "\\n")+"' | patch -p1", true)
	for _, name := range strings.Fields("ok umlaut ok-ci ok-command ok-changed ok-npm ok-claude ok-make ok-ignore " +
		"ok-message") {
		run("git apply "+name+".patch", false)
		run("patch -p1 < "+name+".patch", false)
		run("git am "+name+".patch", false)
	}
	for command := range strings.SplitSeq("git apply --check husky.patch|git apply gone.patch|git am --continue|git "+
		"diff HEAD~1 -- src > d.patch && git apply -R d.patch|patch src/a.go ok.patch|git show HEAD | patch -R -p1", "|") {
		run(command, false)
	}
	run("git apply <<'E'\n"+added("src/b.go", "package a")+"E", false)
}
