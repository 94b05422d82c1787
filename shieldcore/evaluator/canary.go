package evaluator

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"strings"
)

// canaryBytes is the number of random bytes of a canary.
const canaryBytes = 32

// A canary is a number that only the system prompt of one request holds. An
// answer that repeats it was made by a model that still follows that prompt.
type canary string

// newCanary makes one; it cannot fail, as crypto/rand ends the program instead.
func newCanary() canary { return canary(randomHex(canaryBytes)) }

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

// matches reports whether got is the canary, in constant time. What is no canary,
// because nobody made one, matches nothing: not even itself.
func (c canary) matches(got string) bool {
	if len(c) != 2*canaryBytes || strings.Trim(string(c), "0") == "" {
		return false
	}
	return subtle.ConstantTimeCompare([]byte(c), []byte(got)) == 1
}
