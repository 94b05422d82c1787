package display

import (
	"regexp"
	"strings"
	"sync"

	"approver.example/display/shape"
)

// A keyKind is a kind of key that is known by how it begins. The keys of all services
// are in this one table: cards, the audit, addresses, tools and outputs all use it.
type keyKind struct {
	begins string // the beginnings, the longest first, with blanks between them
	rest   string // a pattern of what follows, which is the secret
	least  int    // the least number of letters, digits and joints that follow
	// plain says that nothing else has this form, so that words in it make no name of it.
	plain bool
	// alike says that names of other things begin so, too, as dapi-gateway does: one has to
	// look at the letters of the rest to tell.
	alike bool
}

const (
	wordRest = `[A-Za-z0-9_-]{20,}`
	longRest = `[A-Za-z0-9_=.-]{20,}`
)

var keyKinds = []keyKind{
	// clouds
	{begins: "AKIA ASIA ABIA ACCA", rest: `[A-Z0-9]{16}\b`, least: 12, plain: true},
	{begins: "AIza", rest: `[A-Za-z0-9_-]{35}`, least: 20, plain: true},
	{begins: "LTAI", rest: `[A-Za-z0-9]{12,24}\b`, least: 12, alike: true},
	{begins: "GOCSPX- ya29. doo_v1_ dop_v1_ dor_v1_ pscale_tkn_ pscale_pw_ pscale_oauth_", rest: longRest, least: 20},
	{begins: "dapi hvs. hvb. hvr. pscale_ sbp_ nfp_ vercel_ NRAK-", rest: longRest, least: 20, alike: true},
	{begins: "fm2_ fm1_", rest: `[A-Za-z0-9_=+/-]{40,}`, least: 40},
	{begins: "tskey-auth- tskey-api- tskey-client- tskey-", rest: longRest, least: 20},
	// code and packages
	{begins: "ghp_ gho_ ghu_ ghs_ ghr_", rest: `[A-Za-z0-9]{36,}\b`, least: 16},
	{begins: "github_pat_", rest: `[A-Za-z0-9_]{40,}\b`, least: 16},
	{begins: "glpat- gldt- glrt- glcbt- glptt- glft- glimt- gloas- glsoat-", rest: `[A-Za-z0-9_=.-]{20,}`, least: 12},
	{begins: "ATATT3 ATCTT3", rest: longRest, least: 20},
	{begins: "ATBB", rest: `[A-Za-z0-9]{32}\b`, least: 32, alike: true},
	{begins: "npm_", rest: `[A-Za-z0-9]{36}\b`, least: 20},
	{begins: "pypi-AgE dckr_pat_ dckr_oat_ sntrys_ sntryu_", rest: longRest, least: 20},
	{begins: "pypi- rubygems_", rest: longRest, least: 20, alike: true},
	{begins: "cio", rest: `[A-Za-z0-9]{32}\b`, least: 32, alike: true},
	// chats
	{begins: "xoxe. xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", rest: `[A-Za-z0-9.-]{10,}`, least: 10},
	// models
	{begins: "sk-ant-api03- sk-ant- sk-proj- sk-svcacct- sk-or-v1-", rest: wordRest, least: 20},
	{begins: "sk-", rest: wordRest, least: 20, alike: true},
	{begins: "hf_ gsk_ xai- pplx- r8_", rest: longRest, least: 20, alike: true},
	// money, mail and other services
	{begins: "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_", rest: `[A-Za-z0-9]{16,}\b`, least: 12},
	{begins: "whsec_ sq0atp- sq0csp- sq0idp- shpat_ shpss_ shpca_ shppa_ glsa_ lin_api_ PMAK- AGE-SECRET-KEY-1",
		rest: longRest, least: 20},
	{begins: "glc_ ntn_ figd_", rest: longRest, least: 20, alike: true},
	{begins: "EAAA", rest: `[A-Za-z0-9_-]{56,}`, least: 56, alike: true},
	{begins: "SG.", rest: `[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`, least: 16},
	{begins: "key-", rest: `[0-9a-f]{32}\b`, least: 32},
	{begins: "SK", rest: `[0-9a-f]{32}\b`, least: 32},
	{begins: "secret_", rest: `[A-Za-z0-9]{43}\b`, least: 43, alike: true},
	{begins: "dp.audit. dp.scim. dp.st. dp.pt. dp.ct. dp.sa.", rest: longRest, least: 20, alike: true},
	{begins: "ops_eyJ", rest: `[A-Za-z0-9_-]{60,}`, least: 60},
}

// keyForms are the forms of the keys, for the mask.
func keyForms() []form {
	forms := make([]form, len(keyKinds))
	for i, k := range keyKinds {
		begins := strings.Fields(k.begins)
		quoted := make([]string, len(begins))
		hints := make([]string, len(begins))
		for j, b := range begins {
			quoted[j], hints[j] = regexp.QuoteMeta(b), strings.ToLower(b)
		}
		f := form{hints: hints, pattern: shape.Pattern(`\b(` + strings.Join(quoted, "|") + `)` + k.rest),
			run: min(k.least, shape.LongRun)}
		if strings.Contains(k.rest, "/") {
			f.run = 0
		}
		if !k.plain {
			f.is = func(_, value string) bool { return !shape.HasOnly(value, shape.IsWordAlone) }
		}
		forms[i] = f
	}
	return forms
}

// A beginning is how one key begins, and what must follow at least.
type beginning struct {
	text  string
	least int
}

// beginnings are those of all keys by their first byte.
var beginnings = sync.OnceValue(func() *[256][]beginning {
	all := &[256][]beginning{}
	for _, k := range append(keyKinds, keyKind{begins: "eyJhbGci", least: 10}) {
		for b := range strings.FieldsSeq(k.begins) {
			all[b[0]] = append(all[b[0]], beginning{b, k.least})
		}
	}
	return all
})

// BeginsKey reports whether a text begins as a key of a known service does.
func BeginsKey(s string) bool {
	if s == "" {
		return false
	}
	for _, b := range beginnings()[s[0]] {
		least := b.least
		if least <= shape.LongRun {
			least = min(least, shortKey)
		}
		if rest, is := strings.CutPrefix(s, b.text); is && followed(rest, least) {
			return true
		}
	}
	return false
}

// shortKey is how much must follow the beginning of a value that stands alone, if the
// beginning says enough.
const shortKey = 8

// HoldsKey reports whether a text has a key of a known service in it, or a pattern that
// looks for one.
func HoldsKey(s string) bool {
	all := beginnings()
	for i := range len(s) {
		for _, b := range all[s[i]] {
			rest, is := strings.CutPrefix(s[i:], b.text)
			if !is {
				continue
			}
			if strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, `\w`) {
				return true // a search for one has a class instead
			}
			if followed(rest, b.least) && (len(b.text) >= 4 || i == 0 || !shape.IsWordByte(s[i-1])) {
				return true
			}
		}
	}
	return strings.Contains(s, "PRIVATE KEY")
}

// followed reports so many letters, digits and joints at the start of a text.
func followed(rest string, least int) bool {
	if len(rest) < least {
		return false
	}
	for i := range least {
		if c := rest[i]; c != '-' && !shape.IsWordByte(c) {
			return false
		}
	}
	return true
}

// KeyPattern is a regular expression that finds keys of known services in a text of small
// letters. It leaves out those that only their letters tell from names.
func KeyPattern() string {
	var all []string
	for _, k := range keyKinds {
		if k.alike {
			continue
		}
		rest := strings.NewReplacer("A-Za-z", "a-z", "A-Z", "a-z").Replace(k.rest)
		for b := range strings.FieldsSeq(k.begins) {
			all = append(all, regexp.QuoteMeta(strings.ToLower(b))+rest)
		}
	}
	return `\b(?:` + strings.Join(all, "|") + `)`
}
