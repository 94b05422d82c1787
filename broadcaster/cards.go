package broadcaster

import (
	"cmp"
	"fmt"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"approver.example"
	"approver.example/display"
	"approver.example/tokens"
)

// obscuredNotice is on the card of a call of which the mask hides something that
// may say what runs, or where.
const obscuredNotice = "HIDDEN: a part that may decide what runs, or where, looks like a secret and is not shown. Only the typed code approves, once"

// Cards draws requests for people.
type Cards struct {
	approvers *Approvers
	host      string
	notice    string
}

// card is what people see of a request at one destination.
func (v *Cards) card(r Request, code tokens.Code) approver.Card {
	shown, _ := r.Call.Display().Shown()
	obscured := r.obscured()
	c := approver.Card{
		Request: r.ID, State: r.State, Severity: r.Verdict.Severity,
		OneTap:  r.Verdict.Severity == approver.High && !obscured,
		Command: display.Squeeze(display.Visible(shown)),
		Why:     display.Safe(whyLine(r.Verdict)),
		Rule:    ruleLine(r.Verdict),
		Claimed: display.Safe(claimed(r)), Agent: agentLine(r.Call), Session: display.Safe(display.ShortID(r.Call.Session)),
		Dir: display.Safe(r.Call.Dir), Environment: strings.Join(r.Call.Environment, " · "), Host: v.host, Notice: v.notice,
		Code: code, Created: r.Created, Due: r.Due,
	}
	if !r.Fingerprint.Bound() {
		c.Notice = strings.TrimSpace(display.UnboundNotice(r.Unbound) + ". " + c.Notice)
	}
	if r.Notice != "" {
		c.Notice = strings.TrimSpace(r.Notice + ". " + c.Notice)
	}
	if obscured {
		c.Notice = strings.TrimSpace(obscuredNotice + ". " + c.Notice)
	}
	c.Push = display.PushLine(r.Verdict.Severity.String(), r.Call.Display().PushParts(shown)...)
	if res, ok := r.Told(); ok {
		c.OneTap, c.Code, c.Result = false, tokens.Code{}, r.resultLine(res)
		if r.fate().resultLine("") != "" || r.gaveNothing() || r.refusedAgain() {
			c.State = approver.Withdrawn // of a yes that came to nothing nobody may read that it stands
		}
	} else if r.Granted() {
		c.State, c.OneTap, c.Code = approver.Consumed, false, tokens.Code{} // it takes no more answers
		c.Result = "✅ Yes by " + r.decider(r.Resolution) + " · waits for the agent, which may run it once until " + r.TakeBy.UTC().Format("15:04:05 UTC")
	} else {
		c.State = approver.Pending // an approval that is not released is nobody's to know
		if !r.ParkAt.IsZero() && r.ParkAt.Before(r.Due) {
			c.Notice = strings.TrimSpace(r.parkedNotice() + " " + c.Notice)
		}
		if len(r.Verdict.Approvers) > 0 {
			c.Notice = strings.TrimSpace("Only for " + display.Safe(v.approvers.names(r.Verdict.Approvers)) + ": others can deny it. " + c.Notice)
		}
	}
	return c
}

// parkedNotice says what a parked request waits for. A card keeps its code in no
// record, so it cannot be written anew when the time has come: it says both.
func (r Request) parkedNotice() string {
	const clock = "15:04:05 UTC"
	lead := "After " + r.ParkAt.UTC().Format(clock) + " the agent is told to come back later"
	if r.Parked {
		lead = "The agent was told to come back later"
	}
	return lead + "; your yes waits for it until " + r.Due.Add(GrantMargin).UTC().Format(clock) + "."
}

// agentLine names the agent, and the user of this machine that it runs as.
func agentLine(call approver.ToolCall) string {
	if !call.Peer.Known {
		return display.Safe(call.Agent)
	}
	uid := strconv.FormatUint(uint64(call.Peer.UID), 10)
	who := "uid " + uid
	if u, err := user.LookupId(uid); err == nil {
		name, _ := display.Cut(display.Safe(u.Username), maxUserName)
		who = name + " (" + who + ")"
	}
	return display.Safe(call.Agent) + " of " + who
}

// maxUserName bounds, in bytes, a user's name on a card: longer ones are no user's.
const maxUserName = 64

// claimed is what the agent says of the call, and of its appeal.
func claimed(r Request) string {
	if r.Verdict.Appeal.Claimed == "" {
		return r.Call.Claimed
	}
	return strings.TrimSpace("appeal: " + r.Verdict.Appeal.Claimed + "\n" + r.Call.Claimed)
}

// whyLine says why people are asked, and how hard the call is to take back.
func whyLine(v approver.Verdict) string {
	why := cmp.Or(v.Detail, v.Reason, "a rule asks for a person")
	if loss := v.Irreversible.String(); loss != "" {
		why += "; " + loss
	}
	return why
}

// ruleLine names stage, rule and place. A card has no room for a whole path;
// the audit has it.
func ruleLine(v approver.Verdict) string {
	parts := []string{display.Safe(v.By)}
	if v.Rule != "" {
		parts = append(parts, display.Safe(v.Rule))
	}
	if v.Where.File != "" {
		at := v.Where
		at.File = filepath.Base(at.File)
		parts = append(parts, display.Safe(at.String()))
	}
	tier := fmt.Sprintf("tier %d", v.Tier)
	if v.Confidence > 0 {
		tier += fmt.Sprintf(", confidence %.2f", v.Confidence)
	}
	return strings.Join(append(parts, tier), " · ")
}

// decider is who decided, where, and after how long.
func (r Request) decider(res approver.Resolution) string {
	return fmt.Sprintf("%s via %s · %s", display.Safe(cmp.Or(res.Person.Name, res.Person.ID)), display.Platform(res.Identity.Channel), display.Duration(res.At.Sub(r.Created)))
}

// resultLine says in one line who decided, where, and after how long.
func (r Request) resultLine(res approver.Resolution) string {
	took, who := display.Duration(res.At.Sub(r.Created)), r.decider(res)
	switch {
	case res.Approve && r.fate().resultLine(who) != "":
		return r.fate().resultLine(who)
	case res.Approve && r.refusedAgain():
		return "↩ Approved by " + who + " · not given again to the agent that came back for it: " + r.Withheld.Sentence()
	case res.Approve && len(r.Also) > 0:
		if got, all := r.released(); got < all {
			return fmt.Sprintf("✅ Approved by %s · %d of %d identical calls released, once each", who, got, all)
		}
		return fmt.Sprintf("✅ Approved by %s · %d identical calls, once each", who, 1+len(r.Also))
	case res.Approve && r.mayLast():
		return "✅ Approved for " + res.Grant.Span() + " by " + who
	case res.Approve:
		return "✅ Approved once by " + who
	case res.Cause == approver.ByPerson:
		return "⛔ Denied by " + who
	case res.Cause == approver.TimedOut:
		return "⌛ Expired · blocked · nobody answered in " + took
	case res.Cause == approver.NotShown:
		return "↩ Withdrawn · approver released nothing · " + res.Cause.Sentence()
	case res.Cause == approver.Outdated:
		return "↩ Withdrawn · approver changed nothing · " + res.Cause.Sentence() + ", so this question is over"
	case res.Cause == approver.AgentGone && r.State == approver.Withdrawn && r.Call.AboutApprover():
		return "↩ Withdrawn · approver changed nothing · whoever asked stopped waiting"
	case res.Cause == approver.AgentGone:
		line := "↩ Withdrawn · approver released nothing · the agent stopped waiting"
		if r.State == approver.Expired {
			line = "⌛ Expired · approver released nothing · the agent did not take the answer in time"
		}
		if res.Person.ID != "" {
			line += " (answered by " + who + ")"
		}
		return line
	case res.Cause == approver.Unreleased:
		return "⌛ Expired · approver released nothing · approved by " + who + ", but " + res.Cause.Sentence()
	case r.gaveNothing():
		return "⛔ Blocked · approved by " + who + ", but not given to the agent: " + res.Cause.Sentence()
	}
	return "⛔ Blocked · " + res.Cause.Sentence()
}

// verdict is the answer to a courier. runs is what [releases.runs] says of it.
func (l *releases) verdict(r Request, runs bool) approver.Verdict {
	v := r.Verdict
	v.Chain, v.Unasked = nil, false // the question's: this is the answer
	res, settled := r.Told()
	took := display.Duration(res.At.Sub(r.Created))
	who := cmp.Or(res.Person.Name, res.Person.ID)
	v.By = approver.ByPeople
	if settled && res.Approve && runs {
		v.Decision = approver.Allow
		v.Reason = fmt.Sprintf("approved by %s via %s after %s", who, display.Platform(res.Identity.Channel), took)
		v.Detail, v.Approval = v.Reason, r.yes()
		return v
	}
	switch {
	case !settled:
		reason := fmt.Sprintf("Waiting for approval (request %s): run the same call again later, until %s", r.ID, r.TakeBy.UTC().Format("15:04 UTC"))
		return v.Blocked(reason, reason)
	case res.Approve:
		reason := "another call with the same content has used this approval; run it again to ask anew"
		return v.Blocked(reason, reason)
	}
	reason := res.Cause.Sentence()
	switch res.Cause {
	case approver.ByPerson:
		reason = fmt.Sprintf("denied by %s via %s. Do not try it again or work around it: ask the user how to go on", who, display.Platform(res.Identity.Channel))
	case approver.TimedOut:
		reason = fmt.Sprintf("nobody answered within %s, so the call was blocked. It may be tried again when somebody is there to approve it",
			display.Duration(r.Due.Sub(r.Created)))
	case approver.Unreachable:
		reason = "no approval channel could be reached, so the call was blocked" + l.channels.unreached(r)
	default: // the sentence says it
	}
	return v.Blocked(reason, reason)
}

// record is the audit record of what became of a request.
func (r Request) record(e approver.Event) approver.Record {
	if r.N > 0 { // an identical call took the place of the first
		r.Call.ID = r.CallID
	}
	rec := approver.Record{
		Event: e, At: r.Resolution.At, Request: r.ID, Once: r.ID + ":" + string(e), Fingerprint: r.Fingerprint,
		Call: r.Call, Verdict: r.Verdict, Resolution: r.Resolution, Took: r.Resolution.At.Sub(r.Created),
	}
	if e == approver.EventDenied && r.Withheld != approver.NoCause {
		rec.At, rec.Resolution.Approve, rec.Resolution.Cause = r.Acked, false, r.Withheld
		rec.Note = "it was approved, and not given to the agent"
	}
	return rec
}

// lastEvent is the event that ends a request's life.
func (r Request) lastEvent() approver.Event {
	switch r.State {
	case approver.Consumed:
		if r.Withheld != approver.NoCause && r.Repeats == 0 {
			return approver.EventDenied
		}
		return approver.EventReleased
	case approver.Expired:
		return approver.EventExpired
	case approver.Withdrawn:
		return approver.EventWithdrawn
	default:
		return approver.EventDenied
	}
}

// obscured reports that the card of a request hides something that may say what
// runs, or where. It takes the typed code, once.
func (r Request) obscured() bool {
	_, hidden := r.Call.Display().Shown()
	return hidden || display.HidesEnvironment(r.Call.Environment)
}
