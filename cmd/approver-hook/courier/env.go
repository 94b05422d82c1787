package courier

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"approver.example/httpapi/wire"
)

// carried are the environment variables that change what a command runs or where
// it acts, so that an approval given under one environment is not used under
// another. A star stands for any ending.
var carried = [...]string{
	// the loader
	"PATH", "LD_*", "DYLD_*", "GCONV_PATH",
	// shells; BASH_FUNC_* are functions, which go before programs
	"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "BASH_FUNC_*", "IFS", "CDPATH", "GLOBIGNORE", "PS4", "PROMPT_COMMAND",
	"ZDOTDIR", "FPATH", "SHELL", "HOME", "XDG_CONFIG_HOME", "CLAUDE_ENV_FILE", "CLAUDE_CONFIG_DIR", "CLAUDE_PROJECT_DIR",
	// interpreters
	"NODE_OPTIONS", "NODE_PATH", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONINSPECT",
	"PERL5LIB", "PERL5OPT", "PERL5DB", "PERLLIB", "RUBYOPT", "RUBYLIB", "GEM_HOME", "GEM_PATH", "LUA_INIT", "LUA_PATH",
	"LUA_CPATH", "JULIA_LOAD_PATH",
	"PHPRC", "PHP_INI_SCAN_DIR", "CLASSPATH", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS",
	// build tools
	"MAKEFLAGS", "MAKEFILES", "GOFLAGS", "GOTOOLCHAIN", "GOPROXY", "GOPRIVATE", "GONOSUMDB", "GONOSUMCHECK", "GOSUMDB",
	"GOENV", "CC", "CXX", "RUSTC", "RUSTC_WRAPPER",
	"RUSTFLAGS", "RUSTUP_TOOLCHAIN", "CARGO_*", "npm_config_*", "NPM_CONFIG_*", "PIP_*", "UV_*", "POETRY_*", "MAVEN_OPTS",
	"GRADLE_OPTS",
	// programs that scripts and commands find through a variable, and where these are installed
	"PYTHON", "PYTHON3", "PIP", "NODE", "NPM", "MAKE", "CMAKE", "LD", "AR", "GO", "CARGO", "RUBY", "PERL", "PHP", "JAVA",
	"DOCKER", "COMPOSE", "KUBECTL", "HELM", "TERRAFORM",
	"JAVA_HOME", "GOROOT", "GOPATH", "GOBIN", "VIRTUAL_ENV", "NVM_DIR", "DESTDIR", "PREFIX",
	// programs that start others
	"RSYNC_RSH", "TAR_OPTIONS", "PYTEST_ADDOPTS", "BUNDLE_GEMFILE", "DOTNET_STARTUP_HOOKS", "KUBECTL_EXTERNAL_DIFF",
	"PSQLRC", "VIMINIT", "XDG_DATA_HOME",
	"GIT_*", "SSH_ASKPASS", "SSH_AUTH_SOCK", "EDITOR", "VISUAL", "PAGER", "LESSOPEN", "LESSCLOSE", "MANPAGER", "BROWSER",
	// where a command acts
	"KUBECONFIG", "KUBE_*", "HELM_*", "DOCKER_*", "COMPOSE_*", "AWS_*", "AZURE_*", "ARM_*", "CLOUDSDK_*", "GOOGLE_*",
	"TF_*", "VAULT_ADDR", "VAULT_NAMESPACE",
	"CONSUL_HTTP_ADDR", "NOMAD_ADDR", "PG*", "MYSQL_*", "REDIS_HOST", "REDIS_URL", "DATABASE_URL", "MONGO*", "GH_REPO",
	"GH_HOST", "ANSIBLE_*", "PULUMI_*", "RESTIC_*",
	"RCLONE_*", "FLY_APP", "VERCEL_*", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY",
	"ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_HOME", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE",
	"NODE_EXTRA_CA_CERTS", "NODE_TLS_REJECT_UNAUTHORIZED",
	"NODE_ENV", "RAILS_ENV", "RACK_ENV", "APP_ENV", "FLASK_ENV", "DJANGO_SETTINGS_MODULE", "ENVIRONMENT", "DEPLOY_ENV",
	"VERCEL_ENV",
}

// secretWords are the endings of names, in any case, by which programs conventionally mark a
// secret. Such a variable is not sent, stored or shown. Whose secret it is can be seen from
// another variable, such as AWS_ACCESS_KEY_ID.
var secretWords = [...]string{"TOKEN", "PASSWORD", "PASSWD", "_PASS", "PASSPHRASE", "SECRET", "_AUTH", "_AUTH_CONFIG",
	"GOOGLE_CREDENTIALS", "_PWD"}

// choosing are the last words in the names of variables that custom programs read to find out
// where to act or what to run: TARGET_HOST, STAGE, DEPLOY_CMD. The daemon also looks at the
// files that their values name.
var choosing = [...]string{
	"HOST", "HOSTS", "HOSTNAME", "URL", "URI", "ENDPOINT", "ADDR", "ADDRESS", "SERVER", "PORT", "DSN", "BROKER", "BROKERS",
	"PROFILE", "CONTEXT", "PROJECT", "ACCOUNT", "SUBSCRIPTION", "TENANT", "REGION", "ZONE", "CLUSTER", "NAMESPACE",
	"REMOTE", "REPO", "REPOSITORY", "BRANCH",
	"ENV", "STAGE", "TARGET", "WORKSPACE", "DATABASE", "DB", "SCHEMA", "BUCKET", "QUEUE", "TOPIC", "ORG", "APP", "SERVICE",
	"INVENTORY",
	"OPTS", "OPTIONS", "FLAGS", "ARGS", "CMD", "COMMAND", "EXEC", "BIN", "PATH", "HOME", "DIR", "ROOT", "PREFIX", "FILE",
	"CONFIG", "RC", "PRELOAD", "PLUGINS", "HOOKS",
	"WRAPPER", "LAUNCHER", "INTERPRETER", "SCRIPT", "PROGRAM", "RUNNER",
}

// noise are the variables that differ from window to window or from call to call, and that no
// program bases a decision on. A star stands for any ending or beginning.
var noise = [...]string{
	// shells
	"_", "PWD", "OLDPWD", "INIT_CWD", "SHLVL", "COLUMNS", "LINES", "PPID", "BASHPID", "RANDOM", "SRANDOM", "SECONDS",
	"EPOCHSECONDS", "EPOCHREALTIME", "LINENO", "HISTCMD",
	"PS1", "PS2", "PROMPT", "RPROMPT", "HISTFILE", "HISTSIZE", "HISTFILESIZE", "HISTCONTROL", "LS_COLORS", "LSCOLORS",
	"STARSHIP_*", "P9K_*", "_P9K*", "ATUIN_*", "MCFLY_*",
	"ZSH_EXECUTION_STRING", "FNM_MULTISHELL_PATH", "DIRENV_*", "__MISE_*", "CONDA_SHLVL", "CONDA_PROMPT_MODIFIER",
	"VIRTUAL_ENV_PROMPT",
	// terminals and desktops
	"TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERM_FEATURES", "TERMINFO", "TERMINFO_DIR", "TERMINFO_DIRS",
	"COLORTERM", "COLORFGBG", "WINDOWID", "WINDOWPATH", "WINDOW",
	"LC_TERMINAL", "LC_TERMINAL_VERSION", "ITERM_*", "KITTY_*", "WEZTERM_*", "ALACRITTY_*", "GHOSTTY_*", "KONSOLE_*",
	"GNOME_TERMINAL_*", "TERMINATOR_*", "TILIX_*", "WT_*",
	"VTE_VERSION", "TMUX*", "STY", "ZELLIJ*", "VSCODE_*", "NVIM", "NVIM_LISTEN_ADDRESS", "VIMRUNTIME", "INSIDE_EMACS",
	"TERMINAL_EMULATOR", "__CFBundleIdentifier",
	"__CF_USER_TEXT_ENCODING", "XPC_*", "COMMAND_MODE", "SECURITYSESSIONID", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
	"ICEAUTHORITY", "DESKTOP_STARTUP_ID",
	"SESSION_MANAGER", "GIO_LAUNCHED_DESKTOP_FILE", "DBUS_SESSION_BUS_ADDRESS", "DBUS_STARTER_*", "XDG_RUNTIME_DIR",
	"XDG_SESSION_*", "XDG_SEAT*", "XDG_VTNR", "GPG_TTY",
	"SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "INVOCATION_ID", "JOURNAL_STREAM", "NOTIFY_SOCKET", "LISTEN_FDS",
	"MEMORY_PRESSURE_*",
	// CI runners' counters and files, and the agent itself
	"npm_lifecycle_*", "npm_command", "npm_execpath", "npm_node_execpath", "npm_package_*", "GITHUB_ENV", "GITHUB_PATH",
	"GITHUB_OUTPUT", "GITHUB_STATE",
	"GITHUB_STEP_SUMMARY", "GITHUB_ACTION", "RUNNER_TEMP", "TRACEPARENT", "TRACESTATE",
	"CLAUDECODE", "CLAUDE_EFFORT", "CLAUDE_PID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_EXECPATH",
	"CLAUDE_CODE_TMPDIR",
	"CLAUDE_CODE_TASK_*", "CLAUDE_CODE_AGENT*", "CLAUDE_CODE_REMOTE_*", "CLAUDE_CODE_CONTAINER_ID",
	"CLAUDE_CODE_CHILD_NOTES_DIR", "CLAUDE_CODE_MESSAGING_SOCKET", "QWEN_CODE_MODEL_IDENTITY", "QWEN_CODE_AGENT_ID",
	"GEMINI_PLANS_DIR",
	// where Cline keeps its own notes, which may be another folder for each start
	"CLINE_DATA_DIR", "CLINE_DB_DATA_DIR", "CLINE_SANDBOX_DATA_DIR", "CLINE_SESSION_DATA_DIR", "CLINE_TEAM_DATA_DIR",
	"CLINE_GLOBAL_SETTINGS_PATH", "CLINE_PROVIDER_SETTINGS_PATH", "CLINE_HOOKS_LOG_PATH",
	// Copilot sets it for hooks of its own, and not for those of Claude Code that it runs, too
	"COPILOT_HOOK_DIR",
	"session_id", "transcript_path", // of Droid
	"*SESSION_ID", "*_PROMPT_ID", "*_PID", "*_PANE_ID",
}

// maxValue limits the value of one variable, in bytes.
const maxValue = 32 << 10

// selectEnv returns the carried variables of an environment and those that are only compared,
// in wire format. It returns an error if a carried variable is too long, if it occurs twice,
// because programs would not agree on its value, or if the result would exceed wire.MaxEnv.
func selectEnv(env []string) ([]byte, error) {
	var block []byte
	var compared []string
	seen := make(map[string]bool, 16)
	for _, pair := range env {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || !isCarried(key) {
			if ok && isCompared(key) {
				compared = compare(compared, key, value)
			}
			continue
		}
		switch {
		case seen[key]:
			return nil, errors.New("the environment variable " + strconv.Quote(key) +
				" occurs twice in the environment of the approver hook, so the call was stopped")
		case len(value) > maxValue || len(block)+len(pair)+1 > wire.MaxEnv:
			return nil, errors.New("the environment variable " + strconv.Quote(key) + " is too long for approver to judge (" +
				strconv.Itoa(len(value)) + " bytes), so the call was stopped")
		}
		seen[key] = true
		block = append(append(block, key+"="+withoutPasswords(key, value)...), 0)
	}
	for _, pair := range compared {
		if len(block)+len(pair) > wire.MaxEnv {
			return nil, errors.New("the environment is too long for approver to judge (" +
				strconv.Itoa(len(block)) + " bytes and more), so the call was stopped")
		}
		block = append(block, pair...)
	}
	return block, nil
}

// ends returns a value, or its beginning and end if it is too long to send.
func ends(value string) string {
	if len(value) > maxValue {
		value = value[:maxValue/2] + strconv.Itoa(len(value)) + value[len(value)-maxValue/2:]
	}
	if !utf8.ValidString(value) {
		return strconv.QuoteToASCII(value)
	}
	return value
}

// compare adds a variable that is only compared. If it occurs twice, both values count, because
// some programs read the first and some the last.
func compare(pairs []string, key, value string) []string {
	name := wire.Compared
	if !chooses(key) {
		name += wire.Compared
	}
	if name += key; !utf8.ValidString(name) {
		name = strconv.QuoteToASCII(name)
	}
	value = ends(withoutPasswords(key, value)) + "\x00"
	for i, pair := range pairs {
		if len(pair) > len(name) && pair[len(name)] == '=' && pair[:len(name)] == name {
			pairs[i] = pair[:len(pair)-1] + "\n" + value
			return pairs
		}
	}
	return append(pairs, name+"="+value)
}

// isCompared reports whether a variable is only compared. Which variables a custom program
// reads is unknown, so all are compared except noise and secrets. Their values are neither
// shown nor stored.
func isCompared(key string) bool {
	if _, listed := listedAs(key); listed || key == "" || isSecret(key, "") { // listed but not carried: a secret
		return false
	}
	if upper := strings.ToUpper(key); !chooses(key) {
		for _, word := range [...]string{"TOKEN", "PASSW", "PASSPHRASE", "SECRET", "CREDENTIAL", "_KEY_", "API_KEY",
			"APIKEY"} {
			if strings.Contains(upper, word) {
				return false
			}
		}
	}
	for _, name := range noise {
		if name[0] != key[0] && name[0] != '*' { // a quick check that rules out most names
			continue
		}
		begin, anyEnd := strings.CutSuffix(name, "*")
		end, anyBegin := strings.CutPrefix(name, "*")
		if key == name || anyEnd && strings.HasPrefix(key, begin) || anyBegin && strings.HasSuffix(key, end) {
			return false
		}
	}
	return true
}

// chooses reports whether a name ends in one of the choosing words.
func chooses(key string) bool {
	for i := range len(key) {
		if c := key[i]; c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	upper := strings.ToUpper(key)
	return slices.Contains(choosing[:], upper[strings.LastIndexByte(upper, '_')+1:])
}

func isCarried(key string) bool {
	prefix, listed := listedAs(key)
	// An agent that installs a package sets the name of its npm in the middle of a session.
	return listed && !isSecret(key, prefix) && key != "npm_config_user_agent"
}

// listedAs reports whether the list of carried variables has a name, and returns the entry
// without its star.
func listedAs(key string) (prefix string, listed bool) {
	for _, name := range carried {
		if key == "" || name[0] != key[0] { // a quick check that rules out most names
			continue
		}
		if prefix, any := strings.CutSuffix(name, "*"); key == name || any && strings.HasPrefix(key, prefix) {
			return prefix, true
		}
	}
	return "", false
}

// isSecret reports whether a variable's name marks it as a secret. What loaders and shells run
// is carried whatever its name.
func isSecret(key, prefix string) bool {
	switch prefix {
	case "LD_", "DYLD_", "BASH_FUNC_":
		return false
	case "GIT_":
		return strings.HasSuffix(key, "_TOKEN") || strings.HasSuffix(key, "_PASSWORD") || strings.HasSuffix(key, "_PASSWD") ||
			strings.HasSuffix(key, "_SECRET")
	}
	upper := strings.ToUpper(key)
	for _, word := range secretWords {
		if strings.HasSuffix(upper, word) {
			return true
		}
	}
	// npm_config_//host/:_authToken and TF_VAR_token_x have the word in the middle.
	if prefix == "TF_" || prefix == "npm_config_" || prefix == "NPM_CONFIG_" || prefix == "CARGO_" || prefix == "POETRY_" {
		for _, word := range [...]string{"TOKEN", "PASSW", "SECRET", "_AUTH", "_KEY"} {
			if strings.Contains(upper, word) {
				return true
			}
		}
	}
	return strings.HasSuffix(upper, "_KEY") || strings.HasSuffix(upper, "APIKEY")
}

// withoutPasswords masks the passwords in the URLs of proxies, registries and the like. The
// rest stays, because it says where a command acts.
func withoutPasswords(key, value string) string {
	upper := strings.ToUpper(key)
	if !strings.HasSuffix(upper, "PROXY") && !strings.HasSuffix(upper, "_URL") && !strings.HasSuffix(upper, "_URI") &&
		!strings.HasSuffix(upper, "REGISTRY") && !strings.HasSuffix(upper, "REPOSITORY") {
		return value
	}
	for at := 0; ; {
		n := strings.Index(value[at:], "://")
		if n < 0 {
			return value
		}
		at += n + len("://")
		host := value[at:]
		if end := strings.IndexAny(host, "/?#, |"); end >= 0 {
			host = host[:end]
		}
		user := strings.LastIndexByte(host, '@')
		if colon := strings.IndexByte(host[:max(user, 0)], ':'); colon >= 0 {
			value = value[:at+colon+1] + "***" + value[at+user:]
		}
	}
}

// lookup returns the first value of a variable.
func lookup(env []string, key string) string {
	for _, pair := range env {
		if k, v, ok := strings.Cut(pair, "="); ok && k == key {
			return v
		}
	}
	return ""
}
