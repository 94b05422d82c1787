package broadcaster

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"approver.example"
	"approver.example/display"
)

// This file says whom a question is for, and when an answer to one question is one to another.

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

// covers reports that an answer to the question v is one to the question now: it
// is as strict, of the same arguments, and to nobody else. Rules that look at the
// clock can ask about one call in two ways. An answer to an appeal is one to a
// denial by the same rule, and to nothing else, nor is any other answer one to it.
func covers(v, now approver.Verdict) bool {
	if (v.Appeal.Of != "") != (now.Appeal.Of != "") || now.Appeal.Of != "" && (v.By != now.By || v.Rule != now.Rule) {
		return false
	}
	return v.Severity <= now.Severity && bytes.Equal(v.Args, now.Args) && within(v.Approvers, now.Approvers) &&
		within(v.Channels, now.Channels)
}

// within reports that a narrows no less than b. An empty list is everybody.
func within(a, b []string) bool {
	if len(b) == 0 {
		return true
	}
	return len(a) > 0 && !slices.ContainsFunc(a, func(name string) bool { return !slices.Contains(b, name) })
}

// scopeOf names what an answer that is kept is for. It is a key, not the check:
// the record that it leads to is compared with the call.
func scopeOf(call approver.ToolCall, fp approver.Fingerprint) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %t %d %q", fp, call.Agent, call.Peer.Known, call.Peer.UID, call.Dir))
	return hex.EncodeToString(sum[:16])
}

// aboutFreezes reports a question that was asked because of what was, or was not, frozen.
func aboutFreezes(c approver.ToolCall) bool {
	switch c.Control {
	case "unfreeze", "pause", "observe":
		return true
	}
	return false
}

// obscured reports that the card of a call hides something that may say what runs, or where.
// It takes the typed code, once.
func obscured(call approver.ToolCall) bool {
	_, hidden := call.Display().Shown()
	return hidden || display.HidesEnvironment(call.Environment)
}
