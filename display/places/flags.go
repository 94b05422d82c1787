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

// credentialFlags lists the flags that take a credential, by program, or by program and
// subcommand. The word after the colon says which part of the value is the credential:
//
//   - secret: all of it; this is the default
//   - login: the text after user:
//   - pass, acl, userid: the text after pass:, > or userid=
//   - cookie: the text after the first =
//   - header, field: the value, if the name is that of a credential
//   - setting: a field whose name somebody chose, so it may also say what the program does
//   - percent, comma, slash: the text after that sign
//   - sql: the passwords in SQL statements
//   - likely: all of it, if it looks like a secret
//   - cursor: likewise; otherwise it says which item is meant
//   - store: the text after NAME=, if it looks like a secret
//   - plain: all of it, if it has no =
//   - glued: only a value in the same word as the flag
//   - rest: every word from there on
//   - alone: all of it, if no word follows
//   - maybe: all of it, for a flag that may have no value
//   - skip: nothing, the value is not a credential
//
// A flag of one letter may have its value in the same word or in the next. "operand" means every
// word that is not a flag, "#1" the first of them, and a word without a dash the place after that
// word. "pair" says that the operands are names of settings and their values. "<" means the
// standard input, if the flag after the colon is given, or always. "options:first" says that the
// flags of the program end at its first operand.
//
//go:embed flags.txt
var credentialFlags string

// globalFlags are flags with a value that may come before or after a subcommand.
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

// credentialHeaders are headers that only prove who asks. The name of any other header, and of
// every cookie, is somebody's choice: X-Object-Key may say what is deleted.
var credentialHeaders = shape.SetOf("authorization proxy-authorization x-api-key api-key apikey x-apikey " +
	"x-goog-api-key private-token job-token deploy-token x-auth-token x-access-token x-auth-key x-subject-token " +
	"x-vault-token x-consul-token x-nomad-token x-amz-security-token x-aws-ec2-metadata-token x-figma-token " +
	"x-shopify-access-token x-tableau-auth x-algolia-api-key x-rapidapi-key dd-api-key dd-application-key " +
	"ocp-apim-subscription-key x-csrf-token x-xsrf-token x-csrftoken")

// isReference reports whether a value says where the credential is, such as a file or an address.
// People must see it. A path counts unless it looks like a key that begins like a path.
func isReference(value string) bool {
	lower := strings.ToLower(value)
	if shape.HasAnyPrefix(lower, "file:", "fileb:", "env:", "http://", "https://", "s3://", "gs://", "op://") {
		return true
	}
	return shape.HasAnyPrefix(value, "/", "./", "../", "~/") &&
		(len(value) < 16 || !shape.IsRandom(value) || !shape.IsOpaque(value))
}

// programFlags is credentialFlags, parsed.
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
	// The flags of a program apply to its subcommands too, and each word of a subcommand has a row.
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

// flagsOf returns what the flags and operands of a program take, and how many of its words name
// its subcommand.
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

// programName returns the name of a program without the folder of the system's programs.
func programName(name string) string {
	name = strings.TrimSuffix(name, ".exe")
	for _, dir := range []string{"/usr/bin/", "/bin/", "/usr/local/bin/"} {
		if rest, ok := strings.CutPrefix(name, dir); ok && !strings.Contains(rest, "/") {
			return rest
		}
	}
	return name
}
