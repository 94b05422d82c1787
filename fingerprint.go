package approver

import (
	"crypto/subtle"
	"strings"
)

// A Fingerprint says exactly what is to run: SHA-256, as hex, over the canonical
// JSON (RFC 8785) of agent, tool, arguments that do something, directory, policy version, the
// environment that changes what runs, and the hashes of the files that the
// command would execute. An approval is bound to it. The empty Fingerprint
// equals nothing.
//
// Its ending says whether everything that the call would execute is bound; see
// [Fingerprint.Bound].
type Fingerprint string

// An UnbindableError says why a call cannot be bound to what it would execute. Its text is for
// the agent too: it speaks only of the call and of limits.
type UnbindableError string

// Error implements error.
func (u UnbindableError) Error() string { return string(u) }

// UnboundEnding ends a fingerprint that does not bind everything that would be executed.
const UnboundEnding = "-unbound"

// A Binding is what an approval is bound to. Unbound names, for people, what the call would
// execute without its being bound; most of the words in it are the agent's.
type Binding struct {
	Fingerprint Fingerprint
	Unbound     []string
}

// Bound reports whether everything that the call would execute is bound. If not, it may change
// between the answer and the run while the fingerprint stays the same: people are told, and a
// yes is good for one run.
func (f Fingerprint) Bound() bool { return !strings.HasSuffix(string(f), UnboundEnding) }

// Equal compares in constant time. An empty fingerprint equals nothing.
func (f Fingerprint) Equal(g Fingerprint) bool {
	return f != "" && subtle.ConstantTimeCompare([]byte(f), []byte(g)) == 1
}
