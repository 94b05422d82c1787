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
	"ZDOTDIR", "FPATH", "SHELL", "HOME", "XDG_CONFIG_HOME", "CLAUDE_ENV_FILE", "CLAUDE_CONFIG_DIR",
	// interpreters
	"NODE_OPTIONS", "NODE_PATH", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONINSPECT",
	"PERL5LIB", "PERL5OPT", "PERL5DB", "PERLLIB", "RUBYOPT", "RUBYLIB", "GEM_HOME", "GEM_PATH", "LUA_INIT", "LUA_PATH", "LUA_CPATH", "JULIA_LOAD_PATH",
	"PHPRC", "PHP_INI_SCAN_DIR", "CLASSPATH", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS",
	// build tools
	"MAKEFLAGS", "MAKEFILES", "GOFLAGS", "GOTOOLCHAIN", "GOPROXY", "GOPRIVATE", "GONOSUMDB", "GONOSUMCHECK", "GOSUMDB", "GOENV", "CC", "CXX", "RUSTC", "RUSTC_WRAPPER",
	"RUSTFLAGS", "RUSTUP_TOOLCHAIN", "CARGO_*", "npm_config_*", "NPM_CONFIG_*", "PIP_*", "UV_*", "POETRY_*", "MAVEN_OPTS", "GRADLE_OPTS",
	// programs that scripts and commands call by a variable, and where they lie
	"PYTHON", "PYTHON3", "PIP", "NODE", "NPM", "MAKE", "CMAKE", "LD", "AR", "GO", "CARGO", "RUBY", "PERL", "PHP", "JAVA", "DOCKER", "COMPOSE", "KUBECTL", "HELM", "TERRAFORM",
	"JAVA_HOME", "GOROOT", "GOPATH", "GOBIN", "VIRTUAL_ENV", "NVM_DIR", "DESTDIR", "PREFIX",
	// programs that start others
	"RSYNC_RSH", "TAR_OPTIONS", "PYTEST_ADDOPTS", "BUNDLE_GEMFILE", "DOTNET_STARTUP_HOOKS", "KUBECTL_EXTERNAL_DIFF", "PSQLRC", "VIMINIT", "XDG_DATA_HOME",
	"GIT_*", "SSH_ASKPASS", "SSH_AUTH_SOCK", "EDITOR", "VISUAL", "PAGER", "LESSOPEN", "LESSCLOSE", "MANPAGER", "BROWSER",
	// where a command acts
	"KUBECONFIG", "KUBE_*", "HELM_*", "DOCKER_*", "COMPOSE_*", "AWS_*", "AZURE_*", "ARM_*", "CLOUDSDK_*", "GOOGLE_*", "TF_*", "VAULT_ADDR", "VAULT_NAMESPACE",
	"CONSUL_HTTP_ADDR", "NOMAD_ADDR", "PG*", "MYSQL_*", "REDIS_HOST", "REDIS_URL", "DATABASE_URL", "MONGO*", "GH_REPO", "GH_HOST", "ANSIBLE_*", "PULUMI_*", "RESTIC_*",
	"RCLONE_*", "FLY_APP", "VERCEL_*", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY",
	"ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_HOME", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "NODE_TLS_REJECT_UNAUTHORIZED",
	"NODE_ENV", "RAILS_ENV", "RACK_ENV", "APP_ENV", "FLASK_ENV", "DJANGO_SETTINGS_MODULE", "ENVIRONMENT", "DEPLOY_ENV", "VERCEL_ENV",
}

// secretWords keep what programs conventionally name a secret out of what is sent,
// stored and shown, whatever its case. Whose secret it is says another variable, such
// as AWS_ACCESS_KEY_ID.
var secretWords = [...]string{"TOKEN", "PASSWORD", "PASSWD", "_PASS", "PASSPHRASE", "SECRET", "_AUTH", "_AUTH_CONFIG", "GOOGLE_CREDENTIALS", "_PWD"}

// choosing are the last words of names of variables that programs of one's own read to
// find out where to act or what to run: TARGET_HOST, STAGE, DEPLOY_CMD. Their values are
// only compared, so that a change is noticed: nobody knows what they mean, and they are
// neither shown nor stored.
var choosing = [...]string{
	"HOST", "HOSTS", "HOSTNAME", "URL", "URI", "ENDPOINT", "ADDR", "ADDRESS", "SERVER", "PORT", "DSN", "BROKER", "BROKERS",
	"PROFILE", "CONTEXT", "PROJECT", "ACCOUNT", "SUBSCRIPTION", "TENANT", "REGION", "ZONE", "CLUSTER", "NAMESPACE", "REMOTE", "REPO", "REPOSITORY", "BRANCH",
	"ENV", "STAGE", "TARGET", "WORKSPACE", "DATABASE", "DB", "SCHEMA", "BUCKET", "QUEUE", "TOPIC", "ORG", "APP", "SERVICE", "INVENTORY",
	"OPTS", "OPTIONS", "FLAGS", "ARGS", "CMD", "COMMAND", "EXEC", "BIN", "PATH", "HOME", "DIR", "ROOT", "PREFIX", "FILE", "CONFIG", "RC", "PRELOAD", "PLUGINS", "HOOKS",
	"WRAPPER", "LAUNCHER", "INTERPRETER",
}

// noise are variables that end so and change from window to window, or call to call.
var noise = [...]string{
	"CLAUDE_PROJECT_DIR", "XDG_RUNTIME_DIR", "XDG_SESSION_PATH", "XDG_SEAT_PATH", "DBUS_SESSION_BUS_ADDRESS", "TERMINFO_DIR", "INIT_CWD", "VSCODE_GIT_IPC_HANDLE",
	"WINDOWPATH", "SESSION_MANAGER", "DESKTOP_STARTUP_ID", "COLORTERM", "GNOME_TERMINAL_SERVICE", "KITTY_LISTEN_ON", "GITHUB_ENV", "GITHUB_PATH", "RUNNER_TEMP",
}

// maxValue bounds one variable in bytes.
const maxValue = 32 << 10

// selectEnv returns the carried part of an environment in the wire's form, and what is
// only compared. A
// value that is too long to carry, and a name that two programs would read
// differently because it occurs twice, is an error.
func selectEnv(env []string) ([]byte, error) {
	var block []byte
	var compared []string
	seen := make(map[string]bool, 16)
	for _, pair := range env {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || !isCarried(key) {
			if ok && isCompared(key) && !seen[key] {
				seen[key] = true
				compared = append(compared, wire.Compared+key+"="+ends(withoutPasswords(key, value))+"\x00")
			}
			continue
		}
		switch {
		case seen[key]:
			return nil, errors.New("the environment variable " + strconv.Quote(key) + " occurs twice in the environment of the approver hook, so the call was stopped")
		case len(value) > maxValue || len(block)+len(pair)+1 > wire.MaxEnv:
			return nil, errors.New("the environment variable " + strconv.Quote(key) + " is too long for approver to judge (" + strconv.Itoa(len(value)) + " bytes), so the call was stopped")
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

// ends is a value, or the ends of one that is too long to send.
func ends(value string) string {
	if len(value) > maxValue {
		value = value[:maxValue/2] + strconv.Itoa(len(value)) + value[len(value)-maxValue/2:]
	}
	if !utf8.ValidString(value) {
		return strconv.QuoteToASCII(value)
	}
	return value
}

// isCompared reports a variable that is only compared.
func isCompared(key string) bool {
	for i := range len(key) {
		if c := key[i]; c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	if slices.Contains(noise[:], key) || isSecret(key, "") {
		return false
	}
	upper := strings.ToUpper(key)
	return slices.Contains(choosing[:], upper[strings.LastIndexByte(upper, '_')+1:])
}

func isCarried(key string) bool {
	for _, name := range carried {
		if prefix, any := strings.CutSuffix(name, "*"); key == name || any && strings.HasPrefix(key, prefix) {
			return !isSecret(key, prefix)
		}
	}
	return false
}

// isSecret reports a name that says secret. What the loader and shells run is
// carried whatever it is called.
func isSecret(key, prefix string) bool {
	switch prefix {
	case "LD_", "DYLD_", "BASH_FUNC_":
		return false
	case "GIT_":
		return strings.HasSuffix(key, "_TOKEN") || strings.HasSuffix(key, "_PASSWORD") || strings.HasSuffix(key, "_PASSWD") || strings.HasSuffix(key, "_SECRET")
	}
	upper := strings.ToUpper(key)
	for _, word := range secretWords {
		if strings.HasSuffix(upper, word) {
			return true
		}
	}
	// npm_config_//host/:_authToken and TF_VAR_token_x name one in their midst.
	if prefix == "TF_" || prefix == "npm_config_" || prefix == "NPM_CONFIG_" || prefix == "CARGO_" || prefix == "POETRY_" {
		for _, word := range [...]string{"TOKEN", "PASSW", "SECRET", "_AUTH", "_KEY"} {
			if strings.Contains(upper, word) {
				return true
			}
		}
	}
	return strings.HasSuffix(upper, "_KEY") || strings.HasSuffix(upper, "APIKEY")
}

// withoutPasswords takes the passwords out of the addresses of proxies and
// registries. Where a command acts is the rest.
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
