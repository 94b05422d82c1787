package evaluator

import (
	"crypto/sha256"
	_ "embed" // the system prompt is part of the program: no file can be changed under it
	"encoding/hex"
	"strings"
)

//go:embed prompt.txt
var systemTemplate string

// PromptHash is the SHA-256 of the system prompt as it is compiled in, before
// canary and boundary are filled in, as hex. The audit names it with each
// evaluation.
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

// newPrompt wraps one line of JSON. The lines around it carry a number that is
// new for each request, so that no data can end the data; the canary is another
// number, and the data never stands beside it.
func newPrompt(line []byte) prompt {
	c, boundary := newCanary(), randomHex(boundaryBytes)
	return prompt{
		canary: c,
		system: strings.NewReplacer("{{canary}}", string(c), "{{boundary}}", boundary).Replace(systemTemplate),
		user:   "BEGIN ACTION " + boundary + "\n" + string(line) + "\nEND ACTION " + boundary,
	}
}
