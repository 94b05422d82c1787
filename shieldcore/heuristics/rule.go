package heuristics

import (
	"fmt"
	"slices"
	"strings"

	"approver.example"
	"approver.example/internal/lazyregexp"
)

// A Level is the severity of a rule. The zero value is the worst.
type Level uint8

// The levels, worst first.
const (
	Critical Level = iota
	High
	Medium
	Low
)

// levels are the names of the levels and the confidence of their rules.
var levels = [...]struct {
	name       string
	confidence float64
}{{"critical", 0.95}, {"high", 0.85}, {"medium", 0.70}, {"low", 0.50}}

// String returns the word; an unknown value is "critical".
func (l Level) String() string { return levels[l.known()].name }

// Confidence is the confidence of a finding by a rule of this level.
func (l Level) Confidence() float64 { return levels[l.known()].confidence }

func (l Level) known() Level {
	if int(l) < len(levels) {
		return l
	}
	return Critical
}

// MarshalText writes the word.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the word; anything else is an error and leaves Critical.
func (l *Level) UnmarshalText(b []byte) error {
	*l = Critical
	for i := range levels {
		if levels[i].name == string(b) {
			*l = Level(i)
			return nil
		}
	}
	return fmt.Errorf("unknown severity %q: critical, high, medium or low", b)
}

// A Platform is the shell whose texts a rule is for. The zero value is any.
type Platform uint8

// The platforms.
const (
	Any     Platform = iota
	Unix             // not the texts of a Windows shell
	Windows          // PowerShell and cmd, wherever they are called
)

var platforms = [...]string{"any", "unix", "windows"}

// String returns the word; an unknown value is "any".
func (p Platform) String() string {
	if int(p) < len(platforms) {
		return platforms[p]
	}
	return platforms[Any]
}

// MarshalText writes the word.
func (p Platform) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the word; anything else is an error and leaves Any.
func (p *Platform) UnmarshalText(b []byte) error {
	*p = Any
	if i := slices.Index(platforms[:], string(b)); i >= 0 {
		*p = Platform(i)
		return nil
	}
	return fmt.Errorf("unknown platform %q: one of %s", b, strings.Join(platforms[:], ", "))
}

// Fields are the parts of a call that a rule looks at.
type Fields uint8

// The parts of a call.
const (
	Command     Fields = 1 << iota // what a shell gets
	Path                           // a file or folder
	Source                         // where something comes from
	Destination                    // where it goes
	URL                            // an address
	Search                         // a search pattern or a query, "pattern" in files
	Prompt                         // what another agent or model is told
)

var fieldNames = [...]string{"command", "path", "source", "destination", "url", "pattern", "prompt"}

// FieldOf returns the field of a name.
func FieldOf(name string) (Fields, error) {
	if i := slices.Index(fieldNames[:], name); i >= 0 {
		return 1 << i, nil
	}
	return 0, fmt.Errorf("unknown field %q: one of %s", name, strings.Join(fieldNames[:], ", "))
}

// String lists the names.
func (f Fields) String() string {
	var names []string
	for i, name := range fieldNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// A Rule is a pattern and its consequence.
type Rule struct {
	ID       string // such as XP-001; the letters are its group
	Name     string // a few words
	Category string
	Pattern  string // RE2, over text in plain lower-case letters
	Level    Level
	Platform Platform
	Fields   Fields
	// AlwaysBlock denies, and Escalate asks the next tier. A rule has at most one of
	// them; with neither it only adds to the verdict's chain.
	AlwaysBlock bool
	Escalate    bool
	Description string // for the documentation: what it finds, and what it leaves alone
	Reason      string // for the agent, without a final period
	Cure        string // what to do instead
	// Twins are the rules of the reflex engine that say the same of the same call.
	Twins []string `json:",omitempty"`
	// Settled are the twins that look closer than a pattern can: if one of them finds something, and no
	// other twin, what it decides is what comes of the call.
	Settled []string `json:",omitempty"`
	Where   approver.Position
	// Match are calls that the rule matches. Pass are similar calls that it does not
	// match, and that no rule interrupts.
	Match []Example
	Pass  []Example
}

// Interrupts reports whether the rule denies or asks.
func (r *Rule) Interrupts() bool { return r.AlwaysBlock || r.Escalate }

// Group is the letters of the id.
func (r *Rule) Group() string {
	group, _, _ := strings.Cut(r.ID, "-")
	return group
}

// A Group is a kind of rules, by the letters of their ids.
type Group struct{ Letters, Name, Title string }

// Groups lists the groups in the order of the documentation. Name is what several
// of them are counted under.
func Groups() []Group {
	return []Group{
		{"XP", "cross-platform", "Any shell"},
		{"UX", "unix", "Unix shells"},
		{"WIN", "windows", "PowerShell and cmd"},
		{"PI", "detection", "Prompt injection"},
		{"PT", "detection", "Path traversal"},
		{"DE", "detection", "Data exfiltration"},
		{"SD", "detection", "Secrets disclosed"},
		{"EE", "detection", "Encoding and evasion"},
		{"SP", "detection", "Self-protection"},
		{"GEN", "detection", "General signs of manipulation"},
		{"EM", "detection", "E-mail and messages"},
	}
}

var ruleID = lazyregexp.New(`^[A-Z]{2,3}-[0-9]{3}$`)

// A Fault is a mistake in a rule, with the name of the field in files.
type Fault struct{ Field, Text string }

// minExamples is the least number of examples under match, and under pass.
const minExamples = 2

// Faults returns every mistake in a rule, except in its pattern's syntax.
func (r *Rule) Faults() (faults []Fault) {
	fault := func(bad bool, field, text string) {
		if bad {
			faults = append(faults, Fault{field, text})
		}
	}
	fault(!ruleID().MatchString(r.ID), "id", "an id is a group and three digits, such as XP-001")
	group := r.Group()
	known := slices.ContainsFunc(Groups(), func(g Group) bool { return g.Letters == group })
	fault(ruleID().MatchString(r.ID) && !known, "id", fmt.Sprintf("there is no group %q", group))
	fault(group == "WIN" && r.Platform != Windows || group == "UX" && r.Platform != Unix ||
		known && group != "WIN" && group != "UX" && r.Platform != Any,
		"platform", "the platform is not that of the id's group: windows for WIN, unix for UX, any for the others")
	for _, text := range []struct{ field, text string }{
		{"name", r.Name}, {"category", r.Category}, {"pattern", r.Pattern}, {"description", r.Description},
		{"reason", r.Reason}, {"cure", r.Cure},
	} {
		fault(strings.TrimSpace(text.text) == "", text.field, text.field+" is missing")
		fault(text.field != "pattern" && strings.HasSuffix(text.text, "."), text.field, "it ends with a period: leave it out")
	}
	fault(r.Fields == 0 || r.Fields >= 1<<len(fieldNames), "fields",
		"fields are missing: name those of a call that the rule looks at")
	switch {
	case r.AlwaysBlock && r.Escalate:
		fault(true, "always_block", "always_block and escalate exclude each other: a rule denies or asks")
	case r.AlwaysBlock:
		fault(r.Level != Critical, "always_block", "only a critical rule may block always: escalate, or make it critical")
	case r.Escalate:
		fault(r.Level > High, "escalate",
			"a rule of medium or low severity only adds to the reasons: leave escalate out, or make it high")
	default:
		fault(r.Level <= High, "severity",
			"a critical or high rule says what comes of it: always_block: true or escalate: true")
	}
	fault(len(r.Match) < minExamples, "examples",
		fmt.Sprintf("at least %d calls that the rule finds are needed under match", minExamples))
	fault(len(r.Pass) < minExamples, "examples",
		fmt.Sprintf("at least %d calls that the rule leaves alone are needed under pass", minExamples))
	return faults
}

// An Example is a call: a command, or the name of another tool and its arguments as
// JSON.
type Example struct{ Command, Tool, Args string }

// Call returns the call of an example. The commands of rules for Windows are for
// PowerShell.
func (r *Rule) Call(e Example) approver.ToolCall {
	if e.Tool != "" {
		return approver.ToolCall{Agent: "claude", Tool: e.Tool, Args: []byte(e.Args)}
	}
	tool := "Bash"
	if r.Platform == Windows {
		tool = "PowerShell"
	}
	return approver.ToolCall{Agent: "claude", Tool: tool, Command: e.Command}
}
