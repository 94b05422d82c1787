package courier

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"approver.example/agents"
	"approver.example/agents/facts"
	"approver.example/httpapi/wire"
)

func TestParseFlags(t *testing.T) {
	o, err := parseFlags([]string{"--agent", "claude", "--event=PostToolUse", "--deadline", "290s", "--socket=/s",
		"--connect-timeout", "0s"})
	if want := (options{agent: "claude", event: "PostToolUse", deadline: 290 * time.Second, socket: "/s"}); err != nil ||
		o != want {
		t.Errorf("%+v, %v, want %+v", o, err, want)
	}
	if o, err = parseFlags([]string{"--agent=claude"}); err != nil || o.deadline != 290*time.Second {
		t.Errorf("claude waits %v, %v", o.deadline, err)
	}
	o, err = parseFlags([]string{"--agent=x"})
	if want := (options{agent: "x", deadline: 25 * time.Second, connectTimeout: 5 * time.Second}); err != nil ||
		o != want {
		t.Errorf("%+v, %v, want %+v", o, err, want)
	}
}

// When the agent is told to come back: at the time that is given, and in any
// case while the courier can still tell it.
func TestParkAt(t *testing.T) {
	start := time.Unix(1000, 0)
	for args, want := range map[string]time.Duration{
		"":                                -1,
		"--park":                          288 * time.Second,
		"--park-after 0s":                 0,
		"--park-after 45s":                45 * time.Second,
		"--park --park-after 45s":         45 * time.Second,
		"--park-after 1h":                 288 * time.Second,
		"--deadline 30s --park":           28 * time.Second,
		"--deadline 30s --park-after=10s": 10 * time.Second,
	} {
		o, err := parseFlags(append([]string{"--agent", "claude"}, strings.Fields(args)...))
		if err != nil {
			t.Fatal(err)
		}
		at := o.parkAt(start, start.Add(o.deadline))
		if want < 0 && !at.IsZero() || want >= 0 && !at.Equal(start.Add(want)) {
			t.Errorf("%s: %v", args, at)
		}
	}
	for _, args := range []string{"--park=no", "--park-after", "--park-after soon", "--park-after -1s", "--park --park"} {
		if _, err := parseFlags(append([]string{"--agent", "claude"}, strings.Fields(args)...)); err == nil {
			t.Errorf("%s is taken", args)
		}
	}
}

// The settings that the documentation shows name the deadline that holds without
// the flag too.
func TestDeadlineOfTheSettings(t *testing.T) {
	settings, err := agents.Claude{}.HookConfig("/h", "", 120*time.Second)
	if err != nil || !strings.Contains(string(settings),
		fmt.Sprintf(`"/h --agent claude --deadline %.0fs"`, facts.Of("claude").Patience.Seconds())) {
		t.Errorf("%v, %s", err, settings)
	}
}

// The agent and the event are known behind a mistake too, so that the blocking
// answer has their form.
func TestParseFlagsErrors(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"", "--agent is missing"},
		{"--deadline 5s", "--agent is missing"},
		{"--agent", "--agent has no value"},
		{"--agent=", "--agent has no value"},
		{"--agent Claude", "not a name of"},
		{"--agent a\r\nX:y", "not a name of"},
		{"--agent gemini --agent gemini", "--agent is given twice"},
		{"--agent gemini -v", `"-v" is not known`},
		{"--agent gemini -agent x", `"-agent" is not known`},
		{"--agent gemini extra", `"extra" is not known`},
		{"--bogus 1 --agent gemini", `"--bogus" is not known`},
		{"--agent gemini --deadline", "--deadline has no value"},
		{"--deadline 5 --agent gemini", `--deadline "5" is not a time`},
		{"--agent gemini --deadline -5s", "not a time from 1s"},
		{"--agent gemini --deadline 0s", "not a time from 1s"},
		{"--agent gemini --deadline 25h", "to 24h0m0s"},
		{"--agent gemini --deadline forever", "not a time"},
		{"--agent gemini --socket s", "not an absolute path"},
		{"--agent gemini --socket /" + strings.Repeat("x", 200), "longer than"},
		{"--agent gemini --connect-timeout -1s", "not a time from 0s"},
	} {
		var args []string
		if tt.args != "" {
			args = strings.Split(tt.args, " ")
		}
		o, err := parseFlags(args)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.args, err, tt.want)
		}
		if strings.Contains(tt.args, "--agent gemini") && o.agent != "gemini" {
			t.Errorf("%q: the agent is lost: %+v", tt.args, o)
		}
	}
}

func TestSelectEnv(t *testing.T) {
	got, err := selectEnv([]string{
		"PATH=/bin", "USER=u", "LD_PRELOAD=/x.so", "BASH_FUNC_ls%%=() { rm -rf /; }", "GIT_SSH_COMMAND=ssh",
		"GIT_TOKEN=secret", "AWS_SECRET_ACCESS_KEY=x",
		"ANTHROPIC_API_KEY=x", "PATHX=1", "ENV=", "DYLD_INSERT_LIBRARIES=/x", "noequals", "=C:=x", "EDITOR=vi\nx",
	})
	want := "PATH=/bin\x00LD_PRELOAD=/x.so\x00BASH_FUNC_ls%%=() { rm -rf /; " +
		"}\x00GIT_SSH_COMMAND=ssh\x00ENV=\x00DYLD_INSERT_LIBRARIES=/x\x00EDITOR=vi\nx\x00##USER=u\x00##PATHX=1\x00"
	if err != nil || string(got) != want {
		t.Errorf("%q, %v\nwant %q", got, err, want)
	}
}

// What says where a command acts is carried, and no secret that its name tells.
func TestSelectEnvCarriesWhere(t *testing.T) {
	for _, pair := range []string{
		"KUBECONFIG=/x", "KUBE_CONTEXT=x", "HELM_KUBECONTEXT=x", "DOCKER_CONFIG=/x", "AWS_REGION=x", "AWS_ACCESS_KEY_ID=AKIA",
		"AWS_ENDPOINT_URL=https://x",
		"AZURE_SUBSCRIPTION_ID=x", "ARM_SUBSCRIPTION_ID=x", "GOOGLE_CLOUD_PROJECT=x", "GOOGLE_APPLICATION_CREDENTIALS=/x",
		"CLOUDSDK_CORE_PROJECT=x", "TF_VAR_region=x",
		"PGHOST=x", "PGDATABASE=x", "MYSQL_HOST=x", "npm_config_registry=https://x", "PIP_INDEX_URL=https://x",
		"CARGO_TARGET_DIR=/x", "GOPROXY=https://x",
		"https_proxy=http://x", "HTTPS_PROXY=http://x", "SSH_AUTH_SOCK=/x", "NODE_TLS_REJECT_UNAUTHORIZED=0",
		"GIT_CONFIG_KEY_0=alias.x", "BASH_FUNC_get_token%%=() { x; }",
	} {
		if got, err := selectEnv([]string{pair}); err != nil || string(got) != pair+"\x00" {
			t.Errorf("%s is carried as %q, %v", pair, got, err)
		}
	}
	for _, pair := range []string{
		"AWS_SECRET_ACCESS_KEY=x", "AWS_SESSION_TOKEN=x", "AZURE_CLIENT_SECRET=x", "AZURE_STORAGE_KEY=x",
		"ARM_CLIENT_SECRET=x", "ARM_ACCESS_KEY=x", "GOOGLE_API_KEY=x",
		"GOOGLE_CREDENTIALS={}", "DOCKER_PASSWORD=x", "DOCKER_AUTH_CONFIG={}", "TF_VAR_db_password=x",
		"TF_TOKEN_app_terraform_io=x", "PGPASSWORD=x", "MYSQL_PWD=x", "PIP_PASSWORD=x",
		"npm_config__authToken=x", "npm_config_//r.example/:_authToken=x", "npm_config__auth=x", "CARGO_REGISTRY_TOKEN=x",
		"CARGO_REGISTRIES_X_TOKEN=x", "UV_PUBLISH_TOKEN=x", "HELM_PASSWORD=x",
	} {
		if got, err := selectEnv([]string{pair}); err != nil || len(got) != 0 {
			t.Errorf("%s is carried as %q, %v", pair, got, err)
		}
	}
	for pair, want := range map[string]string{
		"https_proxy=http://u:pw@h:1/":        "https_proxy=http://u:***@h:1/",
		"PIP_INDEX_URL=https://u:p:w@h/s":     "PIP_INDEX_URL=https://u:***@h/s",
		"GOPROXY=https://a:b@c,https://d:e@f": "GOPROXY=https://a:***@c,https://d:***@f",
		"GOPROXY=https://c,direct":            "GOPROXY=https://c,direct",
		"PIP_INDEX_URL=https://h/a:b@c":       "PIP_INDEX_URL=https://h/a:b@c",
	} {
		if got, err := selectEnv([]string{pair}); err != nil || string(got) != want+"\x00" {
			t.Errorf("%s is carried as %q, %v", pair, got, err)
		}
	}
}

func FuzzWithoutPasswords(f *testing.F) {
	f.Add("https://u:p@h,x://://@:@")
	f.Fuzz(func(t *testing.T, value string) {
		once := withoutPasswords("https_proxy", value)
		if twice := withoutPasswords("https_proxy", once); twice != once {
			t.Errorf("%q becomes %q and then %q", value, once, twice)
		}
	})
}

// Nothing is cut: two environments that differ must not look the same.
func TestSelectEnvRefuses(t *testing.T) {
	for want, env := range map[string][]string{
		`"PATH" occurs twice`:        {"PATH=/bin", "USER=x", "PATH=/tmp"},
		`"PATH" is too long`:         {"PATH=" + strings.Repeat("x", maxValue+1)},
		`"GIT_8" is too long`:        manyEnv(),
		`"LD_LIBRARY_PATH" is too l`: {"PATH=/bin", "LD_LIBRARY_PATH=" + strings.Repeat("x", wire.MaxEnv)},
	} {
		if got, err := selectEnv(env); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes, %v, want %s", len(got), err, want)
		}
	}
}

func manyEnv() []string {
	var env []string
	for i := range 20 {
		name := "GIT_" + string(rune('A'+i))
		if i == 7 {
			name = "GIT_8"
		}
		env = append(env, name+"="+strings.Repeat("x", maxValue))
	}
	return env
}

func TestCarriedHasNoRepeats(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range carried {
		if seen[name] || strings.Count(name, "*") > 1 || strings.Contains(strings.TrimSuffix(name, "*"), "*") {
			t.Errorf("%q", name)
		}
		seen[name] = true
	}
}
