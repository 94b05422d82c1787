// Package tools says what a call of a tool that is no shell would do: files that
// are written and read, requests, messages, statements of databases, pages of a
// browser, and whatever an MCP server offers.
//
// [Effects] goes by meaning. The words of the tool's name are verbs (delete,
// send, run …) and nouns (file, email, database …); the names of its arguments
// say what each value is (a path, a URL, a command, recipients). Where a name
// says nothing, the value's shape does: a URL, an absolute path, JSON inside a
// string. A tool whose name and arguments say nothing has no effect here.
//
// What runs is not judged here: commands, scripts, statements in a page and the
// executable parts of files come back as payloads in their language. Paths are
// given twice if a symbolic link leads elsewhere, and are known in part only
// (effect.Partial) if it could not be seen where. Money that moves is
// effect.Publish, because it cannot be taken back either.
package tools

import (
	"strings"

	"approver.example"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/sqltext"
)

// Limits bound the work on one call. The zero value reads nothing, and says so
// as an opaque effect.
type Limits struct {
	Bytes   int // of arguments
	Args    int // values in them
	Depth   int // of lists and objects, and of JSON in strings
	Paths   int // that are followed through links
	Bulk    int // ids, recipients or files from which on an effect is effect.Bulk
	File    int // bytes of a file that an edit changes
	Content content.Limits
	SQL     sqltext.Limits
}

// DefaultLimits suit a hook.
func DefaultLimits() Limits {
	return Limits{Bytes: 1 << 20, Args: 4096, Depth: 16, Paths: 64, Bulk: 20, File: 1 << 20,
		Content: content.DefaultLimits(), SQL: sqltext.DefaultLimits()}
}

// A Result is what a call would do.
type Result struct {
	Effects  []effect.Effect
	Payloads []effect.Payload
	// Count is how many things of a kind the call names: the longest list of ids,
	// recipients or files.
	Count int
	// Texts are the values that people or models read: what is written, sent or
	// asked. What an edit takes away is none.
	Texts []string
}

// Effects says what a call would do. A nil FS follows no links, and then every
// path is only known in part.
func Effects(call approver.ToolCall, lim Limits, fs FS) Result {
	j := &judge{call: call, lim: lim, fs: fs}
	j.in.limit = lim.Args
	j.readName()
	if j.readArguments() {
		j.collectTexts()
		j.actions()
		j.result.Count = j.in.longest()
		j.judge()
	} else {
		j.add(effect.Opaque, "", effect.Partial)
	}
	j.result.Effects = j.effects
	return j.result
}

// minText is the shortest value that can say something to a model.
const minText = 12

// collectTexts collects what is read.
func (j *judge) collectTexts() {
	for i := range j.in.args {
		a := &j.in.args[i]
		if len(a.text) < minText || a.number {
			continue
		}
		switch a.role {
		case roleContent, roleText, roleNew, roleCode, roleOther, roleQuery, roleField:
			j.result.Texts = append(j.result.Texts, a.text)
		default:
		}
	}
}

// judge turns arguments into effects.
func (j *judge) judge() {
	if j.meaning.verbs&verbPatch != 0 && j.patch() {
		return
	}
	j.commands()
	j.statements()
	j.files()
	j.requests()
	j.messages()
	j.browser()
	j.others()
}

// readArguments takes the arguments apart; false if they cannot be read.
func (j *judge) readArguments() bool {
	if len(j.call.Args) > j.lim.Bytes || j.lim.Depth <= 0 {
		return false
	}
	if len(j.call.Args) > 0 {
		if err := j.in.document(j.call.Args, "", j.lim.Depth); err != nil {
			return false
		}
	}
	j.in.shapes(j.meaning.verbs&verbWrapper != 0)
	for _, p := range j.call.Paths {
		j.in.extra(p, rolePath)
	}
	for _, u := range j.call.URLs {
		j.in.extra(u, roleURL)
	}
	return true
}

// readName reads the tool's name: what its server is called does not say what the
// tool does, but which database it is.
func (j *judge) readName() {
	t := j.call.Tool[:min(len(j.call.Tool), maxName)]
	for _, sep := range [...]string{"__", "::", ":", ".", "/"} {
		if i := strings.LastIndex(t, sep); i >= 0 && i+len(sep) < len(t) {
			t = t[i+len(sep):]
		}
	}
	j.tool = t
	j.meaning.mean(t)
	switch strings.ToLower(t) {
	case "apply_patch", "applypatch", "apply-patch", "apply_diff", "applydiff", "patch_file":
		j.meaning.verbs |= verbPatch
	case "str_replace", "multiedit":
		j.meaning.verbs |= verbWrite
	}
	if strings.Contains(strings.ToLower(t), "str_replace") {
		j.meaning.verbs |= verbEditor
	}
	if d := databaseOf(j.call.Tool); d != "" {
		j.meaning.nouns |= nounDatabase
	}
}

// maxName bounds the part of a tool's name that is read.
const maxName = 256

// actions adds what an argument says that the call does: the action of an
// editor or a computer, the method of a wrapper.
func (j *judge) actions() {
	for _, a := range j.in.args {
		switch a.key {
		case "action", "operation", "op", "actiontype", "subcommand":
		case "command":
			if j.meaning.verbs&verbEditor == 0 && (!j.in.has(rolePath) || !editorWords[a.text]) {
				continue
			}
			j.meaning.verbs |= verbEditor
		case "toolname", "tool", "functionname", "methodname", "name", "function":
			if j.meaning.verbs&verbWrapper == 0 {
				continue
			}
		default:
			continue
		}
		if len(a.text) <= maxName && !strings.ContainsAny(a.text, " \n/") {
			if a.key == "command" && a.text == "view" {
				j.meaning.verbs &^= verbWrite
			}
			j.meaning.mean(a.text)
		}
	}
	// An editor's name has a verb of its own; what it was told counts.
	if j.meaning.verbs&verbEditor != 0 && j.meaning.verbs&verbRead != 0 {
		j.meaning.verbs &^= verbWrite
	} else if j.meaning.verbs&verbEditor != 0 {
		j.meaning.verbs |= verbWrite
	}
	if j.meaning.verbs&verbEditor != 0 {
		j.meaning.verbs &^= verbExec
		j.meaning.nouns &^= nounShell
	}
}

var editorWords = map[string]bool{"view": true, "create": true, "str_replace": true, "insert": true, "undo_edit": true,
	"append": true, "delete": true}
