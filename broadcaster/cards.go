package broadcaster

import (
	"cmp"
	"fmt"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"approver.example"
	"approver.example/display"
	"approver.example/tokens"
)

// obscuredNotice is on the card of a call if a part that may decide what runs, or where, is
// masked.
const obscuredNotice = "HIDDEN: a part that may decide what runs, or where, looks like a secret and is not shown. " +
	"Only the typed code approves, once"

// Cards draws requests for people.
type Cards struct {
	*Options
	approvers *Approvers
}

// Of is a request as people see it, without a code.
func (v *Cards) Of(r Request) approver.Card { return v.card(r, tokens.Code{}) }

// Shown is Of for somebody who may answer: it also says how many calls wait, and what a yes
// does. The number belongs into their answer: see [approver.Reply].
func (v *Cards) Shown(r Request) (approver.Card, int) {
	c := v.Of(r)
	if !r.State.Settled() && !r.Parked {
		c.Notice = strings.TrimSpace(callersNotice(r, Posting{}) + " " + c.Notice)
	}
	return c, r.Joined
}

// card is what people see of a request at one destination.
func (v *Cards) card(r Request, code tokens.Code) approver.Card {
	shown, _ := r.Call.Display().Shown()
	obscured := obscured(r.Call)
	c := approver.Card{
		Request: r.ID, State: r.State, Severity: r.Verdict.Severity,
		OneTap:  r.Verdict.Severity == approver.High && !obscured,
		Command: display.Squeeze(display.Visible(shown)),
		Why:     display.Safe(whyLine(r.Verdict)),
		Rule:    ruleLine(r.Verdict),
		Claimed: display.Safe(claimed(r)), Agent: agentLine(r.Call), Session: display.Safe(display.ShortID(r.Call.Session)),
		Dir: display.Safe(r.Call.Dir), Environment: strings.Join(r.Call.Environment, " · "), Host: v.Host, Notice: v.Notice,
		Code: code, Created: r.Created, Due: r.Due,
	}
	if c.OneTap {
		c.Choices = visibleChoices(r.Verdict.Choices)
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
		c.OneTap, c.Choices, c.Code, c.Result = false, nil, tokens.Code{}, resultLine(r, res)
		if fateTexts[commonFate(r)].card != "" || r.withheldFromAll(r.Also) || refusedAgain(r) {
			c.State = approver.Withdrawn // nobody may read that the yes counts
		}
	} else if r.Granted() {
		c.State, c.OneTap, c.Choices, c.Code = approver.Consumed, false, nil, tokens.Code{} // it takes no more answers
		c.Result = "✅ Yes by " + deciderLine(r, r.Resolution) + " · waits for the agent, which may run it once until " +
			r.TakeBy.UTC().Format("15:04:05 UTC")
	} else {
		c.State = approver.Pending // an approval that is not released is nobody's to know
		if !r.ParkAt.IsZero() && r.ParkAt.Before(r.Due) {
			c.Notice = strings.TrimSpace(parkedNotice(r) + " " + c.Notice)
		}
		if len(r.Verdict.Approvers) > 0 {
			c.Notice = strings.TrimSpace("Only for " + display.Safe(v.approvers.namesOf(r.Verdict.Approvers)) +
				": others can deny it. " + c.Notice)
		}
	}
	return c
}

// visibleChoices are the choices for a card. Their texts come from the agent in part, and one that
// does not show as it is would be something else than what is added: then none is offered.
func visibleChoices(all []approver.Choice) []approver.Choice {
	for _, c := range all {
		if display.Safe(c.Label) != c.Label || display.Safe(c.Detail) != c.Detail || c.Label == "" || c.Detail == "" ||
			len(c.Label) > approver.MaxChoiceLabel || len(c.Detail) > approver.MaxChoiceDetail {
			return nil
		}
	}
	return slices.Clone(all[:min(len(all), approver.MaxChoices)])
}

// replaced is what a card shows after a newer one replaced it.
func (v *Cards) replaced(r Request) approver.Card {
	card := v.card(r, tokens.Code{})
	if !r.State.Settled() {
		card.State, card.OneTap, card.Choices = approver.Withdrawn, false, nil
		card.Result = "↩ Replaced by a newer card"
	}
	return card
}

// parkedNotice says what a parked request waits for. A card is posted before its request is
// parked, and cannot be edited then, because its code is in no record. So it tells of both
// times.
func parkedNotice(r Request) string {
	const clock = "15:04:05 UTC"
	lead := "After " + r.ParkAt.UTC().Format(clock) + " the agent is told to come back later"
	if r.Parked {
		lead = "The agent was told to come back later"
	}
	return lead + "; your yes waits for it until " + r.Due.Add(GrantMargin).UTC().Format(clock) + "."
}

// agentLine names the agent and the user of this machine that it runs as.
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

// maxUserName bounds the name of a user on a card, in bytes.
const maxUserName = 64

// claimed is what the agent says about the call and about its appeal.
func claimed(r Request) string {
	if r.Verdict.Appeal.Claimed == "" {
		return r.Call.Claimed
	}
	return strings.TrimSpace("appeal: " + r.Verdict.Appeal.Claimed + "\n" + r.Call.Claimed)
}

// whyLine says why people are asked, and how hard the call is to undo.
func whyLine(v approver.Verdict) string {
	why := cmp.Or(v.Detail, v.Reason, "a rule asks for a person")
	if loss := v.Irreversible.String(); loss != "" {
		why += "; " + loss
	}
	return why
}

// ruleLine names the stage, the rule and its place. A card has no room for a whole path; the
// audit has it.
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

// Bounds of a card that is edited while it waits, in bytes. With the notice, a larger one
// may not fit any more on every platform, and would show less than before.
const (
	maxEditedCard   = 1500
	maxEditedNotice = 140
)

// withCallers adds the number of identical calls to the card of a posting. It returns false if
// the card might then be too large.
func withCallers(c approver.Card, r Request, p Posting) (approver.Card, bool) {
	c.Notice = strings.TrimSpace(callersNotice(r, p) + " " + c.Notice)
	switch {
	case p.double():
	case p.Late:
		c.Upto = p.Upto
	default:
		c.Upto = r.Joined
	}
	size := 0
	for _, text := range []string{c.Command, c.Why, c.Rule, c.Claimed, c.Agent, c.Session, c.Dir, c.Environment, c.Host} {
		size += len(text)
	}
	return c, size <= maxEditedCard && len(c.Notice) <= maxEditedNotice
}

// callersNotice says on a card how many identical calls wait, and how many of them a yes from
// this card runs. A card that must not show further calls is for those that it showed: see
// Posting.Late.
func callersNotice(r Request, p Posting) string {
	all := r.callers()
	n, runs, shared := len(all), 1, mayShare(r.Verdict, r.Fingerprint, r.Call) && !p.double()
	switch {
	case shared && p.Late:
		runs = len(slices.DeleteFunc(all, func(c Caller) bool { return c.N > p.Upto }))
	case shared:
		runs = n
	case r.N > 0 && p.double():
		runs = 0
	}
	switch {
	case runs == 0:
		return fmt.Sprintf("The call of this card has ended: a yes runs nothing, waiting calls (%d) are asked again.", n)
	case n == 1 && r.Joined == 0:
		return ""
	case n == 1:
		return "One call waits."
	case runs == n:
		return fmt.Sprintf("%d identical calls wait: a yes runs each of them once.", n)
	case runs == 1:
		return fmt.Sprintf("%d identical calls wait: a yes runs one, the others are asked again.", n)
	}
	return fmt.Sprintf("%d identical calls wait: a yes runs %d of them once, the others are asked again.", n, runs)
}
