package broadcaster

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"approver.example"
	"approver.example/display"
)

// A Request is one call that waits for people, as it is stored. Its methods are a pure state
// machine: they read no clock and do no I/O. A step that is not allowed returns an error and
// changes nothing. Whoever applies a step writes the record by compare-and-set, and tells
// nobody before that succeeded.
type Request struct {
	ID          string               `json:"id"`     // UUIDv7
	CallID      string               `json:"call"`   // the courier's call id
	Holder      string               `json:"holder"` // the connection that waits, made anew for each
	Fingerprint approver.Fingerprint `json:"fingerprint"`
	Unbound     []string             `json:"unbound,omitempty"` // what the fingerprint does not bind, for cards
	Call        approver.ToolCall    `json:"tool_call"`
	Verdict     approver.Verdict     `json:"verdict"`           // why people are asked
	Notice      string               `json:"notice,omitempty"`  // of the freeze or pause it was made in, in English
	Notices     []display.Phrase     `json:"notices,omitempty"` // the same for cards
	Created     time.Time            `json:"created"`
	Due         time.Time            `json:"due"` // silence becomes a no
	// Deadline is the courier's own. After it nobody gets the answer.
	Deadline   time.Time           `json:"deadline"`
	State      approver.State      `json:"state"`
	Resolution approver.Resolution `json:"resolution,omitzero"`
	// Parked reports that the agent was told to run the same call again later. A
	// yes then waits for that call until TakeBy.
	Parked bool      `json:"parked,omitempty"`
	ParkAt time.Time `json:"park_at,omitzero"` // when it is to be parked, by the store's clock
	TakeBy time.Time `json:"take_by,omitzero"`
	// More is how often people gave the request more time, and MoreBy who they were. MoreLast was the
	// last of them, at MoreAt.
	More     int       `json:"more,omitempty"`
	MoreBy   string    `json:"more_by,omitempty"`
	MoreLast string    `json:"more_last,omitempty"`
	MoreAt   time.Time `json:"more_at,omitzero"`
	// Renews says that the codes of its cards end before the request does, and are renewed.
	Renews bool `json:"renews,omitempty"`
	// Events are those that gave it more time.
	Events events `json:"events,omitempty"`
	// Disowned says whether somebody said that nobody asked for the call.
	Disowned Disowned `json:"disowned_by,omitzero"`
	// Revoked is who took back a yes that lasts; empty if nobody did.
	Revoked string `json:"revoked,omitempty"`
	// Deeds are what people did to the request, until all of that is done and in the audit.
	Deeds []Deed `json:"deeds,omitempty"`
	// Climb is how far the request has come on the ladder.
	Climb Climb `json:"climb,omitzero"`
	// Untold is whom the request owes an alert.
	Untold Untold `json:"untold,omitzero"`
	// WithdrawAt is when the request is withdrawn because its courier is gone.
	// It is zero while the courier is connected.
	WithdrawAt time.Time `json:"withdraw_at,omitzero"`
	// Also are further identical calls that wait for the same answer. After a yes they are
	// those that it is for. N is the number of the call in CallID, and Session its session if
	// it replaced the one in Call. Joined is the number of the last call that joined.
	Also    Callers `json:"also,omitempty"`
	N       int     `json:"n,omitempty"`
	Session string  `json:"session,omitempty"`
	Joined  int     `json:"joined,omitempty"`
	// Ended are calls that were taken off the request, until the audit has them.
	Ended    Endings  `json:"ended,omitempty"`
	Postings Postings `json:"postings"`
	// Asked reports that the question is durable in the audit, as an older version noted.
	Asked bool `json:"asked,omitempty"`
	// Audit is the Once of the audit record of a yes, in the commit that gives it.
	Audit string `json:"audit,omitempty"`
	// Granting is when a yes that waits for its call was given, and to which call.
	Granting Granting `json:"granting,omitzero"`
	// EndedBy is the process that ended the request. It hands the records to its audit and
	// updates the cards; others leave it a moment for that.
	EndedBy string `json:"ended_by,omitempty"`
	// Closed reports that all that the audit has to say of the request is durable in it, but for
	// calls that took its yes since: see logged.
	Closed bool `json:"closed,omitempty"`
	Release

	sealed *sealedAs // the sealed part as it was read, if it was
}

// A Granting is a yes that waits for its call, as it was given.
type Granting struct {
	At      time.Time `json:"at"`
	Call    string    `json:"call"`
	Session string    `json:"session,omitempty"`
}

// A Release is what became of a yes after it was given to the agent, as far as anybody
// reported. It is empty until the request is Consumed.
type Release struct {
	// ReleasedAt is when the request was consumed. Acked is since when nobody may read its
	// yes again: the courier has it, or its time is over.
	ReleasedAt time.Time `json:"released_at,omitzero"`
	Acked      time.Time `json:"acked,omitzero"`
	Repeats    int       `json:"repeats,omitempty"` // how often the yes was read again
	// ReleasedBy is the process that released it. Withheld is why that process did not give
	// the yes to the courier after all.
	ReleasedBy string         `json:"released_by,omitempty"`
	Withheld   approver.Cause `json:"withheld,omitzero"`
	// Fate is what became of the call after its release, for cards. Lapsed reports that
	// the time is over in which the calls in Also may take their yes.
	Fate   Fate `json:"fate,omitzero"`
	Lapsed bool `json:"lapsed,omitempty"`
}

// hasUntaken reports that calls beside the first may still take their yes.
func (l Release) hasUntaken(others Callers) bool {
	return !l.Lapsed && slices.ContainsFunc(others, func(c Caller) bool { return c.Taken.IsZero() })
}

// readable reports that the yes may still be read again. deadline is the courier's own. back
// is since when the daemon and its store have been available.
func (l Release) readable(deadline, back, now time.Time) bool {
	return !l.ReleasedAt.IsZero() && l.Acked.IsZero() && now.Before(deadline) && now.Before(givenUntil(l.ReleasedAt, back))
}

// awaitsLapse reports that the end of the time to take the yes is not noted yet: see
// Request.lapse.
func (l Release) awaitsLapse(others Callers) bool {
	return !l.ReleasedAt.IsZero() && (l.Acked.IsZero() || l.hasUntaken(others))
}

// ack notes that the courier has the yes, so nobody reads it again.
func (l Release) ack(now time.Time) (Release, error) {
	switch {
	case l.ReleasedAt.IsZero():
		return l, ErrTooSoon
	case !l.Acked.IsZero():
		return l, errNoChange
	}
	l.Acked = now
	return l, nil
}

// withheldFromAll reports that a yes was released, and no call got it.
func (l Release) withheldFromAll(others Callers) bool {
	got, _ := l.released(others)
	return l.Withheld != approver.NoCause && l.Repeats == 0 && got == 0
}

// released returns how many calls a yes was for, and how many of them got it. A call that may
// still take it counts as one that got it.
func (l Release) released(others Callers) (got, all int) {
	got, all = 1, 1+len(others)
	if l.Withheld != approver.NoCause && l.Repeats == 0 {
		got = 0
	}
	for _, c := range others {
		if !c.Lost && (!c.Taken.IsZero() || !l.Lapsed) {
			got++
		}
	}
	return got, all
}

// Errors of the state machine.
var (
	ErrSettled   = errors.New("the request is already answered")
	ErrTooSoon   = errors.New("it is not time for that yet")
	ErrNotHolder = errors.New("another connection holds the request")
	ErrNotBound  = errors.New("the call is not the one that was approved")
	// ErrNotAsked means that the person who said yes is not among those whom the request is
	// for, or said it on a channel that does not show the request.
	ErrNotAsked = errors.New("the request is for other people")

	errNoChange = errors.New("nothing has changed")
)

// Granted reports a recorded yes that waits for its call to come back.
func (r Request) Granted() bool {
	return r.State == approver.Approved && r.Parked && r.Resolution.Approve && r.Audit != ""
}

// logged reports that all that the audit has to say of the request is durable in it.
func (r Request) logged() bool { return r.Closed && !slices.ContainsFunc(r.Also, Caller.unlogged) }

// asLogged notes that of the request as it was.
func (r Request) asLogged(was Request) Request {
	r.Closed, r.Also = true, slices.Clone(r.Also)
	for i, c := range r.Also {
		if n := was.Also.at(c.CallID); n >= 0 && was.Also[n].unlogged() {
			r.Also[i].Logged = true
		}
	}
	return r
}

// ended reports that no answer counts any more: the request is settled, or has a yes that
// waits for the agent. Its cards then have no buttons.
func (r Request) ended() bool { return r.State.Settled() || r.Granted() }

// sameCall reports whether a call has the content of the one that r is about, and comes from
// the same user and agent in the same folder.
func sameCall(r Request, call approver.ToolCall, fp approver.Fingerprint) bool {
	return call.ID != "" && fp.Equal(r.Fingerprint) && call.Agent == r.Call.Agent && call.Dir == r.Call.Dir &&
		call.Peer.SameUser(r.Call.Peer)
}

// callers are all calls that wait for the answer: the one in CallID, and those in Also.
func (r Request) callers() Callers {
	first := Caller{CallID: r.CallID, Session: cmp.Or(r.Session, r.Call.Session), Holder: r.Holder, N: r.N,
		WithdrawAt: r.WithdrawAt}
	return append(Callers{first}, r.Also...)
}

// withCallers replaces the calls that wait, at least one.
func (r Request) withCallers(all Callers) Request {
	first := all[0]
	r.CallID, r.Session, r.Holder, r.N, r.WithdrawAt = first.CallID, first.Session, first.Holder, first.N, first.WithdrawAt
	if r.Also = all[1:]; len(r.Also) == 0 {
		r.Also = nil
	}
	return r
}

// excludes reports that a call waited for the answer of r, and that the answer is not for it.
// Such a call is asked anew, also while a yes waits for other calls.
func (r Request) excludes(call approver.ToolCall, fp approver.Fingerprint) bool {
	return r.State != approver.Pending && !r.Parked && !r.callers().includes(call.ID) &&
		sameCall(r, call, fp)
}

// Released reports whether the request was released to this very call. Whether its courier may
// read the yes again is decided by [Request.Repeat].
func (r Request) Released(callID string, fp approver.Fingerprint) bool {
	return r.State == approver.Consumed && r.Resolution.Approve &&
		callID != "" && callID == r.CallID && fp.Equal(r.Fingerprint)
}

// refusedAgain reports that the courier came back for a yes that it had, and was refused.
func refusedAgain(r Request) bool {
	return r.State == approver.Consumed && r.Withheld != approver.NoCause && r.Repeats > 0 && len(r.Also) == 0
}

// commonFate is what people are told of a yes. If it was for several calls, it is only what
// holds for all of them.
func commonFate(r Request) Fate {
	for _, c := range r.Also {
		never := c.Lost || r.Lapsed && c.Taken.IsZero()
		if !never && (r.Fate != NotRun || c.Fate != NotRun) {
			return NoFate
		}
	}
	return r.Fate
}

// Told is what people may be told of the request. ok is false until it is settled, so that
// nobody hears "approved" for a call that was not released.
func (r Request) Told() (res approver.Resolution, ok bool) {
	if !r.State.Settled() {
		return approver.Resolution{}, false
	}
	res = r.Resolution
	res.Approve = res.Approve && r.State == approver.Consumed
	if r.withheldFromAll(r.Also) {
		res.Approve, res.Cause = false, r.Withheld
	}
	return res, true
}

// shownOn reports whether a channel may show the request.
func shownOn(v approver.Verdict, channel string) bool {
	return len(v.Channels) == 0 || slices.Contains(v.Channels, channel)
}

// isFor reports whether a person's yes counts.
func isFor(v approver.Verdict, who approver.Person) bool {
	return who.ID != "" && (len(v.Approvers) == 0 || slices.Contains(v.Approvers, who.ID))
}

// admits returns ErrNotAsked for a yes that does not count.
func admits(v approver.Verdict, res approver.Resolution) error {
	if res.Approve && (!isFor(v, res.Person) || !shownOn(v, res.Identity.Channel)) {
		return ErrNotAsked
	}
	return nil
}

// covers reports that an answer to the question v is also one to the question now: v is at
// least as strict, has the same arguments, and asks nobody else. Rules that look at the clock
// can ask about one call in two ways. An answer to an agent's own question is none to a rule's, and
// the other way round. An answer to an appeal is one only to a denial by the
// same rule.
func covers(v, now approver.Verdict) bool {
	if (v.Appeal.Of != "") != (now.Appeal.Of != "") || now.Appeal.Of != "" && (v.By != now.By || v.Rule != now.Rule) {
		return false
	}
	if v.Prompt != now.Prompt || !slices.Equal(v.Choices, now.Choices) {
		return false
	}
	return v.Severity <= now.Severity && bytes.Equal(v.Args, now.Args) && within(v.Approvers, now.Approvers) &&
		within(v.Channels, now.Channels)
}

// coversOther is covers for an identical call that comes later or beside the first. Its words may do something
// else by then, because a link leads elsewhere or the agent has read a secret: people have said yes to what their
// card said, and to nothing else.
func coversOther(v, now approver.Verdict) bool {
	same := func(p, q display.Phrase) bool {
		return p.Text == q.Text && slices.Equal(p.Args, q.Args) && slices.Equal(p.Own, q.Own)
	}
	a, b := v.Says, now.Says
	return covers(v, now) && same(a.Title, b.Title) && a.More == b.More && slices.EqualFunc(a.Does, b.Does, same) &&
		a.Project == b.Project && a.Branch == b.Branch
}

// within reports that a is at least as narrow as b. An empty list is everybody.
func within(a, b []string) bool {
	if len(b) == 0 {
		return true
	}
	return len(a) > 0 && !slices.ContainsFunc(a, func(name string) bool { return !slices.Contains(b, name) })
}

// scopeOf is the key of an answer that is kept for identical calls. It is not the check: the
// record that it leads to is compared with the call.
func scopeOf(call approver.ToolCall, fp approver.Fingerprint) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %t %d %q", fp, call.Agent, call.Peer.Known, call.Peer.UID, call.Dir))
	return hex.EncodeToString(sum[:16])
}

// aboutFreezes reports a question to lift a freeze, to pause, or to observe. A freeze that
// begins or ends while people are asked makes it moot.
func aboutFreezes(c approver.ToolCall) bool {
	switch c.Control {
	case "unfreeze", "pause", "observe":
		return true
	}
	return false
}

// obscured reports that the card of a call hides something that may decide what runs, or
// where. Such a call takes the typed code only, and for once only.
func obscured(call approver.ToolCall) bool {
	_, hidden := call.Display().Shown()
	return hidden || display.HidesEnvironment(call.Environment)
}

// mayShare reports whether one yes can be for more than one call. That excludes CATASTROPHIC
// calls, and calls whose second run may be something else than what was shown.
func mayShare(v approver.Verdict, fp approver.Fingerprint, call approver.ToolCall) bool {
	return mayBeShared(v, fp) && !obscured(call)
}

// mayBeShared is mayShare for a call that is shown.
func mayBeShared(v approver.Verdict, fp approver.Fingerprint) bool {
	return v.Severity == approver.High && fp.Bound()
}

// mayLast reports whether a yes to a request may last. A yes that lasts is for all later
// identical calls.
func mayLast(r Request) bool {
	term := r.Resolution.Grant
	return term.Lasts() && r.Verdict.Appeal.Of == "" && !r.Verdict.Prompt && mayShare(r.Verdict, r.Fingerprint, r.Call) &&
		(!term.Session || r.Call.Session != "")
}
