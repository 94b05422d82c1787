package courier

import (
	"errors"
	"strconv"
	"strings"

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
	"PERL5LIB", "PERL5OPT", "PERL5DB", "PERLLIB", "RUBYOPT", "RUBYLIB", "GEM_HOME", "GEM_PATH", "LUA_INIT", "LUA_PATH", "LUA_CPATH",
	"PHPRC", "PHP_INI_SCAN_DIR", "CLASSPATH", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS",
	// build tools
	"MAKEFLAGS", "GOFLAGS", "GOTOOLCHAIN", "CC", "CXX", "RUSTC_WRAPPER", "CARGO_HOME", "npm_config_script_shell", "npm_config_userconfig",
	// programs that start others
	"GIT_*", "SSH_ASKPASS", "EDITOR", "VISUAL", "PAGER", "LESSOPEN", "LESSCLOSE", "MANPAGER", "BROWSER",
	// where a command acts
	"KUBECONFIG", "DOCKER_HOST", "DOCKER_CONTEXT", "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "CLOUDSDK_ACTIVE_CONFIG_NAME", "TF_WORKSPACE",
	"NODE_ENV", "RAILS_ENV", "RACK_ENV", "APP_ENV", "FLASK_ENV", "DJANGO_SETTINGS_MODULE", "ENVIRONMENT", "DEPLOY_ENV", "VERCEL_ENV",
}

// secretEndings keep what programs conventionally name a secret out of what is
// sent, stored and shown.
var secretEndings = [...]string{"_TOKEN", "_PASSWORD", "_PASSWD", "_SECRET"}

// maxValue bounds one variable in bytes.
const maxValue = 32 << 10

// selectEnv returns the carried part of an environment in the wire's form. A
// value that is too long to carry, and a name that two programs would read
// differently because it occurs twice, is an error.
func selectEnv(env []string) ([]byte, error) {
	var block []byte
	seen := make(map[string]bool, 16)
	for _, pair := range env {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || !isCarried(key) {
			continue
		}
		switch {
		case seen[key]:
			return nil, errors.New("the environment variable " + strconv.Quote(key) + " occurs twice in the environment of the approver hook, so the call was stopped")
		case len(value) > maxValue || len(block)+len(pair)+1 > wire.MaxEnv:
			return nil, errors.New("the environment variable " + strconv.Quote(key) + " is too long for approver to judge (" + strconv.Itoa(len(value)) + " bytes), so the call was stopped")
		}
		seen[key] = true
		block = append(append(block, pair...), 0)
	}
	return block, nil
}

func isCarried(key string) bool {
	for _, ending := range secretEndings {
		if strings.HasSuffix(key, ending) {
			return false
		}
	}
	for _, name := range carried {
		if prefix, any := strings.CutSuffix(name, "*"); key == name || any && strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
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
