package shape

import (
	"path"
	"strings"
)

// KnownPrograms do with a credential what its option, header or variable says, and
// with an address what it says. Where subcommands are listed, only those do: the
// others run what somebody wrote.
var KnownPrograms = map[string]string{
	"curl": "", "wget": "", "http": "", "https": "",
	"gh": "pr issue api release repo auth secret variable run workflow gist", "glab": "mr issue api release repo auth",
	"git": "-C add branch checkout clean clone commit config diff fetch log ls-remote merge pull push rebase " +
		"remote reset status tag",
	"docker": "login logout pull push tag", "podman": "login logout pull push tag", "skopeo": "", "crane": "", "oras": "",
	"npm": "config login logout publish whoami view install ci token", "pnpm": "config login publish install whoami",
	"yarn": "config login publish install",
	"pip":  "install download", "pip3": "install download", "twine": "upload", "cargo": "login publish",
	"gem":  "push signin",
	"psql": "", "pg_dump": "", "pg_restore": "", "createdb": "", "dropdb": "", "mysql": "", "mysqldump": "",
	"mysqladmin": "", "mariadb": "",
	"redis-cli": "", "mongosh": "", "mongodump": "", "mongorestore": "", "sqlcmd": "",
	"aws": "", "gcloud": "", "gsutil": "", "az": "", "doctl": "", "flyctl": "deploy secrets auth",
	"fly": "deploy secrets auth", "heroku": "config auth releases",
	"vercel": "deploy env --prod", "netlify": "deploy", "wrangler": "deploy publish secret", "sentry-cli": "",
	"stripe":    "",
	"kubectl":   "get describe apply delete create config scale rollout label annotate patch logs drain cordon",
	"oc":        "login get apply delete create",
	"helm":      "install upgrade uninstall rollback repo registry list",
	"terraform": "apply plan destroy init login workspace", "tofu": "apply plan destroy init login",
	"vault": "login read write kv delete token", "restic": "backup restore forget prune snapshots init", "rclone": "",
	// neither shows nor runs what it is given
	"cd": "", "pwd": "", "ls": "", "true": "", "false": "", "sleep": "", "jq": "", "grep": "", "head": "", "tail": "",
	"wc": "", "sort": "", "mkdir": "",
	"date": "", "test": "", "[": "", "exit": "", "export": "", "unset": "", "readonly": "", "fi": "", "done": "",
	"set": "-e -eu -x -u -ex -euo -eo",
}

// Prefixes stand before the program that they run.
var Prefixes = map[string]bool{
	"sudo": true, "env": true, "nohup": true, "time": true, "command": true, "if": true, "then": true, "else": true,
	"elif": true, "while": true,
	"until": true, "do": true, "!": true,
}

// plainPrograms act on every word that they are given and take no credential.
var plainPrograms = map[string]bool{
	"rm": true, "rmdir": true, "mkdir": true, "cp": true, "mv": true, "ln": true, "touch": true, "chmod": true,
	"chown": true, "cat": true, "ssh": true,
	"scp": true, "rsync": true, "find": true, "tar": true, "go": true, "pytest": true, "tail": true, "less": true,
	"diff": true, "shred": true,
	"truncate": true, "dd": true, "kill": true, "systemctl": true, "kubectx": true, "kubens": true, "ping": true,
	"dig": true, "host": true, "nslookup": true,
}

// TakesOperands reports a program that acts on what it is given.
func TakesOperands(program string) bool {
	_, known := KnownPrograms[program]
	return known || plainPrograms[path.Base(program)]
}

// AlwaysShown reports a variable that makes other code run, or says where a command
// acts: people see it on every card, because they may not have seen an earlier one.
// What many have set by honest tools, such as LESSOPEN, is shown when it changes.
func AlwaysShown(name, value string) bool {
	switch name {
	case "GCONV_PATH", "BASH_ENV", "ENV", "PROMPT_COMMAND", "PS4", "IFS", "PYTHONSTARTUP", "PYTHONHOME", "PERL5OPT",
		"PERL5DB", "RUBYOPT", "LUA_INIT",
		"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "RUSTC_WRAPPER", "npm_config_script_shell",
		"PHP_INI_SCAN_DIR",
		"GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXEC_PATH", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "GIT_TEMPLATE_DIR",
		"GIT_DIR", "GIT_WORK_TREE":
		return true
	case "KUBECONFIG", "DOCKER_HOST", "DOCKER_CONTEXT", "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_ACCESS_KEY_ID",
		"AWS_CONFIG_FILE", "CLOUDSDK_ACTIVE_CONFIG_NAME",
		"CLOUDSDK_CORE_PROJECT", "GOOGLE_CLOUD_PROJECT", "GOOGLE_APPLICATION_CREDENTIALS", "AZURE_SUBSCRIPTION_ID",
		"ARM_SUBSCRIPTION_ID",
		"HELM_KUBECONTEXT", "HELM_NAMESPACE", "TF_WORKSPACE", "PGHOST", "PGSERVICE", "PGDATABASE", "MYSQL_HOST", "VAULT_ADDR",
		"DATABASE_URL":
		return true
	case "NODE_OPTIONS":
		return strings.Contains(value, "-r") || strings.Contains(value, "--import") || strings.Contains(value, "loader")
	}
	for _, prefix := range []string{"LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG", "AWS_ENDPOINT_URL"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
