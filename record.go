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
	EventNotRun       Event = "not_run"       // the agent went on and reported no run of a released call
	EventDenied       Event = "denied"        // a person, or a failure, said no
	EventExpired      Event = "expired"       // silence was a no
	EventWithdrawn    Event = "withdrawn"     // the agent went away
	EventRefused      Event = "refused"       // a reply that did not count: wrong code, stranger, too late
	EventRan          Event = "ran"           // the agent reports that a call ran
	EventResult       Event = "result"        // something was found in the result of a call
	EventAlarm        Event = "alarm"         // should not happen: a call around the gate, a tampered record
	EventParked       Event = "parked"        // the agent was told to run the same call again later
	EventExtended     Event = "extended"      // people gave a request more time
	EventDisowned     Event = "disowned"      // a person said that nobody asked for a call: its agent is frozen
	EventMisplaced    Event = "misplaced"     // a code was typed where no card shows it
	EventGranted      Event = "granted"       // a yes waits for that call, or for others like it
	EventGrantUsed    Event = "grant_used"    // a call was released by such a yes, without asking
	EventGrantExpired Event = "grant_expired" // such a yes expired
	EventRevoked      Event = "revoked"       // people took such a yes back
	EventFrozen       Event = "frozen"        // people, or an alarm, stopped every call
	EventUnfrozen     Event = "unfrozen"      // people lifted the freeze
	EventPaused       Event = "paused"        // people let calls through for a while, or ended that
	EventPolicy       Event = "policy"        // another policy is in force, or other people's answers count
	EventObserving    Event = "observing"     // people let rules be observed and not enforced for some days
	EventEnforcing    Event = "enforcing"     // rules that were observed are enforced again
	EventHooks        Event = "hooks"         // the daemon saw that hooks were installed or uninstalled
	EventStarted      Event = "started"       // the daemon started
	EventStopped      Event = "stopped"       // the daemon stopped in order
	EventRemoved      Event = "removed"       // the audit removes its oldest files, as it is configured to
)

// An Alarm says what an EventAlarm is about. The zero value means the call of the record or, if
// it has none, what the note says.
type Alarm string

// The alarms that are about no call.
const (
	AlarmStore Alarm = "store" // the store cannot be trusted
	AlarmAudit Alarm = "audit" // the audit was changed; the log itself says what it lost
	AlarmHooks Alarm = "hooks" // an agent's hooks are weakened
)

// A Record is one line of the audit. The log adds time, sequence number and
// hashes. No code, key or chat secret may be in it.
type Record struct {
	Event   Event
	At      time.Time // by the store's clock where the event has one
	Request string    // the request's id
	// Once identifies the event: the log need not refuse a repeat, but a reader can tell that
	// two records with the same Once are one event.
	Once        string
	Fingerprint Fingerprint
	Call        ToolCall // Args and Command are redacted by the writer
	Verdict     Verdict
	Observed    *Verdict // a rule's finding that observe mode let through; nil otherwise
	Resolution  Resolution
	Reply       Reply         // of a person, for EventRefused and what else people want than to answer
	Outcome     OutcomeKind   // for EventRefused
	Alarm       Alarm         // for EventAlarm: what it is about
	Again       bool          // the call has a verdict of its own: see audit.Line
	Took        time.Duration // from the call's arrival to this event
	Note        string
}

// A Recorder is the audit. Record returns when the record is durable, with its hash. After an
// error, nothing that depends on the record may be released. A denial is recorded even if ctx
// has ended: the agent's time may be over by then, for example when a store is away.
type Recorder interface {
	Record(ctx context.Context, r Record) (hash string, err error)
}

// A Follower is a Recorder that can follow the store. What a record says is then durable in the
// store first, with all that the record is made of: one that a crash takes from the log is made
// again, with the same Once. So nobody waits for the log, but it never stays far behind.
type Follower interface {
	// Ready says why nothing may be released: the log has failed, or is too far behind.
	Ready() error
	// Follow takes a record and does not wait for the disk. Records become durable in the order in which
	// they were taken. After an error the record was not taken, and nothing that depends on it
	// may be released.
	Follow(r Record) (Written, error)
}

// Written waits until a record that was taken is durable, as [Recorder.Record] does. hurry has the
// log not wait for more to write at once. After an error the record has to be made again.
type Written func(ctx context.Context, hurry bool) error

// Follow hands a record to an audit, which need not be a Follower: then the record is durable
// when Follow returns.
func Follow(ctx context.Context, audit Recorder, r Record) (Written, error) {
	if f, ok := audit.(Follower); ok {
		return f.Follow(r)
	}
	_, err := audit.Record(ctx, r)
	return func(context.Context, bool) error { return nil }, err
}

// Ready is that of a Follower. Any other audit is ready until a record fails.
func Ready(audit Recorder) error {
	if f, ok := audit.(Follower); ok {
		return f.Ready()
	}
	return nil
}

// A Told is what the audit says of a request: how far it has come.
type Told struct {
	Request string
	Event   Event
	At      time.Time
	Once    string // of the record
	// Shared holds the numbers of the released calls other than the first. Nothing that is told
	// later hides them.
	Shared []int
}

// OnceShared returns the Once of the record that releases a call other than the first. It has
// the call's number and not its id: the agent chooses the id, and an audit may cut it or mask
// part of it.
func OnceShared(request string, n int) string {
	return request + ":" + string(EventReleased) + ":#" + strconv.Itoa(n)
}

// sharedNow is the number of the call, other than the first, that this record says was
// released.
func (t Told) sharedNow() (n int, ok bool) {
	if t.Event != EventReleased {
		return 0, false
	}
	number, ok := strings.CutPrefix(t.Once, t.Request+":"+string(EventReleased)+":#")
	n, err := strconv.Atoi(number)
	return n, ok && err == nil
}

// rank orders the events of one request. A later event of the same rank replaces an earlier
// one: after a fail-over of the store a request can end a second time.
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
		return 0 // it belongs to no request, or changes nothing about it
	}
}

// Ended reports whether the request has ended.
func (t Told) Ended() bool { return t.rank() >= 3 }

// Tell adds t to what the audit has said so far, by request. It ignores events that belong to
// no request or do not change its state.
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
	// The release of one more call says less than the end of the request, or a repeat of its
	// yes, and does not hide it.
	if known && (t.rank() < was.rank() || one && t.rank() == was.rank()) {
		was.Shared = t.Shared
		t = was
	}
	all[t.Request] = t
}
