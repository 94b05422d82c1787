package canary_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"approver.example/agents/canary"
)

// recipes are all recipes.
func recipes() []canary.Recipe {
	all := []canary.Recipe{canary.Claude()}
	for _, a := range reals() {
		all = append(all, a.recipe)
	}
	return all
}

// A begun is what a recipe makes of a setting.
type begun struct {
	args, env []string
	temp      string
}

// begin makes the start of a recipe, with a home and a project in it.
func begin(t *testing.T, r canary.Recipe, home string, env ...string) begun {
	t.Helper()
	b, err := tryBegin(t, r, home, env...)
	if err != nil {
		t.Fatalf("%s: %v", r.Agent, err)
	}
	return b
}

func tryBegin(t *testing.T, r canary.Recipe, home string, env ...string) (begun, error) {
	t.Helper()
	b := begun{temp: t.TempDir()}
	cmd, err := r.Command(t.Context(), "/bin/true", canary.Setting{
		URL: "http://127.0.0.1:1/path", Dir: filepath.Join(home, "work"), Temp: b.temp, Command: "/bin/mkdir /x",
		Env: append([]string{"HOME=" + home}, env...),
	})
	if err == nil {
		b.args, b.env = cmd.Args, cmd.Env
	}
	return b, err
}

// all returns everything that the program gets: arguments, variables and files.
func (b begun) all(t *testing.T) string {
	t.Helper()
	text := strings.Join(append(slices.Clone(b.args), b.env...), "\n")
	err := filepath.WalkDir(b.temp, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(name)
		text += "\n" + string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// write writes a file of a home.
func write(t *testing.T, home, name, text string) {
	t.Helper()
	name = filepath.Join(home, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Every agent is told of the model on this machine, and of no other: a person's keys, accounts,
// models and proxies stay out of it. What says where the settings are stays in.
func TestRecipesLeadToTheModelOnly(t *testing.T) {
	t.Parallel()
	everywhere := []string{"HTTPS_PROXY", "http_proxy", "ALL_PROXY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "XAI_API_KEY",
		"ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_OAUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"}
	out := map[string][]string{
		"claude":   {"ANTHROPIC_BASE_URL", "CLAUDE_CODE_USE_BEDROCK", "CLAUDECODE"},
		"codex":    {"CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "OPENAI_BASE_URL"},
		"gemini":   {"GEMINI_API_KEY", "GEMINI_MODEL", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_APPLICATION_CREDENTIALS"},
		"copilot":  {"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY_COMMAND", "COPILOT_MODEL"},
		"opencode": {"OPENCODE_AUTH_CONTENT", "OPENCODE_PERMISSION", "OPENCODE_SERVER_PASSWORD"},
		"qwen":     {"OPENAI_BASE_URL", "OPENAI_MODEL", "DASHSCOPE_API_KEY", "QWEN_MODEL"},
		"cline":    {"CLINE_API_KEY", "CLINE_PROVIDER_SETTINGS_PATH", "CLINE_MODEL", "CLINE_DATA_DIR"},
		"openclaw": {"OPENCLAW_GATEWAY_TOKEN", "OPENCLAW_GATEWAY_URL", "OPENCLAW_PROXY_URL"},
		"droid":    {"FACTORY_API_KEY", "FACTORY_API_BASE_URL", "FACTORY_RUNTIME_SETTINGS_PATH"},
	}
	in := []string{"CLAUDE_CONFIG_DIR", "CLAUDE_CODE_SIMPLE", "CODEX_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME", "QWEN_HOME",
		"OPENCODE_CONFIG_DIR", "OPENCODE_PURE", "PI_CODING_AGENT_DIR", "CLINE_DIR", "FACTORY_HOME_OVERRIDE",
		"PATH", "APPROVER_SOCKET"}
	for _, r := range recipes() {
		var env []string
		for _, name := range append(slices.Clone(everywhere), out[r.Agent]...) {
			env = append(env, name+"=zz")
		}
		for _, name := range in {
			env = append(env, name+"=/kept")
		}
		b := begin(t, r, t.TempDir(), env...)
		all := b.all(t)
		if strings.Contains(all, "=zz") {
			t.Errorf("%s has %q", r.Agent, b.env)
		}
		if last, want := b.env[len(b.env)-1], "TMPDIR="+filepath.Join(b.temp, "tmp"); last != want {
			t.Errorf("%s has its temporary files in %s, not in %s", r.Agent, last, want)
		}
		if !strings.Contains(all, "http://127.0.0.1:1/path") {
			t.Errorf("%s does not know the model: %s", r.Agent, all)
		}
		for _, name := range in {
			if !slices.Contains(b.env, name+"=/kept") {
				t.Errorf("%s has no %s", r.Agent, name)
			}
		}
	}
}

// MCP servers are switched off by name where there is no other way.
func TestRecipesSwitchServersOff(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, home, ".codex/config.toml",
		"[mcp_servers.one]\ncommand = \"x\"\n[mcp_servers.\"odd.name\"]\ncommand = \"x\"\n")
	write(t, home, ".copilot/mcp-config.json", `{"mcpServers":{"one":{"command":"x"}}}`)
	write(t, home, "work/.mcp.json", `{"mcpServers":{"two":{"command":"x"}}, // a comment
	}`)
	write(t, home, "work/.github/mcp.json", `{`)
	write(t, home, ".config/opencode/opencode.jsonc", `{"mcp":{"one":{"type":"local"}}}`)
	write(t, home, "opencode.json", `{"mcp":{"two":{"type":"local"}}}`)
	for _, tt := range []struct {
		recipe canary.Recipe
		has    []string
	}{
		{canary.Claude(), []string{`{"mcpServers":{}}`}},
		{canary.Codex(), []string{"mcp_servers.one.enabled=false"}},
		{canary.Copilot(), []string{"--disable-mcp-server\none\n--disable-mcp-server\ntwo", "--disable-builtin-mcps"}},
		{canary.OpenCode(), []string{`"mcp":{"one":{"enabled":false},"two":{"enabled":false}}`}},
		{canary.Gemini(), []string{"--allowed-mcp-server-names\napprover-hook-test-none"}},
		{canary.Qwen(), []string{"--allowed-mcp-server-names\napprover-hook-test-none"}},
		{canary.Droid(), []string{`"mcpPolicy":{"allowlist":[],"enabled":true}`}},
	} {
		all := begin(t, tt.recipe, home).all(t)
		for _, want := range tt.has {
			if !strings.Contains(all, want) {
				t.Errorf("%s: no %q in %s", tt.recipe.Agent, want, all)
			}
		}
		if strings.Contains(all, "odd") {
			t.Errorf("%s: the odd name is in %s", tt.recipe.Agent, all)
		}
	}
}

// Gemini gets a copy of the user's settings, with the hooks, and without what signs the user in.
func TestGeminiHome(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, home, ".gemini/settings.json", `{"hooks":{"BeforeTool":[1]}, // a comment
		"security":{"auth":{"selectedType":"oauth-personal","enforcedType":"oauth-personal"},
		"folderTrust":{"enabled":true}}}`)
	write(t, home, ".gemini/oauth_creds.json", "secret")
	write(t, home, ".gemini/.env", "GOOGLE_GENAI_USE_GCA=true")
	write(t, home, ".gemini/trustedFolders.json", `{"/x":"TRUST_FOLDER"}`)
	write(t, home, ".gemini/extensions/e/gemini-extension.json", "{}")
	write(t, home, ".gemini/tmp/x", "")
	if err := os.Symlink("/nowhere", filepath.Join(home, ".gemini", "gone")); err != nil {
		t.Fatal(err)
	}
	b := begin(t, canary.Gemini(), home)
	folder := filepath.Join(b.temp, "home", ".gemini")
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, []string{"extensions", "settings.json", "trustedFolders.json"}) {
		t.Errorf("it has %q", names)
	}
	if _, err := os.Stat(filepath.Join(folder, "extensions", "e", "gemini-extension.json")); err != nil {
		t.Error(err)
	}
	raw, err := os.ReadFile(filepath.Join(folder, "settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Hooks    map[string]any
		Security struct {
			Auth        map[string]string
			FolderTrust map[string]any
		}
	}
	if err := json.Unmarshal(raw, &got); err != nil || got.Hooks["BeforeTool"] == nil ||
		got.Security.FolderTrust["enabled"] != true || len(got.Security.Auth) != 1 ||
		got.Security.Auth["selectedType"] != "gemini-api-key" {
		t.Errorf("%v: %s", err, raw)
	}
	if !slices.Contains(b.env, "HTTPS_PROXY=") {
		t.Errorf("a file .env can set a proxy: %q", b.env)
	}
	// A home that a variable names is used. Settings that cannot be read are an error, not no settings.
	write(t, home, "other/.gemini/settings.json", `{"hooks"`)
	if _, err := tryBegin(t, canary.Gemini(), home, "GEMINI_CLI_HOME="+filepath.Join(home, "other")); err == nil {
		t.Error("broken settings are no error")
	}
}

// The settings that a user has in OpenCode's variable stay, except for what the start needs.
func TestOpenCodeContent(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	b := begin(t, canary.OpenCode(), home,
		`OPENCODE_CONFIG_CONTENT={"plugin":["x"],"provider":{"a":{}},"permission":{"edit":"deny","bash":{"*":"deny"}}}`)
	last := b.env[slices.IndexFunc(b.env, func(e string) bool { return strings.Contains(e, "enabled_providers") })]
	for _, want := range []string{
		`"plugin":["x"]`, `"bash":"allow"`, `"edit":"deny"`, `"enabled_providers":["approver"]`,
	} {
		if !strings.Contains(last, want) {
			t.Errorf("no %s in %s", want, last)
		}
	}
	if strings.Contains(last, `"a":{}`) {
		t.Errorf("another provider is in %s", last)
	}
	if _, err := tryBegin(t, canary.OpenCode(), home, "OPENCODE_CONFIG_CONTENT={"); err == nil {
		t.Error("broken settings are no error")
	}
}

// OpenClaw's settings include the user's, wherever they are.
func TestOpenClawIncludes(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if all := begin(t, canary.OpenClaw(), home).all(t); strings.Contains(all, "$include") {
		t.Errorf("it includes a file that is not there: %s", all)
	}
	write(t, home, ".openclaw/openclaw.json", "{}")
	write(t, home, "other/x.json", "{}")
	write(t, home, "other/openclaw.json", "{}")
	other := filepath.Join(home, "other")
	for _, tt := range []struct {
		env                   []string
		include, roots, state string
	}{
		{nil, filepath.Join(home, ".openclaw", "openclaw.json"), filepath.Join(home, ".openclaw"),
			filepath.Join(home, ".openclaw")},
		{[]string{"OPENCLAW_HOME=/none", "OPENCLAW_STATE_DIR=" + other}, filepath.Join(other, "openclaw.json"), other, other},
		{[]string{"OPENCLAW_CONFIG_PATH=" + filepath.Join(other, "x.json"), "OPENCLAW_INCLUDE_ROOTS=/more"},
			filepath.Join(other, "x.json"), other + ":/more", other},
	} {
		b := begin(t, canary.OpenClaw(), home, tt.env...)
		if all := b.all(t); !strings.Contains(all, `"$include":"`+tt.include+`"`) ||
			!slices.Contains(b.env, "OPENCLAW_INCLUDE_ROOTS="+tt.roots) ||
			!slices.Contains(b.env, "OPENCLAW_STATE_DIR="+tt.state) { // the plugins are in it
			t.Errorf("%q: %s", tt.env, all)
		}
	}
}

// Cline tells only its log why a hook stopped a call.
func TestClineNoted(t *testing.T) {
	t.Parallel()
	const line = `{"level":40,"errorName":"ControlledStopError","errorMessage":"approver says no","msg":"x"}`
	for text, want := range map[string]string{
		"":                               "",
		"no JSON\n" + line + "\n{}\n":    "approver says no",
		`{"errorMessage":"another one"}`: "",
		`{"errorName":7}` + "\n":         "",
	} {
		s := canary.Setting{Temp: t.TempDir()}
		write(t, s.Temp, "logs/cline.log", text)
		if got := canary.Cline().Noted(s); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	if got := canary.Cline().Noted(canary.Setting{Temp: t.TempDir()}); got != "" {
		t.Errorf("without a log: %q", got)
	}
}

// Where one command is allowed, and where everything is.
func TestWhatIsAllowed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		recipe    canary.Recipe
		one, each string
	}{
		{canary.Claude(), "Bash(touch x)", "bypassPermissions"},
		{canary.Gemini(), `commandPrefix = "touch x"`, "--yolo"},
	} {
		for command, has := range map[string]string{"touch x": tt.one, "": tt.each} {
			b := begun{temp: t.TempDir()}
			cmd, err := tt.recipe.Command(t.Context(), "/bin/true",
				canary.Setting{Temp: b.temp, Command: command, Env: []string{"HOME=" + t.TempDir()}})
			if err != nil {
				t.Fatal(err)
			}
			b.args = cmd.Args
			if all := b.all(t); !strings.Contains(all, has) || command == "" && strings.Contains(all, tt.one) {
				t.Errorf("%s %q: %s", tt.recipe.Agent, command, all)
			}
		}
	}
}
