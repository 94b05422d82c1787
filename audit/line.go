package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"approver.example"
)

// Values of the member decision. The first four are those of the older
// decisions.jsonl. Events that decide nothing (refused, ran, alarm, started,
// stopped) have no decision.
const (
	Allowed  = "ALLOWED"  // runs without people, also with other arguments
	Approved = "APPROVED" // a person said yes
	Rejected = "REJECTED" // a person said no
	Blocked  = "BLOCKED"  // stopped by a rule, by silence or by a failure, not by a person
	Passed   = "PASSED"   // no opinion: the agent's own permission flow goes on
	Warned   = "WARNED"   // goes on; the agent is told something
	Pending  = "PENDING"  // people are being asked
)

// A Line is one record of the log. Texts are redacted; one that is too long is
// cut in its middle and says how many bytes are hidden. The members of the first
// group have the names of decisions.jsonl.
type Line struct {
	V     int            `json:"v"`
	Event approver.Event `json:"event"`

	Timestamp    time.Time       `json:"timestamp"` // UTC; the event's own time where it has one
	Module       string          `json:"module,omitempty"`
	Method       string          `json:"method,omitempty"` // the tool again
	Args         json.RawMessage `json:"args,omitempty"`
	Decision     string          `json:"decision,omitempty"`
	DecisionTime float64         `json:"decisionTime,omitempty"` // ms, as TookMS
	DecisionMS   float64         `json:"decision_time_ms,omitempty"`
	Reason       string          `json:"reason,omitempty"` // what the agent is told
	EventType    approver.Event  `json:"eventType"`        // Event again
	Tool         string          `json:"tool,omitempty"`
	Severity     string          `json:"severity,omitempty"` // of a call that was stopped or put before people
	Reasons      []string        `json:"reasons,omitempty"`  // category, stage and rule, cause
	Target       string          `json:"target,omitempty"`   // the first path, or the first URL
	ArgsHash     string          `json:"argsHash,omitempty"` // SHA-256 of the arguments, see canonical
	Summary      string          `json:"summary,omitempty"`  // the call on one line, or why there is none
	// for requests: whether the severity requires that the code is typed
	RequireToken *bool  `json:"requireToken,omitempty"`
	Approved     *bool  `json:"approved,omitempty"`      // where a request was answered
	Input        string `json:"decisionInput,omitempty"` // how a person answered: tap, code, text; never the code
	SessionID    string `json:"session_id,omitempty"`
	CWD          string `json:"cwd,omitempty"`
	User         string `json:"user,omitempty"` // the account behind PeerUID
	Hostname     string `json:"hostname,omitempty"`

	Request     string               `json:"request,omitempty"`
	Call        string               `json:"call,omitempty"` // the courier's call id
	Agent       string               `json:"agent,omitempty"`
	PeerUID     *uint32              `json:"peer_uid,omitempty"`
	Session     string               `json:"session,omitempty"`
	Dir         string               `json:"dir,omitempty"`
	Command     string               `json:"command,omitempty"`
	Environment []string             `json:"environment,omitempty"` // as shown to people
	Fingerprint approver.Fingerprint `json:"fingerprint,omitempty"`
	Verdict     *LineVerdict         `json:"verdict,omitempty"`
	Observed    *LineVerdict         `json:"observed,omitempty"` // a finding that observe mode did not enforce
	Resolution  *LineResolution      `json:"resolution,omitempty"`
	Reply       *LineReply           `json:"reply,omitempty"`   // of a refused reply, or of what else people want
	Outcome     string               `json:"outcome,omitempty"` // of a refused reply
	// Again says that the call has a verdict in a line of its own: this one is about the agent's own
	// question about it, another hook of it, or an answer that its agent has no words for.
	Again  bool    `json:"again,omitempty"`
	TookMS float64 `json:"took_ms,omitempty"` // from the call's arrival
	Note   string  `json:"note,omitempty"`
	// Alarm is the kind of an alarm: loss, key, outage, torn (raised by the log itself), call,
	// store, audit, hooks, other.
	Alarm   string   `json:"alarm,omitempty"`
	Once    string   `json:"once,omitempty"`
	Removed *Removed `json:"removed,omitempty"` // files that retention removed
	Broken  *Part    `json:"broken,omitempty"`  // for an alarm of loss: the broken part of the log

	// Controls is Options.Controls when the record was made. The store must not be behind it.
	Controls uint64 `json:"controls,omitempty"`
	// Stored is the last line that the store's head covered when the record was made.
	Stored uint64 `json:"stored,omitempty"`
	// Heard says, in the record of an orderly stop, whether the store's head covered every
	// line before it. Older versions left it out; then it is taken as true.
	Heard *bool `json:"heard,omitempty"`

	// The seal: place in the chain.
	ID   string `json:"id,omitempty"` // log:seq
	Seq  uint64 `json:"seq,omitempty"`
	Prev string `json:"prev,omitempty"`
	Hash string `json:"hash,omitempty"`
}

// A LineVerdict is an approver.Verdict in a Line.
type LineVerdict struct {
	Decision   approver.Decision  `json:"decision"`
	By         string             `json:"by,omitempty"`
	Rule       string             `json:"rule,omitempty"`
	Where      *approver.Position `json:"where,omitempty"`
	Category   string             `json:"category,omitempty"`
	Severity   string             `json:"severity,omitempty"`
	Reason     string             `json:"reason,omitempty"`
	Detail     string             `json:"detail,omitempty"`
	Confidence float64            `json:"confidence,omitempty"`
	Appealable bool               `json:"appealable,omitempty"` // people could be asked about the denial
	Appeal     string             `json:"appeal,omitempty"`     // the call whose denial people are asked about
	// How hard the call is to undo; left out if nothing is lost.
	Irreversible *approver.Irreversibility `json:"irreversible,omitempty"`
	Chain        []LineFinding             `json:"chain,omitempty"`    // what each part of the path said
	Args         json.RawMessage           `json:"args,omitempty"`     // what runs instead
	ArgsHash     string                    `json:"argsHash,omitempty"` // SHA-256 of them, see canonical
	Shadow       []string                  `json:"shadow,omitempty"`   // rules that matched and are not enforced
	// rules whose finding was dropped, and by which exception
	Allowed []string `json:"allowed,omitempty"`
}

// A LineResolution is an approver.Resolution in a Line.
type LineResolution struct {
	Approve      bool               `json:"approve"`
	Cause        approver.Cause     `json:"cause"`
	Person       *approver.Person   `json:"person,omitempty"`
	Identity     *approver.Identity `json:"identity,omitempty"`
	Conversation string             `json:"conversation,omitempty"`
	Method       string             `json:"method,omitempty"`
	Choice       string             `json:"choice,omitempty"` // what the agent was told to remember with the yes
	Said         string             `json:"said,omitempty"`   // what the person said with a no, for the agent
	// Edited is what the person changed the command to, and EditedHash the SHA-256 of the arguments with
	// it, see canonical. After a yes that is what runs; after a no the agent was told to run it instead.
	Edited     string     `json:"edited,omitempty"`
	EditedHash string     `json:"editedHash,omitempty"`
	At         *time.Time `json:"at,omitempty"`
}

// A LineReply is an approver.Reply in a Line, without its code.
type LineReply struct {
	Channel      string `json:"channel,omitempty"`
	Conversation string `json:"conversation,omitempty"`
	Sender       string `json:"sender,omitempty"`
	Name         string `json:"name,omitempty"`
	Want         string `json:"want,omitempty"` // what else the person wanted than to answer
	Approve      bool   `json:"approve"`
	Method       string `json:"method,omitempty"`
	Said         string `json:"said,omitempty"` // with a no
}

// ParseLine reads a record line. A checkpoint is an error.
func ParseLine(b []byte) (Line, error) {
	var l Line
	if isCheckpoint(b) {
		return l, fmt.Errorf("%w: a checkpoint is no record", errShape)
	}
	if err := json.Unmarshal(b, &l); err != nil {
		return Line{}, fmt.Errorf("%w: %w", errShape, err)
	}
	if l.V != version || l.Event == "" {
		return Line{}, fmt.Errorf("%w: expected version %d and an event", errShape, version)
	}
	return l, nil
}

// alarmKind is the kind of an alarm that a caller records. It is never one of the
// log's own kinds.
func alarmKind(rec approver.Record) string {
	switch {
	case rec.Event != approver.EventAlarm:
		return ""
	case rec.Alarm == approver.AlarmStore, rec.Alarm == approver.AlarmAudit, rec.Alarm == approver.AlarmHooks:
		return string(rec.Alarm)
	case rec.Call.Agent+rec.Call.Tool != "":
		return callAlarm
	}
	return otherAlarm
}

// lineOf makes the line of a record, without the seal.
func (r *redactor) lineOf(rec approver.Record, host string, now time.Time) Line {
	c, v := rec.Call, rec.Verdict
	if rec.At.IsZero() {
		rec.At = now
	}
	ms := milliseconds(rec.Took)
	l := Line{
		V: version, Event: approver.Event(r.id(string(rec.Event))), EventType: approver.Event(r.id(string(rec.Event))),
		Timestamp: rec.At.UTC().Truncate(time.Microsecond), DecisionTime: ms, DecisionMS: ms, TookMS: ms,
		Decision: decisionOf(rec), Hostname: host, Note: r.mask(rec.Note, textLimit),
		Alarm: alarmKind(rec), Request: r.id(rec.Request), Once: r.id(rec.Once),
		Again: rec.Again || rec.Event == approver.EventVerdict && c.Prompt != nil ||
			rec.Event == approver.EventAsked && (c.Prompt != nil || v.Prompt),
		Fingerprint: approver.Fingerprint(r.id(string(rec.Fingerprint))),
		// A record about hooks has no call, only an agent and a file.
		Agent: r.mask(c.Agent, wordLimit), Target: r.mask(targetOf(c), textLimit),
	}
	if c.Tool != "" || c.Command != "" || c.ID != "" {
		l.Module, l.Method, l.Tool = c.Module(), r.mask(c.Tool, wordLimit), r.mask(c.Tool, wordLimit)
		l.Args, l.ArgsHash = r.args(c.Args), argsHash(c.Args)
		l.Command, l.Summary = r.mask(c.Command, commandLimit), r.summary(c)
		l.Call, l.Session, l.Dir = r.id(c.ID), r.mask(c.Session, wordLimit), r.mask(c.Dir, textLimit)
		l.SessionID, l.CWD = l.Session, l.Dir
	}
	for _, line := range c.Environment[:min(len(c.Environment), namesLimit)] {
		l.Environment = append(l.Environment, r.mask(line, textLimit/8))
	}
	if c.Peer.Known {
		l.PeerUID, l.User = &c.Peer.UID, r.user(c.Peer.UID)
	}
	if rec.Event == approver.EventVerdict || v.By != "" || v.Rule != "" || v.Reason != "" || v.Decision != approver.Deny {
		l.Verdict = r.verdict(v)
		l.Reason, l.Severity = l.Verdict.Reason, l.Verdict.Severity
		if l.Summary == "" { // a payload that is no call
			l.Summary = r.oneLine(cmp.Or(v.Detail, v.Reason))
		}
		if rec.Request != "" && v.Decision == approver.Ask {
			need := v.Severity != approver.High
			l.RequireToken = &need
		}
	}
	if rec.Observed != nil {
		l.Observed = r.verdict(*rec.Observed)
		l.Severity = l.Observed.Severity
	}
	if answered(rec) {
		yes := l.Decision == Approved
		l.Approved, l.Resolution = &yes, r.resolution(rec.Resolution)
		if choice, ok := rec.Verdict.Chosen(rec.Resolution.Choice); ok {
			l.Resolution.Choice = r.mask(choice.Detail, textLimit)
		}
		l.Input = l.Resolution.Method
	}
	if rec.Event == approver.EventRefused {
		l.Outcome = outcomeName(rec.Outcome)
	}
	if l.Outcome != "" || rec.Event == approver.EventExtended || rec.Event == approver.EventDisowned ||
		rec.Event == approver.EventMisplaced {
		l.Reply = r.reply(rec.Reply)
	}
	l.Reasons = reasonsOf(l)
	return l
}

// decisionOf translates a record to the words of decisions.jsonl. Unknown events
// are BLOCKED.
func decisionOf(rec approver.Record) string {
	switch rec.Event {
	case approver.EventVerdict:
		switch rec.Verdict.Decision {
		case approver.Allow, approver.Modify:
			return Allowed
		case approver.Warn:
			return Warned
		case approver.Pass:
			return Passed
		case approver.Ask:
			return Pending
		case approver.Deny:
		}
	case approver.EventAppealed, approver.EventAsked, approver.EventPosted, approver.EventParked, approver.EventExtended:
		return Pending
	case approver.EventApproved, approver.EventGranted, approver.EventGrantUsed, approver.EventReleased,
		approver.EventRepeated:
		if rec.Resolution.Approve {
			return Approved
		}
	case approver.EventDenied:
		if rec.Resolution.Cause == approver.ByPerson {
			return Rejected
		}
	case approver.EventExpired, approver.EventWithdrawn:
	case approver.EventRefused, approver.EventAcked, approver.EventNotRun, approver.EventRan, approver.EventResult,
		approver.EventAlarm, approver.EventStarted, approver.EventStopped,
		approver.EventRevoked, approver.EventGrantExpired, approver.EventFrozen, approver.EventUnfrozen, approver.EventPaused,
		approver.EventPolicy, approver.EventRemoved,
		approver.EventObserving, approver.EventEnforcing, approver.EventHooks, approver.EventDisowned,
		approver.EventMisplaced:
		return ""
	}
	return Blocked
}

// answered reports whether the record is about the end of a request.
func answered(rec approver.Record) bool {
	return slices.Contains(ends, rec.Event) || rec.Resolution != approver.Resolution{}
}

var ends = []approver.Event{
	approver.EventApproved, approver.EventGranted, approver.EventReleased, approver.EventDenied, approver.EventExpired,
	approver.EventWithdrawn,
}

func reasonsOf(l Line) (reasons []string) {
	if v := l.firstVerdict(); v != nil {
		if v.Category != "" {
			reasons = append(reasons, v.Category)
		}
		if name := ruleName(v); name != "" {
			reasons = append(reasons, name)
		}
	}
	if l.Resolution != nil && l.Resolution.Cause != approver.NoCause {
		reasons = append(reasons, l.Resolution.Cause.String())
	}
	return reasons
}

// firstVerdict is the finding about the call, whether it was enforced or not.
func (l Line) firstVerdict() *LineVerdict {
	if l.Observed != nil {
		return l.Observed
	}
	return l.Verdict
}

// targetOf is the first path of a call, or its first URL.
func targetOf(c approver.ToolCall) string {
	for _, names := range [][]string{c.Paths, c.URLs} {
		if len(names) > 0 {
			return names[0]
		}
	}
	return ""
}

// ruleName is "stage/rule", as far as they are known.
func ruleName(v *LineVerdict) string {
	if v.By != "" && v.Rule != "" {
		return v.By + "/" + v.Rule
	}
	return v.By + v.Rule
}

func (r *redactor) verdict(v approver.Verdict) *LineVerdict {
	l := &LineVerdict{
		Decision: v.Decision, By: r.mask(v.By, wordLimit), Rule: r.mask(v.Rule, wordLimit),
		Category: r.mask(v.Category, wordLimit), Severity: severityOf(v.Decision, v.Severity),
		Confidence: finite(v.Confidence),
		Reason:     r.mask(v.Reason, textLimit), Detail: r.mask(v.Detail, textLimit),
		Appealable: v.Appealable, Appeal: r.id(v.Appeal.Of), Irreversible: r.irreversibility(v.Irreversible),
		Chain: r.findings(v.Chain),
		Args:  r.args(v.Args), ArgsHash: argsHash(v.Args),
	}
	if v.Where != (approver.Position{}) {
		l.Where = &approver.Position{File: r.mask(v.Where.File, wordLimit), Line: v.Where.Line, Col: v.Where.Col}
	}
	for _, id := range v.Shadow[:min(len(v.Shadow), namesLimit)] {
		l.Shadow = append(l.Shadow, r.mask(id, wordLimit))
	}
	for _, what := range v.Allowed[:min(len(v.Allowed), namesLimit)] {
		l.Allowed = append(l.Allowed, r.mask(what, textLimit))
	}
	return l
}

// namesLimit bounds lists of names and of environment variables in a line.
const namesLimit = 50

func (r *redactor) resolution(res approver.Resolution) *LineResolution {
	l := &LineResolution{
		Approve: res.Approve, Cause: res.Cause, Conversation: r.mask(res.Conversation, wordLimit),
		Method: methodName(res.Method), Said: r.mask(res.Reason, textLimit),
	}
	if res.Person != (approver.Person{}) {
		l.Person = &approver.Person{ID: r.mask(res.Person.ID, wordLimit), Name: r.mask(res.Person.Name, wordLimit)}
	}
	if res.Identity != (approver.Identity{}) {
		l.Identity = &approver.Identity{Channel: r.mask(res.Identity.Channel, wordLimit),
			ID: r.mask(res.Identity.ID, wordLimit)}
	}
	if edit := res.Edit; edit != nil {
		l.Edited, l.EditedHash = r.mask(edit.Command, commandLimit), argsHash(edit.Args)
	}
	if !res.At.IsZero() {
		at := res.At.UTC()
		l.At = &at
	}
	return l
}

func (r *redactor) reply(rep approver.Reply) *LineReply {
	return &LineReply{
		Channel: r.mask(rep.Channel, wordLimit), Conversation: r.mask(rep.Conversation, wordLimit),
		Sender: r.mask(rep.Sender, wordLimit), Name: r.mask(rep.Name, wordLimit),
		Want: wantName(rep.Want), Approve: rep.Approve, Method: methodName(rep.Method), Said: r.mask(rep.Reason, textLimit),
	}
}

// milliseconds has microseconds as decimals.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// timeOf reads the time of a record or a checkpoint.
func timeOf(line []byte) (time.Time, error) {
	var l struct {
		Timestamp  time.Time `json:"timestamp"`
		Checkpoint struct {
			Time time.Time `json:"time"`
		} `json:"checkpoint"`
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return time.Time{}, fmt.Errorf("%w: %w", errShape, err)
	}
	if l.Timestamp.IsZero() {
		return l.Checkpoint.Time, nil
	}
	return l.Timestamp, nil
}

// Removed describes files that retention removed: all lines up to To, which has
// the hash Hash. The first line that is kept follows it.
type Removed struct {
	To    uint64 `json:"to"`
	Hash  string `json:"hash"`
	Files int    `json:"files"`
}
