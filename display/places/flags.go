package places

import (
	"cmp"
	_ "embed" // the table
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"approver.example/display/shape"
)

// credentialFlags are the flags that take a credential, by program, or by program and
// subcommand. What stands behind the colon says which part of the value it is: secret
// (all, which is the default), login (behind user:), pass (behind pass:), cookie (behind
// the first =), header and field (what its name says), setting (a field of which
// somebody chose the name, so that it may decide as well), cursor (all, if it looks like
// a secret: it says which), glued (only in the flag's own word), likely (all, if it looks
// like a secret), store (behind NAME=, likewise), plain (all, if it has no =), percent,
// comma and slash (behind that sign), acl (behind >), sql (what statements give as a
// password), rest (every word from there on), alone (all, if no word is behind it),
// userid (behind userid=), maybe (all, of a flag that may have no value), skip (a value
// that is no credential). One letter may have its value in the same word or in the next.
// The flag "operand" stands for every other word, "#1" for the first of them, a word
// without a dash for the place behind that word, and "pair" says that names of settings
// stand before their values. "<" is what the program reads from its standard input: with
// the flag behind the colon, or always. "options:first" is a program whose flags end at its
// first operand.
//
//go:embed flags.txt
var credentialFlags string

// globalFlags take a value and stand before a subcommand as well as behind it.
var globalFlags = map[string]bool{
	"--profile": true, "--region": true, "--context": true, "--namespace": true, "-n": true, "-C": true, "-H": true,
	"--project": true, "--kubeconfig": true,
	"--config": true, "--cluster": true, "--host": true, "-a": true, "--app": true, "--env": true, "--location": true,
	"--prefix": true, "-R": true, "--repo": true,
}

var (
	secretFlag   = shape.Pattern(`(?i)^--?(?:[a-z0-9]+-)*` + shape.SecretWord + `$`)
	secretHeader = shape.Pattern(`(?i)^([a-z0-9-]*(?:authorization|token|key|secret|auth` +
		`|cookie))[ \t]*:[ \t]*(?:(?:bearer|basic|token|apikey|digest)[ \t]+)?`)
	secretField = shape.Pattern(`(?i)(?:^|[&,;\s"'{])((?:[a-z0-9_.-]*[._-])??)(` + shape.SecretWord +
		`|secret|pass|pwd|passcode)\\*["']?[=:][ \t]*\\*["']?([^\s&,;"'}\\]+)`)
	knownSetting = shape.Pattern(`(?i)^(?:aws_secret_access_key|aws_session_token|secret_access_key|.*:_(?:authtoken` +
		`|password|auth)|(?:github-oauth|gitlab-token|pypi-token)\..*)$`)
	cursorFlag = shape.Pattern(`(?i)^--(?:[a-z0-9]+-)*(?:task|activity|starting|start|next|client|request|page|paging` +
		`|pagination|continuation|continue|idempotency|sync|change|resume|cursor|lock|ordering|nonce)-?token$`)
	switchFlag = shape.Pattern(`(?i)^--?(?:[a-z]+-)*(?:with|no|show|print|use|allow|reset|rotate|ask|prompt|prompt-for` +
		`|env|stdin|read|generate|require|enable|disable|skip|save|remember|store|keep|get|force|want|check|has)-`)
)

// credentialHeaders only prove who asks. Any other header, and every cookie, has a name
// that somebody chose: X-Object-Key may say what is deleted.
var credentialHeaders = map[string]bool{
	"authorization": true, "proxy-authorization": true, "x-api-key": true, "api-key": true, "apikey": true,
	"x-apikey": true, "x-goog-api-key": true,
	"private-token": true, "job-token": true, "deploy-token": true, "x-auth-token": true, "x-access-token": true,
	"x-auth-key": true, "x-subject-token": true,
	"x-vault-token": true, "x-consul-token": true, "x-nomad-token": true, "x-amz-security-token": true,
	"x-aws-ec2-metadata-token": true,
	"x-figma-token":            true, "x-shopify-access-token": true, "x-tableau-auth": true, "x-algolia-api-key": true,
	"x-rapidapi-key": true,
	"dd-api-key":     true, "dd-application-key": true, "ocp-apim-subscription-key": true, "x-csrf-token": true,
	"x-xsrf-token": true, "x-csrftoken": true,
}

// isReference reports a value that says where the credential is: what is read, or sent
// there, decides. A path is one unless it looks like a key that begins so.
func isReference(value string) bool {
	lower := strings.ToLower(value)
	for _, scheme := range []string{"file:", "fileb:", "env:", "http://", "https://", "s3://", "gs://", "op://"} {
		if strings.HasPrefix(lower, scheme) {
			return true
		}
	}
	for _, begin := range []string{"/", "./", "../", "~/"} {
		if strings.HasPrefix(value, begin) {
			return len(value) < 16 || !shape.IsRandom(value) || !shape.IsOpaque(value)
		}
	}
	return false
}

// programFlags is credentialFlags, taken apart.
var programFlags = sync.OnceValue(func() map[string]map[string]string {
	out := map[string]map[string]string{}
	for programs, text := range rowsOf(credentialFlags) {
		flags := map[string]string{}
		for _, f := range strings.Fields(text) {
			name, kind, _ := strings.Cut(f, ":")
			flags[name] = cmp.Or(kind, "secret")
		}
		for p := range strings.SplitSeq(programs, "|") {
			p = strings.TrimSpace(p)
			if out[p] == nil {
				out[p] = map[string]string{}
			}
			maps.Copy(out[p], flags)
		}
	}
	// A subcommand's program takes what its own flags say, and each of its words is found.
	for _, p := range slices.Sorted(maps.Keys(out)) {
		for n := strings.LastIndexByte(p, ' '); n > 0; n = strings.LastIndexByte(p[:n], ' ') {
			above := out[p[:n]]
			if above == nil {
				out[p[:n]] = nil
			}
			for flag, kind := range above {
				if strings.HasPrefix(flag, "-") && out[p][flag] == "" {
					out[p][flag] = kind
				}
			}
		}
		if name, _, sub := strings.Cut(p, " "); sub && out[name] == nil {
			out[name] = map[string]string{}
		}
	}
	return out
})

// rowsOf yields the rows of a table: what is before the colon, and the words behind it. A line
// that begins with a tab goes on with the row above it, and # begins a comment.
func rowsOf(table string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for line := range strings.Lines(strings.ReplaceAll(table, "\n\t", " ")) {
			name, words, _ := strings.Cut(strings.TrimSuffix(line, "\n")+" ", ": ")
			if name[0] != '#' && !yield(name, words) {
				return
			}
		}
	}
}

// flagsOf returns what the flags and operands of a program take, and how many of its
// words belong to its subcommand.
func flagsOf(src, name string, words []word) (flags map[string]string, operands int) {
	all := programFlags()
	flags, found := all[name]
	for i := 0; found && i < len(words); i++ {
		text, _ := words[i].bare(src)
		if strings.HasPrefix(text, "-") {
			if kind := flags[text]; globalFlags[text] || kind != "" && kind != "glued" && kind != "maybe" {
				i++
			}
			continue
		}
		name += " " + strings.ToLower(text)
		var sub map[string]string
		if sub, found = all[name]; found {
			operands = i + 1
		}
		if sub != nil {
			flags = sub
		}
	}
	return flags, operands
}

// programName is a program without the folder of the system's programs.
func programName(name string) string {
	name = strings.TrimSuffix(name, ".exe")
	for _, dir := range []string{"/usr/bin/", "/bin/", "/usr/local/bin/"} {
		if rest, ok := strings.CutPrefix(name, dir); ok && !strings.Contains(rest, "/") {
			return rest
		}
	}
	return name
}
