package shape

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// NameWords is a pattern of words that end the names of secrets. A name that continues after them,
// such as token_url or secretName, means something else.
const NameWords = `(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key` +
	`|private[_-]?key|account[_-]?key|auth[_-]?key|signing[_-]?key` +
	`|encryption[_-]?key|mysql_pwd|sshpass|rediscli_auth|(?:^|\b|[._-])(?:pass|pwd|passcode|jwt)|[a-z0-9][_-]key` +
	`|secret_key_base|\b_auth)`

// NameHints are lowercase texts. Every match of NameWords contains one of them.
var NameHints = []string{"pass", "secret", "token", "key", "pwd", "jwt", "_auth"}

// SecretWord is a pattern of the names of flags, fields and query parameters with a secret.
const SecretWord = `(?:password|passwd|passphrase|token|api[_-]?key|access[_-]?key|client[_-]secret|secret[_-]key)`

// WithoutDashes is a name without its dashes and underscores.
func WithoutDashes(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return -1
		}
		return r
	}, name)
}

// IsSecretName reports whether a name is that of a secret, in any case and with any separators.
func IsSecretName(name string) bool {
	plain := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || r == ' ' {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
	return secretNames[plain] ||
		slices.ContainsFunc(secretEndings, func(word string) bool { return strings.HasSuffix(plain, word) })
}

var (
	secretNames = SetOf("pass pwd passcode jwt secretstring secretvalue auth authorization credentials cookie " +
		"passwords tokens secrets")
	secretEndings = strings.Fields("password passwd passphrase secret token apikey accesskey secretkey " +
		"privatekey accountkey authkey signingkey")
)

// IsConventional reports whether known programs look for a credential in a variable of that name.
func IsConventional(name string) bool { return conventional[name] }

var conventional = SetOf("GITHUB_TOKEN GH_TOKEN GITLAB_TOKEN NPM_TOKEN NODE_AUTH_TOKEN AWS_SECRET_ACCESS_KEY " +
	"AWS_SESSION_TOKEN AZURE_CLIENT_SECRET ARM_CLIENT_SECRET CLOUDSDK_AUTH_ACCESS_TOKEN " +
	"DIGITALOCEAN_ACCESS_TOKEN CLOUDFLARE_API_TOKEN FLY_API_TOKEN HEROKU_API_KEY VERCEL_TOKEN " +
	"NETLIFY_AUTH_TOKEN SENTRY_AUTH_TOKEN PGPASSWORD MYSQL_PASSWORD TWINE_PASSWORD RESTIC_PASSWORD " +
	"CARGO_REGISTRY_TOKEN VAULT_TOKEN OPENAI_API_KEY ANTHROPIC_API_KEY STRIPE_API_KEY RCLONE_PASSWORD")

// IsSecretValue reports whether a value may be a secret with that name, and is not a name, path or
// word.
func IsSecretValue(name, value string) bool {
	if strings.IndexByte("/.~", ByteAt(value, 0)) >= 0 || strings.Contains(value, "://") {
		return false
	}
	random := IsRandom(value) || len(value) >= LongRun && !IsWordy(value)
	if isOtherKey(name) {
		return random && len(value) >= 16 && IsKeyLike(value) && !strings.ContainsAny(value, "/._-")
	}
	if strings.ContainsAny(value, "/") {
		return (random && len(value) >= 16 || len(value) >= 32 && IsMixedLine(value)) && IsOpaque(value)
	}
	if ext := path.Ext(value); len(ext) > 1 && len(ext) <= 5 && !strings.ContainsAny(ext[1:], "0123456789") {
		return random && IsOpaque(value) // otherwise it is the name of a file or a host
	}
	if random && (len(value) >= 16 || len(value) >= 12 && IsOpaque(value)) {
		return true
	}
	lower := strings.ToLower(name)
	return len(value) >= 6 && IsMixed(value) && ContainsAny(lower, []string{"pass", "pwd", "_auth"})
}

// isOtherKey reports whether a name ends in _key without one of keyWords. Tables, caches and public
// keys have such names too, so only a random value counts as a secret.
func isOtherKey(name string) bool {
	lower := strings.NewReplacer("-", "_", ".", "_").Replace(strings.ToLower(name))
	what, is := strings.CutSuffix(lower, "_key")
	return is && !slices.ContainsFunc(keyWords, func(word string) bool { return strings.HasSuffix(what, word) })
}

// keyWords are the words before key that make it a secret.
var keyWords = strings.Fields("api access secret private account auth signing encryption")

// Identifier matches the name of a variable.
var Identifier = Pattern(`^[A-Za-z_][A-Za-z0-9_]*$`)

// SQLPassword matches a password in an SQL statement. Its second group is the password.
var SQLPassword = Pattern("(?i)\\b((?:" +
	`(?:create|alter)[ \t]+(?:or[ \t]+replace[ \t]+)?(?:user|role|login|group|server|application|subscription` +
	`|database)\b[^;]{0,300}?\bpassword[ \t]*=?[ \t]*` + openQuote +
	`|(?:create|alter|grant)\b[^;]{0,300}?\bidentified[ \t]+(?:with[ \t]+\S+[ \t]+)?(?:by|as)[ \t]+(?:password[ \t]+)?` +
	openQuote +
	`|set[ \t]+password(?:[ \t]+for[ \t]+[^;=]{1,100}?)?[ \t]*=[ \t]*(?:password[ \t]*\([ \t]*)?` + openQuote +
	`|(?:create|alter)[ \t]+user[ \t]+\S+[ \t]+identified[ \t]+by[ \t]+` +
	`))([^\s'"\\$` + "`" + `;&|<>(){}‹]{3,})`)

// openQuote matches the start of an SQL string, also inside the quotes of a shell or of JSON.
const openQuote = `n?(?:'\\\\?''|\\*["'])`
