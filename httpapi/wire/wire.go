// Package wire names what the courier and the daemon say to each other, once for
// both. It imports nothing, because the courier's start-up time is that of what
// it imports.
//
// The courier sends POST /v1/hook with the headers Agent, Call, Deadline and
// EnvBytes; the body is that many bytes of environment (KEY=VALUE, each ended by
// a NUL) and then the hook's standard input, untouched. Only of a report of a call
// that ran, and that is longer than MaxPayload, a part is sent: without what the call
// returned, or else its beginning. It then has the header Cut. The answer is 200 with
// the headers Exit and StderrBytes; its body is that many bytes for standard
// error and then those for standard output. Both have a Content-Length.
//
// An answer with the header Ack is a yes of people, which is given once. The
// courier says that it has all of it before it prints anything: POST /v1/ack with
// the header Call and no body, on the same connection. It waits some seconds at most
// until that is taken, and says it again while the answer is 503. From then on the yes
// is given to nobody again. A courier that dies between the two leaves a call that was
// approved and did not run, and never one that can run twice. Without the acknowledgment
// the yes is repeated for some seconds.
//
// A connection that ends without a whole answer is no answer: the courier comes
// back with the same call id and what is left of its time. Any other status, and
// any answer that is not exactly of this form, blocks.
package wire

// Where the courier posts: the call, and that it has its answer.
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
	Cut      = "Approver-Cut"         // optional: 1 where the payload is not the whole standard input
)

// Compared begins the name of a variable of which the daemon only tells whether it has
// changed. No program finds a variable by such a name.
const Compared = "#"

// Headers of the answer.
const (
	Exit        = "Approver-Exit"         // 0 or 2
	StderrBytes = "Approver-Stderr-Bytes" // length of the standard error at the start of the body
	Ack         = "Approver-Ack"          // optional: 1 where the courier is to acknowledge the answer
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
