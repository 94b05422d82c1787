package agents

import (
	"strings"
	"testing"
	"time"

	"approver.example/agents/settings"
)

// The story: a text in the file had half of a surrogate pair. Copilot 1.0.102 then ignored the whole file and
// ran a call unasked, while install and doctor were content. goose reads as strictly.
func TestHalfACharacterIsRefused(t *testing.T) {
	for _, agent := range []Installer{copilot, goose} {
		hooks, err := agent.HookConfig("/opt/approver-hook", "", 2*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{`"\ud800"`, `"\udc00x"`} {
			bad := strings.Replace(string(hooks), "{", `{"x":`+text+`,`, 1)
			if _, err := agent.ReadHooks("hooks.json", []byte(bad)); err == nil {
				t.Errorf("%s: %s is read", agent.Name(), text)
			}
			want, err := agent.ReadHooks("hooks.json", hooks)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := agent.WithHooks("hooks.json", []byte(bad), want); err == nil {
				t.Errorf("%s: installed beside %s", agent.Name(), text)
			}
		}
		good := strings.Replace(string(hooks), "{", `{"x":"\ud83d\ude00",`, 1)
		if _, err := agent.ReadHooks("hooks.json", []byte(good)); err != nil {
			t.Errorf("%s: %v", agent.Name(), err)
		}
	}
}

// The fix for a hook of somebody else was to install approver again, which leaves that hook where it is.
func TestTheFixForAnotherHookIsNotInstall(t *testing.T) {
	hooks, err := gemini.wanted("/opt/approver-hook", "", 2*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	text, err := gemini.WithHooks("/h/settings.json", []byte(`{"hooks":{"BeforeTool":[{"matcher":"x","hooks":[`+
		`{"type":"command","command":"/bin/true"}]}]}}`), hooks)
	if err != nil {
		t.Fatal(err)
	}
	found := gemini.Compare([]settings.Source{{Place: settings.User, Path: "/h/settings.json", Text: text}},
		settings.Want{Hooks: hooks, TTL: 2 * time.Minute})
	if len(found) != 1 || !strings.Contains(found[0].Fix, "take it out of /h/settings.json") {
		t.Errorf("%+v", found)
	}
}

// A refusal names the whole path of the settings, and what could not be written.
func TestOpenClawNamesItsSettings(t *testing.T) {
	for bad, place := range map[string]string{
		"\n []": ":2:2", `{"plugins":[]}`: "", `{"plugins":{"enabled":false}}`: "", `{`: ":1:2",
	} {
		_, err := openClawNaming("/h/.openclaw/openclaw.json", []byte(bad))
		if err == nil || !strings.HasPrefix(err.Error(), "/h/.openclaw/openclaw.json"+place+": ") ||
			!strings.HasSuffix(err.Error(), "; nothing was changed") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
