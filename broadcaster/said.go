package broadcaster

import (
	"context"
	"errors"
	"slices"
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

// withoutCodes is the reason of a reply without the codes of cards that are open, wherever they stand in it.
// One with its prefix is masked anyway; without it, only what is a code is one.
func (a *Answers) withoutCodes(ctx context.Context, rep approver.Reply) string {
	rep.Reason = tokens.Mask(rep.Reason)
	size := max(a.CodeLength, tokens.MinLength)
	if len(rep.Reason) < size {
		return rep.Reason
	}
	open, err := a.requests.Open(ctx)
	if err != nil && !errors.Is(err, ErrIncomplete) {
		a.Log.Warn("what a person said could not be searched for codes", "error", err)
	}
	live := map[tokens.Hash]bool{}
	for _, r := range open {
		for _, p := range r.Postings {
			live[p.Code] = p.Code != ""
			for _, was := range p.Was {
				live[was.Code] = true
			}
		}
	}
	if len(live) == 0 {
		return rep.Reason
	}
	text := []rune(rep.Reason)
	for i := 0; i < len(text); i++ {
		if code, end := codeAt(text, i, size); a.isLive(code, live) {
			text = slices.Concat(text[:i], []rune(tokens.Mask(tokens.Prefix+code)), text[end:])
		}
	}
	return string(text)
}

// codeAt is the code of a size that may begin at i, and where it ends; empty if none does. People write one
// with spaces or hyphens in it, too.
func codeAt(text []rune, i, size int) (code string, end int) {
	letters := make([]rune, 0, size)
	for end = i; end < len(text) && len(letters) < size && end < i+2*size; end++ {
		if c := text[end]; unicode.IsLetter(c) || unicode.IsDigit(c) {
			letters = append(letters, c)
		} else if len(letters) == 0 || !unicode.IsSpace(c) && !unicode.IsPunct(c) {
			return "", i
		}
	}
	if len(letters) < size {
		return "", i
	}
	return string(letters), end
}

// isLive reports whether a text is one of the codes with these hashes.
func (a *Answers) isLive(text string, live map[tokens.Hash]bool) bool {
	code, err := tokens.Parse(text)
	if err != nil {
		return false
	}
	return live[code.Hash(a.CodeKey)] || slices.ContainsFunc(a.OldCodeKeys, func(old []byte) bool {
		return live[code.Hash(old)]
	})
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
