package canary_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"approver.example"
	"approver.example/agents/canary"
	"approver.example/agents/canary/canarytest"
)

func TestMain(m *testing.M) {
	if os.Getenv(canarytest.Mode) != "" {
		os.Exit(canarytest.Main())
	}
	os.Exit(m.Run())
}

// What a canary shows is read from the disk first: a call that ran is a call that ran,
// whatever was said. "Stopped" takes approver's own words with the token of this very
// call; a refusal by anybody else proves nothing.
func TestOutcomes(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		mode string
		want canary.Outcome
		text string
	}{
		{"ran", canary.Ran, ""},
		{"ran and denied", canary.Ran, ""},
		{"denied", canary.Stopped, ""},
		{"denied for another", canary.NotProven, "something else than approver"},
		{"other hook", canary.NotProven, "something else than approver"},
		{"own rule", canary.NotProven, "something else than approver stopped the call: Permission to use Bash"},
		{"courier without a failure", canary.NotProven, "something else than approver stopped the call: hook error"},
		{"lost", canary.NotProven, "claude did not say what became of the call"},
		{"hang", canary.NotProven, "claude never asked the model on this machine; claude did not end within 1s"},
		{"broken", canary.NotProven, "claude: exit status 3; claude printed: no such option"},
		{"environment", canary.NotProven, "claude never asked"},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			temp := t.TempDir()
			o := canary.Options{Recipe: canary.Claude(), Program: self, Dir: temp,
				Env: append(os.Environ(), "FAKE_CLAUDE="+tt.mode), Limit: 20 * time.Second}
			if tt.mode == "hang" {
				o.Limit = time.Second
			}
			r := canary.Run(t.Context(), o)
			if r.Outcome != tt.want || !strings.Contains(r.Text, tt.text) {
				t.Errorf("%+v", r)
			}
			if r.Took <= 0 || r.Took > 25*time.Second {
				t.Errorf("it took %v", r.Took)
			}
		})
	}
}

// The courier's own words, when there is no daemon, are a proof too: it was asked.
func TestWithoutADaemon(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := canary.Run(t.Context(), canary.Options{Recipe: canary.Claude(), Program: self,
		Env: append(os.Environ(), "FAKE_CLAUDE=courier")})
	if r.Outcome != canary.StoppedAlone {
		t.Errorf("%+v", r)
	}
}

// The story: the hook test of OpenCode left libraries of 5.5 MB in /tmp, which its runtime unpacks at each
// start and never removes. What an agent leaves in the folder of temporary files goes with the test.
func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	usual := t.TempDir()
	r := canary.Run(t.Context(), canary.Options{Recipe: canary.Claude(), Program: self,
		Env: append(os.Environ(), "TMPDIR="+usual, "FAKE_CLAUDE=litter")})
	_, left, ok := strings.Cut(r.Text, "claude printed: ")
	if !ok || !strings.Contains(left, "left-behind-") || strings.HasPrefix(left, usual) {
		t.Errorf("%+v", r)
	}
	if _, err := os.Lstat(left); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", left, err)
	}
}

// No program at all, and a folder that is not there.
func TestWhatCannotStart(t *testing.T) {
	t.Parallel()
	for _, o := range []canary.Options{{Program: "/bin/true"}, {Recipe: canary.Claude()},
		{Recipe: canary.Claude(), Program: "/nowhere/claude"},
		{Recipe: canary.Claude(), Program: "/bin/true", Dir: "/nowhere"}} {
		if r := canary.Run(t.Context(), o); r.Outcome != canary.NotProven || r.Text == "" {
			t.Errorf("%+v: %+v", o, r)
		}
	}
}

// A person's key, gateway and proxy stay out of it, and what says where the settings
// are stays in.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := []string{
		"ANTHROPIC_AUTH_TOKEN=zz", "ANTHROPIC_API_KEY=zz", "ANTHROPIC_CUSTOM_HEADERS=zz", "ANTHROPIC_BEDROCK_BASE_URL=zz",
		"ANTHROPIC_MODEL=zz",
		"CLAUDE_CODE_OAUTH_TOKEN=zz", "CLAUDE_CODE_OAUTH_REFRESH_TOKEN=zz", "CLAUDE_CODE_USE_BEDROCK=zz",
		"CLAUDE_CODE_USE_VERTEX=zz",
		"CLAUDE_CODE_USE_FOUNDRY=zz", "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR=zz", "CLAUDE_CODE_HOST_CREDS_FILE=zz",
		"AWS_BEARER_TOKEN_BEDROCK=zz",
		"HTTPS_PROXY=zz", "http_proxy=zz", "ALL_PROXY=zz", "CLAUDECODE=zz", "CLAUDE_CODE_ENTRYPOINT=zz",
		"CLAUDE_CODE_REMOTE_SESSION_ID=zz",
	}
	in := []string{"CLAUDE_CODE_USE_COWORK_PLUGINS=1", "CLAUDE_CONFIG_DIR=/c", "CLAUDE_CODE_SIMPLE=1", "HOME=/h"}
	r := canary.Run(t.Context(),
		canary.Options{Recipe: canary.Claude(), Program: self,
			Env: slices.Concat(out, in, []string{"FAKE_CLAUDE=environment"})})
	if strings.Contains(r.Text, "=zz") {
		t.Errorf("it has %s", r.Text)
	}
	for _, want := range append(in, "ANTHROPIC_BASE_URL=http://127.0.0.1:", "ANTHROPIC_API_KEY=approver-hook-test") {
		if !strings.Contains(r.Text, want) {
			t.Errorf("no %s in %s", want, r.Text)
		}
	}
}

// An agent that knows the form gets itself denied, and nothing else. Whatever is not
// the form to the byte is judged like any call, and alarms like any call when it ran
// without having been asked.
func TestTheFormIsExact(t *testing.T) {
	const hex = "0123456789abcdef0123456789abcdef"
	for command, want := range map[string]bool{
		"/bin/mkdir /tmp/approver-hook-test-" + hex + "/ran":                     true,
		"/bin/mkdir /approver-hook-test-" + hex + "/ran":                         true,
		"/bin/mkdir /var/folders/x_y/T.1/approver-hook-test-" + hex + "/ran":     true,
		"/bin/mkdir /tmp/approver-hook-test-" + hex + "/ran; rm -rf ~":           false,
		"/bin/mkdir /tmp/approver-hook-test-" + hex + "/ran\nrm -rf ~":           false,
		"/bin/mkdir /tmp/approver-hook-test-" + hex + "/ran ":                    false,
		"/bin/mkdir /tmp/approver-hook-test-" + hex + "/ran && true":             false,
		"/bin/mkdir /tmp/approver-hook-test-" + hex + "/ran\n":                   false,
		"/bin/mkdir  /tmp/approver-hook-test-" + hex + "/ran":                    false,
		" /bin/mkdir /tmp/approver-hook-test-" + hex + "/ran":                    false,
		"/bin/mkdir -p /tmp/approver-hook-test-" + hex + "/ran":                  false,
		"/bin/mkdir tmp/approver-hook-test-" + hex + "/ran":                      false,
		"mkdir /tmp/approver-hook-test-" + hex + "/ran":                          false,
		"/usr/local/bin/mkdir /tmp/approver-hook-test-" + hex + "/ran":           false,
		"./bin/mkdir /tmp/approver-hook-test-" + hex + "/ran":                    false,
		"/bin/mkdir2 /tmp/approver-hook-test-" + hex + "/ran":                    false,
		"\\mkdir /tmp/approver-hook-test-" + hex + "/ran":                        false,
		"/bin/mkdir /$(id)/approver-hook-test-" + hex + "/ran":                   false,
		"/bin/mkdir /`id`/approver-hook-test-" + hex + "/ran":                    false,
		"/bin/mkdir /a b/approver-hook-test-" + hex + "/ran":                     false,
		"/bin/mkdir /*/approver-hook-test-" + hex + "/ran":                       false,
		"/bin/mkdir /~/approver-hook-test-" + hex + "/ran":                       false,
		"/bin/mkdir //approver-hook-test-" + hex + "/ran":                        false,
		"/bin/mkdir /tmp/approver-hook-test-" + hex[1:] + "/ran":                 false,
		"/bin/mkdir /tmp/approver-hook-test-" + hex + "0/ran":                    false,
		"/bin/mkdir /tmp/approver-hook-test-" + strings.ToUpper(hex) + "/ran":    false,
		"/bin/mkdir /tmp/approver-hook-test-" + hex + "/ran/x":                   false,
		"/bin/mkdir /tmp/xapprover-hook-test-" + hex + "/ran":                    false,
		"touch /tmp/approver-hook-test-" + hex + "/ran":                          false,
		"git push --force # /bin/mkdir /tmp/approver-hook-test-" + hex + "/ran":  false,
		"/bin/mkdir /tmp/approver-hook-test-" + hex + "/ran/../../../etc/x":      false,
		"/bin/mkdir /" + strings.Repeat("a/", 600) + "approver-hook-test-" + hex: false,
		"/bin/mkdir /tmp/approver-hook-test-<random>/ran":                        false,
		"": false,
	} {
		call := approver.ToolCall{Tool: "Bash", Command: command}
		if canary.Is(call) != want {
			t.Errorf("%q: %v", command, !want)
		}
		v, err := canary.Stage{Next: passes{}}.Judge(t.Context(), call)
		if err != nil || (v.Decision == approver.Deny) != want || !want && v.Decision != approver.Pass {
			t.Errorf("%q: %v %v", command, v.Decision, err)
		}
		call.Tool = "mcp__x__shell"
		if canary.Is(call) {
			t.Errorf("%q: by another tool", command)
		}
	}
}

// passes is a stage that finds nothing.
type passes struct{}

func (passes) Judge(context.Context, approver.ToolCall) (approver.Verdict, error) {
	return approver.Verdict{Decision: approver.Pass}, nil
}

// The zero stage lets nothing through.
func TestTheZeroStageFails(t *testing.T) {
	v, err := canary.Stage{}.Judge(t.Context(), approver.ToolCall{Tool: "Bash", Command: "ls"})
	if err == nil || v.Decision != approver.Deny {
		t.Errorf("%v %v", v.Decision, err)
	}
}

func FuzzForm(f *testing.F) {
	f.Add("/bin/mkdir /tmp/approver-hook-test-0123456789abcdef0123456789abcdef/ran")
	f.Add("/bin/mkdir /tmp/approver-hook-test-0123456789abcdef0123456789abcdef/ran; true")
	f.Fuzz(func(t *testing.T, command string) {
		if !canary.Is(approver.ToolCall{Tool: "Bash", Command: command}) {
			return
		}
		// To a shell it is two plain words.
		if strings.Count(command, " ") != 1 || strings.ContainsAny(command, "\n\t;&|<>$`'\"\\*?[]{}()#~!^=%\x00") ||
			len(command) > 1024 {
			t.Errorf("%q", command)
		}
	})
}

// The real one, if it is there.
func TestRealClaude(t *testing.T) {
	program := os.Getenv("APPROVER_CLAUDE")
	if program == "" {
		t.Skip("NOT RUN: APPROVER_CLAUDE names no Claude Code; .ci/claude installs it and runs this")
	}
	hook := func(command string) string {
		return `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":` + command +
			`,"timeout":60,"onFailure":"block"}]}]}}`
	}
	const says = `"sed -n 's/.*\\(approver-hook-test-[0-9a-f]*\\).*/approver stopped its own test call \\1: the hook ` +
		`works, and nothing is wrong/p' >&2; exit 2"`
	for _, tt := range []struct {
		name, settings string
		env            []string
		want           canary.Outcome
	}{
		{"no hook", `{}`, nil, canary.Ran},
		{"a hook that stops it", hook(says), nil, canary.Stopped},
		{"another one's", hook(`"echo no >&2; exit 2"`), nil, canary.NotProven},
		{"plan mode by default", `{"permissions":{"defaultMode":"plan"}}`, nil, canary.Ran},
		{"a gateway in the settings",
			`{"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:9","HTTPS_PROXY":"http://127.0.0.1:9",` +
				`"CLAUDE_CODE_USE_BEDROCK":"1"}}`, nil, canary.Ran},
		{"a key helper", `{"apiKeyHelper":"echo other"}`, nil, canary.Ran},
		{"hooks off by the environment", hook(says), []string{"CLAUDE_CODE_SIMPLE=1"}, canary.Ran},
		{"an invalid value", strings.Replace(hook(says), "{", `{"cleanupPeriodDays":"x",`, 1), nil, canary.Ran},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			dir := filepath.Join(home, ".claude")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "settings.json"), []byte(tt.settings), 0o600); err != nil {
				t.Fatal(err)
			}
			r := canary.Run(t.Context(),
				canary.Options{Recipe: canary.Claude(), Program: program, Dir: home,
					Env: append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, tt.env...)})
			if r.Outcome != tt.want {
				t.Errorf("%+v", r)
			}
			if tt.name == "an invalid value" && !strings.Contains(r.Text, "did not load") {
				t.Errorf("what claude printed is not told: %+v", r)
			}
		})
	}
}
