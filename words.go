package approver

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"approver.example/agents/facts"
	"approver.example/display"
)

// A ToolCall is one call that an agent wants to make, in our words.
type ToolCall struct {
	// ID is the courier's random 128-bit call id, as 32 hex digits. A call that comes back
	// after a lost connection keeps it.
	ID string `json:"id"`
	// Agent is the name of the dialect that the payload was read in: see package agents.
	Agent string `json:"agent"`
	// Session is claimed by the agent. State is never keyed on it alone.
	Session string `json:"session,omitempty"`
	// Tool is the name of the tool, such as "Bash". Tools of different agents that do the same have one
	// name, and so have their arguments: see package agents.
	Tool string `json:"tool"`
	// Command is set when the tool is a shell.
	Command string `json:"command,omitempty"`
	// Paths and URLs are what the arguments name, as the agent wrote them.
	Paths []string `json:"paths,omitempty"`
	URLs  []string `json:"urls,omitempty"`
	// Args are the tool's arguments; Raw is the untouched payload.
	Args json.RawMessage `json:"args,omitempty"`
	Raw  json.RawMessage `json:"-"` // not kept: it says nothing that the rest does not
	// Dir is the working directory that the agent claims.
	Dir string `json:"dir,omitempty"`
	// Claimed is the agent's own description of the call. It is shown to people
	// as claimed and decides nothing.
	Claimed string `json:"claimed,omitempty"`
	// Env is the part of the hook's environment that changes what a command
	// runs (PATH, LD_PRELOAD, GIT_…), as the courier sent it.
	Env map[string]string `json:"env,omitempty"`
	// Environment is what people are shown of Env, made safe to display. It is set when they
	// are asked, and decides nothing.
	Environment []string `json:"environment,omitempty"`
	// Control names an action on approver itself, such as "unfreeze". Only approver sets it; a
	// freeze does not stop such a call.
	Control string `json:"control,omitempty"`
	// Own marks a question about a change of what is in force, such as a looser policy. Only
	// approver sets it; a freeze stops such a call.
	Own bool `json:"own,omitempty"`
	// ParkAt is when the agent is to be told to come back later, if people have not answered;
	// zero means never. It does not describe the call.
	ParkAt time.Time `json:"-"`
	// Acks says that the courier confirms that it has the answer. It does not describe the
	// call.
	Acks bool `json:"acks,omitempty"`
	// Changes says that the agent runs the call with other arguments if the answer has some. It does not
	// describe the call.
	Changes bool `json:"changes,omitempty"`
	// Prompt is set if the agent is about to ask its own user about the call. It does not describe
	// the call.
	Prompt *Prompt `json:"-"`
	// Peer is who connected, according to the kernel.
	Peer Peer `json:"peer"`
	// Container is the container in which the call runs; nil if it runs in none, or if that is not
	// certain. Only the daemon sets it, see package container.
	Container *Container `json:"container,omitempty"`
	// Start is the folder in which the agent starts its hooks, if the courier said it. Dir is another one
	// where a call names its own. It is no part of what the call does.
	Start string `json:"-"`
	// At is when the daemon read the call, by its own clock.
	At time.Time `json:"at"`
}

// Module is the area of a tool in the words of the decision log (Shell,
// FileSystem, Network, MCP, Tool).
func (c ToolCall) Module() string {
	switch {
	case c.Command != "":
		return "Shell"
	case len(c.Paths) > 0:
		return "FileSystem"
	case len(c.URLs) > 0:
		return "Network"
	case len(c.Tool) > 5 && c.Tool[:5] == "mcp__":
		return "MCP"
	}
	return "Tool"
}

// Display is what people are shown of a call.
func (c ToolCall) Display() display.Call {
	return display.Call{
		Tool: c.Tool, Command: c.Command, Args: c.Args, Claimed: c.Claimed, Dir: c.Dir,
		OwnShell: facts.OwnShell(c.Agent, c.Tool), Describes: facts.Describes(c.Agent, c.Tool),
		Question: c.AboutApprover(),
	}
}

// WithCommand returns the call with another command and nothing else changed. ok is false unless the call
// is one command of the agent's own shell.
func (c ToolCall) WithCommand(command string) (changed ToolCall, ok bool) {
	var args map[string]json.RawMessage
	var had string
	if c.Command == "" || command == "" || len(c.Paths)+len(c.URLs) > 0 || !facts.OwnShell(c.Agent, c.Tool) ||
		json.Unmarshal(c.Args, &args) != nil || json.Unmarshal(args["command"], &had) != nil || had != c.Command {
		return c, false
	}
	var err error
	if args["command"], err = display.EncodeJSON(command); err != nil {
		return c, false
	}
	if c.Args, err = display.EncodeJSON(args); err != nil {
		return c, false
	}
	c.Command, c.Raw = command, nil
	return c, true
}

// Text is the whole call for people; see [display.Call.Text].
func (c ToolCall) Text() string { return c.Display().Text() }

// AboutApprover reports whether the call is a question about approver itself. No agent's call
// is one.
func (c ToolCall) AboutApprover() bool { return c.Own || c.Control != "" }

// A Container is a machine whose system is made from an image, and is gone with it.
type Container struct {
	// Mounts are the absolute paths of folders and files that are not the container's own: what is
	// there, and below it, stays.
	Mounts []string `json:"mounts,omitempty"`
}

// A Peer is the process at the other end of a local socket, as the kernel
// names it. The zero value is nobody.
type Peer struct {
	Known bool   `json:"known"`
	UID   uint32 `json:"uid"`
	GID   uint32 `json:"gid"`
	PID   int32  `json:"pid,omitempty"`
}

// A Decision says what is to become of a call. Smaller is stricter; the zero
// value stops the call.
type Decision uint8

// The decisions, strictest first.
const (
	Deny   Decision = iota // the call does not run
	Ask                    // people decide
	Modify                 // the call runs with other arguments, after it was judged once more
	Warn                   // the call goes on; the agent gets a warning
	Pass                   // no opinion: the agent's own permission flow goes on
	Allow                  // the call runs and the agent need not ask
)

var decisionNames = [...]string{"deny", "ask", "modify", "warn", "pass", "allow"}

// String returns the word; an unknown value is "deny".
func (d Decision) String() string { return wordOf(decisionNames[:], d) }

// MarshalText writes the word.
func (d Decision) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads the word; anything else is an error and leaves Deny.
func (d *Decision) UnmarshalText(b []byte) (err error) {
	if *d, err = valueOf[Decision](decisionNames[:], b); err != nil {
		return fmt.Errorf("unknown decision %q: one of deny, ask, modify, warn, pass, allow", b)
	}
	return nil
}

// wordOf returns the word of a value; for an unknown value, that of the zero value.
func wordOf[T ~uint8](words []string, v T) string {
	if int(v) < len(words) {
		return words[v]
	}
	return words[0]
}

// valueOf returns the value of a word; zero and an error if no value has it.
func valueOf[T ~uint8](words []string, word []byte) (T, error) {
	i := slices.Index(words, string(word))
	if i < 0 {
		return 0, errors.New("unknown word")
	}
	return T(i), nil
}

// A Severity says how a person must approve. The zero value is the stricter.
type Severity uint8

// The severities.
const (
	Catastrophic Severity = iota // the code must be typed
	High                         // a button, or /approve CODE
)

// String returns the word in capitals; an unknown value is CATASTROPHIC.
func (s Severity) String() string {
	if s == High {
		return "HIGH"
	}
	return "CATASTROPHIC"
}

// MarshalText writes the word in capitals.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word in either case; anything else is an error and
// leaves Catastrophic.
func (s *Severity) UnmarshalText(b []byte) error {
	*s = Catastrophic
	switch string(b) {
	case "high", "HIGH":
		*s = High
	case "catastrophic", "CATASTROPHIC":
	default:
		return fmt.Errorf("unknown severity %q: high or catastrophic", b)
	}
	return nil
}

// A Position is where a rule stands. The zero value is no position.
type Position struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Col  int    `json:"col,omitempty"`
}

// String is file:line:col, or empty.
func (p Position) String() string {
	if p.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// A Verdict is what one stage, or the whole path, has to say of a call. The
// zero value denies.
type Verdict struct {
	Decision Decision `json:"decision"`
	// By is the stage, such as "policy"; Rule and Where are the rule in it.
	By    string   `json:"by,omitempty"`
	Rule  string   `json:"rule,omitempty"`
	Where Position `json:"where,omitzero"`
	// Tier is the tier that it comes from.
	Tier uint8 `json:"tier,omitempty"`
	// Reason is for the agent; Detail is for people and the audit.
	Reason     string   `json:"reason,omitempty"`
	Detail     string   `json:"detail,omitempty"`
	Category   string   `json:"category,omitempty"`
	Severity   Severity `json:"severity"`
	Confidence float64  `json:"confidence,omitempty"`
	// TTL is how long people have when the decision is Ask; zero means the
	// configured default.
	TTL time.Duration `json:"ttl,omitempty"`
	// MinTier is the lowest tier that has to look at the call before it goes on. It
	// only raises: of several the greatest counts. An Ask of severity HIGH whose
	// MinTier is [TierEvaluation], and that names no Approvers, leaves the call to
	// that tier, which may let it go; every other Ask is for people.
	MinTier uint8 `json:"min_tier,omitempty"`
	// WantTier is the tier that should look at the call if it is available; otherwise the call
	// goes on without it.
	WantTier uint8 `json:"want_tier,omitempty"`
	// Channels are the names of the channels that may show the request when the
	// decision is Ask. None means every channel.
	Channels []string `json:"channels,omitempty"`
	// Approvers are the ids of the people whose yes counts when the decision is
	// Ask, among those on the approver list. None means everybody on it. Everybody
	// on it may deny.
	Approvers []string `json:"approvers,omitempty"`
	// Args replace the call's arguments when the decision is Modify, and are
	// kept through an Ask.
	Args json.RawMessage `json:"args,omitempty"`
	// Shadow names the rules that matched and are not enforced. Allowed names those whose
	// finding was dropped, each with the exception that people made.
	Shadow  []string `json:"shadow,omitempty"`
	Allowed []string `json:"allowed,omitempty"`
	// FailedOpen names the stages that could not judge the call, each with its error; the call
	// went on all the same. Only a Gate with an open fail mode sets it.
	FailedOpen []string `json:"failed_open,omitempty"`
	// Prompt marks the Ask of a question that is the agent's own: no rule asks about the call.
	// Choices are what a yes to it may mean beyond this one call. Other Asks have none.
	Prompt  bool     `json:"prompt,omitempty"`
	Choices []Choice `json:"choices,omitempty"`
	// Appealable says that people may be asked about a call that the rule denied.
	// Nothing that denies without a rule is appealable.
	Appealable bool `json:"appealable,omitempty"`
	// Appeal says whose denial people are asked about, when the decision is Ask
	// because of an appeal.
	Appeal Appeal `json:"appeal,omitzero"`
	// Says is what people read of the call, in words that can be translated.
	Says display.Summary `json:"says,omitzero"`
	// Irreversible is how hard it is to take back what the call does.
	Irreversible Irreversibility `json:"irreversible,omitzero"`
	// Chain is what every part of the path said, in order, at most MaxChain findings.
	Chain []Finding `json:"chain,omitempty"`
	// Found says of each rule of the stage that found something whether it counts, and Same
	// which findings are those of another stage, too. Both are for other stages and the Gate,
	// which drops them.
	Found []RuleFound `json:"-"`
	Same  []Same      `json:"-"`
	// Trial says that the stage knows every program and word of the call, and that all it does is to say what it
	// would do: git push --dry-run. It is for other stages.
	Trial bool `json:"-"`
	// Weakened marks a denial that became a question; see [Weighed]. Only a Gate
	// sets it.
	Weakened bool `json:"-"`
	// Unavailable marks the Deny of a stage that could not look at the call. Only a Gate sets
	// it.
	Unavailable bool `json:"-"`
	// Ruled marks a rule's own finding; the Deny of a failure has no such mark. Only a Gate
	// sets it.
	Ruled bool `json:"-"`
	// Unasked marks what the stages decided without anybody else; see Alone. Evaluated marks
	// that the evaluation tier took part. Only a Gate sets them.
	Unasked   bool `json:"-"`
	Evaluated bool `json:"-"`
	// Unanswered marks the Deny of a question that nobody answered, or that nobody could be asked. Only
	// a Broadcaster sets it.
	Unanswered bool `json:"-"`
	// Approval is what people said yes to. Only a Broadcaster sets it.
	Approval *Yes `json:"-"`
}

// Alone reports whether the stages of a Gate decided by themselves, about a call that does not
// change how the next one is judged: nobody was asked, nothing was paused or observed, no model
// evaluated, and nothing is destroyed. The zero value is not Alone.
func (v Verdict) Alone() bool { return v.Unasked }

// An Irreversibility says how hard it is to take back what a call does. The zero
// value is a call that destroys nothing.
type Irreversibility struct {
	Score uint8  `json:"score"`         // 0 to 100
	Why   string `json:"why,omitempty"` // in a few words: what is lost, and what makes it worse or better
}

// String returns "irreversible 85/100: why", or nothing for a score of 0.
func (i Irreversibility) String() string {
	switch {
	case i.Score == 0:
		return ""
	case i.Why == "":
		return fmt.Sprintf("irreversible %d/100", i.Score)
	}
	return fmt.Sprintf("irreversible %d/100: %s", i.Score, i.Why)
}

// ComparedEnv is the prefix of those keys of [ToolCall.Env] that are only compared; see
// [display.ComparedEnv].
const ComparedEnv = display.ComparedEnv

// DefaultAppealWithin is how long after its denial a call can be appealed.
const DefaultAppealWithin = 10 * time.Minute

// An Appeal says which denial people are asked about. The zero value is none.
type Appeal struct {
	Of      string `json:"of"`                // the id of the call that was denied
	Claimed string `json:"claimed,omitempty"` // why, in the words of whoever appeals
}

// An Appealed is the request by which people are asked about a denial.
type Appealed struct {
	Request string    // its id
	Until   time.Time // until when the call may come back for their answer
}

// A Yes is people's approval of a call that was let go. It is kept to ask later whether it
// still stands: it has the request, and those parts of the call that say whose it is. The zero
// Yes never stands.
type Yes struct {
	Request     string // its id
	Call        ToolCall
	Fingerprint Fingerprint
	Made        time.Time // when the request was made
	Resolution  Resolution
	Choice      Choice // what the yes means beyond this one call; zero for nothing
}

// Yes returns the approval with which people let a call go; the zero Yes for any other verdict.
func (v Verdict) Yes() Yes {
	if v.Decision != Allow || v.By != ByPeople {
		return Yes{}
	}
	if v.Approval == nil {
		return Yes{}
	}
	return *v.Approval
}

// FreezeBy is Verdict.By of a freeze.
const FreezeBy = "freeze"

// ByPeople is Verdict.By of what people decided.
const ByPeople = "people"

// LimitedBy is Verdict.By of a call that people were not asked about because they
// were asked too often.
const LimitedBy = "limit"

// SameUser reports whether two calls come from the same user of this machine. An unknown peer
// is the daemon itself, which asks about its own changes; no other unknown peer gets through
// the socket.
func (p Peer) SameUser(other Peer) bool { return p.Known == other.Known && p.UID == other.UID }
