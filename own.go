package approver

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file holds how people read a question about approver itself, such as whether a
// freeze is to end: a sentence and plain lines, of which nothing is left out.

// own reports a question about approver itself. No agent's call is one.
func (c ToolCall) own() bool { return c.Own || c.Control != "" }

// Title is the sentence of a question about approver itself; empty for every other call.
func (c ToolCall) Title() string {
	if !c.own() {
		return ""
	}
	switch c.Tool {
	case "approver unfreeze":
		return "Lift the freeze (approver unfreeze)"
	case "approver pause":
		return "Ask nobody for a while (approver pause)"
	case "approver observe":
		return "Enforce nothing for a while (approver observe)"
	case "approver restore_person":
		return "Bring an approver back (approver people restore)"
	case "approver add_approver":
		return "Add an approver (approver pair)"
	case "add_approvers":
		return "Let the changed approver lists count"
	case "change_policy":
		return "Put a looser policy in force"
	case "change_rules":
		return "Put a looser rule set in force"
	case "change_flow":
		return "Put a looser information flow in force"
	}
	return c.Tool
}

// ownText is the whole question: its sentence, then one line for each value and, at the
// end, the lists, as a diff is one. What is not of that form stays JSON.
func (c ToolCall) ownText() string {
	args := map[string]json.RawMessage{}
	if json.Unmarshal(c.Args, &args) != nil {
		return strings.TrimSpace(c.Title() + "\n" + string(c.Args))
	}
	var values, lists strings.Builder
	for _, key := range slices.Sorted(maps.Keys(args)) {
		label := ownValue(strings.ReplaceAll(key, "_", " "))
		var items []json.RawMessage
		if json.Unmarshal(args[key], &items) != nil || len(items) == 0 {
			values.WriteString("\n" + label + ": " + ownWord(args[key]))
			continue
		}
		lists.WriteString("\n\n" + label + ":")
		for _, item := range items {
			lists.WriteString("\n  " + ownWord(item))
		}
	}
	return c.Title() + values.String() + lists.String()
}

// ownWord is one value on one line.
func ownWord(raw json.RawMessage) string {
	var text string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return ownValue(text)
	}
	var one bytes.Buffer
	if json.Compact(&one, raw) != nil {
		return ownValue(string(raw))
	}
	return unescapeHTML(one.String())
}

// ownValue quotes a text that would begin a line of its own and be taken for ours.
func ownValue(text string) string {
	if strings.ContainsAny(text, "\n\r\v\f\u0085\u2028\u2029") {
		return strconv.Quote(text)
	}
	return text
}

// ownParts is what Mask hides of such a text, each line by itself: what one line of a diff
// begins hides nothing of the next.
func ownParts(s string) (parts []part) {
	at := 0
	for line := range strings.Lines(s) {
		for _, p := range hiddenParts(line) {
			p.from, p.to, p.begin = p.from+at, p.to+at, p.begin+at
			parts = append(parts, p)
		}
		at += len(line)
	}
	return parts
}

// pushText is what the one line of a card says of a call: of a question about approver
// itself the lines before its lists.
func (c ToolCall) pushText(shown string) []string {
	if !c.own() {
		return []string{shown}
	}
	head, _, _ := strings.Cut(shown, "\n\n")
	return strings.Split(head, "\n")
}

// approvedText says what a yes to such a question does. What it did is known of a freeze,
// a pause and observe mode; see carriedOut.
func (c ToolCall) approvedText() string {
	switch c.Tool {
	case "approver restore_person":
		return "Approved: approver brings them back now."
	case "approver add_approver", "add_approvers":
		return "Approved: approver lets whoever is added count now."
	case "change_policy":
		return "Approved: approver puts the looser policy in force now."
	case "change_rules":
		return "Approved: approver puts the looser rule set in force now."
	case "change_flow":
		return "Approved: approver puts the looser information flow in force now."
	}
	return "Approved: approver does it now."
}

// carryOutIn is how long a person waits to hear that what they approved is done.
const carryOutIn = 3 * time.Second

// carriedOut says to the person whose yes it was what became of it.
func (a *Answers) carriedOut(ctx context.Context, call ToolCall) Outcome {
	var done func(Controls, time.Time) bool
	var text string
	switch call.Control {
	case "unfreeze":
		text = "Approved: the freeze is lifted. What was denied or burned stays so."
		done = func(c Controls, _ time.Time) bool { return c.FrozenText() == "" }
	case "pause":
		text, done = "Approved: the pause has begun.", func(c Controls, now time.Time) bool { return c.Paused(High, now) }
	case "observe":
		text, done = "Approved: observe mode has begun.", Controls.Observing
	default:
		return Outcome{OutcomeApproved, call.approvedText()}
	}
	for until := time.Now().Add(carryOutIn); ctx.Err() == nil && time.Now().Before(until); {
		if c, now, err := a.controls.Load(ctx); err == nil && done(c, now) {
			return Outcome{OutcomeApproved, text}
		}
		timer := time.NewTimer(retryEvery)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return Outcome{OutcomeRecorded, "Your yes is recorded, and it is not seen to have taken effect: look at approver status and approver's log."}
}

// aboutFreezes reports a question that was asked because of what was, or was not, frozen.
func (c ToolCall) aboutFreezes() bool {
	switch c.Control {
	case "unfreeze", "pause", "observe":
		return true
	}
	return false
}

// changedSince reports whether a freeze, of everything or of an agent, began or ended
// after a request was made.
func (c Controls) changedSince(made Request) bool {
	return c.Burned.After(made.Created) || slices.ContainsFunc(c.Holds, func(h Hold) bool {
		return h.At.After(made.Created) || h.Burned.After(made.Created)
	})
}
