// Package tools says what a call of a tool other than a shell would do: files that are written and
// read, requests, messages, database statements, pages of a browser, and anything that an MCP server
// offers.
//
// [Effects] reads the meaning of names. The words of the tool's name are verbs (delete, send, run …)
// and nouns (file, email, database …). The names of its arguments say what each value is (a path, a
// URL, a command, recipients). If a name is not known, the form of the value decides: a URL, an
// absolute path, JSON inside a string. A tool whose name and arguments are not known has no effect
// here.
//
// What runs is not judged here: commands, scripts, statements in a page and the executable parts of
// files are returned as payloads in their language. A path is returned twice if a symbolic link
// leads elsewhere. It is only partly known (effect.Partial) if links could not be read. A payment is
// effect.Publish, because it cannot be undone either.
//
// Read tools.go, words.go, args.go and judge.go, then the rest by name. What tools do to services of
// others is in services.go, and what stands for a command line in twins.go.
package tools

import (
	"slices"
	"strings"

	"approver.example"
	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/sqltext"
	"approver.example/reflexcore/wordset"
)

// Limits bound the work on one call. The zero value reads nothing and returns an opaque effect.
type Limits struct {
	Bytes   int            `yaml:"bytes"`  // of arguments
	Args    int            `yaml:"values"` // values in them
	Depth   int            `yaml:"depth"`  // of lists and objects, and of JSON in strings
	Paths   int            `yaml:"links"`  // that are followed through links
	Bulk    int            `yaml:"bulk"`   // ids, recipients or files from which on an effect is effect.Bulk
	File    int            `yaml:"file"`   // bytes of a file that an edit changes
	Content content.Limits `yaml:"-"`
	SQL     sqltext.Limits `yaml:"-"`
}

// DefaultLimits returns limits that suit a hook.
func DefaultLimits() Limits {
	return Limits{Bytes: 1 << 20, Args: 4096, Depth: 16, Paths: 64, Bulk: 20, File: 1 << 20,
		Content: content.DefaultLimits(), SQL: sqltext.DefaultLimits()}
}

// A Result is what a call would do.
type Result struct {
	Effects  []effect.Effect
	Payloads []effect.Payload
	// Count is the number of things that the call names: the longest list of ids, recipients or
	// files.
	Count int
	// Texts are values that people or models read: what is written, sent or asked. Text that an edit
	// removes is not among them.
	Texts []string
	// Wrote are the texts that are put into files. Of an edit it is what is new.
	Wrote []Wrote
}

// A Wrote is a text that is put into a file.
type Wrote struct{ Path, Text string }

// Effects returns what a call would do. With a nil FS no links are followed, and every path is only
// partly known.
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

// minText is the shortest value that could instruct a model.
const minText = 12

// collectTexts collects the values that people or models read.
func (j *judge) collectTexts() {
	read := []role{roleContent, roleText, roleNew, roleCode, roleOther, roleQuery, roleField}
	for _, a := range j.in.args {
		if len(a.text) >= minText && !a.number && slices.Contains(read, a.role) {
			j.result.Texts = append(j.result.Texts, a.text)
		}
	}
}

// judge turns arguments into effects.
func (j *judge) judge() {
	if j.is(verbPatch) {
		j.patch()
		return
	}
	j.commands()
	j.statements()
	j.files()
	j.requests()
	j.messages()
	j.browser()
	j.otherEffects()
	j.forced()
	j.services()
}

// readArguments parses the arguments; false if that fails.
func (j *judge) readArguments() bool {
	if len(j.call.Args) > j.lim.Bytes || j.lim.Depth <= 0 {
		return false
	}
	if len(j.call.Args) > 0 {
		if err := j.in.document(j.call.Args, "", j.lim.Depth); err != nil {
			return false
		}
	}
	j.in.guessRoles(j.is(verbWrapper))
	j.cells()
	j.accounts()
	for _, p := range j.call.Paths {
		j.in.extra(p, rolePath)
	}
	for _, u := range j.call.URLs {
		j.in.extra(u, roleURL)
	}
	return true
}

// readName reads the tool's name. The name of its server does not say what the tool does, but may
// say which database it uses.
func (j *judge) readName() {
	t := j.call.Tool[:min(len(j.call.Tool), maxName)]
	for _, sep := range [...]string{"__", "::", ":", ".", "/"} {
		if i := strings.LastIndex(t, sep); i >= 0 && i+len(sep) < len(t) {
			t = t[i+len(sep):]
		}
	}
	j.tool = t
	eachWord(t, func(w string) { j.words = append(j.words, w) })
	for i, w := range j.words {
		if !j.isRequest(i) {
			j.meaning |= meanings[w]
		}
	}
	j.meaning |= meanings[strings.ToLower(t)] // WebFetch, MultiEdit
	if len(t) < len(j.call.Tool) {
		eachWord(j.call.Tool[:min(len(j.call.Tool), maxName)], func(w string) { j.around = append(j.around, w) })
	} else {
		j.around = j.words
	}
	if len(j.words) > 0 {
		j.meaning |= firstMeanings[j.words[0]]
	}
	switch strings.ToLower(t) {
	case "apply_patch", "applypatch", "apply-patch", "apply_diff", "applydiff", "patch_file":
		j.meaning |= verbPatch
	case "str_replace", "multiedit":
		j.meaning |= verbWrite
	}
	if strings.Contains(strings.ToLower(t), "str_replace") {
		j.meaning |= verbEditor
	}
	if d := databaseOf(j.call.Tool); d != "" {
		j.meaning |= nounDatabase
	}
}

// maxName limits the part of a tool's name that is read.
const maxName = 256

// actions adds the verbs of an argument that names an action: of an editor, of a computer, or the
// method of a wrapper.
func (j *judge) actions() {
	for _, a := range j.in.args {
		switch a.key {
		case "action", "operation", "op", "actiontype", "subcommand":
		case "command":
			if !j.is(verbEditor) && (j.is(doing) || !j.in.has(rolePath) || !editorWords[a.text]) {
				continue
			}
			j.meaning |= verbEditor
		case "toolname", "tool", "functionname", "methodname", "name", "function", "recipientname":
			if !j.is(verbWrapper) && !callLists[a.parent] {
				continue
			}
		default:
			continue
		}
		if len(a.text) <= maxName && !strings.ContainsAny(a.text, " \n/") {
			if a.key == "command" && a.text == "view" {
				j.meaning &^= verbWrite
			}
			j.request(a.text)
		}
	}
	// An editor's name has the verb edit; the requested action replaces it.
	if j.is(verbEditor) {
		j.meaning &^= verbWrite | verbExec | nounShell
		if !j.is(verbRead) {
			j.meaning |= verbWrite
		}
	}
}

// request adds the words of an action. An argument does not make a tool that does something one that only looks:
// it may be one that the tool never reads.
func (j *judge) request(action string) {
	var asked meaning
	asked.addWords(action)
	if j.is(doing) && !j.is(verbEditor|verbWrapper) {
		asked &^= looking
	}
	j.meaning |= asked
}

// Verbs of tools that change something, and of those that do not.
const (
	doing = verbWrite | verbDelete | verbSend | verbPublish | verbGrant | verbPay | verbBuy | verbPlace | verbKill |
		verbMerge | verbSwitch | verbRestore
	looking = verbRead | verbSearch | verbTry
)

// callLists have calls of other tools.
var callLists = wordset.Of("toolcalls tooluses")

var editorWords = wordset.Of("view create str_replace insert undo_edit append delete")
