package approver

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Event names what an audit record is about.
type Event string

// The events: a verdict without people, and the steps of a request's life.
const (
	EventVerdict      Event = "verdict"       // the path decided without people
	EventAppealed     Event = "appealed"      // a denial is to be put before people
	EventAsked        Event = "asked"         // a request was made and is being shown
	EventPosted       Event = "posted"        // a card is before people
	EventApproved     Event = "approved"      // a person said yes; not yet released
	EventReleased     Event = "released"      // the call was released to the agent
	EventRepeated     Event = "repeated"      // a courier that came back was given its yes again
	EventAcked        Event = "acked"         // nobody is given that yes again: its courier has it, or its time is over
	EventNotRun       Event = "not_run"       // the agent went on, and reported no run of a call that was released
	EventDenied       Event = "denied"        // a person, or a failure, said no
	EventExpired      Event = "expired"       // silence was a no
	EventWithdrawn    Event = "withdrawn"     // the agent went away
	EventRefused      Event = "refused"       // a reply that did not count: wrong code, stranger, too late
	EventRan          Event = "ran"           // the agent reports that a call ran
	EventResult       Event = "result"        // something was found in what a call returned
	EventAlarm        Event = "alarm"         // something that should not be: went around the gate, tampered record
	EventParked       Event = "parked"        // the agent was told to run the same call again later
	EventGranted      Event = "granted"       // a yes waits for that call, or for others like it
	EventGrantUsed    Event = "grant_used"    // a call was released by such a yes, without asking
	EventGrantExpired Event = "grant_expired" // its time was over
	EventRevoked      Event = "revoked"       // people took such a yes back
	EventFrozen       Event = "frozen"        // people, or an alarm, stopped every call
	EventUnfrozen     Event = "unfrozen"      // people lifted that
	EventPaused       Event = "paused"        // people let calls through for a while, or ended that
	EventPolicy       Event = "policy"        // another policy is in force, or the answers of others count
	EventObserving    Event = "observing"     // people let rules be observed and not enforced for some days
	EventEnforcing    Event = "enforcing"     // that is over
	EventStarted      Event = "started"       // the daemon started
	EventStopped      Event = "stopped"       // the daemon stopped in order
	EventRemoved      Event = "removed"       // the audit removes its oldest files, as it is configured to
)

// An Alarm says what an EventAlarm is about. The zero value is the call of the
// record or, without one, what the note says.
type Alarm string

// The alarms that are about no call.
const (
	AlarmStore Alarm = "store" // the store cannot be believed
	AlarmAudit Alarm = "audit" // the audit was changed; the log itself says what it lost
	AlarmHooks Alarm = "hooks" // an agent's hooks are weakened
)

// A Record is one line of the audit. The log adds time, sequence number and
// hashes. No code, key or chat secret may be in it.
type Record struct {
	Event   Event
	At      time.Time // by the store's clock where the event has one
	Request string    // the request's id
	// Once makes a record idempotent: the log need not refuse a repeat, but a
	// reader can tell that two records with one Once are one event.
	Once        string
	Fingerprint Fingerprint
	Call        ToolCall // Args and Command are redacted by the writer
	Verdict     Verdict
	Observed    *Verdict // what a rule found and observe mode let go; nil otherwise
	Resolution  Resolution
	Reply       Reply         // for EventRefused
	Outcome     OutcomeKind   // for EventRefused
	Alarm       Alarm         // for EventAlarm: what it is about
	Took        time.Duration // from the call's arrival to this event
	Note        string
}

// A Recorder is the audit. Record returns when the record is durable, with its
// hash. An error means that nothing may be released on the strength of it. The record of
// a denial is taken even if ctx has ended: the agent's time may be over, as it is when a
// store is away.
type Recorder interface {
	Record(ctx context.Context, r Record) (hash string, err error)
}

// A Told is what the audit says of a request: that it came so far.
type Told struct {
	Request string
	Event   Event
	At      time.Time
	Once    string // of the record
	// shared are the numbers of the calls beside the first that were released. Nothing
	// that is told later hides them.
	Shared []int
}

// OnceShared names the record of the release of a call beside the first. It has the call's
// number: its id is the agent's to choose, and an audit may cut it or mask a part.
func OnceShared(request string, n int) string {
	return request + ":" + string(EventReleased) + ":#" + strconv.Itoa(n)
}

// sharedNow is the number of the call that this record says was released beside the first.
func (t Told) sharedNow() (n int, ok bool) {
	if t.Event != EventReleased {
		return 0, false
	}
	number, ok := strings.CutPrefix(t.Once, t.Request+":"+string(EventReleased)+":#")
	n, err := strconv.Atoi(number)
	return n, ok && err == nil
}

// rank orders what can be told of one request. What has the same rank replaces what
// was told before: after a fail-over of the store a request can have another end.
func (t Told) rank() int {
	if t.Event == EventWithdrawn && strings.HasPrefix(t.Once, t.Request+":"+string(EventWithdrawn)+":") {
		return 0 // one of several calls left, and the others wait: see recordEnded
	}
	switch t.Event {
	case EventPosted, EventParked, EventGrantUsed:
		return 1
	case EventApproved, EventGranted:
		return 2
	case EventReleased, EventRepeated, EventDenied, EventExpired, EventWithdrawn, EventRevoked:
		return 3
	case EventAcked:
		return 4
	default:
		return 0 // it is of no request, or changes nothing of one
	}
}

// Ended reports whether this is an end of the request.
func (t Told) Ended() bool { return t.rank() >= 3 }

// Tell adds what the audit says next to what it said, by request. Other events, and
// what is of no request, are left out.
func (t Told) Tell(all map[string]Told) {
	if t.Request == "" || t.rank() == 0 {
		return
	}
	was, known := all[t.Request]
	n, one := t.sharedNow()
	t.Shared = was.Shared
	if one && !slices.Contains(t.Shared, n) {
		t.Shared = append(slices.Clone(t.Shared), n)
	}
	// That one more call was released says less than what ended the request, or repeated
	// its yes, and does not hide it.
	if known && (t.rank() < was.rank() || one && t.rank() == was.rank()) {
		was.Shared = t.Shared
		t = was
	}
	all[t.Request] = t
}
