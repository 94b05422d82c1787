package audit

import "approver.example"

// This file writes words of the core as lines have them; empty for what says nothing.

func wantName(w approver.Want) string {
	if w == approver.WantAnswer {
		return ""
	}
	return w.String()
}

func methodName(m approver.Method) string {
	if m == approver.NoMethod {
		return ""
	}
	return m.String()
}

var outcomeNames = [...]string{
	approver.OutcomeRefused: "refused", approver.OutcomeApproved: "approved", approver.OutcomeDenied: "denied",
	approver.OutcomeTooLate: "too_late", approver.OutcomeExpired: "expired", approver.OutcomeUnknown: "unknown",
	approver.OutcomeUsed: "used", approver.OutcomeLocked: "locked", approver.OutcomeNeedCode: "need_code",
	approver.OutcomeRecorded: "recorded", approver.OutcomeShown: "shown",
}

func outcomeName(k approver.OutcomeKind) string {
	if int(k) < len(outcomeNames) {
		return outcomeNames[k]
	}
	return outcomeNames[approver.OutcomeRefused]
}

// argsHash is the same for all spellings of one JSON text. It joins the records of a
