package places

import (
	"cmp"
	"slices"
	"strings"

	"approver.example/display/shape"
)

// This file determines which NAME= in a text sets a variable, and which variables a program could
// look up by their names. Most text that looks like an assignment is a word that a program acts
// on: kubectl delete pods -l stage=production.

// An assigning is a shell assignment outside quotes.
type assigning struct {
	name     string
	from, to int
	exported bool // to the program after it, or to all
}

// Variables has what is known about the assignments in a text, by the places of the names.
type Variables struct {
	sure       []assigning
	heads      map[int]bool    // assignments at the start of a command, also inside quotes
	exports    map[string]bool // names that are exported somewhere in the text
	exportsAll bool            // names that the text does not show may be exported too
	acted      []Span          // the words that programs act on
	ran        []Span          // likewise, for programs that may pass them to another shell
}

// setters are the builtins that set the variables among their words. Each of them can export, in
// some shell.
var setters = shape.SetOf("export readonly declare local typeset")

// shellRunners are programs whose words may contain commands for another shell.
var shellRunners = shape.SetOf("ssh docker podman kubectl oc find git npm pnpm yarn gcloud fly flyctl heroku " +
	"aws az go rsync tar")

// plainSets are the arguments of set that export nothing.
var plainSets = shape.SetOf("-e -u -x +x +e -eu -ex -eux -o -eo -euo -euxo pipefail errexit nounset xtrace")

// assigned records one word NAME=value at the start of a command, or of a builtin that sets
// variables.
func (v *Variables) assigned(src string, w word, depth int, exported bool) {
	name, _, _ := strings.Cut(src[w.from:w.to], "=")
	if !shape.Identifier().MatchString(name) {
		return
	}
	if v.heads == nil {
		v.heads = map[int]bool{}
	}
	v.heads[w.from] = true
	if depth == 0 && w.from+len(name) < w.to && !redirected(src[:w.from]) {
		v.sure = append(v.sure, assigning{name: name, from: w.from, to: w.to, exported: exported})
	}
}

// redirected reports whether the next word is the target of a redirection such as >& or >|.
func redirected(before string) bool {
	before = strings.TrimRight(before[max(0, len(before)-shape.MaxBefore):], " \t")
	return strings.HasSuffix(before, ">&") || strings.HasSuffix(before, "<&") || strings.HasSuffix(before, ">|") ||
		strings.HasSuffix(before, "&>")
}

// command records what a simple command does with the variables among its words.
func (v *Variables) command(src, name string, given []word, depth int, inside bool) {
	switch {
	case setters[name]:
		for _, w := range given {
			v.export(src, w)
			if !inside {
				v.assigned(src, w, depth, true)
			}
		}
	case name == "set":
		v.exportsAll = v.exportsAll || slices.ContainsFunc(given, func(w word) bool { return !plainSets[src[w.from:w.to]] })
	case name != "unset" && shape.TakesOperands(name) && len(given) > 0:
		s := Span{From: given[0].from, To: given[len(given)-1].to}
		if n := strings.IndexByte(src[s.From:s.To], '`'); n >= 0 { // it contains commands
			s.To = s.From + n
		}
		if n := strings.Index(src[s.From:s.To], "$("); n >= 0 {
			s.To = s.From + n
		}
		if shellRunners[name] {
			v.ran = append(v.ran, s)
		} else {
			v.acted = append(v.acted, s)
		}
	}
}

// export records one word of a builtin that may export.
func (v *Variables) export(src string, w word) {
	text, _ := w.bare(src)
	name, _, _ := strings.Cut(text, "=")
	switch {
	case shape.Identifier().MatchString(name):
		if v.exports == nil {
			v.exports = map[string]bool{}
		}
		v.exports[name] = true
	case !strings.HasPrefix(name, "-"):
		v.exportsAll = true
	}
}

// finish sorts and merges the ranges, so that lookups are fast.
func (v *Variables) finish() {
	v.acted, v.ran = joined(v.acted), joined(v.ran)
}

func joined(spans []Span) (out []Span) {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	for _, s := range spans {
		if n := len(out); n > 0 && s.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

// IsOperand reports whether the NAME= at a place is in words that a known program acts on. It sets
// no variable, and the text after it must be shown.
func (v *Variables) IsOperand(at int) bool {
	return covers(v.acted, at) || !v.heads[at] && covers(v.ran, at)
}

func covers(spans []Span, at int) bool {
	n, found := slices.BinarySearchFunc(spans, at, func(s Span, at int) int { return cmp.Compare(s.From, at) })
	return found || n > 0 && at < spans[n-1].To
}

// Sets reports whether the shell certainly assigns the value at a place to a variable, and no
// program looks up one of the names, except as a credential.
func (v *Variables) Sets(at int, names []string) bool {
	n, _ := slices.BinarySearchFunc(v.sure, at, func(a assigning, at int) int { return cmp.Compare(a.from, at) })
	if n == 0 || at >= v.sure[n-1].to {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool {
		return !shape.IsConventional(name) && (v.exportsAll || v.exports[name] || lookedUp(name) || v.exportedTo(name))
	})
}

// exportedTo reports whether an assignment passes the variable to a program, as in
// NAME=x git fetch.
func (v *Variables) exportedTo(name string) bool {
	return slices.ContainsFunc(v.sure, func(a assigning) bool { return a.exported && a.name == name })
}

// oneLetter matches names that no program looks up.
var oneLetter = shape.Pattern(`^[A-Za-z][0-9]*$`)

// lookedUp reports whether a program may look up the variable by its name, or it may be in the
// environment already. A lowercase name is the author's own, unless it is known.
func lookedUp(name string) bool {
	if IsDeciding(name) || shellNames[name] {
		return true
	}
	return !credentialName(name) && !oneLetter().MatchString(name) && strings.ToUpper(name) == name
}

// IsDeciding reports whether a variable of a known program or of the shell says what runs or where,
// and is not a credential.
func IsDeciding(name string) bool {
	if decidingNames[name] ||
		// any name can follow these prefixes
		shape.HasAnyPrefix(name, "TF_VAR_", "npm_", "NPM_CONFIG_", "GIT_CONFIG", "BASH_FUNC_") {
		return true
	}
	return !credentialName(name) && name != "AWS_ACCESS_KEY_ID" &&
		(decidingPrefix().MatchString(name) || shape.AlwaysShown(name, "--import"))
}

// credentialName reports whether the name is that of a variable with a credential.
func credentialName(name string) bool {
	return shape.IsConventional(name) || shape.IsSecretName(name) || credentialEnd().MatchString(name)
}

var (
	credentialEnd  = shape.Pattern(`(?i)(?:^|_)(?:pass|pw|pwd|pat|auth|api_?key)$|^key$`)
	decidingPrefix = shape.Pattern(`^(?:GIT|GH|GLAB|GITHUB|GITLAB|DOCKER|BUILDKIT|BUILDAH|COMPOSE|PODMAN|CONTAINERS?` +
		`|REGISTRY|NPM|PNPM|YARN|NODE|PIP|PYTHON|TWINE|CARGO|RUST[A-Z]*|GEM|BUNDLE|RUBY|PERL` +
		`|AWS|CLOUDSDK|GOOGLE|GCLOUD|GCE|BOTO|AZURE|ARM|DIGITALOCEAN|FLY|HEROKU|VERCEL|NETLIFY|WRANGLER|CLOUDFLARE|CF` +
		`|SENTRY|STRIPE|HELM|OC|OPENSHIFT|TF|TOFU|VAULT|RESTIC|RCLONE` +
		`|SSH|SSL|OPENSSL|CURL|WGET|HTTPIE|REQUESTS|XDG|LC|LD|DYLD|LESS|GREP|JQ|SUDO|PS|GPG|MAIL|HIST)_|^(?:PG|KUBE|MYSQL` +
		`|MARIADB|REDIS|MONGO|SQLCMD|BASH|LESS|WGET|PYTHON|RUBY|PERL|PROMPT|HIST|MAKE|GO)|_(?:PROXY|proxy)$`)
	// names that look like those of credentials, or like the author's own
	decidingNames = shape.SetOf("PWD OLDPWD GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS PGPASSFILE SSH_AUTH_SOCK PATH HOME " +
		"IFS CDPATH ENV EDITOR VISUAL PAGER MANPAGER BROWSER SHELL USER LOGNAME TMPDIR TMP TEMP " +
		"LANG TZ TERM DISPLAY HOSTNAME DATABASE_URL")
	// lowercase variables of other shells
	shellNames = shape.SetOf("path cdpath fpath manpath mailpath module_path home shell prompt argv status cwd term " +
		"user psvar watch histchars")
)

// IsPlain reports whether the lexer splits a text exactly as a shell does: it has no unusual
// quoting, and no parenthesis that turns apparent commands into words.
func IsPlain(s string) bool {
	return !oddText().MatchString(s) && !strings.Contains(shape.WithoutQuotes(s), "(")
}

// oddText matches $'…', here-documents, ${…} with more than a name, comments with a quote, and
// $[…].
var oddText = shape.Pattern(`\$'|<<|\$\[|\$\{(?:[^A-Za-z_]|[A-Za-z_][A-Za-z0-9_]*[^A-Za-z0-9_}])|(?:^|[\s;&` +
	`|])#[^\n]*['"\x60\\]`)
