package display

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"approver.example/display/shape"
)

// This file writes a question about approver itself, such as whether to end a freeze, as a
// sentence and plain lines. Nothing is left out.

// Sentence returns the sentence of a question about approver itself, and "" for every other call.
func (c Call) Sentence() string {
	if !c.Question {
		return ""
	}
	return cmp.Or(questions[c.Tool].sentence, c.Tool)
}

// claimKey is the argument with the reason that whoever asks gives. A card shows it as what the agent says.
const claimKey = "reason_as_claimed"

// An ownQuestion is the text of a known question.
type ownQuestion struct {
	sentence string
	title    string   // the same for a lock screen, if the arguments have a value for its %s
	value    []string // the first of these arguments that is there
}

//approver:texts
var questions = map[string]ownQuestion{
	"approver unfreeze": {"Lift the freeze (approver unfreeze)", "Lift the freeze", nil},
	"approver pause": {"Ask nobody for a while (approver pause)", "Ask nobody for %s, and let calls through",
		[]string{"for"}},
	"approver observe": {"Enforce nothing for a while (approver observe)", "Enforce no rule for %s", []string{"for"}},
	"approver restore_person": {"Bring an approver back (approver people restore)", "Bring back the approver %s",
		[]string{"person"}},
	"approver add_approver": {"Add an approver (approver pair)", "Add the approver %s", []string{"person", "user"}},
	"add_approvers":         {"Let the changed approver lists count", "Change who may approve", nil},
	"change_policy":         {"Put a looser policy in force", "Loosen the policy", nil},
	"change_rules":          {"Put a looser rule set in force", "Loosen the rules", nil},
	"change_flow":           {"Put a looser information flow in force", "Loosen the information flow", nil},
}

// ownTitle is Title for a question about approver itself.
func (c Call) ownTitle() Phrase {
	q := questions[c.Tool]
	if len(q.value) == 0 {
		return Phrase{Text: cmp.Or(q.title, c.Sentence())}
	}
	fields, _ := fieldsOf(c.Args)
	for _, key := range q.value {
		if text := textAt(fields, key); text != "" {
			return Phrase{Text: q.title, Args: []string{text}}
		}
	}
	return Phrase{Text: q.sentence}
}

// question adds a question about approver itself: a line for each value, and then its lists. The
// title is its sentence. Each line is masked separately, so no line can hide a part of another.
func (b *builder) question(c Call, fields []field, isObject bool) {
	if !isObject {
		b.code("Arguments", string(c.Args))
		return
	}
	slices.SortFunc(fields, func(x, y field) int { return strings.Compare(x.key, y.key) })
	var lists []field
	for _, f := range fields {
		if _, ok := textsOf(f); ok {
			lists = append(lists, f)
			continue
		}
		if empty := string(f.raw); empty == "null" || empty == "[]" || empty == "{}" {
			b.say(ownLabel(f.key), "nothing")
			continue
		}
		if text, _ := textOf(f.raw); f.key == versionKey && digest().MatchString(text) {
			continue // the details have it
		}
		b.value(ownLabel(f.key), f.raw)
	}
	for _, f := range lists {
		lines, _ := textsOf(f)
		if !b.ownDiff(lines) {
			b.lines(Code, ownLabel(f.key), lines)
		}
	}
}

// versionKey is the argument with the version of settings. One that is a hash is shown in the details only.
const versionKey = "version"

var digest = shape.Pattern(`^[0-9a-f]{64}$`)

// Version returns the version that a question is about, whole; empty if it is about none.
func (c Call) Version() string {
	if !c.Question {
		return ""
	}
	fields, _ := c.fields()
	return textAt(fields, versionKey)
}

// hunkPlace says in words where a stretch of a diff is.
func hunkPlace(line string) string {
	m := hunkLines().FindStringSubmatch(line)
	switch {
	case m == nil:
		return strings.Trim(line, "@ ")
	case m[1] == m[2]:
		return "From line " + m[2]
	}
	return "From line " + m[2] + ", before from line " + m[1]
}

var hunkLines = shape.Pattern(`^@@ -([0-9]+)(?:,[0-9]+)? \+([0-9]+)(?:,[0-9]+)? @@$`)

// ownLabel returns the name of an argument of ours in words.
func ownLabel(key string) string {
	if key == claimKey {
		return "Reason given, not checked"
	}
	words := strings.ReplaceAll(key, "_", " ")
	if words == "" || words != strings.TrimSpace(words) || key != strings.ToLower(key) {
		return label(key)
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// textsOf returns the texts of a list that has only texts, and the lines of a diff.
func textsOf(f field) (lines []string, ok bool) {
	if text, is := textOf(f.raw); is && f.key == "diff" && text != "" {
		return strings.Split(strings.TrimSuffix(text, "\n"), "\n"), true
	}
	items, ok := fieldsOf(f.raw)
	if !ok || len(items) == 0 || f.raw[0] != '[' {
		return nil, false
	}
	for _, item := range items {
		line, isText := textOf(item.raw)
		if !isText {
			return nil, false
		}
		lines = append(lines, line)
	}
	return lines, true
}

// lines adds lines that are masked one by one. One with a line break is quoted, because each new
// line would look like ours.
func (b *builder) lines(kind BlockKind, label string, lines []string) {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = Squeeze(Visible(b.mask(ownValue(l))))
	}
	b.add(kind, label, strings.Join(out, "\n"))
}

// ownDiff adds the lines of a diff: the names of what is compared as lines, and a block for each
// stretch. It returns false if they are none.
func (b *builder) ownDiff(lines []string) bool {
	var names []string
	for len(lines) > 0 && len(names) < 3 && (strings.HasPrefix(lines[0], "diff ") ||
		strings.HasPrefix(lines[0], "--- ") || strings.HasPrefix(lines[0], "+++ ")) {
		names, lines = append(names, lines[0]), lines[1:]
	}
	hunkAt := func(l string) bool { return strings.HasPrefix(l, "@@ ") && strings.HasSuffix(l, " @@") }
	for _, l := range lines {
		if !hunkAt(l) && (l == "" || strings.IndexByte("+- ", l[0]) < 0) {
			return false
		}
	}
	if len(names) == 3 && names[0] == "diff "+names[1][4:]+" "+names[2][4:] {
		names = names[1:] // it only repeats the others
	}
	if len(names) == 2 && inForce(names[0], names[1]) {
		names = nil // the question says what is changed
	}
	for _, n := range names {
		label := map[string]string{"-": "Before", "+": "After"}[n[:1]]
		b.text(cmp.Or(label, "Compares"), strings.TrimLeft(strings.TrimPrefix(n, "diff"), "-+ "))
	}
	for at := ""; len(lines) > 0; {
		if hunkAt(lines[0]) {
			at, lines = hunkPlace(lines[0]), lines[1:]
		}
		end := slices.IndexFunc(lines, hunkAt)
		if end < 0 {
			end = len(lines)
		}
		b.lines(Diff, at, lines[:end])
		lines = lines[end:]
	}
	return true
}

// inForce reports whether the names of a diff say only that what is in force is compared with what is to be.
func inForce(before, after string) bool {
	name, ok := strings.CutSuffix(strings.TrimPrefix(before, "--- "), " in force")
	return ok && after == "+++ "+name+" proposed"
}

// ownText returns the whole question: its sentence, one line for each value and, at the end, the
// lists, such as a diff. Arguments that are not a JSON object stay as they are.
func (c Call) ownText() string {
	args := map[string]json.RawMessage{}
	if json.Unmarshal(c.Args, &args) != nil {
		return strings.TrimSpace(c.Sentence() + "\n" + string(c.Args))
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
	return c.Sentence() + values.String() + lists.String()
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

// Approved says what approver does after a yes to a question about itself. For a freeze, a
// pause and observe mode, the result is known and the caller reports it instead.
func (c Call) Approved() Message {
	return Msg(cmp.Or(effects[c.Tool], "Approved: approver does it now."))
}

// effects are what approver does after a yes to some questions.
//
//approver:texts
var effects = map[string]string{
	"approver restore_person": "Approved: approver brings them back now.",
	"approver add_approver":   "Approved: approver lets whoever is added count now.",
	"add_approvers":           "Approved: approver lets whoever is added count now.",
	"change_policy":           "Approved: approver puts the looser policy in force now.",
	"change_rules":            "Approved: approver puts the looser rule set in force now.",
	"change_flow":             "Approved: approver puts the looser information flow in force now.",
}
