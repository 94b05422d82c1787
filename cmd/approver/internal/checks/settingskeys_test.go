package checks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"approver.example/agents/claudesettings"
	"approver.example/agents/settings"
	"approver.example/cmd/approver/internal/finding"
	"approver.example/configs"
)

// The story: an agent writes settings that approver reads as if its hook were
// there, or as if hooks were on, and Claude Code does not. Doctor must not call
// that good, and install must not write into it.
func TestSettingsKeysThatClaudeReadsOtherwise(t *testing.T) {
	const hook = `{"type":"command","command":"/h/approver-hook --agent claude --deadline ` +
		`290s","timeout":330,"onFailure":"block"}`
	const list = `[{"matcher":"*","hooks":[` + hook + `]}]`
	with := func(key, as string) string {
		return strings.Replace(`{"hooks":{"PreToolUse":`+list+`,"PostToolUse":[]},"disableAllHooks":false}`, `"`+key+`"`, as,
			1)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"as install writes it": {with("", ""), ""},
		"other keys": {`{"Model":1,"model":2,"env":{"A":1,"A":2},"hooks":{"Stop":[{"hooks":[{` +
			`"Prompt":"x"}]}]}}`, ""},
		"hooks": {with("hooks", `"Hooks"`),
			`:1:2: the key "Hooks", which Claude Code does not take for "hooks"`},
		"Kelvin's sign":      {with("hooks", "\"hoo\u212as\""), "does not take for \"hooks\""},
		"PreToolUse":         {with("PreToolUse", `"preToolUse"`), `the key "preToolUse", which`},
		"PostToolUse":        {with("PostToolUse", `"PostTooluse"`), `the key "PostTooluse", which`},
		"disableAllHooks":    {with("disableAllHooks", `"disableallhooks"`), `the key "disableallhooks", which`},
		"matcher":            {with("matcher", `"Matcher"`), `the key "Matcher", which`},
		"hooks of a matcher": {`{"hooks":{"PreToolUse":[{"HOOKS":[` + hook + `]}]}}`, `the key "HOOKS", which`},
		"type":               {with("type", `"Type"`), `the key "Type", which`},
		"command":            {`{"hooks":{"PreToolUse":[{"hooks":[{"Command":"/h"}]}]}}`, `the key "Command", which`},
		"timeout":            {with("timeout", `"Timeout"`), `the key "Timeout", which`},
		"onFailure":          {with("onFailure", `"onfailure"`), `the key "onfailure", which`},
		"async":              {with("timeout", `"Async":true,"timeout"`), `the key "Async", which`},
		"hooks twice": {`{"hooks":{"PreToolUse":` + list + "},\n \"hooks\":{}}",
			`:2:2: the key "hooks" stands there twice`},
		"hooks twice, once hidden": {`{"hooks":{},"ho\u006fks":{"PreToolUse":` + list + `}}`,
			`the key "hooks" stands there twice`},
		"PreToolUse twice": {`{"hooks":{"PreToolUse":[],"PreToolUse":` + list + `}}`,
			`the key "PreToolUse" stands there twice`},
		"disableAllHooks twice": {with("disableAllHooks", `"disableAllHooks":true,"disableAllHooks"`),
			`the key "disableAllHooks" stands there twice`},
		"matcher twice": {with("matcher", `"matcher":"Bash","matcher"`), `the key "matcher" stands there twice`},
		"command twice": {with("timeout", `"command":"true","timeout"`), `the key "command" stands there twice`},
		"in a second hook": {`{"hooks":{"Stop":[{},{"hooks":[{},{"timeout":1,"timeout":2}]}]}}`,
			`the key "timeout" stands there twice`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "settings.json")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := claudesettings.WithHooks(path, []byte(tt.text), nil)
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if name == "PreToolUse" || name == "PostToolUse" { // uninstall leaves such an event to another agent
				if err != nil {
					t.Errorf("uninstall: %v", err)
				}
				_, err = claudesettings.WithHooks(path, []byte(tt.text), settings.Hooks{"Stop": {{}}})
			}
			if err == nil || !strings.Contains(err.Error(), path+":") || !strings.Contains(err.Error(), tt.want) ||
				!strings.Contains(err.Error(), "nothing was changed") {
				t.Errorf("install: %v", err)
			}
			d := doctor{cfg: configs.Default()}
			d.hook(settings.Target{File: path, Managed: t.TempDir()}, "")
			d.has(t, "hook", finding.Fail, tt.want)
		})
	}
}
