package places

import (
	"cmp"
	_ "embed" // the table
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
var globalFlags = shape.SetOf("--profile --region --context --namespace -n -C -H --project --kubeconfig " +
	"--config --cluster --host -a --app --env --location --prefix -R --repo")

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
var credentialHeaders = shape.SetOf("authorization proxy-authorization x-api-key api-key apikey x-apikey " +
	"x-goog-api-key private-token job-token deploy-token x-auth-token x-access-token x-auth-key x-subject-token " +
	"x-vault-token x-consul-token x-nomad-token x-amz-security-token x-aws-ec2-metadata-token x-figma-token " +
	"x-shopify-access-token x-tableau-auth x-algolia-api-key x-rapidapi-key dd-api-key dd-application-key " +
	"ocp-apim-subscription-key x-csrf-token x-xsrf-token x-csrftoken")

// isReference reports whether a value says where the credential is, such as a file or an address.
// People must see it. A path is one unless it looks like a key that begins so.
func isReference(value string) bool {
	lower := strings.ToLower(value)
	if shape.HasAnyPrefix(lower, "file:", "fileb:", "env:", "http://", "https://", "s3://", "gs://", "op://") {
		return true
	}
	return shape.HasAnyPrefix(value, "/", "./", "../", "~/") &&
		(len(value) < 16 || !shape.IsRandom(value) || !shape.IsOpaque(value))
}

// programFlags is credentialFlags, taken apart.
var programFlags = sync.OnceValue(func() map[string]map[string]string {
	out := map[string]map[string]string{}
	for programs, text := range shape.Rows(credentialFlags) {
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
