// Package wire defines the protocol between the courier and the daemon, once for
// both. It imports nothing, because the courier's start-up time depends on what
// it imports.
//
// The courier sends POST /v1/hook with the headers Agent, Call, Deadline and
// EnvBytes; the body is that many bytes of environment (KEY=VALUE, each ended by
// a NUL) and then the hook's standard input, unchanged. Only a report of a call that
// ran is cut if it is longer than MaxPayload: what the call returned is left out, or
// else only its beginning is sent. It then has the header Cut. The answer is 200 with
// the headers Exit and StderrBytes; its body is that many bytes for standard
// error and then those for standard output. Both have a Content-Length.
//
// An answer with the header Ack is an approval by people, which is given once. The
// courier acknowledges the complete answer before it prints anything: POST /v1/ack with
// the header Call and no body, on the same connection. It waits at most some seconds
// for the reply, and tries again while that is 503. Once it is accepted, the approval
// is never given again. A courier that dies between the two leaves a call that was
// approved and did not run, but never one that can run twice. Without the acknowledgment
// the approval is repeated for some seconds.
//
// A connection that ends without a complete answer is no answer: the courier comes
// back with the same call id and its remaining time. Any other status, and
// any answer that does not have exactly this form, blocks.
package wire

// Paths to which the courier posts a call, and the acknowledgment of its answer.
const (
	HookPath = "/v1/hook"
	AckPath  = "/v1/ack"
)

// Headers of the request.
const (
	Agent    = "Approver-Agent"       // the dialect, see IsAgent
	Call     = "Approver-Call"        // 32 lower-case hex digits, random, the same on every try
	Deadline = "Approver-Deadline-Ms" // how many ms the courier still has
	EnvBytes = "Approver-Env-Bytes"   // length of the environment at the start of the body
	Park     = "Approver-Park-Ms"     // optional: after how many ms the agent may be told to come back
	Event    = "Approver-Event"       // optional: the hook's event, as its flags say, see IsEvent
	Cut      = "Approver-Cut"         // optional: 1 if the payload is not the complete standard input
	Root     = "Approver-Root"        // optional: names the files that the hook sees, see peercred.Root
	Start    = "Approver-Start"       // optional: the folder in which the hook was started, see EncodeStart
	Alone    = "Approver-Alone"       // optional: 1 if the agent has no dialog in which it could ask somebody
)

// Compared is the prefix of the name of a variable that the daemon only compares, to see
// whether it has changed. No program uses a variable with such a name.
const Compared = "#"

// Headers of the answer.
const (
	Exit        = "Approver-Exit"         // 0 or 2
	StderrBytes = "Approver-Stderr-Bytes" // length of the standard error at the start of the body
	Ack         = "Approver-Ack"          // optional: 1 if the courier must acknowledge the answer
)

// Limits, in bytes.
const (
	MaxPayload = 4 << 20   // standard input
	MaxEnv     = 256 << 10 // the environment
	MaxAnswer  = 8 << 20   // both streams of an answer
	MaxHead    = 8 << 10   // status line and headers of an answer
	MaxAgent   = 32        // the agent's name
	MaxEvent   = 64        // the event's name
	CallLength = 32        // the call id
)

// IsAgent reports whether a name can be an agent's: 1 to MaxAgent lower-case
// letters, digits, dashes and underscores.
func IsAgent(s string) bool {
	for i := range len(s) {
		if b := s[i]; (b < 'a' || b > 'z') && (b < '0' || b > '9') && b != '-' && b != '_' {
			return false
		}
	}
	return s != "" && len(s) <= MaxAgent
}

// IsEvent reports whether a text can be the name of an event: 1 to MaxEvent letters.
func IsEvent(s string) bool {
	for i := range len(s) {
		if b := s[i] | 0x20; b < 'a' || b > 'z' {
			return false
		}
	}
	return s != "" && len(s) <= MaxEvent
}

// IsCall reports whether a text can be a call id.
func IsCall(s string) bool {
	for i := range len(s) {
		if b := s[i]; (b < '0' || b > '9') && (b < 'a' || b > 'f') {
			return false
		}
	}
	return len(s) == CallLength
}

// MaxStart is how long the value of Start may be.
const MaxStart = 4 << 10

// EncodeStart writes a folder as a header's value: each byte that is no letter, digit or one of /._- as %XX.
// It is empty for one that is longer than MaxStart.
func EncodeStart(dir string) string {
	const digits = "0123456789ABCDEF"
	out := make([]byte, 0, len(dir)+16)
	for i := range len(dir) {
		switch c := dir[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '/', c == '.', c == '_', c == '-':
			out = append(out, c)
		default:
			out = append(out, '%', digits[c>>4], digits[c&15])
		}
	}
	if len(out) > MaxStart {
		return ""
	}
	return string(out)
}
