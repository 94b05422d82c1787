package agents

import (
	"strings"
	"testing"

	"approver.example/agents/settings"
)

const codexPath = "/h/.codex/hooks.json"

// codexUser is a hook of the user, as in a file of hooks.
const codexUser = `{"matcher":"*","hooks":[{"type":"command","command":"/mine.sh"}]}`

// trustAll returns a config.toml in which all hooks of a file are trusted, as Codex writes it.
func trustAll(t *testing.T, text string, except string) string {
	t.Helper()
	config := "model = \"x\"\n"
	for _, h := range codexTrust(codexPath, []byte(text)) {
		if h.key != except {
			config += "\n[hooks.state.\"" + h.key + "\"]\ntrusted_hash = \"" + h.hash + "\"\n"
		}
	}
	return config
}

// codexState returns what is trusted in a config.toml, by key.
func codexState(t *testing.T, config string) map[string]any {
	t.Helper()
	all, err := settings.ReadTOML([]byte(config))
	if err != nil {
		t.Fatalf("%v in\n%s", err, config)
	}
	state, _ := settings.At(all, "hooks", "state").(map[string]any)
	return state
}

// exactlyTrusted says how what is trusted in a config.toml is not exactly these hooks.
func exactlyTrusted(t *testing.T, config string, hooks []codexTrusted) {
	t.Helper()
	state := codexState(t, config)
	for _, h := range hooks {
		if settings.At(state, h.key, "trusted_hash") != h.hash {
			t.Errorf("%s is not trusted by its hash in\n%s", h.key, config)
		}
	}
	if len(state) != len(hooks) {
		t.Errorf("%d are trusted, and %d are there:\n%s", len(state), len(hooks), config)
	}
}

// The story: a user put a hook of their own in front of approver's. approver's had another place then, was
// not trusted there, and Codex skipped it and said nothing. After uninstall, the hash of approver's hook was
// still trusted where it had been, the user's own hook had lost its trust, and empty tables were left.
func TestCodexTrustFollowsTheHooks(t *testing.T) {
	installed, _ := codexInstalled(t, codexPath, nil)
	at := strings.Index(string(installed), `"PreToolUse":[`) + len(`"PreToolUse":[`)
	before := string(installed[:at]) + codexUser + "," + string(installed[at:])
	behind := strings.Replace(string(installed), `}]}],"PostToolUse"`, `}]},`+codexUser+`],"PostToolUse"`, 1)
	if behind == string(installed) {
		behind = strings.Replace(string(installed), `}]}]}}`, `}]},`+codexUser+`]}}`, 1)
	}
	fresh := trustAll(t, string(installed), "")
	for name, c := range map[string]struct{ hooks, config string }{
		"as installed":                {string(installed), fresh},
		"another in front":            {before, fresh},
		"another in front, trusted":   {before, trustAll(t, before, "")},
		"another in front, untold":    {before, trustAll(t, before, codexPath+":pre_tool_use:1:0")},
		"another behind, trusted":     {behind, trustAll(t, behind, "")},
		"another behind, not":         {behind, fresh},
		"an older hash of approver's": {string(installed), strings.ReplaceAll(fresh, `"sha256:`, `"sha256:00`)},
	} {
		// Doctor finds what is not trusted, and install mends it.
		mend := codex.Companions(codexPath, []byte(c.hooks), []byte(c.hooks))[0]
		mended, err := mend.Change([]byte(c.config))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, h := range codexTrust(codexPath, []byte(c.hooks)) {
			if h.ours && settings.At(codexState(t, string(mended)), h.key, "trusted_hash") != h.hash {
				t.Errorf("%s: after install %s is not trusted in\n%s", name, h.key, mended)
			}
		}
		for key := range codexStale(codexState(t, string(mended)), nil, codexTrust(codexPath, []byte(c.hooks))) {
			t.Errorf("%s: after install %s is trusted still in\n%s", name, key, mended)
		}
		// Uninstall leaves what is the user's, where it is now, and nothing of approver.
		for when, config := range map[string]string{"": c.config, ", mended": string(mended)} {
			left, err := codex.WithHooks(codexPath, []byte(c.hooks), nil)
			if err != nil {
				t.Fatal(err)
			}
			out, err := codex.Companions(codexPath, []byte(c.hooks), left)[0].Change([]byte(config))
			if err != nil {
				t.Fatal(err)
			}
			var stays []codexTrusted
			for _, b := range codexTrust(codexPath, []byte(c.hooks)) {
				if !b.ours && settings.At(codexState(t, config), b.key, "trusted_hash") == b.hash {
					stays = append(stays, codexTrust(codexPath, left)...)
				}
			}
			t.Run(name+when, func(t *testing.T) { exactlyTrusted(t, string(out), stays) })
			if strings.Contains(string(out), "[hooks.state]") || len(stays) == 0 && string(out) != "model = \"x\"\n" {
				t.Errorf("%s%s: uninstall left\n%s", name, when, out)
			}
		}
	}
}

// A second install with another ttl puts approver's hook where it was, so the user's keep their trust.
func TestInstallAgainMovesNoHook(t *testing.T) {
	installed, _ := codexInstalled(t, codexPath, nil)
	hooks := strings.Replace(string(installed), `}]}],"PostToolUse"`, `}]},`+codexUser+`],"PostToolUse"`, 1)
	hooks = strings.Replace(hooks, `}]}]}}`, `}]},`+codexUser+`]}}`, 1)
	older := strings.ReplaceAll(hooks, "--deadline 290s", "--deadline 190s")
	again, _ := codexInstalled(t, codexPath, []byte(older))
	if string(again) != hooks {
		t.Errorf("installed again it is\n%s\nnot\n%s", again, hooks)
	}
}
