// Package canary proves that the hook stands between an agent and its tools: it
// starts the real agent, against a [Model] on this machine, and lets it make one
// harmless call that approver always stops. Whether the call ran is read from the
// disk, not from what anybody says.
//
// Settings can look right and do nothing: one wrong value elsewhere in the file, a
// switch in another file, a variable of the environment. Only the agent itself knows
// what it makes of them.
//
// People are shown it as the hook test: "canary" is what the evaluator's answers carry.
//
// The call is recognized by its form, so that nobody has to be told of it before: an
// agent that makes it only gets itself denied. [Stage] denies it in the daemon, and
// without a daemon the courier stops every call.
package canary

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"approver.example"
)

// name begins the name of the folder that the call would change.
const name = "approver-hook-test-"

// By signs verdicts about canaries.
const By = "hook-test"

// form is the whole command, in a folder that only a canary makes. It creates an
// empty folder and can do nothing else: the program is named by its path, because a
// mkdir that comes first in PATH could do anything.
var form = regexp.MustCompile(`^/bin/mkdir (?:/[A-Za-z0-9._+-]+)*/(approver-hook-test-[0-9a-f]{32})/ran$`)

// maxForm bounds the command in bytes.
const maxForm = 1024

// token returns what tells one canary from another, or "" if the command is none.
func token(command string) string {
	if len(command) > maxForm || !strings.HasPrefix(command, "/bin/mkdir /") {
		return ""
	}
	if m := form.FindStringSubmatch(command); m != nil {
		return m[1]
	}
	return ""
}

// Is reports whether a call is a canary's, to the byte. One that ran anyway did
// nothing: it shows that the hook does not work, and is no alarm.
func Is(call approver.ToolCall) bool { return call.Tool == "Bash" && token(call.Command) != "" }

// refusal is what the agent is told, with the token: a refusal by somebody else, who
// repeats the command, does not read like this.
func refusal(token string) string {
	return "approver stopped its own test call " + token + ": the hook works, and nothing is wrong"
}

// Stage denies canaries, and leaves other calls to the next stage, as if it were not
// there. No switch lets one through: not observe mode, a pause or a rule. Without a
// next stage every call fails.
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
	// Without the name of a rule: observe mode lets go what rules find.
	return approver.Verdict{
		Decision: approver.Deny, Severity: approver.High, By: By, Confidence: 1,
		Reason: refusal(token(call.Command)), Detail: "a test of the hook by approver doctor or approver install",
	}, nil
}

// place makes the folder of one canary and returns it with its command.
func place() (dir, command string, err error) {
	temp := os.TempDir()
	leaf := name + random(16)
	if token("/bin/mkdir "+filepath.Join(temp, leaf, "ran")) == "" {
		temp = "/tmp" // the other one cannot be written without quotes
	}
	dir = filepath.Join(temp, leaf)
	return dir, "/bin/mkdir " + filepath.Join(dir, "ran"), os.Mkdir(dir, 0o700)
}
