package approver

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// secrets are forms that are certain enough to hide. None matches a shell
// operator, a space or a quote inside the secret, so that no command can hide
// behind a mask. Where in doubt the text stays: that people see what runs comes
// before that they do not see a password.
//
// They are compiled when first needed: most processes never show a card.
var secrets = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`\b(AKIA|ASIA)[A-Z0-9]{16}\b`),
		regexp.MustCompile(`\b(gh[pousr]_)[A-Za-z0-9]{36,}\b`),
		regexp.MustCompile(`\b(github_pat_)[A-Za-z0-9_]{60,}\b`),
		regexp.MustCompile(`\b(glpat-)[A-Za-z0-9_-]{20,}\b`),
		regexp.MustCompile(`\b(xox[abeoprs]-|xapp-)[A-Za-z0-9-]{10,}`),
		regexp.MustCompile(`\b(sk-(?:ant-|proj-)?)[A-Za-z0-9_-]{20,}\b`),
		regexp.MustCompile(`\b((?:sk|rk|pk)_(?:live|test)_)[A-Za-z0-9]{16,}\b`),
		regexp.MustCompile(`\b(AIza)[A-Za-z0-9_-]{35}\b`),
		regexp.MustCompile(`\b(npm_)[A-Za-z0-9]{36}\b`),
		regexp.MustCompile(`\b(SG\.)[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}\b`),
		regexp.MustCompile(`\b(eyJ)[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`),
		regexp.MustCompile(`\b([0-9]{8,}:)AA[A-Za-z0-9_-]{33}\b`),
		regexp.MustCompile(`(?i)((?:authorization:\s*)?(?:bearer|basic)\s+)[A-Za-z0-9._~+/-]{16,}=*`),
		regexp.MustCompile(`([a-z][a-z0-9+.-]*://[^\s:/@"'` + "`" + `$]{0,}:)[A-Za-z0-9._~+%!*-]{3,}@`),
		regexp.MustCompile(`(-----BEGIN [A-Z ]*PRIVATE KEY-----)(?:(?:\\n|\r?\n)[A-Za-z0-9+/=]{60,80})+`),
		regexp.MustCompile(`(?i)\b(CONFIRM-)[A-Z0-9]{6,}\b`),
		regexp.MustCompile(namedForm),
	}
})

// namedForm is a value behind a telling name. It is hidden only if it also looks
// random: token=shutdown; $token must stay in sight.
const namedForm = `(?i)\b((?:[a-z0-9_-]*(?:password|passwd|secret|token|api_?key|access_?key))["']?\s*[=:]\s*["']?)[A-Za-z0-9_+-]{16,}`

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
// becomes its length and the start of its SHA-256, so that two secrets can be
// told apart and one cannot be learnt.
func Mask(s string) string {
	for _, re := range secrets() {
		s = re.ReplaceAllStringFunc(s, func(m string) string {
			keep := re.FindStringSubmatch(m)[1]
			if re.String() == namedForm && !looksRandom(m[len(keep):]) {
				return m
			}
			secret, at := strings.CutSuffix(m[len(keep):], "@")
			sum := sha256.Sum256([]byte(secret))
			masked := fmt.Sprintf("%s‹%d characters hidden, %x›", keep, len(secret), sum[:4])
			if at {
				masked += "@"
			}
			return masked
		})
	}
	return s
}
