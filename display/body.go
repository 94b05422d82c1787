package display

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// This file turns a call into what a card shows of it, by the kind of tool: edit.go has files that
// are written and changed, table.go has every other tool, and title.go says the call in words.

// Body returns the call in blocks. Every argument is in one of them, so a reader could write the
// call again; only secrets are hidden. An argument is left out if the card certainly shows it
// elsewhere, as in Text. obscured is that of Shown, and also true if a block hides something that
// Shown does not.
func (c Call) Body() (blocks []Block, obscured bool) {
	blocks, obscured, _ = c.Seen()
	return blocks, obscured
}

// Seen is Body, with what it hides.
func (c Call) Seen() (blocks []Block, obscured bool, hidden Hidden) {
	v := c.view()
	fields, isObject := c.fields()
	hides, more := coverOf(v, c.leaves(fields, isObject))
	b := &builder{cover: hides}
	switch {
	case c.Question:
		b.question(c, fields, isObject)
	case b.files(c, fields, isObject):
	case c.Command != "":
		b.shell(c, v, fields, isObject)
	default:
		b.table(c, fields, isObject)
	}
	return b.blocks, v.obscured || more, hiddenIn(v, hides)
}

// leaves returns the texts in the arguments that a card has to show.
func (c Call) leaves(fields []field, isObject bool) (all []string) {
	if c.Command == "" || !isObject {
		return leavesOf(c.Args, 0, nil)
	}
	for _, f := range fields {
		all = leavesOf(f.raw, 1, append(all, f.key))
	}
	return all
}

// fields returns the arguments that a card has to show beside the command. ok is false if they are
// no object, or one that fields cannot represent.
func (c Call) fields() (fields []field, ok bool) {
	if len(c.Args) == 0 || string(c.Args) == "null" {
		return nil, true
	}
	fields, ok = fieldsOf(c.Args)
	if !ok || c.Args[strings.IndexAny(string(c.Args), "{[")] != '{' {
		return nil, false
	}
	return slices.DeleteFunc(fields, func(f field) bool {
		text, isText := textOf(f.raw)
		claim := text == c.Claimed && (c.Question && f.key == claimKey ||
			c.Command != "" && f.key == "description" && c.Describes)
		return isText && (claim || c.Command != "" && f.key == "command" && text == c.Command)
	}), true
}

// A builder collects the blocks of one call.
type builder struct {
	cover

	blocks []Block
}

// line adds a line. text has no line break.
func (b *builder) line(label, text string) { b.add(Line, label, Squeeze(onOneLine(b.mask(text)))) }

// say adds a line of approver's own words.
func (b *builder) say(label, text string) { b.add(Line, label, text) }

// code adds a text with a fixed width.
func (b *builder) code(label, text string) { b.add(Code, label, Squeeze(Visible(b.mask(text)))) }

func (b *builder) add(kind BlockKind, label, text string) {
	b.blocks = append(b.blocks, Block{Kind: kind, Label: Squeeze(onOneLine(b.mask(label))), Text: text})
}

// onOneLine is Visible for a masked text that has to stay on one line. It tells a tab from a space.
func onOneLine(masked string) string {
	text := Visible(masked)
	if !strings.ContainsAny(text, "\n\t") {
		return text
	}
	return strings.NewReplacer("\n", "⟨U+000A⟩", "\t", "⟨U+0009⟩").Replace(text)
}

// shell adds a command with its options.
func (b *builder) shell(c Call, v view, fields []field, isObject bool) {
	if !c.OwnShell && c.Tool != askTool {
		b.line("Tool", c.Tool)
	}
	var hide []part
	for _, p := range v.hide {
		if p.from < v.options {
			hide = append(hide, p)
		}
	}
	b.add(Code, "", Squeeze(Visible(masked(v.text[:v.options], hide))))
	if !isObject {
		b.code("Options", string(c.Args))
		return
	}
	for _, f := range fields {
		b.value(label(f.key), f.raw)
	}
}

// askTool is the tool of a command that somebody else than an agent asks about. Its card is about
// that command.
const askTool = "approver ask"

// table adds one block for each argument, and the tool last: the title says it in words.
func (b *builder) table(c Call, fields []field, isObject bool) {
	if isObject {
		for _, f := range fields {
			b.value(label(f.key), f.raw)
		}
	} else {
		b.code("Arguments", indented(c.Args))
	}
	b.line("Tool", c.Tool)
}

// Limits of what is shown line by line: longer and deeper values are code.
const (
	maxLine  = 200 // bytes of one value
	maxItems = 24  // values in one argument
	maxDepth = 3
)

// value adds an argument.
func (b *builder) value(name string, raw json.RawMessage) {
	if text, ok := textOf(raw); ok {
		b.text(name, text)
		return
	}
	if items, ok := flat(name, raw, 0); ok && len(items) <= maxItems {
		for _, item := range items {
			if text, isText := textOf(item.raw); isText {
				b.text(item.key, text)
			} else {
				b.line(item.key, string(item.raw))
			}
		}
		return
	}
	b.code(name+" (JSON)", indented(raw))
}

// text adds the text of an argument: on one line, or as code if it has several or is long.
func (b *builder) text(name, text string) {
	switch {
	case strings.Contains(text, "\n") || len(text) > maxLine:
		b.code(name, text)
	case b.mask(text) != text: // a note is no JSON
		b.line(name, text)
	case text == "" || text[0] == '"' || text != strings.TrimSpace(text) || json.Valid([]byte(text)):
		b.line(name, quoted(text)) // it could be read as another value
	default:
		b.line(name, text)
	}
}

// flat returns the values in a value, with names such as a.b and a[0]. ok is false if they could
// not be made again from that, or are deeper than people read.
func flat(name string, raw json.RawMessage, depth int) (items []field, ok bool) {
	if len(raw) == 0 || raw[0] != '{' && raw[0] != '[' {
		_, isText := textOf(raw)
		return []field{{name, raw}}, isText || len(raw) > 0 && raw[0] != '"'
	}
	inner, ok := fieldsOf(raw)
	if !ok || depth == maxDepth {
		return nil, false
	}
	if len(inner) == 0 {
		return []field{{name, json.RawMessage(string(raw[0]) + map[byte]string{'{': "}", '[': "]"}[raw[0]])}}, true
	}
	for i, f := range inner {
		next := name + "." + label(f.key)
		if raw[0] == '[' {
			next = fmt.Sprintf("%s[%d]", name, i)
		}
		more, ok := flat(next, f.raw, depth+1)
		if items = append(items, more...); !ok || len(items) > maxItems {
			return nil, false
		}
	}
	return items, true
}
