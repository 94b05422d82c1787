package canary

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Gemini is the recipe of the Gemini CLI. A policy allows the one command, and no other.
//
// How it signs in is only in its settings, and no option or variable comes before them. So it runs
// with a copy of the user's folder ~/.gemini, in whose settings that is replaced.
func Gemini() Recipe {
	return Recipe{
		Agent: "gemini",
		Tool:  "run_shell_command",
		Input: described,
		Start: startGemini,
		Drop: []string{
			"GEMINI_API_*", "GEMINI_MODEL", "GEMINI_CLI_CUSTOM_HEADERS", "GOOGLE_*", "CODE_ASSIST_*",
			"CLOUD_SHELL", "GEMINI_CLI_IDE_*", "GEMINI_SANDBOX*",
		},
		Limit: slow, TellsFailure: true,
	}
}

func startGemini(s Setting) (Start, error) {
	home := filepath.Join(s.Temp, "home")
	if err := geminiHome(home, s.Env); err != nil {
		return Start{}, fmt.Errorf("a copy of the settings of Gemini: %w", err)
	}
	// Without --skip-trust it does not start in a folder that the user has not trusted.
	start := Start{
		Args: []string{"-p", prompt, "--skip-trust", "--allowed-mcp-server-names", noServer, "-m", "gemini-2.5-pro"},
		Env:  append(noProxy(), "GEMINI_CLI_HOME="+home, "GOOGLE_GEMINI_BASE_URL="+s.URL, "GEMINI_API_KEY="+key),
	}
	if s.Command == "" {
		start.Args = append(start.Args, "--yolo")
		return start, nil
	}
	policy := filepath.Join(s.Temp, "policy.toml")
	rule := "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = " + strconv.Quote(s.Command) +
		"\ndecision = \"allow\"\npriority = 999\n"
	start.Args = append(start.Args, "--approval-mode", "default", "--policy", policy)
	return start, os.WriteFile(policy, []byte(rule), 0o600)
}

// geminiLeft is what a copy of ~/.gemini has not: what signs the user in, and what is written.
var geminiLeft = [...]string{
	"settings.json", ".env", "oauth_creds.json", "google_accounts.json", "gemini-credentials.json",
	"mcp-oauth-tokens.json", "tmp", "history", "projects.json",
}

// geminiHome makes a home with a copy of the user's folder .gemini. Folders in it are links.
func geminiHome(home string, env []string) error {
	from := filepath.Join(cmp.Or(value(env, "GEMINI_CLI_HOME"), value(env, "HOME")), ".gemini")
	to := filepath.Join(home, ".gemini")
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		old, name := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		switch info, err := os.Stat(old); {
		case slices.Contains(geminiLeft[:], e.Name()):
		case err != nil: // a link that leads nowhere
		case info.IsDir():
			if err := os.Symlink(old, name); err != nil {
				return err
			}
		case info.Mode().IsRegular():
			if err := copyFile(old, name); err != nil {
				return err
			}
		}
	}
	settings, err := geminiSettings(filepath.Join(from, "settings.json"))
	if err != nil {
		return err
	}
	return writeJSON(filepath.Join(to, "settings.json"), settings)
}

// geminiSettings returns the settings of a file, which may be missing, with another way to sign in,
// and without telemetry and updates.
func geminiSettings(file string) (map[string]any, error) {
	settings, err := readObject(file)
	if err != nil {
		return nil, err
	}
	general := section(settings, "general")
	general["enableAutoUpdate"], general["enableAutoUpdateNotification"] = false, false
	section(settings, "privacy")["usageStatisticsEnabled"] = false
	section(settings, "telemetry")["enabled"] = false
	section(settings, "security")["auth"] = map[string]any{"selectedType": "gemini-api-key"}
	return settings, nil
}

// copyFile copies a small file.
func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}
