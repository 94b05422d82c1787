package evaluator

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// The decisions that a model may give, in exactly these letters.
const (
	saysAllow    = "ALLOW"
	saysBlock    = "BLOCK"
	saysEscalate = "ESCALATE"
)

// Bounds of an answer in bytes.
const (
	maxText   = 16 << 10
	maxReason = 1000
)

// errCanary means that the model does not follow its system prompt.
var errCanary = errors.New("canary verification failed: the answer does not carry the number that only the " +
	"evaluator's own prompt holds")

// A claim is a model's answer with a valid form. Its content is still only a claim. The
// zero value blocks.
type claim struct {
	decision   string
	confidence float64
	reason     string
}

// parseReply reads a model's answer. want is the canary of its request. An error is a
// BLOCK; it quotes nothing of the answer.
func parseReply(answer string, want canary) (claim, error) {
	if len(answer) > maxText {
		return claim{}, errors.New("the answer is too long")
	}
	fields, err := members([]byte(answer))
	if err != nil {
		return claim{}, errors.New("the answer does not have the form of one: " + err.Error())
	}
	// Check the canary first: a missing canary matters more than any other mistake.
	if got, ok := text(fields["canary"]); !ok || !want.matches(got) {
		return claim{}, errCanary
	}
	for _, name := range []string{"decision", "confidence", "reason"} {
		if _, ok := fields[name]; !ok {
			return claim{}, errors.New("the answer has no " + name)
		}
	}
	if len(fields) != 4 {
		return claim{}, errors.New("the answer has members that it must not have")
	}
	var c claim
	var ok bool
	if c.decision, ok = text(fields["decision"]); !ok {
		return claim{}, errors.New("the answer's decision is no text")
	}
	if c.confidence, ok = share(fields["confidence"]); !ok {
		return claim{}, errors.New("the answer's confidence is no number from 0 to 1")
	}
	if c.reason, ok = text(fields["reason"]); !ok || strings.TrimSpace(c.reason) == "" || len(c.reason) > maxReason {
		return claim{}, errors.New("the answer's reason is no text, empty or too long")
	}
	switch c.decision {
	case saysAllow, saysBlock, saysEscalate:
		return c, nil
	}
	return claim{}, errors.New("the answer's decision is none of ALLOW, BLOCK and ESCALATE")
}

// share reads a JSON number from 0 to 1.
func share(raw json.RawMessage) (float64, bool) {
	if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || !(x >= 0 && x <= 1) {
		return 0, false
	}
	return x, true
}
