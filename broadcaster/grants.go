package broadcaster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"approver.example"
	"approver.example/broadcaster/sealing"
)

// Grants are the yeses that last.
type Grants struct {
	*Options
	approvers *Approvers
	cards     *Cards
	controls  *Controller
	requests  *Requests
	editor    *editor
	records   *records
}

// A lastingGrant is a yes that lasts, as it is stored.
type lastingGrant struct {
	Request Request   `json:"request"` // what people said yes to
	Until   time.Time `json:"until"`
	Uses    int       `json:"uses"`
	Ended   string    `json:"ended,omitempty"` // expired or revoked
}

// A storedGrant is the record of a lastingGrant. Its request is sealed like every other.
type storedGrant struct {
	lastingGrant
	Request json.RawMessage `json:"request"`
}

// A Grant is a yes that may still run something.
type Grant struct {
	ID         string // of the request that people said yes to
	Kind       string // once, session, or a time such as 15m
	Push       string // the masked line of the call
	By         string // who said yes, and where
	Until      time.Time
	Agent, Dir string
	scope      string // of a grant that lasts
}

// use releases a call by a grant, without asking anybody. It counts the use by one
// compare-and-set, which excludes a revocation and the end of the grant's time, then checks
// for a freeze, then records it. ErrNotFound means that there is no such grant.
func (k *Grants) use(
	ctx context.Context, call approver.ToolCall, why approver.Verdict, fp approver.Fingerprint,
) (Request, error) {
	var now time.Time
	g, err := k.change(ctx, scopeOf(call, fp), func(g *lastingGrant) (before time.Time, err error) {
		var c Controls
		if c, now, err = k.controls.Recent(ctx); err != nil {
			return time.Time{}, err
		}
		if !g.holds(call, why, fp, c, now) || !k.approvers.listed(g.Request.Resolution) {
			return time.Time{}, approver.ErrNotFound
		}
		g.Uses++
		return g.Until, nil
	})
	if errors.Is(err, approver.ErrOverdue) {
		err = approver.ErrNotFound
	}
	if err != nil {
		return Request{}, err
	}
	// A freeze that came since the look above must not be passed by: what is
	// under way when people freeze does not run.
	r := g.Request
	err = k.youngLook(ctx, r, call, func() error {
		_, err := k.Audit.Record(ctx, approver.Record{
			Event: approver.EventGrantUsed, At: now, Request: r.ID, Fingerprint: fp, Call: call, Verdict: r.Verdict,
			Resolution: r.Resolution,
			Note:       fmt.Sprintf("use %d of a grant for %s", g.Uses, r.Resolution.Grant),
		})
		return err
	})
	if isVoid(err) {
		return Request{}, approver.ErrNotFound
	}
	r.CallID, r.Call, r.Closed = call.ID, call, true
	return r, err
}

// holds reports whether the grant is for this call.
func (g lastingGrant) holds(
	call approver.ToolCall, why approver.Verdict, fp approver.Fingerprint, c Controls, now time.Time,
) bool {
	r, term := g.Request, g.Request.Resolution.Grant
	switch {
	case g.Ended != "" || !now.Before(g.Until) || c.void(r, call) != nil || !r.Resolution.Approve:
		return false
	case call.Control != "" || r.Call.Control != "": // questions about approver are asked each time
		return false
	case !fp.Bound(): // something else could run than what people were shown
		return false
	case r.Verdict.Severity != approver.High || why.Severity != approver.High || !coversOther(r.Verdict, why):
		return false
	case term.Session && (call.Session == "" || call.Session != r.Call.Session):
		return false
	case obscured(r.Call): // an older version stored it, without this check
		return false
	}
	return term.Lasts() && sameCall(r, call, fp)
}

// lastsUntil is when a yes that lasts ends at the latest.
func lastsUntil(res approver.Resolution) time.Time {
	if res.Grant.Session {
		return res.At.Add(approver.SessionTerm)
	}
	return res.At.Add(res.Grant.For)
}

// makeLasting stores the grant that people gave with their yes, after the call that they saw
// was released. A grant for a session needs a session.
func (k *Grants) makeLasting(ctx context.Context, r Request) error {
	term := r.Resolution.Grant
	if r.State != approver.Consumed || !mayLast(r) {
		return nil
	}
	until := lastsUntil(r.Resolution)
	r.Postings, r.Call.Raw = nil, nil
	if _, err := k.Audit.Record(ctx, approver.Record{
		Event: approver.EventGranted, Request: r.ID, Once: r.ID + ":kept", Fingerprint: r.Fingerprint, Call: r.Call,
		Verdict: r.Verdict, Resolution: r.Resolution,
		Note: fmt.Sprintf("for %s, until %s", term, until.UTC().Format(time.RFC3339)),
	}); err != nil {
		return err
	}
	scope := scopeOf(r.Call, r.Fingerprint)
	for {
		_, rev, err := k.load(ctx, scope)
		if err != nil && !errors.Is(err, approver.ErrNotFound) {
			return err
		}
		err = k.save(ctx, scope, lastingGrant{Request: r, Until: until}, rev, time.Time{})
		if !errors.Is(err, approver.ErrConflict) {
			return err
		}
	}
}

// void says why a yes to a request must not release this call; nil if it may. A freeze of one
// agent counts if it is of the agent that asked or of the one that comes back, because calls
// of several sessions can share a yes. A question about approver itself outlives a freeze,
// because lifting the freeze is such a question.
func (c Controls) void(r Request, call approver.ToolCall) error {
	own := r.Call.Control != "" && call.Control != ""
	switch {
	case !own && c.freezeVoids(r.Created):
		return errBurned
	case !own && (c.freezeVoidsFor(call, r.Created) || c.freezeVoidsFor(r.Call, r.Created)):
		return errHeld
	case c.Removed.takesBack(r.Resolution):
		return errTakenBack
	}
	return nil
}

// stillGood is Controls.void by the controls of this moment. It also fails if a yes that lasts
// was revoked. It is an error if the store cannot say.
func (k *Grants) stillGood(ctx context.Context, r Request, call approver.ToolCall) error {
	c, err := readControls(ctx, k.Store, k.Mark)
	if err != nil {
		return err
	}
	return k.goodUnder(ctx, c, r, call)
}

// goodUnder is stillGood by controls that were read.
func (k *Grants) goodUnder(ctx context.Context, c Controls, r Request, call approver.ToolCall) error {
	if err := c.void(r, call); err != nil {
		return err
	}
	if !k.approvers.listed(r.Resolution) {
		return errTakenBack
	}
	if !r.Resolution.Grant.Lasts() {
		return nil
	}
	g, _, err := k.load(ctx, scopeOf(r.Call, r.Fingerprint))
	switch {
	case errors.Is(err, approver.ErrNotFound): // the yes was for once
		return nil
	case err != nil:
		return err
	case g.Request.ID == r.ID && g.Ended == "revoked":
		return errNoYes
	case g.Request.ID == r.ID: // another session may have asked
		return c.void(g.Request, call)
	}
	return nil
}

// moot reports that the subject of a question is over: a freeze began or ended since.
func (k *Grants) moot(ctx context.Context, r Request) (bool, error) {
	if !aboutFreezes(r.Call) {
		return false, nil
	}
	c, err := readControls(ctx, k.Store, k.Mark)
	return err == nil && c.changedSince(r), err
}

// Stands returns nil if a yes would still release this call, else why not: a freeze, the
// removal of the person who gave it, its revocation, or a store that cannot say. The caller
// checks that the call is the same.
func (k *Grants) Stands(ctx context.Context, y approver.Yes, call approver.ToolCall) error {
	if y.Request == "" {
		return errNoYes
	}
	r := Request{ID: y.Request, Call: y.Call, Fingerprint: y.Fingerprint, Created: y.Made, Resolution: y.Resolution}
	return patiently(ctx, func() error { return k.stillGood(ctx, r, call) })
}

// yesOf is the part of a request that Stands needs.
func yesOf(r Request) *approver.Yes {
	c := r.Call
	c.Raw, c.Args, c.Command, c.Env = nil, nil, "", nil
	choice, _ := r.Verdict.Chosen(r.Resolution.Choice) // an unknown number adds nothing
	bound := r.Fingerprint
	if edit := r.Resolution.Edit; edit != nil { // the yes is to the changed call
		bound = edit.Fingerprint
	}
	return &approver.Yes{Request: r.ID, Call: c, Fingerprint: bound, Made: r.Created, Resolution: r.Resolution,
		Choice: choice}
}

func (k *Grants) load(ctx context.Context, scope string) (g lastingGrant, rev approver.Rev, err error) {
	value, rev, err := k.Store.Get(ctx, approver.Key("grant", scope))
	if err != nil {
		return g, rev, err
	}
	var s storedGrant
	if err = json.Unmarshal(value, &s); err == nil {
		g = s.lastingGrant
		g.Request, err = DecodeRequest(k.requests.sealer, s.Request)
	}
	if errors.Is(err, sealing.ErrUnknownKey) {
		err = errUnreadable
	}
	return g, rev, err
}

// errUnreadable is the error of a grant whose key was taken away. The grant does not hold, and
// another may replace it.
var errUnreadable = fmt.Errorf("it is sealed under a key that is not known here: %w", approver.ErrNotFound)

// change applies one step to a stored grant by compare-and-set. From the time before on, which
// the step returns, nothing is written.
func (k *Grants) change(
	ctx context.Context, scope string, step func(*lastingGrant) (before time.Time, err error),
) (lastingGrant, error) {
	for {
		g, rev, err := k.load(ctx, scope)
		if err != nil {
			return g, err
		}
		before, err := step(&g)
		if err != nil {
			return g, err
		}
		if err = k.save(ctx, scope, g, rev, before); !errors.Is(err, approver.ErrConflict) {
			return g, err
		}
	}
}

func (k *Grants) save(ctx context.Context, scope string, g lastingGrant, rev approver.Rev, before time.Time) error {
	request, err := EncodeRequest(k.requests.sealer, g.Request)
	if err != nil {
		return err
	}
	value, err := json.Marshal(storedGrant{g, request})
	if err != nil {
		return err
	}
	due := g.Until
	if g.Ended != "" {
		due = time.Time{}
	}
	return k.records.putBefore(ctx, before, approver.Key("grant", scope), value, rev, approver.NewRev(), due,
		g.Until.Add(k.KeepFor))
}
