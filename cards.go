package approver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"approver.example/tokens"
)

// obscuredNotice is on the card of a call of which the mask hides something that
// may say what runs, or where.
const obscuredNotice = "HIDDEN: a part that may decide what runs, or where, looks like a secret and is not shown. Only the typed code approves, once"

// card is what people see of a request at one destination.
func (v *Cards) card(r Request, code tokens.Code) Card {
	shown, _ := maskCall(r.Call)
	obscured := r.obscured()
	c := Card{
		Request: r.ID, State: r.State, Severity: r.Verdict.Severity,
		OneTap:  r.Verdict.Severity == High && !obscured,
		Command: squeeze(Visible(shown)),
		Why:     safe(whyLine(r.Verdict)),
		Rule:    ruleLine(r.Verdict),
		Claimed: safe(claimed(r)), Agent: agentLine(r.Call), Session: safe(shortID(r.Call.Session)),
		Dir: safe(r.Call.Dir), Environment: strings.Join(r.Call.Environment, " · "), Host: v.host, Notice: v.notice,
		Code: code, Created: r.Created, Due: r.Due,
	}
	if !r.Fingerprint.Bound() {
		c.Notice = strings.TrimSpace(r.unboundNotice() + ". " + c.Notice)
	}
	if r.Notice != "" {
		c.Notice = strings.TrimSpace(r.Notice + ". " + c.Notice)
	}
	if obscured {
		c.Notice = strings.TrimSpace(obscuredNotice + ". " + c.Notice)
	}
	c.Push = PushLine(r.Verdict.Severity, r.Call.pushText(shown)...)
	if res, ok := r.Told(); ok {
		c.OneTap, c.Code, c.Result = false, tokens.Code{}, r.resultLine(res)
		if r.fate().resultLine("") != "" || r.gaveNothing() || r.refusedAgain() {
			c.State = Withdrawn // of a yes that came to nothing nobody may read that it stands
		}
	} else if r.Granted() {
		c.State, c.OneTap, c.Code = Consumed, false, tokens.Code{} // it takes no more answers
		c.Result = "✅ Yes by " + r.decider(r.Resolution) + " · waits for the agent, which may run it once until " + r.TakeBy.UTC().Format("15:04:05 UTC")
	} else {
		c.State = Pending // an approval that is not released is nobody's to know
		if !r.ParkAt.IsZero() && r.ParkAt.Before(r.Due) {
			c.Notice = strings.TrimSpace(r.parkedNotice() + " " + c.Notice)
		}
		if len(r.Verdict.Approvers) > 0 {
			c.Notice = strings.TrimSpace("Only for " + safe(v.approvers.names(r.Verdict.Approvers)) + ": others can deny it. " + c.Notice)
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
func agentLine(call ToolCall) string {
	if !call.Peer.Known {
		return safe(call.Agent)
	}
	uid := strconv.FormatUint(uint64(call.Peer.UID), 10)
	who := "uid " + uid
	if u, err := user.LookupId(uid); err == nil {
		name, _ := Cut(safe(u.Username), maxUserName)
		who = name + " (" + who + ")"
	}
	return safe(call.Agent) + " of " + who
}

// maxUserName bounds, in bytes, a user's name on a card: longer ones are no user's.
const maxUserName = 64

func safe(s string) string { return Visible(Mask(s)) }

// safeLine is safe for a text that must not begin a line of its own.
func safeLine(s string) string { return OneLine(Mask(s)) }

// gaps finds white space so long that it could push what follows it out of sight.
var gaps = regexp.MustCompile(`(?:[ \t]*\n){5,}|[ \t]{41,}`)

// squeeze says how long such a gap is in its place.
func squeeze(s string) string {
	return gaps.ReplaceAllStringFunc(s, func(gap string) string {
		if lines := strings.Count(gap, "\n"); lines > 0 {
			return fmt.Sprintf("\n⟨%d blank lines⟩\n", lines-1)
		}
		return fmt.Sprintf(" ⟨%d spaces⟩ ", len(gap))
	})
}

// claimed is what the agent says of the call, and of its appeal.
func claimed(r Request) string {
	if r.Verdict.Appeal.Claimed == "" {
		return r.Call.Claimed
	}
	return strings.TrimSpace("appeal: " + r.Verdict.Appeal.Claimed + "\n" + r.Call.Claimed)
}

// whyLine says why people are asked, and how hard the call is to take back.
func whyLine(v Verdict) string {
	why := firstOf(v.Detail, v.Reason, "a rule asks for a person")
	if loss := v.Irreversible.String(); loss != "" {
		why += "; " + loss
	}
	return why
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// ruleLine names stage, rule and place. A card has no room for a whole path;
// the audit has it.
func ruleLine(v Verdict) string {
	parts := []string{safe(v.By)}
	if v.Rule != "" {
		parts = append(parts, safe(v.Rule))
	}
	if v.Where.File != "" {
		at := v.Where
		at.File = filepath.Base(at.File)
		parts = append(parts, safe(at.String()))
	}
	tier := fmt.Sprintf("tier %d", v.Tier)
	if v.Confidence > 0 {
		tier += fmt.Sprintf(", confidence %.2f", v.Confidence)
	}
	return strings.Join(append(parts, tier), " · ")
}

// Text is the whole call for people: the command, or the tool with its
// arguments. Arguments beside a command (a time-out, a flag to run in the
// background) are shown too, because they run too. An argument is left out only
// if it is sure to stand elsewhere on the card: the command itself, and what a
// shell tool of Claude Code is told for its user to read, which is Claimed. What
// "command" and "description" mean to any other tool is not known here. Every
// tool but the agent's own shell is named: the same words run elsewhere there.
func (c ToolCall) Text() string {
	name, command, options := c.texts()
	return name + command + options
}

// texts are the pieces of Text: the tool's name, the command or the arguments, and the
// arguments beside a command. A secret is known by the words around it, and only those
// of the same piece are.
func (c ToolCall) texts() (name, command, options string) {
	if c.own() {
		return "", c.ownText(), ""
	}
	if c.Command == "" {
		var pretty bytes.Buffer
		switch {
		case len(c.Args) == 0:
			return c.Tool, "", ""
		case json.Indent(&pretty, c.Args, "", "  ") != nil:
			return c.Tool + " ", string(c.Args), ""
		}
		return c.Tool + " ", unescapeHTML(pretty.String()), ""
	}
	if c.Agent != "claude" || c.Tool != "Bash" {
		name = c.Tool + ": "
	}
	elsewhere := map[string]string{"command": c.Command}
	if c.hasClaim() {
		elsewhere["description"] = c.Claimed
	}
	args := map[string]json.RawMessage{}
	options = string(c.Args)
	if json.Unmarshal(c.Args, &args) == nil {
		all := len(args)
		for key, shown := range elsewhere {
			var value string
			if raw := args[key]; len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &value) == nil && value == shown {
				delete(args, key)
			}
		}
		var rest bytes.Buffer
		enc := json.NewEncoder(&rest)
		enc.SetEscapeHTML(false)
		if len(args) < all && enc.Encode(args) == nil {
			options = strings.TrimSpace(rest.String())
		}
	}
	if options == "" || options == "{}" {
		return name, c.Command, ""
	}
	return name, c.Command, "\n\n" + c.Tool + " options: " + options
}

// unescapeHTML undoes the escapes that JSON encoders put in for browsers, which
// a person need not read.
func unescapeHTML(s string) string {
	return strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(s)
}

// decider is who decided, where, and after how long.
func (r Request) decider(res Resolution) string {
	return fmt.Sprintf("%s via %s · %s", safe(firstOf(res.Person.Name, res.Person.ID)), platform(res.Identity.Channel), shortDuration(res.At.Sub(r.Created)))
}

// resultLine says in one line who decided, where, and after how long.
func (r Request) resultLine(res Resolution) string {
	took, who := shortDuration(res.At.Sub(r.Created)), r.decider(res)
	switch {
	case res.Approve && r.fate().resultLine(who) != "":
		return r.fate().resultLine(who)
	case res.Approve && r.refusedAgain():
		return "↩ Approved by " + who + " · not given again to the agent that came back for it: " + r.Withheld.sentence()
	case res.Approve && len(r.Also) > 0:
		if got, all := r.released(); got < all {
			return fmt.Sprintf("✅ Approved by %s · %d of %d identical calls released, once each", who, got, all)
		}
		return fmt.Sprintf("✅ Approved by %s · %d identical calls, once each", who, 1+len(r.Also))
	case res.Approve && r.mayLast():
		return "✅ Approved for " + res.Grant.span() + " by " + who
	case res.Approve:
		return "✅ Approved once by " + who
	case res.Cause == ByPerson:
		return "⛔ Denied by " + who
	case res.Cause == TimedOut:
		return "⌛ Expired · blocked · nobody answered in " + took
	case res.Cause == NotShown:
		return "↩ Withdrawn · approver released nothing · " + res.Cause.sentence()
	case res.Cause == Outdated:
		return "↩ Withdrawn · approver changed nothing · " + res.Cause.sentence() + ", so this question is over"
	case res.Cause == AgentGone && r.State == Withdrawn && r.Call.own():
		return "↩ Withdrawn · approver changed nothing · whoever asked stopped waiting"
	case res.Cause == AgentGone:
		line := "↩ Withdrawn · approver released nothing · the agent stopped waiting"
		if r.State == Expired {
			line = "⌛ Expired · approver released nothing · the agent did not take the answer in time"
		}
		if res.Person.ID != "" {
			line += " (answered by " + who + ")"
		}
		return line
	case res.Cause == Unreleased:
		return "⌛ Expired · approver released nothing · approved by " + who + ", but " + res.Cause.sentence()
	case r.gaveNothing():
		return "⛔ Blocked · approved by " + who + ", but not given to the agent: " + res.Cause.sentence()
	}
	return "⛔ Blocked · " + res.Cause.sentence()
}

// sentence explains a cause that is no person's.
func (c Cause) sentence() string {
	switch c {
	case TimedOut:
		return "nobody answered in time"
	case AgentGone:
		return "the agent stopped waiting"
	case NotShown:
		return "the call on the answered card had ended, and the calls that wait are asked about anew"
	case Unreachable:
		return "no approval channel could be reached"
	case Unrecorded:
		return "the decision could not be recorded in the audit"
	case CallChanged:
		return "what would run is no longer what was shown"
	case StoreTrouble:
		return "the store had a problem"
	case Frozen:
		return "everything was frozen"
	case Held:
		return "every call of this agent was frozen"
	case Unreleased:
		return "approver could not release the call before its deadline"
	case Revoked:
		return "the approval was revoked"
	case Moot:
		return "a freeze began or ended while people were asked, so the question is over: ask anew"
	case Outdated:
		return ErrOutdated.Error()
	default:
		return "no valid decision was made"
	}
}

// platform is how people write the name of a channel.
func platform(channel string) string {
	if channel == "" {
		return "an unknown channel"
	}
	return strings.ToUpper(channel[:1]) + channel[1:]
}

// shortID is the part of an agent's session id that is enough to tell sessions
// apart on a card; the audit has the whole.
func shortID(id string) string {
	if uuid.Validate(id) == nil {
		return id[:8]
	}
	return id
}

// shortDuration writes a time for people: "45 s", "1 min 30 s", "2 h 5 min".
func shortDuration(d time.Duration) string {
	d = max(d, 0).Truncate(time.Second)
	big, small := d/time.Hour, d%time.Hour/time.Minute
	units := [2]string{"h", "min"}
	if d < time.Hour {
		big, small, units = d/time.Minute, d%time.Minute/time.Second, [2]string{"min", "s"}
	}
	switch {
	case big == 0:
		return fmt.Sprintf("%d s", small)
	case small == 0:
		return fmt.Sprintf("%d %s", big, units[0])
	}
	return fmt.Sprintf("%d %s %d %s", big, units[0], small, units[1])
}

// ByPeople is Verdict.By of what people decided.
const ByPeople = "people"

// verdict is the answer to a courier. runs is what [releases.runs] says of it.
func (l *releases) verdict(r Request, runs bool) Verdict {
	v := r.Verdict
	v.Chain, v.alone = nil, false // the question's: this is the answer
	res, settled := r.Told()
	took := shortDuration(res.At.Sub(r.Created))
	who := firstOf(res.Person.Name, res.Person.ID)
	v.By = ByPeople
	if settled && res.Approve && runs {
		v.Decision = Allow
		v.Reason = fmt.Sprintf("approved by %s via %s after %s", who, platform(res.Identity.Channel), took)
		v.Detail, v.yes = v.Reason, r.yes()
		return v
	}
	switch {
	case !settled:
		reason := fmt.Sprintf("Waiting for approval (request %s): run the same call again later, until %s", r.ID, r.TakeBy.UTC().Format("15:04 UTC"))
		return denied(v, reason, reason)
	case res.Approve:
		reason := "another call with the same content has used this approval; run it again to ask anew"
		return denied(v, reason, reason)
	}
	reason := res.Cause.sentence()
	switch res.Cause {
	case ByPerson:
		reason = fmt.Sprintf("denied by %s via %s. Do not try it again or work around it: ask the user how to go on", who, platform(res.Identity.Channel))
	case TimedOut:
		reason = fmt.Sprintf("nobody answered within %s, so the call was blocked. It may be tried again when somebody is there to approve it",
			shortDuration(r.Due.Sub(r.Created)))
	case Unreachable:
		reason = "no approval channel could be reached, so the call was blocked" + l.channels.unreached(r)
	default: // the sentence says it
	}
	return denied(v, reason, reason)
}

// record is the audit record of what became of a request.
func (r Request) record(e Event) Record {
	if r.N > 0 { // an identical call took the place of the first
		r.Call.ID = r.CallID
	}
	rec := Record{
		Event: e, At: r.Resolution.At, Request: r.ID, Once: r.ID + ":" + string(e), Fingerprint: r.Fingerprint,
		Call: r.Call, Verdict: r.Verdict, Resolution: r.Resolution, Took: r.Resolution.At.Sub(r.Created),
	}
	if e == EventDenied && r.Withheld != NoCause {
		rec.At, rec.Resolution.Approve, rec.Resolution.Cause = r.Acked, false, r.Withheld
		rec.Note = "it was approved, and not given to the agent"
	}
	return rec
}

// lastEvent is the event that ends a request's life.
func (r Request) lastEvent() Event {
	switch r.State {
	case Consumed:
		if r.Withheld != NoCause && r.Repeats == 0 {
			return EventDenied
		}
		return EventReleased
	case Expired:
		return EventExpired
	case Withdrawn:
		return EventWithdrawn
	default:
		return EventDenied
	}
}
