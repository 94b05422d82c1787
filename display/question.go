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

// This file writes a question about approver itself, such as whether to end a freeze, as a
// sentence and plain lines. Nothing is left out.

// Title returns the sentence of a question about approver itself, and "" for every other call.
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

// ownText returns the whole question: its sentence, one line for each value and, at the end, the
// lists, such as a diff. Arguments that are not a JSON object stay as they are.
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

// ownWord returns one value on one line.
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

// ownValue quotes a text with line breaks, because each new line would look like ours.
func ownValue(text string) string {
	if strings.ContainsAny(text, "\n\r\v\f\u0085\u2028\u2029") {
		return strconv.Quote(text)
	}
	return text
}

// ownParts returns the parts of such a text that Mask hides. Each line is masked separately, so a
// line of a diff cannot hide a part of the next line.
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

// PushParts returns the parts of a push line for a call: the shown text, or for a question about
// approver itself, the lines before its lists.
func (c Call) PushParts(shown string) []string {
	if !c.Question {
		return []string{shown}
	}
	head, _, _ := strings.Cut(shown, "\n\n")
	return strings.Split(head, "\n")
}

// ApprovedText says what approver does after a yes to a question about itself. For a freeze, a
// pause and observe mode, the result is known and the caller reports it instead.
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
