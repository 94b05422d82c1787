package approver

import (
	"context"
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
