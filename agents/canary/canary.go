// Package canary tests whether the hook stops an agent's tool calls. It starts the real agent with
// a [model.Server] on this machine, which makes one harmless call that approver always stops. The disk
// shows whether the call ran.
//
// Settings can look right and have no effect, because of one wrong value elsewhere in the file, a
// switch in another file, or an environment variable. Only the agent itself knows what they mean.
//
// Texts for people call it the hook test, because a canary is also a part of the evaluator's
// answers.
//
// The daemon recognizes the call by its form, so no preparation is needed; an agent that makes such
// a call is only denied. [Stage] denies it in the daemon, and without a daemon the courier stops
// every call.
package canary

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"approver.example"
	"approver.example/internal/lazyregexp"
)

// name begins the name of the folder that the call would change.
const name = "approver-hook-test-"

// By signs verdicts about canaries.
const By = "hook-test"

// form matches the whole command, in a folder that only a canary makes. The command can only create
// an empty folder. It has the path of the program, because another mkdir could come first in PATH.
var form = lazyregexp.New(`^/bin/mkdir (?:/[A-Za-z0-9._+-]+)*/(approver-hook-test-[0-9a-f]{32})/ran$`)

// maxForm bounds the command in bytes.
const maxForm = 1024

// token returns the name that identifies a canary, or "" if the command is not a canary's.
func token(command string) string {
	if len(command) > maxForm || !strings.HasPrefix(command, "/bin/mkdir /") {
		return ""
	}
	if m := form().FindStringSubmatch(command); m != nil {
		return m[1]
	}
	return ""
}

// Is reports whether a call is exactly a canary's. If one ran, it did no harm: it shows that the
// hook does not work, and is no alarm.
func Is(call approver.ToolCall) bool { return call.Tool == "Bash" && token(call.Command) != "" }

// refusal returns the reason for the agent, with the token. A refusal by another program that
// repeats the command is different.
func refusal(token string) string {
	return "approver stopped its own test call " + token + ": the hook works, and nothing is wrong"
}

// A Stage denies canaries, and passes other calls to the next stage. No switch allows a canary: not
// observe mode, a pause or a rule. Without a next stage every call fails.
type Stage struct{ Next approver.Stage }

// Judge implements [approver.Stage].
func (s Stage) Judge(ctx context.Context, call approver.ToolCall) (approver.Verdict, error) {
	switch {
	case Is(call):
	case s.Next == nil:
		return approver.Verdict{}, errors.New("the canary has no next stage")
	default:
		return s.Next.Judge(ctx, call)
	}
	// The verdict names no rule: observe mode allows calls that a rule stops.
	return approver.Verdict{
		Decision: approver.Deny, Severity: approver.High, By: By, Confidence: 1,
		Reason: refusal(token(call.Command)), Detail: "a test of the hook by approver doctor or approver install",
	}, nil
}

// place creates the folder of one canary, and returns it with the command.
func place() (dir, command string, err error) {
	temp := os.TempDir()
	digits := make([]byte, 16)
	_, _ = rand.Read(digits) // it never fails: see crypto/rand
	leaf := name + hex.EncodeToString(digits)
	if token("/bin/mkdir "+filepath.Join(temp, leaf, "ran")) == "" {
		temp = "/tmp" // the other path would need quotes
	}
	dir = filepath.Join(temp, leaf)
	return dir, "/bin/mkdir " + filepath.Join(dir, "ran"), os.Mkdir(dir, 0o700)
}
