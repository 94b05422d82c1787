package display

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// This file holds how people read a question about approver itself, such as whether a
// freeze is to end: a sentence and plain lines, of which nothing is left out.

// Title is the sentence of a question about approver itself; empty for every other call.
func (c Call) Title() string {
	if !c.Question {
		return ""
	}
	return cmp.Or(titles[c.Tool], c.Tool)
}

// titles are the sentences of the known questions.
var titles = map[string]string{
	"approver unfreeze":       "Lift the freeze (approver unfreeze)",
	"approver pause":          "Ask nobody for a while (approver pause)",
	"approver observe":        "Enforce nothing for a while (approver observe)",
	"approver restore_person": "Bring an approver back (approver people restore)",
	"approver add_approver":   "Add an approver (approver pair)",
	"add_approvers":           "Let the changed approver lists count",
	"change_policy":           "Put a looser policy in force",
	"change_rules":            "Put a looser rule set in force",
	"change_flow":             "Put a looser information flow in force",
}

// ownText is the whole question: its sentence, then one line for each value and, at the
// end, the lists, as a diff is one. What is not of that form stays JSON.
func (c Call) ownText() string {
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

// PushParts is what the one line of a card says of a call: of a question about approver
// itself the lines before its lists.
func (c Call) PushParts(shown string) []string {
	if !c.Question {
		return []string{shown}
	}
	head, _, _ := strings.Cut(shown, "\n\n")
	return strings.Split(head, "\n")
}

// ApprovedText says what a yes to such a question does. What it did is known of a freeze,
// a pause and observe mode; the caller says that.
func (c Call) ApprovedText() string {
	return "Approved: approver " + cmp.Or(effects[c.Tool], "does it now.")
}

// effects are what approver does after a yes to some questions.
var effects = map[string]string{
	"approver restore_person": "brings them back now.",
	"approver add_approver":   "lets whoever is added count now.",
	"add_approvers":           "lets whoever is added count now.",
	"change_policy":           "puts the looser policy in force now.",
	"change_rules":            "puts the looser rule set in force now.",
	"change_flow":             "puts the looser information flow in force now.",
}
