package agentstest

import (
	"strings"
	"testing"
)

// What is called, and how.
var callsScenarios = []scenario{
	{"script swapped after the card", swapped("./deploy.sh")},
	{"script by a pattern, swapped after the card", swapped("./dep*.sh")},
	{"script of a shell, swapped after the card", swapped("sh deploy.sh")},
	{"script approved and not swapped", func(t *testing.T) {
		w := start(t, always("approve"))
		w.write("work/deploy.sh", "#!/bin/sh\ntrue\n", 0o755)
		w.claude(bash("./deploy.sh; " + force))
		w.pushed(1)
		w.askedTimes(1)
	}},
	{"a word that is empty before it", func(t *testing.T) {
		w := start(t, always("deny"))
		w.claude(bash("$@"+force), bash("$*"+force), bash("${@}"+force), bash("${x}"+force), bash("$(:)"+force))
		w.pushed(0)
	}},
	{"a subagent, denied", askedOf("", "deny", agent("general-purpose", force), 0)},
	{"a subagent, approved", askedOf("", "approve", agent("general-purpose", force), 1)},
	{"in the background, denied", askedOf("", "deny", background(force), 0)},
	{"settings written", func(t *testing.T) {
		w := start(t, always("deny"))
		const off = `{"disableAllHooks":true}`
		before := w.read(".claude/settings.json")
		w.claude(
			write(w.work(".claude/settings.local.json"), off),
			write(w.path(".claude/settings.json"), off),
			call("Read", map[string]any{"file_path": w.path(".claude/settings.json")}),
			call("Edit", map[string]any{"file_path": w.path(".claude/settings.json"), "old_string": "PreToolUse",
				"new_string": "Pre"}),
			bash("mkdir -p .claude"), bash("echo '"+off+"' > .claude/settings.json"),
			bash("echo '"+off+"' > ~/.claude/settings.json"),
			bash("cd .claude && echo '"+off+"' > settings.local.json"),
		)
		w.untouched(before)
	}},
	{"settings written through a link", func(t *testing.T) {
		w := start(t, always("deny"))
		const off = `{"disableAllHooks":true}`
		before := w.read(".claude/settings.json")
		w.claude(
			bash("mkdir -p .claude"), bash("ln -s .claude x"), bash("echo '"+off+"' > x/settings.json"),
			bash("ln -s ~/.claude y"), bash("echo '"+off+"' > y/settings.json"),
			write(w.work("x/settings.local.json"), off),
			bash("ln -s .claude/settings.local.json z && echo '"+off+"' > z"),
		)
		w.untouched(before)
	}},
	{"a long command", func(t *testing.T) {
		w := start(t, always("deny"))
		w.claude(bash("true " + strings.Repeat("x ", 50_000) + "; " + force))
		w.pushed(0)
	}},
	{"plan mode, denied", inMode("plan", "deny", 0)},
	{"mode of accepted edits, approved", inMode("acceptEdits", "approve", 1)},
	{"mode that asks nobody, denied", inMode("dontAsk", "deny", 0)},
	{"permission requests, approved once", askedOf("default", "approve", bash(force), 1)},
	{"permission requests and a rule that asks, approved once", func(t *testing.T) {
		w := start(t, always("approve"))
		w.settings(func(s map[string]any) {
			s["permissions"] = map[string]any{"ask": []string{"Bash(git push:*)"}}
		})
		w.mode = "default"
		w.claude(bash(force))
		w.pushed(1)
		w.askedTimes(1)
	}},
}

// swapped changes a script between the card and the yes.
func swapped(command string) func(t *testing.T) {
	return func(t *testing.T) {
		var w *claudeWorld
		w = start(t, func(string) string {
			w.write("work/deploy.sh", "#!/bin/sh\ntouch pwned\n", 0o755)
			return "approve"
		})
		w.write("work/deploy.sh", "#!/bin/sh\ntrue\n", 0o755)
		w.claude(bash(command + "; " + force))
		w.askedTimes(1)
		if w.there(w.work("pwned")) {
			t.Error("what nobody has seen ran")
		}
		w.pushed(0)
	}
}

// inMode makes the dangerous call in a mode of permissions.
func inMode(mode, word string, pushes int) func(t *testing.T) {
	return func(t *testing.T) {
		w := start(t, always(word))
		w.mode = mode
		w.claude(bash(force))
		w.pushed(pushes)
	}
}

// askedOf makes a dangerous call in a mode of permissions, about which people are asked once.
func askedOf(mode, word string, call turn, pushes int) func(t *testing.T) {
	return func(t *testing.T) {
		w := start(t, always(word))
		w.mode = mode
		w.claude(call)
		w.pushed(pushes)
		w.askedTimes(1)
	}
}

// untouched asserts that no settings were changed or made.
func (w *claudeWorld) untouched(before string) {
	w.Helper()
	if now := w.read(".claude/settings.json"); now != before {
		w.Errorf("the user's settings are now %s", now)
	}
	for _, name := range []string{".claude/settings.json", ".claude/settings.local.json"} {
		if w.there(w.work(name)) {
			w.Errorf("%s was written", name)
		}
	}
}
