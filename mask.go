package approver

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// A secretForm is a form of secret that is certain enough to hide. The pattern's
// first group stays. A hint is a lower-case text that every match contains: most
// texts have none, and no pattern is tried on them.
type secretForm struct {
	hints   []string
	pattern string
	random  bool // only if the value also looks random
	silent  bool // say nothing of the value, not even its fingerprint
}

// No pattern matches a shell operator, a space or a quote inside the secret, so
// that no command can hide behind a mask. Where in doubt the text stays: that
// people see what runs comes before that they do not see a password.
var secretForms = []secretForm{
	{hints: []string{"akia", "asia"}, pattern: `\b(AKIA|ASIA)[A-Z0-9]{16}\b`},
	{hints: []string{"gh"}, pattern: `\b(gh[pousr]_)[A-Za-z0-9]{36,}\b`},
	{hints: []string{"github_pat_"}, pattern: `\b(github_pat_)[A-Za-z0-9_]{60,}\b`},
	{hints: []string{"glpat-"}, pattern: `\b(glpat-)[A-Za-z0-9_-]{20,}\b`},
	{hints: []string{"xox", "xapp-"}, pattern: `\b(xox[abeoprs]-|xapp-)[A-Za-z0-9-]{10,}`},
	{hints: []string{"sk-"}, pattern: `\b(sk-(?:ant-|proj-)?)[A-Za-z0-9_-]{20,}\b`},
	{hints: []string{"_live_", "_test_"}, pattern: `\b((?:sk|rk|pk)_(?:live|test)_)[A-Za-z0-9]{16,}\b`},
	{hints: []string{"aiza"}, pattern: `\b(AIza)[A-Za-z0-9_-]{35}\b`},
	{hints: []string{"npm_"}, pattern: `\b(npm_)[A-Za-z0-9]{36}\b`},
	{hints: []string{"sg."}, pattern: `\b(SG\.)[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}\b`},
	{hints: []string{"eyj"}, pattern: `\b(eyJ)[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`},
	{hints: []string{":aa"}, pattern: `\b([0-9]{8,}:)AA[A-Za-z0-9_-]{33}\b`},
	{hints: []string{"bearer", "basic"}, pattern: `(?i)((?:bearer|basic)\s+)[A-Za-z0-9._~+-]{16,}=*`, random: true},
	{hints: []string{"://"}, pattern: "([a-z][a-z0-9+.-]*://[^\\s:/@\"'`$]*:)[A-Za-z0-9._~+%!*-]{3,}@"},
	{hints: []string{"private key-----"}, pattern: `(-----BEGIN [A-Z ]*PRIVATE KEY-----)(?:(?:\\n|\r?\n)[A-Za-z0-9+/=]{60,80})+`},
	{hints: []string{"confirm-"}, pattern: `(?i)\b(CONFIRM-)[A-Z0-9]{6,}\b`, silent: true},
	{
		// A value behind a telling name is hidden only if it also looks random:
		// token=shutdown; $token must stay in sight.
		hints:   []string{"pass", "secret", "token", "key"},
		pattern: `(?i)\b((?:[a-z0-9_-]*(?:password|passwd|secret|token|api_?key|access_?key))["']?\s*[=:]\s*["']?)[A-Za-z0-9_+-]{16,}`,
		random:  true,
	},
}

// The patterns are compiled when first needed: most processes show no card.
var secretPatterns = sync.OnceValue(func() []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(secretForms))
	for i, f := range secretForms {
		out[i] = regexp.MustCompile(f.pattern)
	}
	return out
})

// maskKey keys the fingerprints of masked secrets, anew in each process: a plain
// hash of a short secret could be searched for.
var maskKey = sync.OnceValue(func() []byte {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails: it ends the program instead
	return key
})

// looksRandom reports a value that no program or path is called: digits among
// letters, and many different characters.
func looksRandom(s string) bool {
	var digits, letters int
	seen := map[rune]bool{}
	for _, r := range s {
		seen[r] = true
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z':
			letters++
		}
	}
	return digits >= 3 && letters >= 3 && len(seen) >= 10
}

// Mask hides what looks like a secret: the known beginning stays, the rest
// becomes its length and a fingerprint that holds within this process, so that
// two secrets can be told apart and none can be learnt.
func Mask(s string) string {
	lower := strings.ToLower(s)
	for i, f := range secretForms {
		if !containsAny(lower, f.hints) {
			continue
		}
		re := secretPatterns()[i]
		s = re.ReplaceAllStringFunc(s, func(m string) string {
			keep := re.FindStringSubmatch(m)[1]
			secret, at := strings.CutSuffix(m[len(keep):], "@")
			if f.random && !looksRandom(secret) {
				return m
			}
			masked := fmt.Sprintf("%s‹%d characters hidden", keep, len(secret))
			if !f.silent {
				h := hmac.New(sha256.New, maskKey())
				h.Write([]byte(secret))
				masked += fmt.Sprintf(", %x", h.Sum(nil)[:3])
			}
			if masked += "›"; at {
				masked += "@"
			}
			return masked
		})
	}
	return s
}

func containsAny(s string, hints []string) bool {
	for _, h := range hints {
		if strings.Contains(s, h) {
			return true
		}
	}
	return false
}
