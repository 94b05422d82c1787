package broadcaster

import (
	"cmp"
	"fmt"

	"approver.example"
	"approver.example/display"
)

// deciderLine says who decided, where, and after how long.
func deciderLine(r Request, res approver.Resolution) string {
	return fmt.Sprintf("%s via %s · %s", display.Safe(cmp.Or(res.Person.Name, res.Person.ID)),
		display.Platform(res.Identity.Channel), display.Duration(res.At.Sub(r.Created)))
}

// resultLine says in one line who decided, where, and after how long.
func resultLine(r Request, res approver.Resolution) string {
	took, who := display.Duration(res.At.Sub(r.Created)), deciderLine(r, res)
	switch {
	case res.Approve && commonFate(r) == NotRun:
		return "↩ Approved by " + who + chosenText(r) + fateTexts[NotRun].card
	case res.Approve && fateTexts[commonFate(r)].card != "":
		return "↩ Approved by " + who + fateTexts[commonFate(r)].card
	case res.Approve && refusedAgain(r):
		return "↩ Approved by " + who + " · not given again to the agent that came back for it: " + r.Withheld.Sentence()
	case res.Approve && len(r.Also) > 0:
		if got, all := r.released(r.Also); got < all {
			return fmt.Sprintf("✅ Approved by %s · %d of %d identical calls released, once each", who, got, all)
		}
		return fmt.Sprintf("✅ Approved by %s · %d identical calls, once each", who, 1+len(r.Also))
	case res.Approve && res.Choice > 0:
		return "✅ Approved by " + who + chosenText(r)
	case res.Approve && mayLast(r):
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
	case res.Cause == approver.AtDesk:
		return "↩ Answered at the desk · approver released nothing · " + res.Cause.Sentence()
	case res.Cause == approver.AgentGone && r.State == approver.Withdrawn && r.Call.AboutApprover():
		return "↩ Withdrawn · approver changed nothing · whoever asked stopped waiting"
	case res.Cause == approver.AgentGone:
		line := "↩ Withdrawn · approver released nothing · the agent stopped waiting"
		if r.Verdict.Prompt {
			line += ", or was answered at the desk"
		}
		if r.State == approver.Expired {
			line = "⌛ Expired · approver released nothing · the agent did not take the answer in time"
		}
		if res.Person.ID != "" {
			line += " (answered by " + who + ")"
		}
		return line
	case res.Cause == approver.Unreleased:
		return "⌛ Expired · approver released nothing · approved by " + who + ", but " + res.Cause.Sentence()
	case r.withheldFromAll(r.Also):
		return "⛔ Blocked · approved by " + who + ", but not given to the agent: " + res.Cause.Sentence()
	}
	return "⛔ Blocked · " + res.Cause.Sentence()
}

// endLine is resultLine of a request that has ended.
func endLine(r Request) string {
	res, _ := r.Told()
	return resultLine(r, res)
}

// outcomeText says of a yes what became of it to the person whose yes it was.
func outcomeText(r Request) string {
	if text := fateTexts[commonFate(r)].winner; text != "" {
		return text
	}
	return "Approved: " + releasedText(r) + "."
}

// chosenText says what the agent was told to remember with a yes; empty if nothing.
func chosenText(r Request) string {
	if r.Resolution.Choice == 0 {
		return ""
	}
	choice, _ := r.Verdict.Chosen(r.Resolution.Choice)
	return ", and: " + display.Safe(choice.Detail)
}

// releasedText says what a yes released, or still may release.
func releasedText(r Request) string {
	got, all := r.released(r.Also)
	switch {
	case r.Resolution.Choice > 0:
		return "released to the agent" + chosenText(r)
	case all == 1:
		return "released to the agent, this once"
	case got < all:
		return fmt.Sprintf("%d of %d identical calls released to the agent, once each", got, all)
	}
	return fmt.Sprintf("%d identical calls released to the agent, once each", all)
}

// grantedText is what people are told of a yes that waits for its call.
func grantedText(r Request) string {
	return "Recorded: the agent was told to come back, and may now run this call once, until " +
		r.TakeBy.UTC().Format("15:04:05 UTC") + "."
}

// fateTexts tell people what became of a released call. Empty means that there is nothing to
// tell: nothing was reported, or the call ran.
var fateTexts = [...]struct {
	card   string // after who approved it
	winner string // to the person who said yes
	late   string // to somebody who answered too late
}{
	NoFate: {late: "and it has been released."},
	DidRun: {late: "and it has been released."},
	Untaken: {
		card:   " · nobody took the answer: the agent was gone, and most likely nothing ran",
		winner: "Approved, but nobody took the answer: the agent was gone, and most likely nothing ran.",
		late:   "but nobody took the answer: the agent was gone, and most likely nothing ran.",
	},
	NotRun: {
		card: " · the agent reported no run of it: most likely its own rules or mode refused it",
		winner: "Approved and released to the agent, which reported no run of it: most likely its own rules or mode " +
			"refused it.",
		late: "and the agent reported no run of it.",
	},
}
