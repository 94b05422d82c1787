package places

import (
	"cmp"
	"slices"
	"strings"

	"approver.example/display/shape"
)

// This file says which NAME= of a text gives a variable its value, and which variables
// a program could look up by their names. Most of what looks like an assignment is a
// word that a program acts on: kubectl delete pods -l stage=production.

// An assigning is an assignment of the shell that nothing quotes, in the lexer's text.
type assigning struct {
	name     string
	from, to int
	exported bool // to the program behind it, or to all
}

// The Variables are what is known of a text's assignments. Places are those of the names.
type Variables struct {
	sure       []assigning
	heads      map[int]bool    // assignments at the head of a command, also within quotes
	exports    map[string]bool // names that are exported somewhere in the text
	exportsAll bool            // a name that is not in sight may be exported, too
	acted      []Span          // the words that programs act on
	ran        []Span          // the same, of programs that may hand them to another shell
}

// setters are the builtins that give the variables among their words a value. With -x each
// of them exports, in one shell or another.
var setters = shape.SetOf("export readonly declare local typeset")

// shellRunners are programs among whose words a text for another shell may be.
var shellRunners = shape.SetOf("ssh docker podman kubectl oc find git npm pnpm yarn gcloud fly flyctl heroku " +
	"aws az go rsync tar")

// plainSets are the words of set that export nothing.
var plainSets = shape.SetOf("-e -u -x +x +e -eu -ex -eux -o -eo -euo -euxo pipefail errexit nounset xtrace")

// assigned notes one word at the head of a command, or of a builtin that sets variables.
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

// redirected reports that a word is where a redirection goes, such as >& or >|.
func redirected(before string) bool {
	before = strings.TrimRight(before[max(0, len(before)-shape.MaxBefore):], " \t")
	return strings.HasSuffix(before, ">&") || strings.HasSuffix(before, "<&") || strings.HasSuffix(before, ">|") ||
		strings.HasSuffix(before, "&>")
}

// command notes what a simple command does with the variables among its words.
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
		if n := strings.IndexByte(src[s.From:s.To], '`'); n >= 0 { // it has commands of its own
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

// export notes one word of export.
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

// finish sorts and joins the stretches, so that each look is short.
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

// IsOperand reports a NAME= within what a known program acts on: it sets no variable,
// and what stands behind it is to be in sight.
func (v *Variables) IsOperand(at int) bool {
	return covers(v.acted, at) || !v.heads[at] && covers(v.ran, at)
}

func covers(spans []Span, at int) bool {
	n, found := slices.BinarySearchFunc(spans, at, func(s Span, at int) int { return cmp.Compare(s.From, at) })
	return found || n > 0 && at < spans[n-1].To
}

// Sets reports whether the shell certainly gives the value at a place to a variable, and no
// program looks up one of the variables with that value by its name.
func (v *Variables) Sets(at int, names []string) bool {
	n, _ := slices.BinarySearchFunc(v.sure, at, func(a assigning, at int) int { return cmp.Compare(a.from, at) })
	if n == 0 || at >= v.sure[n-1].to {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool {
		return !shape.IsConventional(name) && (v.exportsAll || v.exports[name] || lookedUp(name) || v.exportedTo(name))
	})
}

// exportedTo reports a variable that is set for one program only, as in NAME=x git fetch.
func (v *Variables) exportedTo(name string) bool {
	return slices.ContainsFunc(v.sure, func(a assigning) bool { return a.exported && a.name == name })
}

// oneLetter are names that no program looks up.
var oneLetter = shape.Pattern(`^[A-Za-z][0-9]*$`)

// lookedUp reports a variable that a program may look up by its name, or that may be in
// the environment already. A name in small letters is somebody's own, unless it is known.
func lookedUp(name string) bool {
	if IsDeciding(name) || shellNames[name] {
		return true
	}
	return !credentialName(name) && !oneLetter().MatchString(name) && strings.ToUpper(name) == name
}

// IsDeciding reports a variable of a known program, or of the shell, that is no credential:
// it says what runs, or where.
func IsDeciding(name string) bool {
	if decidingNames[name] ||
		// anybody's names behind these
		shape.HasAnyPrefix(name, "TF_VAR_", "npm_", "NPM_CONFIG_", "GIT_CONFIG", "BASH_FUNC_") {
		return true
	}
	return !credentialName(name) && name != "AWS_ACCESS_KEY_ID" &&
		(decidingPrefix().MatchString(name) || shape.AlwaysShown(name, "--import"))
}

// credentialName reports a name that says that a credential is in it.
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
	// those whose names would pass for a credential's, or for somebody's own
	decidingNames = shape.SetOf("PWD OLDPWD GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS PGPASSFILE SSH_AUTH_SOCK PATH HOME " +
		"IFS CDPATH ENV EDITOR VISUAL PAGER MANPAGER BROWSER SHELL USER LOGNAME TMPDIR TMP TEMP " +
		"LANG TZ TERM DISPLAY HOSTNAME DATABASE_URL")
	// what other shells know in small letters
	shellNames = shape.SetOf("path cdpath fpath manpath mailpath module_path home shell prompt argv status cwd term " +
		"user psvar watch histchars")
)

// IsPlain reports a text that the lexer takes apart just as a shell does: nothing in
// it quotes in a way of its own, and no parenthesis makes words of what looks like commands.
func IsPlain(s string) bool {
	return !oddText().MatchString(s) && !strings.Contains(shape.WithoutQuotes(s), "(")
}

// oddText finds $'…', documents, ${…} with more than a name, comments with a quote, and $[…].
var oddText = shape.Pattern(`\$'|<<|\$\[|\$\{(?:[^A-Za-z_]|[A-Za-z_][A-Za-z0-9_]*[^A-Za-z0-9_}])|(?:^|[\s;&` +
	`|])#[^\n]*['"\x60\\]`)
