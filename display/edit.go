package display

import (
	"fmt"
	"slices"
	"strings"

	"approver.example/display/shape"
)

// The names that agents give to the arguments of tools that write and change files.
var (
	pathKeys    = []string{"file_path", "path", "filePath", "absolute_path", "notebook_path", "filename", "file"}
	contentKeys = []string{"content", "contents", "file_text", "new_text", "text"}
	oldKeys     = []string{"old_string", "old_str", "oldString", "oldText", "old_text"}
	newKeys     = []string{"new_string", "new_str", "newString", "newText", "new_text"}
	insertKeys  = []string{"new_str", "insert_text", "new_text", "text", "new_source"}
	patchKeys   = []string{"input", "patch", "command"}
)

// The names of such tools, in small letters and without signs between words.
var (
	writeTools = shape.SetOf("write writefile create createfile writetofile fswrite editor texteditor " +
		"strreplaceeditor strreplacebasededittool")
	editTools = shape.SetOf("edit multiedit editfile replace fswrite editor texteditor strreplaceeditor " +
		"strreplacebasededittool")
	insertTools = shape.SetOf("notebookedit insert fswrite editor texteditor strreplaceeditor strreplacebasededittool")
	patchTools  = shape.SetOf("applypatch patch")
	// what such a tool calls its command; it is no command of a shell
	editorCommands = shape.SetOf("create str_replace insert append")
	// tools that say nothing more than the form of their card does
	plainTools = shape.SetOf("Write Edit MultiEdit NotebookEdit apply_patch ApplyPatch")
)

// A change is what a tool does to one file.
type change struct {
	kind changeKind
	path string
	text string  // what is written, inserted, or a patch
	edit []edit  // what is replaced
	rest []field // all other arguments
}

type changeKind uint8

const (
	noChange changeKind = iota
	writes
	edits
	inserts
	patches
)

// An edit replaces one text by another.
type edit struct {
	before, after string
	rest          []field
}

// changeOf returns what a call does to a file. In case of doubt it is nothing that is known: the
// tool of an MCP server, for one, means by its arguments what it likes.
func (c Call) changeOf(fields []field) (ch change) {
	tool := strings.ToLower(shape.WithoutDashes(c.Tool))
	if strings.HasPrefix(c.Tool, "mcp__") || c.Question || c.OwnShell || c.Command != "" && !patchTools[tool] &&
		!editorCommands[c.Command] {
		return change{}
	}
	if c.Command != "" { // it is an argument like others here
		fields, _ = fieldsOf(c.Args)
	}
	ch.rest = fields
	if patchTools[tool] {
		if ch.text, _ = ch.take(patchKeys); ch.text != "" {
			ch.kind = patches
		}
		return ch
	}
	var ok bool
	if ch.path, ok = ch.take(pathKeys); !ok || ch.path == "" {
		return change{}
	}
	whole := ch.rest
	if editTools[tool] && ch.takeEdits() {
		ch.kind = edits
		return ch
	}
	ch.rest = whole
	for _, form := range []struct {
		tools map[string]bool
		keys  []string
		kind  changeKind
		when  bool
	}{
		{writeTools, contentKeys, writes, c.Command == "" || c.Command == "create"},
		{insertTools, insertKeys, inserts, c.Command != "create"},
	} {
		if form.when && form.tools[tool] {
			if ch.text, ok = ch.take(form.keys); ok {
				ch.kind = form.kind
				return ch
			}
		}
	}
	return change{}
}

// take removes the argument that has one of the keys, if it is a text and the only one.
func (ch *change) take(keys []string) (text string, ok bool) {
	at := -1
	for i, f := range ch.rest {
		if slices.Contains(keys, f.key) {
			if at >= 0 {
				return "", false
			}
			at = i
		}
	}
	if at < 0 {
		return "", false
	}
	if text, ok = textOf(ch.rest[at].raw); ok {
		ch.rest = slices.Delete(slices.Clone(ch.rest), at, at+1)
	}
	return text, ok
}

// takeEdits takes what is replaced: one edit, or a list of them.
func (ch *change) takeEdits() bool {
	before, had := ch.take(oldKeys)
	after, has := ch.take(newKeys)
	at := slices.IndexFunc(ch.rest, func(f field) bool { return f.key == "edits" })
	if had && has && at < 0 {
		ch.edit = []edit{{before, after, nil}}
		return true
	}
	if had || has || at < 0 {
		return false
	}
	items, ok := fieldsOf(ch.rest[at].raw)
	if !ok || len(items) == 0 || ch.rest[at].raw[0] != '[' {
		return false
	}
	for _, item := range items {
		one := change{}
		if one.rest, ok = fieldsOf(item.raw); !ok || item.raw[0] != '{' || !one.takeEdits() || len(one.edit) != 1 {
			return false
		}
		ch.edit = append(ch.edit, edit{one.edit[0].before, one.edit[0].after, one.rest})
	}
	ch.rest = slices.Delete(slices.Clone(ch.rest), at, at+1)
	return true
}

// files adds a call that writes or changes a file. It returns false for any other.
func (b *builder) files(c Call, fields []field, isObject bool) bool {
	ch := change{}
	if isObject {
		ch = c.changeOf(fields)
	}
	switch ch.kind {
	case noChange:
		return false
	case patches:
		b.patch(ch.text)
		b.others(ch.rest, "")
	case writes:
		b.text("Path", ch.path)
		b.others(ch.rest, "")
		b.say("Size", sizeOf(ch.text))
		b.code("", b.lineEnds(ch.text)[0])
	case inserts:
		b.text("Path", ch.path)
		b.others(ch.rest, "")
		b.diff("", "", ch.text)
	case edits:
		b.text("Path", ch.path)
		b.others(ch.rest, "")
		for i, e := range ch.edit {
			name := ""
			if len(ch.edit) > 1 {
				name = fmt.Sprintf("Edit %d of %d", i+1, len(ch.edit))
			}
			b.diff(name, e.before, e.after)
			b.others(e.rest, name)
		}
	}
	if !plainTools[c.Tool] {
		b.line("Tool", c.Tool)
	}
	return true
}

// others adds the arguments that have no block of their own yet. With of, they are those of one of
// several edits.
func (b *builder) others(fields []field, of string) {
	for _, f := range fields {
		name := label(f.key)
		if f.key == "replace_all" || f.key == "replaceAll" {
			if text, known := map[string]string{"true": "every occurrence", "false": "one occurrence"}[string(f.raw)]; known {
				b.say("Replaces", text)
				continue
			}
		}
		if of != "" {
			name = of + ", " + name
		}
		b.value(name, f.raw)
	}
}

// lineEnds returns texts without the carriage returns of Windows, and says so, if all their lines
// end in that way. Otherwise each carriage return is marked.
func (b *builder) lineEnds(texts ...string) []string {
	all := strings.Join(texts, "")
	breaks := strings.Count(all, "\r\n")
	if breaks == 0 || breaks != strings.Count(all, "\n") || breaks != strings.Count(all, "\r") {
		return texts
	}
	b.say("Line ends", "those of Windows")
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = strings.ReplaceAll(t, "\r\n", "\n")
	}
	return out
}

// diff adds what an edit changes.
func (b *builder) diff(name, before, after string) {
	texts := b.lineEnds(b.mask(before), b.mask(after))
	lines := diffOf(linesOf(texts[0]), linesOf(texts[1]))
	b.add(Diff, name, diffText(lines))
	had, has := strings.HasSuffix(texts[0], "\n"), strings.HasSuffix(texts[1], "\n")
	switch {
	case texts[0] == "" || texts[1] == "":
	case had && !has:
		b.say("End", "the last line break is removed")
	case has && !had:
		b.say("End", "a line break is added at the end")
	}
}

// linesOf returns the lines of a text. After a line break at its end there is an empty line, and an
// empty text has no line.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// patch adds a patch in the form of Codex: the files with what is done to each, and the changed
// lines. What is not exactly of that form is shown as it is.
func (b *builder) patch(text string) {
	files, ok := patchOf(b.mask(text))
	if !ok {
		b.code("Patch", text)
		return
	}
	for _, f := range files {
		b.say(map[string]string{"Add": "Add", "Delete": "Delete", "Update": "Path"}[f.does], onOneLine(f.path))
		if f.to != "" {
			b.say("Move to", onOneLine(f.to))
		}
		for _, h := range f.hunks {
			var lines []string
			for _, l := range h.lines {
				lines = append(lines, l[:1]+Squeeze(Visible(l[1:])))
			}
			at := ""
			if h.at != "" {
				at = "@@" + h.at // as it is written, so that it passes for no label of ours
			}
			b.add(Diff, at, strings.Join(lines, "\n"))
			if h.end {
				b.say("End", "of the file")
			}
		}
	}
}
