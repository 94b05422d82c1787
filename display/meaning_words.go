package display

import (
	"regexp"
	"strings"
)

// This file has the words and places by which meaning.go judges a hidden part.

// knownPrograms do with a credential what its option, header or variable says, and
// with an address what it says. Where subcommands are listed, only those do: the
// others run what somebody wrote.
var knownPrograms = map[string]string{
	"curl": "", "wget": "", "http": "", "https": "", "gh": "pr issue api release repo auth secret variable run workflow gist", "glab": "mr issue api release repo auth",
	"git":    "-C add branch checkout clean clone commit config diff fetch log ls-remote merge pull push rebase remote reset status tag",
	"docker": "login logout pull push tag", "podman": "login logout pull push tag", "skopeo": "", "crane": "", "oras": "",
	"npm": "config login logout publish whoami view install ci token", "pnpm": "config login publish install whoami", "yarn": "config login publish install",
	"pip": "install download", "pip3": "install download", "twine": "upload", "cargo": "login publish", "gem": "push signin",
	"psql": "", "pg_dump": "", "pg_restore": "", "createdb": "", "dropdb": "", "mysql": "", "mysqldump": "", "mysqladmin": "", "mariadb": "",
	"redis-cli": "", "mongosh": "", "mongodump": "", "mongorestore": "", "sqlcmd": "",
	"aws": "", "gcloud": "", "gsutil": "", "az": "", "doctl": "", "flyctl": "deploy secrets auth", "fly": "deploy secrets auth", "heroku": "config auth releases",
	"vercel": "deploy env --prod", "netlify": "deploy", "wrangler": "deploy publish secret", "sentry-cli": "", "stripe": "",
	"kubectl": "get describe apply delete create config scale rollout label annotate patch logs drain cordon", "oc": "login get apply delete create",
	"helm": "install upgrade uninstall rollback repo registry list", "terraform": "apply plan destroy init login workspace", "tofu": "apply plan destroy init login",
	"vault": "login read write kv delete token", "restic": "backup restore forget prune snapshots init", "rclone": "",
	// neither shows nor runs what it is given
	"cd": "", "pwd": "", "ls": "", "true": "", "false": "", "sleep": "", "jq": "", "grep": "", "head": "", "tail": "", "wc": "", "sort": "", "mkdir": "",
	"date": "", "test": "", "[": "", "exit": "", "export": "", "unset": "", "readonly": "", "fi": "", "done": "", "set": "-e -eu -x -u -ex -euo -eo",
}

// prefixes stand before the program that they run.
var prefixes = map[string]bool{
	"sudo": true, "env": true, "nohup": true, "time": true, "command": true, "if": true, "then": true, "else": true, "elif": true, "while": true,
	"until": true, "do": true, "!": true,
}

// conventional reports a variable in which known programs look for a credential.
func conventional(name string) bool {
	switch name {
	case "GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN", "NPM_TOKEN", "NODE_AUTH_TOKEN", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
		"AZURE_CLIENT_SECRET", "ARM_CLIENT_SECRET", "CLOUDSDK_AUTH_ACCESS_TOKEN", "DIGITALOCEAN_ACCESS_TOKEN", "CLOUDFLARE_API_TOKEN", "FLY_API_TOKEN",
		"HEROKU_API_KEY", "VERCEL_TOKEN", "NETLIFY_AUTH_TOKEN", "SENTRY_AUTH_TOKEN", "PGPASSWORD", "MYSQL_PASSWORD", "TWINE_PASSWORD", "RESTIC_PASSWORD",
		"CARGO_REGISTRY_TOKEN", "VAULT_TOKEN", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "STRIPE_API_KEY", "RCLONE_PASSWORD":
		return true
	}
	return false
}

const secretWord = `(?:password|passwd|passphrase|token|api[_-]?key|access[_-]?key|client[_-]secret|secret[_-]key)`

// The places where a credential stands in any text: each ends where it begins. What
// flags of programs take is in maskflags.go.
var credentialPlaces = [...]func() *regexp.Regexp{
	once(`(?i)[a-z][a-z0-9+.-]*://[^\s"'` + "`" + `]*[?&](?:[a-z0-9_.-]*[_-])?` + secretWord + `=$`),
	once(`(?i)[a-z][a-z0-9+.-]*://[^\s"'` + "`" + `]*[?&](?:sig|(?:x-(?:amz|goog)-)?signature)=$`),
	once(`(?i)//[a-z0-9.:/_-]*:_(?:auth|authtoken|password)[= ]$`),
}

var (
	// fields of what is sent as JSON, and of a registry's settings
	fieldPlace = once(`(?:(?:-d|--data(?:-[a-z]+)?|--json)(?:=|[ \t]*)'\{[^\n']*"(?i:` + secretWord + `)"[ \t]*:[ \t]*"` +
		`|(?i://[a-z0-9.:/_-]*:_(?:auth|authtoken|password)=))$`)
	tokenQuery   = once(`(?i)[?&](?:access_token|auth_token|token|api_?key|key|sig|signature|x-amz-signature|x-amz-security-token|password|secret|client_secret)=$`)
	memberHeader = once(`(?i)"[a-z-]*authorization"[ \t]*:[ \t]*"(?:bearer|basic|token|apikey|digest)[ \t]+$`)
	authHeader   = once(`(?i)\bauthorization\\*["']?[ \t]*[:=,][ \t]*\\*["']?(?:bearer|basic|token|apikey|digest)[ \t]+$`)
	queryPlace   = once(`(?i)[a-z][a-z0-9+.-]*://[^\s"'` + "`" + `]*[?&][a-z0-9_.-]*=$`)
	memberPlace  = once(`(?i)"[a-z0-9_.-]*(?:password|passwd|secret|token|api_?-?key|access_?-?key|authorization)"[ \t]*:[ \t]*"$`)
	addressUser  = once(`(?i)[a-z][a-z0-9+.-]*://(?:[^\s:/@"'$?#\\]*:|\$\{?[a-z0-9_]+\}?:)?$`)
	beforeHost   = once(`^\}?(?::[^\s/@"'?#\\]*)?@[A-Za-z0-9.-]`)

	identifier = once(`^[A-Za-z_][A-Za-z0-9_]*$`)
	assigned   = once(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)
	assignment = once(`(?:^|[^A-Za-z0-9_.$?-])([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]\s]*\])?(?:\+?=|[ \t]+=[ \t]+)`)
	definition = once(`^(?:\+?=[^=]|[ \t]+=[ \t]|["']?[ \t]*:[ \t]*["']?[A-Za-z0-9_+-]{16})`)
	exported   = once(`(?:\b(?:export|unset|readonly)[ \t]+|(?:^|[ \t])(?:-e|--env)[ =])["']?$`)
	sigils     = once(`(?i)(?:\$\{[!#]?|\$env:|\$\{env:|%|\$\(|\$)$`)

	redirections = once(`[0-9]*>&[0-9-]?|&>>?`)
	plainEcho    = once(`(^|[\n;&|][ \t]*)echo[ \t]+["']?[A-Za-z .,!-]{1,80}["']?[ \t]*($|[\n;&|])`)

	// what can look a variable up without writing its name before the eye
	indirect = once(`\beval\b|\$\{!|\$\{[A-Za-z0-9_]+@|\b(?:declare|typeset|local|export|readonly)[ \t]+-[a-zA-Z]*[np]|\bprintenv\b|\benv[ \t]*(?:[|>)]|$)` +
		`|\b(?:set|export|declare)[ \t]*\||\bcompgen\b|/proc/|\benvsubst\b|\bENVIRON\b|(?i:\bos\.environ|process\.env|\bgetenv\b|Get-ChildItem +env:|\bgci +env:|\bls +env:)|\b(?:vars|globals|locals)\(`)
	// what can take words apart that were given to another command
	rereading = once("[`]|[$<>]\\(|<<|\\$[0-9@*_]|\\$\\{[0-9@*_!#]|\\$\\{[A-Za-z0-9_]+(?:\\[[^\\]]*\\])?[#%/:^,@]|\\(\\)|/proc/" +
		`|(?:^|[\n;&|({]|\bdo|\bthen)[ \t]*(?:sudo[ \t]+)?(?:set[ \t]+(?:--|[^- \t])|(?:eval|xargs|read|mapfile|readarray|source|\.|alias|function|for|select|printf|trap|ps|history|fc|parallel|declare|typeset|(?:ba|z|da|k)?sh|perl|ruby|php|node|python[0-9.]*)(?:[ \t]|$))`)
)

// withoutQuotes puts a word that no program is called in place of quoted text, if
// all quotes are closed on their lines and nothing else makes them doubtful.
func withoutQuotes(s string) string {
	if strings.Contains(s, `\`) || strings.Contains(s, "<<") || strings.Contains(s, "$'") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		q := s[i]
		if q != '\'' && q != '"' {
			b.WriteByte(q)
			continue
		}
		n := strings.IndexByte(s[i+1:], q)
		inside := s[i+1 : i+1+max(n, 0)]
		switch {
		case n < 0 || strings.Contains(inside, "\n"):
			return s
		case q == '"' && (strings.Contains(inside, "$(") || strings.Contains(inside, "`")):
			b.WriteString(s[i : i+n+2])
		default:
			b.WriteString("‹quoted›")
		}
		i += n + 1
	}
	return b.String()
}
