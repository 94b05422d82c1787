package evaluator

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed"
	"encoding/hex"
	"strings"
)

//go:embed prompt.txt
var systemTemplate string

// PromptHash is the SHA-256, as hex, of the compiled-in system prompt before canary
// and boundary are filled in. The audit has it for each evaluation.
func PromptHash() string {
	sum := sha256.Sum256([]byte(systemTemplate))
	return hex.EncodeToString(sum[:])
}

// boundaryBytes is the number of random bytes of a boundary.
const boundaryBytes = 16

// A prompt is the whole of what one request says.
type prompt struct {
	canary canary // in system, and nowhere else
	system string
	user   string
}

// newPrompt wraps one line of JSON. The lines around it have a number that is new for
// each request, so that no data can imitate the end. The canary is another number, and
// it is in the system prompt only.
func newPrompt(line []byte) prompt {
	c, boundary := newCanary(), randomHex(boundaryBytes)
	return prompt{
		canary: c,
		system: strings.NewReplacer("{{canary}}", string(c), "{{boundary}}", boundary).Replace(systemTemplate),
		user:   "BEGIN ACTION " + boundary + "\n" + string(line) + "\nEND ACTION " + boundary,
	}
}

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

// matches reports whether got is the canary, in constant time. A canary that newCanary
// did not make matches nothing.
func (c canary) matches(got string) bool {
	if len(c) != 2*canaryBytes || strings.Trim(string(c), "0") == "" {
		return false
	}
	return subtle.ConstantTimeCompare([]byte(c), []byte(got)) == 1
}
