package broadcaster

import (
	"cmp"

	"approver.example"
	"approver.example/display"
)

// deciderOf says who decided, where, and after how long.
func deciderOf(r Request, res approver.Resolution) display.Message {
	return display.Msg("%s via %s · %s", cmp.Or(res.Person.Name, res.Person.ID), display.Platform(res.Identity.Channel),
		display.Duration(res.At.Sub(r.Created)))
}

// resultOf says in one line who decided, where, and after how long.
func resultOf(r Request, res approver.Resolution) display.Message {
	switch {
	case res.Approve:
		return approvedResult(r, res)
	case res.Cause == approver.ByPerson:
		return deniedResult(r, res)
	case res.Cause == approver.TimedOut:
		return display.Msg("⌛ Expired · blocked · nobody answered in %s", display.Duration(res.At.Sub(r.Created)))
	case res.Cause == approver.NotShown:
		return display.Msg("↩ Withdrawn · approver released nothing · %s", sentence(res.Cause))
	case res.Cause == approver.Outdated:
		return display.Msg("↩ Withdrawn · approver changed nothing · %s, so this question is over", sentence(res.Cause))
	case res.Cause == approver.AtDesk:
		return display.Msg("↩ Answered at the desk · approver released nothing · %s", sentence(res.Cause))
	case res.Cause == approver.AgentGone:
		return goneResult(r, res)
	case res.Cause == approver.Unreleased:
		return display.Msg("⌛ Expired · approver released nothing · approved by %s, but %s", deciderOf(r, res),
			sentence(res.Cause))
	case r.withheldFromAll(r.Also):
		return display.Msg("⛔ Blocked · approved by %s, but not given to the agent: %s", deciderOf(r, res),
			sentence(res.Cause))
	}
	return display.Msg("⛔ Blocked · %s", sentence(res.Cause))
}

// noEffect reports that a yes has released nothing, as far as is known, and releases nothing any more.
func noEffect(r Request) bool {
	return r.withheldFromAll(r.Also) || !lasts(r) && (fateTextsOf(r).card != "" || refusedAgain(r))
}

// lasts reports whether a yes may release later calls, too.
func lasts(r Request) bool { return mayLast(r) && r.Revoked == "" && r.Disowned.By == "" }

// approvedResult is resultOf for a yes: for how long, by whom, for how many calls, and what became of them.
func approvedResult(r Request, res approver.Resolution) display.Message {
	who := deciderOf(r, res)
	got, all := r.released(r.Also)
	line := display.Msg("✅ Approved once by %s", who)
	switch {
	case noEffect(r):
		line = display.Msg("↩ Approved by %s", who)
	case res.Edit != nil:
		line = display.Msg("✏ Approved with changes by %s", who)
	case mayLast(r):
		line = display.Msg("✅ Approved for %s by %s", span(res.Grant), who)
	case len(r.Also) > 0 || res.Choice > 0:
		line = display.Msg("✅ Approved by %s", who)
	}
	facts := []display.Message{chosen(r)}
	switch {
	case len(r.Also) > 0 && fateTextsOf(r).card == "" && got < all:
		facts = append(facts, display.Msg(" · %d of %d identical calls released, once each", got, all))
	case len(r.Also) > 0 && fateTextsOf(r).card == "":
		facts = append(facts, display.Msg(" · %d identical calls, once each", all))
	case refusedAgain(r):
		facts = append(facts, display.Msg(" · not given again to the agent that came back for it: %s", sentence(r.Withheld)))
	}
	if fate := fateTextsOf(r).card; fate != "" {
		facts = append(facts, display.Msg(fate))
	}
	if lasts(r) && fateTextsOf(r).card != "" {
		facts = append(facts, display.Msg(" · kept for the same call until %s at most",
			lastsUntil(res).UTC().Format("15:04:05 UTC")))
	}
	if r.Revoked != "" {
		facts = append(facts, display.Msg(" · taken back by %s", r.Revoked))
	}
	for _, fact := range append(facts, ran(r)) {
		line = display.Msg("%s%s", line, fact)
	}
	return line
}

// ran says what the agent reported of the calls that it was given: that they ran, or failed.
// It is empty if nothing was reported.
func ran(r Request) display.Message {
	ran, failed := 0, 0
	count := func(f Fate) {
		switch {
		case f == DidRun:
			ran++
		case f.Ran():
			failed++
		}
	}
	count(r.Fate)
	for _, c := range r.Also {
		count(c.Fate)
	}
	switch {
	case ran+failed == 0:
		return display.Message{}
	case len(r.Also) > 0 && failed == 0:
		return display.Msg(" · %d ran", ran)
	case len(r.Also) > 0 && ran == 0:
		return display.Msg(" · %d failed", failed)
	case len(r.Also) > 0:
		return display.Msg(" · %d ran, %d failed", ran, failed)
	case failed == 0:
		return display.Msg(" · ran")
	case r.Fate.exit() > 0:
		return display.Msg(" · failed with exit code %d", r.Fate.exit())
	}
	return display.Msg(" · failed")
}

// goneResult is resultOf for an agent that went away.
func goneResult(r Request, res approver.Resolution) display.Message {
	if r.State == approver.Withdrawn && r.Call.AboutApprover() {
		return display.Msg("↩ Withdrawn · approver changed nothing · whoever asked stopped waiting")
	}
	line := display.Msg("↩ Withdrawn · approver released nothing · the agent stopped waiting")
	switch {
	case r.State == approver.Expired:
		line = display.Msg("⌛ Expired · approver released nothing · the agent did not take the answer in time")
	case r.Verdict.Prompt:
		line = display.Msg("↩ Withdrawn · approver released nothing · the agent stopped waiting, or was answered at the desk")
	}
	if res.Person.ID != "" {
		return display.Msg("%s (answered by %s)", line, deciderOf(r, res))
	}
	return line
}

// resultLine is resultOf in English.
func resultLine(r Request, res approver.Resolution) string {
	return display.Texts{}.Message(resultOf(r, res))
}

// endLine is resultLine of a request that has ended.
func endLine(r Request) string {
	res, _ := r.Told()
	return resultLine(r, res) + display.Texts{}.Message(disowned(r))
}

// sentence explains a cause.
func sentence(c approver.Cause) display.Phrase { return display.Phrase{Text: c.Sentence()} }

// span says how long a yes lasts that is for more than one call.
func span(t approver.Term) display.Message {
	if t.Session {
		return display.Msg("the session")
	}
	return display.Msg("%s", t.String())
}

// outcomeText says of a yes what became of it to the person whose yes it was.
func outcomeText(r Request) display.Message {
	if text := fateTextsOf(r).winner; text != "" {
		return display.Msg(text)
	}
	return display.Msg("Approved: %s.", released(r))
}

// chosen says what the agent was told to remember with a yes; empty if nothing.
func chosen(r Request) display.Message {
	if r.Resolution.Choice == 0 {
		return display.Message{}
	}
	choice, _ := r.Verdict.Chosen(r.Resolution.Choice)
	return display.Msg(", and: %s", choice.Detail)
}

// released says what a yes released, or still may release.
func released(r Request) display.Message {
	got, all := r.released(r.Also)
	switch {
	case r.Resolution.Choice > 0:
		return display.Msg("released to the agent%s", chosen(r))
	case r.Resolution.Edit != nil:
		return display.Msg("the changed command was released to the agent, this once")
	case all == 1:
		return display.Msg("released to the agent, this once")
	case got < all:
		return display.Msg("%d of %d identical calls released to the agent, once each", got, all)
	}
	return display.Msg("%d identical calls released to the agent, once each", all)
}

// granted is what people are told of a yes that waits for its call.
func granted(r Request) display.Message {
	return display.Msg("Recorded: the agent was told to come back, and may now run this call once, until %s.",
		r.TakeBy.UTC().Format("15:04:05 UTC"))
}

// fateText tells people what became of a released call. Empty means that there is nothing to
// tell: nothing was reported, or the call ran.
type fateText struct {
	card   string // after who approved it, where the yes had no effect
	winner string // to the person who said yes
	late   string // to somebody who answered too late, after a comma
}

// fateTextsOf returns what people are told of a yes that was for one call, or for several.
func fateTextsOf(r Request) fateText { return fateTexts[min(commonFate(r), DidRun)] }

//approver:texts
var fateTexts = [...]fateText{
	NoFate: {late: "and it has been released"},
	DidRun: {late: "and it has been released"},
	Untaken: {
		card:   " · nobody took the answer: the agent was gone, and most likely nothing ran",
		winner: "Approved, but nobody took the answer: the agent was gone, and most likely nothing ran.",
		late:   "but nobody took the answer: the agent was gone, and most likely nothing ran",
	},
	NotRun: {
		card: " · the agent reported no run of it: most likely its own rules or mode refused it",
		winner: "Approved and released to the agent, which reported no run of it: most likely its own rules or mode " +
			"refused it.",
		late: "and the agent reported no run of it",
	},
}
