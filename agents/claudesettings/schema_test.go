package claudesettings_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"approver.example/agents/claudesettings"
)

// The story: a value of the wrong kind anywhere in settings.json, and Claude Code
// drops the whole file without a word; the hook in it did not run, and doctor and
// install took the file for good. Each line was tried with Claude Code 2.1.330: what
// it drops has to be found, and what it takes must not be in the way of honest people.
func TestValuesThatDropTheFile(t *testing.T) {
	for text, key := range dropped {
		found := claudesettings.Check("f.json", []byte(text))
		if len(found) == 0 || found[0].Key != key {
			t.Errorf("%s: %v, want %q", text, found, key)
		} else if !strings.HasPrefix(found[0].At, "f.json:1:") ||
			!strings.Contains(found[0].String(), "drops the whole file") {
			t.Errorf("%s: %v", text, found[0])
		}
	}
	for _, text := range taken {
		if found := claudesettings.Check("f.json", []byte(text)); len(found) > 0 {
			t.Errorf("%s: %v", text, found)
		}
	}
}

// preToolUse is a file with one group of hooks.
func preToolUse(group string) string { return `{"hooks":{"PreToolUse":[` + group + `]}}` }

var dropped = map[string]string{
	``: "", `null`: "", `[]`: "", `5`: "", `{`: "", `{"a":1,}`: "", "{} //": "", "{}\x00": "",
	`{"permissions":{"defaultMode":"banana"}}`: "permissions.defaultMode",
	`{"permissions":{"defaultMode":null}}`:     "permissions.defaultMode",
	`{"permissions":"x"}`:                      "permissions", `{"permissions":null}`: "permissions",
	`{"permissions":{"allow":"x"}}`:                         "permissions.allow",
	`{"permissions":{"ask":null}}`:                          "permissions.ask",
	`{"permissions":{"additionalDirectories":[1]}}`:         "permissions.additionalDirectories.0",
	`{"permissions":{"disableBypassPermissionsMode":true}}`: "permissions.disableBypassPermissionsMode",
	`{"cleanupPeriodDays":"x"}`:                             "cleanupPeriodDays",
	`{"cleanupPeriodDays":0}`:                               "cleanupPeriodDays",
	`{"cleanupPeriodDays":1.5}`:                             "cleanupPeriodDays",
	`{"feedbackSurveyRate":2}`:                              "feedbackSurveyRate",
	`{"skillListingBudgetFraction":0}`:                      "skillListingBudgetFraction",
	`{"hooks":null}`:                                        "hooks", `{"hooks":"x"}`: "hooks", `{"hooks":[]}`: "hooks",
	`{"hooks":{"PreToolUse":null}}`: "hooks.PreToolUse", `{"hooks":{"PreToolUse":{}}}`: "hooks.PreToolUse",
	preToolUse(`{"matcher":"x"}`):                                               "hooks.PreToolUse.0",
	preToolUse(`null`):                                                          "hooks.PreToolUse.0",
	`{"hooks":{"PermissionRequest":[{}]}}`:                                      "hooks.PermissionRequest.0",
	preToolUse(`{"matcher":5,"hooks":[]}`):                                      "hooks.PreToolUse.0.matcher",
	preToolUse(`{"matcher":null,"hooks":[]}`):                                   "hooks.PreToolUse.0.matcher",
	preToolUse(`{"hooks":[{"type":"banana"}]}`):                                 "hooks.PreToolUse.0.hooks.0.type",
	preToolUse(`{"hooks":[{"type":"command"}]}`):                                "hooks.PreToolUse.0.hooks.0",
	preToolUse(`{"hooks":[{"type":"prompt"}]}`):                                 "hooks.PreToolUse.0.hooks.0",
	preToolUse(`{"hooks":[{"type":"mcp_tool","server":"a"}]}`):                  "hooks.PreToolUse.0.hooks.0",
	preToolUse(`{"hooks":[{"type":"http"}]}`):                                   "hooks.PreToolUse.0.hooks.0",
	preToolUse(`{"hooks":[{"type":"command","command":"x","timeout":0}]}`):      "hooks.PreToolUse.0.hooks.0.timeout",
	preToolUse(`{"hooks":[{"type":"command","command":"x","onFailure":"no"}]}`): "hooks.PreToolUse.0.hooks.0.onFailure",
	preToolUse(`{"hooks":[{"type":"command","command":"x","args":"x"}]}`):       "hooks.PreToolUse.0.hooks.0.args",
	`{"PreToolUse":[{"hooks":[]}]}`:                                             "PreToolUse",
	`{"x":{"y":[{"PreToolUse":[{}]}]}}`:                                         "x.y.0.PreToolUse",
	`{"hooks":{"Nope":{"PreToolUse":[{}]}}}`:                                    "hooks.Nope.PreToolUse",
	`{"hooks":{"matcher":"*","hooks":[]}}`:                                      "hooks.matcher",
	`{"env":"x"}`:                                                               "env",
	`{"env":null}`:                                                              "env",
	`{"model":5}`:                                                               "model",
	`{"verbose":"true"}`:                                                        "verbose",
	`{"verbose":null}`:                                                          "verbose",
	`{"disableAllHooks":1}`:                                                     "disableAllHooks",
	`{"statusLine":{"type":"command"}}`:                                         "statusLine",
	`{"statusLine":{"type":"x","command":"y"}}`:                                 "statusLine.type",
	`{"attribution":{"commit":5}}`:                                              "attribution.commit",
	`{"attribution":"x"}`:                                                       "attribution",
	`{"sandbox":{"network":{"allowedDomains":"x"}}}`:                            "sandbox.network.allowedDomains",
	`{"sandbox":{"enabled":"x"}}`:                                               "sandbox.enabled",
	`{"enabledPlugins":{"a":"x"}}`:                                              "enabledPlugins.a",
	`{"worktree":{"symlinkDirectories":"x"}}`:                                   "worktree.symlinkDirectories",
	`{"tui":"x"}`:                            "tui",
	`{"fallbackModel":["a",5]}`:              "fallbackModel.1",
	`{"sshConfigs":[{"id":"a","name":"b"}]}`: "sshConfigs.0", `{"modelOverrides":{"a":1}}`: "modelOverrides.a",
	`{"skillOverrides":{"a":"x"}}`: "skillOverrides.a", `{"$schema":1}`: "$schema",
}

var taken = []string{
	`{}`, " \n{}", `{"banana":1}`, `{"hooks":{}}`, `{"hooks":{"Nope":[]}}`, `{"hooks":{"Stop":[{"matcher":"*"}]}}`,
	`{"hooks":{"PostToolUse":"x"}}`, `{"hooks":{"PostToolUse":[{"hooks":[{"type":"banana"}]}]}}`,
	`{"hooks":{"PreToolUse":[{"hooks":[]}]}}`,
	`{"hooks":{"PreToolUse":[{"matcher":"(","zz":1,"hooks":[{"type":"command","command":"","zz":1,"timeout":0.5,` +
		`"once":true,"shell":"bash","args":["x"]}]}]}}`,
	`{"permissions":{"allow":[1,"Bash(("],"deny":["Bash(("],"defaultMode":"manual","zz":1}}`,
	`{"permissions":{"disableBypassPermissionsMode":"disable"}}`, `{"env":{"A":1,"B":null,"C":{}}}`,
	`{"attribution":false}`, `{"attribution":{}}`, `{"enabledPlugins":{"a":true,"b":["x"]}}`, `{"sandbox":{"zz":1}}`,
	`{"effortLevel":"banana"}`, `{"theme":5}`, `{"disableWorkflows":null}`, `{"disabledMcpjsonServers":"x"}`,
	`{"cleanupPeriodDays":1}`, `{"desktopSessionCleanupPeriodDays":0}`, `{"forceLoginOrgUUID":["a"]}`, `{"PreToolUse":[]}`,
	`{"statusLine":{"type":"command","command":"x","padding":-1}}`, `{"strictKnownMarketplaces":null}`,
	`{"allowedMcpServers":5}`, `{"hooks":{"Stop":[{"hooks":[{"type":"prompt","prompt":"x"}]}]}}`,
}

// Claude Code itself says which of its files it took. This holds the table against
// another version: APPROVER_CLAUDE names the program.
func TestValuesAgainstClaudeCode(t *testing.T) {
	claude := os.Getenv("APPROVER_CLAUDE")
	if claude == "" {
		t.Skip("NOT RUN: APPROVER_CLAUDE does not name a Claude Code")
	}
	took := func(text string) bool {
		home := t.TempDir()
		if err := errors.Join(os.Mkdir(filepath.Join(home, ".claude"), 0o700),
			os.WriteFile(filepath.Join(home, ".claude", "settings.json"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, claude, "-p", "--input-format", "stream-json", "--output-format", "stream-json",
			"--verbose")
		cmd.Dir = home
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "ANTHROPIC_API_KEY=x",
			"ANTHROPIC_BASE_URL=http://127.0.0.1:9", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
		cmd.Stdin = strings.NewReader(`{"type":"control_request","request_id":"1","request":{"subtype":"get_settings"}}` +
			"\n")
		out, err := cmd.Output()
		var answer struct {
			Response struct {
				Response struct {
					Sources []struct{ Source string }
				}
			}
		}
		line, _, _ := strings.Cut(string(out), "\n")
		if jsonErr := json.Unmarshal([]byte(line), &answer); jsonErr != nil {
			t.Fatalf("%v, %v: %s", err, jsonErr, out)
		}
		for _, s := range answer.Response.Response.Sources {
			if s.Source == "userSettings" {
				return true
			}
		}
		return false
	}
	for text := range dropped {
		if took(text) {
			t.Errorf("taken: %s", text)
		}
	}
	for _, text := range taken {
		// An empty object is no source at all: a key makes it one.
		if i := strings.Index(text,
			"{"); !took(text[:i+1] + `"zzz":1` + strings.TrimSuffix(","+text[i+1:], ",}") +
			map[bool]string{true: "}"}[strings.TrimSpace(text) == "{}"]) {
			t.Errorf("dropped: %s", text)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command"}]}]},"permissions":{"allow":[1]}}`)
	f.Add(`{"cleanupPeriodDays":1e999,"a":[[[{"PreToolUse":[1]}]]]}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range claudesettings.Check("f", []byte(text)) {
			if !strings.HasPrefix(p.At, "f:") || p.Why == "" {
				t.Errorf("%+v", p)
			}
		}
	})
}

// What stands in "env" is texts: a name of an event there is no hook in the wrong place.
func TestNamesOfEventsInEnvAreNoHooks(t *testing.T) {
	for _, honest := range []string{
		`{"env":{"PreToolUse":"x"}}`, `{"env":{"A":[{"PreToolUse":[{}]}]}}`, `{"env":{"PreToolUse":[{}]}}`,
		`{"env":{"A":{"PermissionRequest":[1]}}}`,
	} {
		for _, p := range claudesettings.Check("f.json", []byte(honest)) {
			if strings.Contains(p.Why, `outside "hooks"`) {
				t.Errorf("%s: %v", honest, p)
			}
		}
	}
	if found := claudesettings.Check("f.json", []byte(`{"envs":{"PreToolUse":[{}]}}`)); len(found) != 1 {
		t.Errorf("a hook beside env: %v", found)
	}
}

// The story: a long value was cut in the middle of a character, and what doctor printed
// was no text any more.
func TestLongValuesAreCutBetweenCharacters(t *testing.T) {
	for n := range 8 {
		value := strings.Repeat("x", n) + strings.Repeat("é", 60)
		for _, p := range claudesettings.Check("f.json", []byte(`{"model":5,"permissions":"`+value+`"}`)) {
			if !utf8.ValidString(p.String()) || strings.Contains(p.String(), "\ufffd") {
				t.Errorf("cut inside a character: %q", p)
			}
			if p.Key == "permissions" && (!strings.Contains(p.Why, "…") || len(p.Why) > 100) {
				t.Errorf("not cut: %q", p.Why)
			}
		}
	}
}
