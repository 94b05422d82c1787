package reporting

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"approver.example"
	"approver.example/agents/canary"
	"approver.example/audit"
	"approver.example/cmd/approver/internal/judging"
	"approver.example/configs"
	"approver.example/daemon/hooks"
	"approver.example/display"
)

// These constants limit what a report keeps, however large the audit is. What exceeds them is
// counted but not named.
const (
	maxReportRules    = 1_000
	maxReportSessions = 10_000
	maxReportCommands = 20_000 // of all rules together
	maxReportExample  = 400    // bytes of a call that is judged again
	shownCommands     = 5      // of each rule
	shownSessions     = 10
)

// A tally counts the findings of rules. Observed counts those that were only recorded and not
// enforced.
type tally struct {
	Asks     int `json:"asks"`
	Denies   int `json:"denies"`
	Changes  int `json:"changes"` // calls that would run with other arguments
	Observed int `json:"observed"`
}

func (t tally) found() int { return t.Asks + t.Denies + t.Changes }

func (t *tally) add(d approver.Decision, observed bool) {
	switch d {
	case approver.Ask:
		t.Asks++
	case approver.Deny:
		t.Denies++
	case approver.Modify:
		t.Changes++
	case approver.Warn, approver.Pass, approver.Allow:
		return
	}
	if observed {
		t.Observed++
	}
}

// A report is what an audit says about a period.
type report struct {
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Calls   int       `json:"calls"`
	Allowed int       `json:"allowed"` // by a rule, so the agent does not ask its own user
	WentOn  int       `json:"went_on"` // no rule asked, denied or changed them
	Hours   int       `json:"hours"`   // clock hours with calls
	PerHour float64   `json:"asks_per_hour"`
	tally
	Rules    []*ruleReport    `json:"rules"`
	Sessions []*sessionReport `json:"sessions"`
	// Shadow has the rules that are recorded but not enforced, and Excepted the exceptions that
	// dropped a finding, each with its number of calls.
	Shadow   map[string]int `json:"shadow,omitempty"`
	Excepted map[string]int `json:"excepted,omitempty"`
	// Unjudged says why the calls could not be judged again.
	Unjudged string `json:"unjudged,omitempty"`
	// NotInForce says that they were judged by a policy or rules that are not in force.
	NotInForce string `json:"not_in_force,omitempty"`
	// Unnamed counts the findings of rules and the calls of sessions beyond what a report
	// keeps.
	Unnamed int `json:"unnamed"`
	// Repeats and Differing are as audit verify has them, of all records of the period.
	Repeats   uint64               `json:"repeats"`
	Differing audit.DifferenceList `json:"differing"`

	rules    map[string]*ruleReport
	sessions map[string]*sessionReport
	names    map[string]bool // names of all rules that found something, even if the report is not about them
	commands int
	hour     int64

	about string         // what the report is narrowed to, for people
	judge *judging.Judge // judges as approver judge does; nil if it cannot
	cfg   configs.Config // of judge
}

// A ruleReport has the findings of one rule.
type ruleReport struct {
	By       string `json:"by,omitempty"`
	Rule     string `json:"rule"`
	Severity string `json:"severity,omitempty"` // the strictest
	tally
	First    time.Time        `json:"first"`
	Last     time.Time        `json:"last"`
	Commands []*commandReport `json:"commands"`
	Others   int              `json:"others"` // calls whose commands were not kept

	commands map[string]*commandReport
	milder   bool // some findings had a lower severity
}

// A commandReport is one call that a rule found, as the audit shows it.
type commandReport struct {
	Tool    string `json:"tool"`
	Command string `json:"command"` // on one line
	Times   int    `json:"times"`
	// Explain is the command that explains the finding, if the audit has the whole call and it
	// is judged the same today. Now is today's verdict if it is a different one.
	Explain string `json:"explain,omitempty"`
	Now     string `json:"now,omitempty"`

	call  recordedCall
	found audit.LineVerdict
}

// A sessionReport is one session of an agent.
type sessionReport struct {
	Session string `json:"session"`
	Agent   string `json:"agent"`
	Dir     string `json:"dir,omitempty"` // the newest
	Calls   int    `json:"calls"`
	tally
	Hours   int       `json:"hours"`
	PerHour float64   `json:"asks_per_hour"`
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`

	hour int64
}

// Judged lists the events that have the verdict on a call.
func Judged() []approver.Event { return []approver.Event{approver.EventVerdict, approver.EventAsked} }

// IsAgents reports whether a line is the verdict on an agent's own call. Changed settings are no call.
func IsAgents(l audit.Line) bool {
	v := foundIn(l)
	return slices.Contains(Judged(), l.Event) && l.Agent != "approver" && v.By != canary.By &&
		(v.By != "agents" || v.Rule != hooks.SettingsRule)
}

// note records the name of a rule that found something, even if the report is not about it.
func (r *report) note(v audit.LineVerdict) {
	if v.Decision > approver.Modify || len(r.names) >= maxReportRules {
		return
	}
	if r.names == nil {
		r.names = map[string]bool{}
	}
	r.names[ruleName(v.By, v.Rule)] = true
}

// foundIn returns what a rule found in a call, whether or not it was enforced.
func foundIn(l audit.Line) audit.LineVerdict {
	switch {
	case l.Observed != nil:
		return *l.Observed
	case l.Verdict != nil:
		return *l.Verdict
	}
	return audit.LineVerdict{} // the zero value is a deny
}

func (r *report) add(l audit.Line) {
	v, observed := foundIn(l), l.Observed != nil
	r.tally.add(v.Decision, observed)
	switch {
	case l.Again:
	case v.Decision == approver.Allow:
		r.Calls++
		r.Allowed++
	case v.Decision > approver.Modify:
		r.Calls++
		r.WentOn++
	default:
		r.Calls++
	}
	r.count(&r.Shadow, v.Shadow)
	r.count(&r.Excepted, v.Allowed)
	hour := l.Timestamp.Unix() / 3600
	if hour != r.hour {
		r.hour = hour
		r.Hours++
	}
	if s := r.session(l); s == nil {
		r.Unnamed++
	} else {
		if !l.Again {
			s.Calls++
		}
		s.add(v.Decision, observed)
		s.Dir, s.Last = l.Dir, l.Timestamp
		if hour != s.hour {
			s.hour = hour
			s.Hours++
		}
	}
	if v.Decision > approver.Modify {
		return
	}
	if rule := r.rule(v, l.Timestamp); rule == nil {
		r.Unnamed++
	} else {
		rule.add(v.Decision, observed)
		rule.Last = l.Timestamp
		rule.milder = rule.milder || v.Severity != rule.Severity
		if v.Severity == approver.Catastrophic.String() {
			rule.Severity = v.Severity
		}
		r.command(rule, l)
	}
}

// count counts calls by name.
func (r *report) count(by *map[string]int, names []string) {
	for _, name := range names {
		if *by == nil {
			*by = map[string]int{}
		}
		if _, known := (*by)[name]; !known && len(*by) >= maxReportRules {
			r.Unnamed++
			continue
		}
		(*by)[name]++
	}
}

func (r *report) session(l audit.Line) *sessionReport {
	key := l.Agent + "\x00" + l.Session
	s := r.sessions[key]
	if s == nil && len(r.sessions) < maxReportSessions {
		s = &sessionReport{Session: l.Session, Agent: l.Agent, First: l.Timestamp, hour: -1}
		r.sessions[key] = s
	}
	return s
}

func (r *report) rule(v audit.LineVerdict, at time.Time) *ruleReport {
	key := v.By + "\x00" + v.Rule
	rule := r.rules[key]
	if rule == nil && len(r.rules) < maxReportRules {
		rule = &ruleReport{By: v.By, Rule: v.Rule, Severity: v.Severity, First: at, commands: map[string]*commandReport{}}
		r.rules[key] = rule
	}
	return rule
}

func (r *report) command(rule *ruleReport, l audit.Line) {
	key := l.Tool + "\x00" + l.Summary
	c := rule.commands[key]
	if c == nil {
		if r.commands >= maxReportCommands {
			rule.Others++
			return
		}
		r.commands++
		c = &commandReport{Tool: l.Tool, Command: l.Summary, call: callAgain(l), found: foundIn(l)}
		rule.commands[key] = c
	}
	c.Times++
}

// finish computes the rates and sorts, most findings first.
func (r *report) finish() {
	perHour := func(asks, hours int) float64 { return float64(asks) / float64(max(hours, 1)) }
	r.PerHour = perHour(r.Asks, r.Hours)
	r.Rules = slices.SortedFunc(maps.Values(r.rules), func(a, b *ruleReport) int {
		return cmp.Or(b.found()-a.found(), strings.Compare(a.By+a.Rule, b.By+b.Rule))
	})
	for _, rule := range r.Rules {
		rule.Commands = slices.SortedFunc(maps.Values(rule.commands), func(a, b *commandReport) int {
			return cmp.Or(b.Times-a.Times, strings.Compare(a.Command, b.Command))
		})
		for _, c := range rule.Commands[min(shownCommands, len(rule.Commands)):] {
			rule.Others += c.Times
		}
		rule.Commands = rule.Commands[:min(shownCommands, len(rule.Commands))]
	}
	r.Sessions = slices.SortedFunc(maps.Values(r.sessions), func(a, b *sessionReport) int {
		return cmp.Or(b.found()-a.found(), b.Calls-a.Calls, strings.Compare(a.Agent+a.Session, b.Agent+b.Session))
	})
	for _, s := range r.Sessions {
		s.PerHour = perHour(s.Asks, s.Hours)
	}
}

// name returns the rule's name in the policy. For rules of other stages, it includes the stage.
func (r *ruleReport) name() string {
	return ruleName(r.By, r.Rule)
}

func ruleName(by, rule string) string {
	if by == "policy" && rule != "" {
		return display.OneLine(rule)
	}
	return display.OneLine(strings.Trim(by+"/"+rule, "/"))
}
