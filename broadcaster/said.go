package broadcaster

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"approver.example"
	"approver.example/display"
	"approver.example/tokens"
)

// This file is about what people say with a no.

// disownedReason is the reason of a no by somebody who did not ask for the call.
const disownedReason = "I did not ask for this"

// reasonOf is what a person says with an answer, as it is stored: without codes, and bounded. A yes has
// no reason.
func reasonOf(rep approver.Reply) string {
	reason := strings.Join(strings.Fields(tokens.Mask(rep.Reason)), " ")
	switch {
	case rep.Approve:
		return ""
	case rep.Want == approver.WantDisown && reason == "":
		return disownedReason
	case rep.Want == approver.WantDisown:
		reason = disownedReason + ": " + reason
	}
	const more = " …"
	if len(reason) > approver.MaxReason {
		reason = reason[:display.RuneBoundary(reason, approver.MaxReason-len(more))] + more
	}
	return reason
}

// withoutCodes is the reason of a reply without the codes of cards that are open. One with its prefix is
// masked anyway; one without is a word like any other, unless it is a code.
func (a *Answers) withoutCodes(ctx context.Context, rep approver.Reply) string {
	words := strings.Fields(rep.Reason)
	for i, word := range words {
		bare := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		code, err := tokens.Parse(bare)
		if err != nil || len(bare) != max(a.CodeLength, tokens.MinLength) {
			continue
		}
		rep.Code = code
		if _, _, err = a.postingOfCode(ctx, rep); err == nil || errors.As(err, new(misplaced)) {
			words[i] = tokens.Mask(tokens.Prefix + bare)
		}
	}
	return strings.Join(words, " ")
}

// deniedResult is resultOf for a person's no.
func deniedResult(r Request, res approver.Resolution) display.Message {
	if res.Edit != nil {
		return display.Msg("⛔ Denied by %s · told to run this instead", deciderOf(r, res))
	}
	if res.Reason == "" {
		return display.Msg("⛔ Denied by %s", deciderOf(r, res))
	}
	return display.Msg("⛔ Denied by %s: “%s”", deciderOf(r, res), res.Reason)
}

// personsNo is what an agent is told of a person's no. The words of the person are marked as such: they
// are no words of approver's.
func personsNo(res approver.Resolution, who string) string {
	by := "denied by " + who + " via " + display.Platform(res.Identity.Channel)
	if res.Edit != nil {
		return by + ". A person asks you to run this instead, as a new call, which is judged anew: " +
			exactly(res.Edit.Command)
	}
	if res.Reason == "" {
		return by + ". Do not try it again or work around it: ask the user how to go on"
	}
	return by + ". A person denied it, and says: “" + display.SafeLine(res.Reason) + "”. Do not try the same again or " +
		"work around it: do as that person says, or ask the user how to go on"
}

// denied is what a person is told whose no stands.
func denied(res approver.Resolution, rep approver.Reply) told {
	switch reason := reasonOf(rep); {
	case res.Edit != nil && rep.Want == approver.WantEdit:
		return newOutcome(approver.OutcomeDenied, "Denied: the agent has been told to run your command instead, as a new "+
			"call, which is judged anew.")
	case reason == "":
		return newOutcome(approver.OutcomeDenied, "Denied: the agent has been told.")
	case reason != res.Reason:
		return newOutcome(approver.OutcomeDenied,
			"Denied already: the agent has been told, and does not get the reason that came after it.")
	}
	return newOutcome(approver.OutcomeDenied, "Denied: the agent has been told, with your reason.")
}
