package broadcaster

import (
	"strings"
	"time"

	"approver.example"
	"approver.example/display"
)

// This file says what people are offered beside a yes and a no.

// offer adds to the card of a request that waits what people may do beside a yes and a no. hidden says that the
// card does not show all that may decide what runs.
func (v *Cards) offer(c *approver.Card, r Request, t display.Texts, hidden bool) {
	if !hidden && mayBeShared(r.Verdict, r.Fingerprint) && mayRepeat(r) {
		c.Lasting = lastingText(r.Call, t)
	}
	_, why := r.longer()
	c.Extends, c.Disowns = why.Format == "", disownable(r.Call)
	c.Edits = v.Judge != nil && uneditable(r).Format == ""
}

// lastable reports whether a button may approve a request for longer than once.
func lastable(r Request) bool {
	return mayShare(r.Verdict, r.Fingerprint, r.Call) && mayRepeat(r)
}

// mayRepeat reports that a request is about a call that an agent may make again in its session.
func mayRepeat(r Request) bool {
	return !r.Verdict.Prompt && r.Verdict.Appeal.Of == "" && !r.Call.AboutApprover() && r.Call.Session != ""
}

// tappedTerm reports that an answer is from a card's own button for longer than once. Whatever else the
// data of a button say, there is no button for it.
func tappedTerm(rep approver.Reply) bool {
	return rep.Method == approver.ByTap &&
		(rep.Grant == approver.Term{For: approver.TapTerm} || rep.Grant == approver.Term{Session: true})
}

// lastingText says what a yes for longer than once is for.
func lastingText(call approver.ToolCall, t display.Texts) string {
	who := display.Msg("%s", call.Agent)
	if name, _ := userOf(call); name != "" {
		who = display.Msg("%s as %s", call.Agent, name)
	}
	where := display.Msg("in %s", homeDir(call))
	if call.Dir == "" {
		where = display.Msg("in no known folder")
	}
	hours := int(approver.SessionTerm / time.Hour)
	if call.Command != "" {
		return t.Text("only this very command of %s %s; a session ends after %d hours at most", who, where, hours)
	}
	return t.Text("only this very call of %s %s; a session ends after %d hours at most", who, where, hours)
}

// homeDir is the folder of a call, with ~ for the home of its user.
func homeDir(call approver.ToolCall) string {
	if _, home := userOf(call); len(home) > 1 && (call.Dir == home || strings.HasPrefix(call.Dir, home+"/")) {
		return "~" + call.Dir[len(home):]
	}
	return call.Dir
}

// disownable reports whether people may say of a call that nobody asked for it: an agent made it.
func disownable(call approver.ToolCall) bool { return !call.AboutApprover() && call.Agent != "" }
