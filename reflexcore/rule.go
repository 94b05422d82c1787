package reflexcore

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/effect"
)

// A Rule is one thing that the engine looks for. It matches a call if one of its conditions holds
// for one of the call's effects, or if its pattern is found in the call's text. The zero Rule
// matches nothing, and would deny.
type Rule struct {
	// ID is the rule's stable name, such as "delete_root"; Category groups rules.
	ID, Category string
	// Decision is Deny, Ask or Warn; Severity says how people must approve.
	Decision approver.Decision
	Severity approver.Severity
	// Confidence is how sure the rule is of its finding, 0 to 1.
	Confidence float64
	// Reason is one sentence on what was found; Cure says what to do instead.
	Reason, Cure string
	// Appealable says that people may be asked about a call that the rule denied.
	Appealable bool
	// MinTier leaves the question to the evaluation if it is [approver.TierEvaluation]; zero means
	// people. See [approver.Verdict].
	MinTier uint8
	// When lists conditions over effects. One of them is enough.
	When []Condition
	// Pattern is a regular expression (RE2) over the command, and over every encoded text in it. The
	// text is folded to lower-case ASCII first.
	Pattern string
	// Match are calls that the rule finds, and Pass are similar calls that it does not find.
	Match, Pass []Example
	// Where is the rule's position in its file. Layer is where the rule comes from.
	Where approver.Position
	Layer Layer

	// Expires is when the rule ends, compared with the time of a call; zero is never.
	Expires time.Time
	// Shadow says that findings are recorded and not enforced.
	Shadow bool
	// Allow are the exceptions from the rule.
	Allow []Allowance

	// Heuristic marks a rule of package heuristics, which finds it in the text of a call. Here it has
	// neither conditions nor a pattern, only what layers did to it.
	Heuristic bool `json:",omitempty"`
	// Twins are the built-in rules that say the same as the heuristic of the same call.
	Twins []string `json:",omitempty"`
	// Settled are the twins whose decision stands for the heuristic too.
	Settled []string `json:",omitempty"`
}

// A Layer says where a rule comes from.
type Layer string

// The layers, lowest first. Higher layers add rules to the built-in ones and change them. Those of
// the project may only tighten.
const (
	BuiltInLayer Layer = "built-in"
	HubLayer     Layer = "hub"
	UserLayer    Layer = "user"
	ProjectLayer Layer = "project"
)

// Categories returns the names of the groups of rules, sorted.
func Categories() []string { return slices.Clone(categories) }

var categories = strings.Fields(`browser bulk ci cloud constitutional containers credentials databases destructive
	device evasion execution exfiltration harmful infrastructure injection jailbreak persistence process publishing
	reconnaissance scope-escalation self-protection supply-chain traversal version-control`)

// Final reports whether the rule allows no exceptions: its denial cannot be appealed, or it protects
// approver itself or the constitution.
func (r *Rule) Final() bool {
	return r.Decision == approver.Deny && !r.Appealable || slices.Contains(finalCategories, r.Category)
}

var finalCategories = []string{"constitutional", "self-protection"}

// A Fault is a problem of a rule: the field in its file, and what to do.
type Fault struct{ Field, Text string }

var snakeCase = lazyregexp.New(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// heuristicID is the form of the ids of heuristics.
var heuristicID = lazyregexp.New(`^[A-Z]{2,3}-[0-9]{3}$`)

// Faults lists the problems of the rule's fields. [Compile] checks its conditions and its pattern.
// Those of heuristics are checked where they are made.
func (r *Rule) Faults() (out []Fault) {
	if r.Heuristic {
		return nil
	}
	bad := func(is bool, field, format string, args ...any) {
		if is {
			out = append(out, Fault{field, fmt.Sprintf(format, args...)})
		}
	}
	bad(r.ID == "", "id", "it has no id: give it a stable name in snake_case")
	bad(heuristicID().MatchString(r.ID), "id",
		"the id %q is that of a heuristic, which has no other in its place: write a rule with an id of its own, and "+
			"disable %s",
		r.ID, r.ID)
	bad(r.ID != "" && (!snakeCase().MatchString(r.ID) || len(r.ID) > 64) && !heuristicID().MatchString(r.ID), "id",
		"the id %q is not in snake_case: at most 64 of a to z, 0 to 9 and _, and a letter first", r.ID)
	bad(!slices.Contains(categories, r.Category), "category", "there is no category %q: one of %s", r.Category,
		strings.Join(categories, ", "))
	bad(r.Decision != approver.Deny && r.Decision != approver.Ask && r.Decision != approver.Warn, "decision",
		"its decision is %s: deny, ask or warn", r.Decision)
	bad(!(r.Confidence > 0 && r.Confidence <= 1), "confidence",
		"confidence must be more than 0 and at most 1: say how sure the rule is of what it saw")
	bad(r.Reason == "", "reason", "it has no reason: say in one sentence what it saw")
	bad(strings.HasSuffix(r.Reason, ".") || strings.ContainsAny(r.Reason, "\n\r") || len(r.Reason) > maxSentence, "reason",
		"reason must be one sentence without a final period, at most %d bytes: the target and the cure are put behind it",
		maxSentence)
	bad(strings.HasSuffix(r.Cure, ".") || strings.ContainsAny(r.Cure, "\n\r") || len(r.Cure) > maxSentence, "cure",
		"cure must be one sentence without a final period, at most %d bytes", maxSentence)
	bad(len(r.When) == 0 && r.Pattern == "", "when", "it has no condition and no pattern, so that it finds nothing")
	return out
}

// maxSentence is the longest reason, in bytes.
const maxSentence = 300

// An Example is a call that a rule finds or leaves alone: a shell command, or another tool with its
// arguments as JSON.
type Example struct{ Command, Tool, Args string }

// Call returns the example as an agent would send it, from a project of its own.
func (x Example) Call() approver.ToolCall {
	call := approver.ToolCall{Agent: "claude", Tool: x.Tool, Command: x.Command, Dir: "/home/ada/shop",
		Env: map[string]string{"HOME": "/home/ada"}}
	if x.Command != "" {
		call.Tool = "Bash"
	} else {
		call.Args = json.RawMessage(x.Args)
	}
	return call
}

// A Condition holds for an effect if each of its fields does. An empty field holds always.
type Condition struct {
	Effects  []effect.Kind `json:"effects,omitempty"`   // one of these
	Places   []string      `json:"places,omitempty"`    // the target is one of these, in the words of [places.Names]
	Never    []string      `json:"never,omitempty"`     // and none of these
	Targets  []string      `json:"targets,omitempty"`   // the target matches one of these; * is any text
	Except   []string      `json:"except,omitempty"`    // and none of these
	How      []string      `json:"how,omitempty"`       // all of these bits
	Without  []string      `json:"without,omitempty"`   // none of these bits
	From     []string      `json:"from,omitempty"`      // data of one of these taints
	FromAll  []string      `json:"from_all,omitempty"`  // data of all of these taints
	What     []string      `json:"what,omitempty"`      // the effect's What is one of these; * is any text
	By       []string      `json:"by,omitempty"`        // by one of these programs; * is any text
	NotBy    []string      `json:"not_by,omitempty"`    // by none of these
	Certain  bool          `json:"certain,omitempty"`   // all of the target is known, and none of it partial
	Together []effect.Kind `json:"together,omitempty"`  // the call has one of these effects too
	Reads    []string      `json:"reads,omitempty"`     // and reads a file that matches one of these
	ReadsAt  []string      `json:"reads_at,omitempty"`  // and reads a file that is at one of these places
	MoreThan int           `json:"more_than,omitempty"` // and more than so many such effects
}

// By is the name of the engine in verdicts.
const By = "reflex"
