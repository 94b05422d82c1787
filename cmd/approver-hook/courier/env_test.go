package courier

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"approver.example"
	"approver.example/httpapi/wire"
)

// The story: a grant was given with DATABASE_URL of the test database and used with that
// of production, because the daemon believed in variables that the hook did not send.
// All that the daemon looks for is sent.
func TestWhatTheDaemonLooksForIsCarried(t *testing.T) {
	var names []string
	file, err := parser.ParseFile(token.NewFileSet(), "../../../display/shape/programs.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch d := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.ValueSpec:
			return d.Names[0].Name == "codeVariables" || d.Names[0].Name == "placeVariables" // of AlwaysShown
		case *ast.FuncDecl:
			return d.Name.Name == "AlwaysShown"
		case *ast.BasicLit:
			if list, err := strconv.Unquote(d.Value); err == nil && d.Kind == token.STRING {
				names = append(names, strings.Fields(list)...)
			}
		}
		return true
	})
	table, err := os.ReadFile("../../../fingerprint/languages.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		setting, list, _ := strings.Cut(line, ":")
		if setting == "options" || setting == "paths" { // the other settings name no variables
			names = append(names, strings.Fields(list)...)
		}
	}
	found := 0
	for _, name := range names {
		if strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_nmpcofigsrthel") != "" || len(name) < 2 || name == "loader" {
			continue
		}
		if found++; !isCarried(name) && !isCarried(name+"X") {
			t.Errorf("%s is not carried", name)
		}
	}
	if !isCarried("CLAUDE_PROJECT_DIR") { // of which the agent has the skills wherever it is
		t.Error("the project is not carried")
	}
	if found < 60 {
		t.Errorf("only %d names were found", found)
	}
}

// What may say to somebody's own program where to act is compared, by a name that no
// shell can have; secrets and what differs from window to window are not sent at all.
func TestFurtherVariablesAreCompared(t *testing.T) {
	if wire.Compared != approver.ComparedEnv {
		t.Error("both ends call them otherwise")
	}
	for _, name := range []string{"TARGET_HOST", "STAGE", "CLUSTER", "deploy_cmd", "APP_DATABASE", "MY_KUBE_CONTEXT",
		"SERVICE_ENDPOINT", "X_REGION", "TOOL_OPTS", "PRE_HOOKS", "FOO_PATH"} {
		got, err := selectEnv([]string{name + "=x", name + "=y"})
		if err != nil || string(got) != "#"+name+"=x\ny\x00" {
			t.Errorf("%s is sent as %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"DRY_RUN", "DB_NAME", "INSTANCE", "FORCE", "VERSION", "IMAGE", "TAG", "MODE", "SSH_USER",
		"OUT", "S", "s", "USER", "LANG", "CI",
		"CLAUDE_CODE_MODEL", "foo.bar", "a-b", "#HOST", "ä", "TERMX", "MY_PWDX", "XDG_DATA_DIRS", "LAMBDA_TASK"} {
		if got, err := selectEnv([]string{name + "=x"}); err != nil || string(got) != "##"+name+"=x\x00" {
			t.Errorf("%s is sent as %q, %v", name, got, err)
		}
	}
	if got, err := selectEnv([]string{"A\xff=x"}); err != nil || !utf8.Valid(got) || len(got) == 0 {
		t.Errorf("a name of other bytes is sent as %q, %v", got, err)
	}
	for _, name := range []string{"TERM", "PWD", "OLDPWD", "SHLVL", "_", "XDG_RUNTIME_DIR", "CLAUDE_CODE_SSE_PORT",
		"WINDOWID", "COLUMNS", "LINES",
		"TERM_SESSION_ID", "ITERM_SESSION_ID", "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "TMUX", "TMUX_PANE", "STY",
		"DISPLAY", "XDG_SESSION_ID", "SSH_AGENT_PID",
		"TERM_PROGRAM_VERSION", "npm_lifecycle_event", "DIRENV_DIFF", "VSCODE_GIT_IPC_HANDLE", "LS_COLORS", "DB_PASSWORD",
		"API_TOKEN", "X_SECRET", "SOME_KEY",
		"TF_TOKEN_app_x", "TF_VAR_db_password_x", "MY_TOKEN_PROD", "SECRET_OF_X", "GOOGLE_APPLICATION_CREDENTIALS_JSON_TOKEN",
		"X_API_KEY_2", "npm_config__authToken"} {
		if got, err := selectEnv([]string{name + "=x"}); err != nil || len(got) != 0 {
			t.Errorf("%s is sent as %q, %v", name, got, err)
		}
	}
	for _, value := range []string{"\xff\xfe", strings.Repeat("é", maxValue), "https://u:hunter22@h"} {
		got, err := selectEnv([]string{"TARGET_URL=" + value})
		if err != nil || len(got) > maxValue*2 || !utf8.Valid(got) || strings.Contains(string(got), "hunter22") {
			t.Errorf("%.20q is sent as %.60q, %v", value, got, err)
		}
	}
	long := make([]string, 0, 20)
	for i := range 20 {
		long = append(long, "V"+strconv.Itoa(i)+"_PATH="+strings.Repeat("x", maxValue))
	}
	if _, err := selectEnv(long); err == nil {
		t.Error("what is too long to compare is left out without a word")
	}
}

// windows is the environment of one window of a shell, with what differs in another.
func windows(n string) []string {
	return []string{
		"PATH=/home/dev/.nvm/versions/node/v22.1.0/bin:/usr/local/bin:/usr/bin:/bin", "HOME=/home/dev", "USER=dev",
		"LOGNAME=dev", "LANG=en_US.UTF-8", "SHELL=/bin/zsh",
		"PWD=/repo" + n, "OLDPWD=/x" + n, "SHLVL=" + n, "_=/bin/" + n, "COLUMNS=" + n, "LINES=" + n, "TERM=xterm-" + n,
		"COLORTERM=" + n, "WINDOWID=" + n,
		"TERM_SESSION_ID=" + n, "ITERM_SESSION_ID=" + n, "ITERM_PROFILE=" + n, "TERM_PROGRAM=iTerm" + n,
		"TERM_PROGRAM_VERSION=" + n, "LC_TERMINAL_VERSION=" + n,
		"SSH_CLIENT=" + n, "SSH_CONNECTION=" + n, "SSH_TTY=" + n, "SSH_AGENT_PID=" + n, "TMUX=" + n, "TMUX_PANE=%" + n,
		"STY=" + n, "DISPLAY=:" + n,
		"XDG_SESSION_ID=" + n, "XDG_SESSION_TYPE=" + n, "XDG_RUNTIME_DIR=/run/" + n, "DBUS_SESSION_BUS_ADDRESS=" + n,
		"GPG_TTY=/dev/pts/" + n, "VTE_VERSION=" + n,
		"VSCODE_PID=" + n, "VSCODE_IPC_HOOK_CLI=/run/" + n, "KITTY_WINDOW_ID=" + n, "WEZTERM_PANE=" + n, "WT_SESSION=" + n,
		"ZELLIJ_SESSION_NAME=" + n,
		"DIRENV_DIFF=" + n, "DIRENV_WATCHES=" + n, "DIRENV_DIR=-/repo" + n, "STARSHIP_SESSION_KEY=" + n,
		"FNM_MULTISHELL_PATH=/run/" + n, "INVOCATION_ID=" + n,
		"JOURNAL_STREAM=" + n, "npm_lifecycle_event=" + n, "npm_package_version=" + n, "CLAUDECODE=1",
		"COPILOT_HOOK_DIR=/hooks/" + n,
		"CLAUDE_CODE_ENTRYPOINT=" + n, "CLAUDE_CODE_SSE_PORT=" + n,
		"CLAUDE_CODE_SESSION_ID=" + n, "NVM_DIR=/home/dev/.nvm", "NVM_BIN=/home/dev/.nvm/versions/node/v22.1.0/bin",
		"NVM_INC=/home/dev/.nvm/include", "EDITOR=vim", "LESS=-R",
		"XDG_DATA_DIRS=/usr/local/share:/usr/share", "LS_COLORS=" + strings.Repeat("*.x=01;3"+n+":", 150), "PROJECT_NAME=web",
		"DRY_RUN=1",
	}
}

// Two windows of the same profile are the same environment; another value of anything
// that a program of one's own may read is not.
func TestWindowsAreTheSameEnvironment(t *testing.T) {
	one, err := selectEnv(windows("1"))
	if err != nil {
		t.Fatal(err)
	}
	if two, err := selectEnv(windows("2")); err != nil || string(two) != string(one) {
		t.Errorf("%v: another window is another environment:\n%q\n%q", err, one, two)
	}
	t.Logf("%d variables, %d bytes", len(windows("1")), len(one))
	for _, change := range []string{"VIRTUAL_ENV=/repo/venv", "DRY_RUN=0", "LESS=-X", "A=b"} {
		if other, err := selectEnv(append([]string{change}, windows("1")...)); err != nil || string(other) == string(one) {
			t.Errorf("%s makes no difference: %v", change, err)
		}
	}
}

func BenchmarkSelectEnv(b *testing.B) {
	env := windows("1")
	for b.Loop() {
		if _, err := selectEnv(env); err != nil {
			b.Fatal(err)
		}
	}
}
