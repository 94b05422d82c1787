package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// argsHash is the SHA-256 of arguments: the same in the records of a question, its answer and the run.
func argsHash(args []byte) string { return hashOf(canonical(args)) }

func hashOf(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// canonical is JSON as the store keeps it: without white space between the tokens, and
// with &, < and > escaped. Other text is returned unchanged.
func canonical(raw []byte) []byte {
	if isCompact(raw) {
		return raw
	}
	if b, err := json.Marshal(json.RawMessage(raw)); err == nil && len(raw) > 0 {
		return b
	}
	return raw
}

// isCompact reports whether [canonical] would change nothing in a JSON text.
func isCompact(raw []byte) bool {
	text := false
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			text = !text
		case '\\':
			i++
		case ' ', '\t', '\r', '\n':
			if !text {
				return false
			}
		case '<', '>', '&', 0xe2: // the last begins U+2028 and U+2029
			return false
		}
	}
	return true
}
