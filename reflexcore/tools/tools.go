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
	"encoding/json"
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
	return Limits{Bytes: 1 << 20, Args: 4096, Depth: 16, Paths: 64, Bulk: 20, File: 1 << 20, Content: content.DefaultLimits(), SQL: sqltext.DefaultLimits()}
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
	j.name()
	if !j.read() {
		j.add(effect.Opaque, "", effect.Partial)
		return j.result
	}
	j.texts()
	j.actions()
	j.result.Count = j.longest()
	j.judge()
	return j.result
}

// minText is the shortest value that can say something to a model.
const minText = 12

// texts collects what is read.
func (j *judge) texts() {
	for i := range j.args {
		a := &j.args[i]
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

// A judge holds one call.
type judge struct {
	call   approver.ToolCall
	lim    Limits
	fs     FS
	tool   string // the name without its server
	verbs  verbs
	nouns  nouns
	args   []arg
	lists  []list
	paths  int
	result Result
}

func (j *judge) add(kind effect.Kind, target string, bits effect.Bits) {
	j.addTainted(kind, target, bits, 0)
}

func (j *judge) addTainted(kind effect.Kind, target string, bits effect.Bits, taint effect.Taint) {
	e := effect.Effect{Kind: kind, Target: target, Bits: bits, Taint: taint, By: j.tool}
	for _, have := range j.result.Effects {
		if have == e {
			return
		}
	}
	j.result.Effects = append(j.result.Effects, e)
}

func (j *judge) payload(p effect.Payload) {
	if strings.TrimSpace(p.Text) == "" && p.Lang != "" {
		return
	}
	for _, have := range j.result.Payloads {
		if have == p {
			return
		}
	}
	j.result.Payloads = append(j.result.Payloads, p)
}

// bulk is Bulk if the call names many things, or all of them.
func (j *judge) bulk() effect.Bits {
	if j.result.Count >= max(j.lim.Bulk, 1) {
		return effect.Bulk
	}
	for _, a := range j.args {
		switch a.role {
		case roleText, roleContent, rolePath, roleURL, roleSQL, roleCommand, roleCode:
			continue
		default:
		}
		switch strings.ToLower(a.text) {
		case "*", "all", "everything", "_all":
			return effect.Bulk
		case "true":
			if strings.HasPrefix(a.key, "all") || a.key == "everything" || strings.HasPrefix(a.key, "deleteall") {
				return effect.Bulk
			}
		}
	}
	if j.nouns&nounAll != 0 {
		return effect.Bulk
	}
	return 0
}

// judge turns arguments into effects.
func (j *judge) judge() {
	if j.verbs&verbPatch != 0 && j.patch() {
		return
	}
	j.commands()
	j.statements()
	j.files()
	j.requests()
	j.messages()
	j.browser()
	j.rest()
}

// commands hands out what runs: the command of any tool, the code of one that
// runs code.
func (j *judge) commands() {
	runs := j.verbs&verbExec != 0
	given := false
	if len(j.args) == 0 && j.call.Command != "" {
		j.payload(effect.Payload{Lang: effect.Shell, Text: j.call.Command, Why: "command of " + j.tool})
		given = true
	}
	for i := 0; i < len(j.args); i++ {
		a := j.args[i]
		switch {
		case a.role == roleCommand && j.verbs&verbEditor == 0:
			text := a.text
			// A list is one command, word by word, and so is a program with a list of
			// arguments after it.
			if a.item >= 0 {
				var words []string
				for ; i < len(j.args) && j.args[i].key == a.key && j.args[i].item >= 0; i++ {
					words = append(words, j.args[i].text)
				}
				i--
				text = j.join(a.key, words)
			}
			if more := j.words("args", "arguments", "argv"); a.item < 0 && len(more) > 0 {
				text += " " + quoteWords(more)
			}
			lang := effect.Shell
			switch {
			case j.nouns&nounPowerShell != 0:
				lang = effect.PowerShell
			case j.nouns&nounDatabase != 0 && j.dialect() == "redis":
				j.result.Effects = sqltext.RedisText(j.result.Effects, text, j.lim.SQL)
				continue
			}
			j.payload(effect.Payload{Lang: lang, Text: text, Why: a.key + " of " + j.tool})
			given = true
		case a.role == roleCode && (runs || j.verbs&verbWrite == 0):
			j.payload(effect.Payload{Lang: j.language(a), Text: a.text, Why: a.key + " of " + j.tool})
			given = true
		case runs && (a.role == roleText || a.role == roleContent) && j.nouns&(nounShell|nounCode) != 0 && (a.key == "input" || a.key == "text" || a.key == "content"):
			j.payload(effect.Payload{Lang: j.language(a), Text: a.text, Why: a.key + " of " + j.tool})
			given = true
		}
	}
	if more := j.words("args", "arguments", "argv"); !given {
		line := strings.Join(j.values("args", "arguments"), " ")
		switch program := j.program(); {
		case program != "" && len(more) == 0 && line != "":
			j.payload(effect.Payload{Lang: effect.Shell, Text: program + " " + line, Why: "arguments of " + j.tool})
			given = true
		case len(more) == 0:
		case program != "":
			j.payload(effect.Payload{Lang: effect.Shell, Text: program + " " + quoteWords(more), Why: "arguments of " + j.tool})
			given = true
		case runs && (j.nouns&nounShell != 0 || len(j.words("argv")) > 0):
			j.payload(effect.Payload{Lang: effect.Shell, Text: quoteWords(more), Why: "arguments of " + j.tool})
			given = true
		case j.nouns&nounDatabase != 0 && j.dialect() == "redis":
			j.result.Effects = sqltext.RedisText(j.result.Effects, quoteWords(more), j.lim.SQL)
		}
	}
	if runs && !given && j.nouns&(nounShell|nounCode) != 0 && !j.has(rolePath) && !j.has(roleSQL) {
		j.add(effect.Opaque, "", effect.Partial)
	}
}

// program is the command line program that the tool is named after, or "".
func (j *judge) program() string {
	name := strings.ToLower(j.call.Tool)
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	for _, p := range [...]string{"kubectl", "docker", "podman", "helm", "terraform", "git", "gh", "aws", "gcloud", "az", "npm", "redis-cli", "psql"} {
		if name == p || name == "run_"+p || name == p+"_command" || name == "run_"+p+"_command" {
			return p
		}
	}
	return ""
}

// join makes one command of a list: words of one, or several commands.
func (j *judge) join(key string, words []string) string {
	if key == "commands" || key == "cmds" {
		return strings.Join(words, "\n")
	}
	return quoteWords(words)
}

// quoteWords writes words as a shell reads them back.
func quoteWords(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if w != "" && !strings.ContainsAny(w, " \t\n'\"\\$`;&|<>()*?[]{}~#!") {
			b.WriteString(w)
			continue
		}
		b.WriteString("'" + strings.ReplaceAll(w, "'", `'\''`) + "'")
	}
	return b.String()
}

// language is what a piece of code is written in.
func (j *judge) language(a arg) string {
	for _, l := range j.values("language", "lang", "runtime", "interpreter", "kernel") {
		if lang := content.Shebang("#!" + l); lang != "" {
			return lang
		}
		switch strings.ToLower(l) {
		case "javascript", "typescript", "js", "ts":
			return effect.JavaScript
		case "shell":
			return effect.Shell
		case "py", "ipython":
			return effect.Python
		}
	}
	if strings.HasPrefix(a.text, "#!") {
		line, _, _ := strings.Cut(a.text, "\n")
		return content.Shebang(line)
	}
	switch {
	case a.key == "python" || j.nouns&nounPython != 0:
		return effect.Python
	case a.key == "javascript" || a.key == "js" || a.key == "expression" || a.key == "function" || a.key == "pagefunction" || j.nouns&(nounBrowser|nounScript) != 0:
		return effect.JavaScript
	case j.nouns&nounPowerShell != 0:
		return effect.PowerShell
	case j.nouns&nounShell != 0 || a.key == "bash":
		return effect.Shell
	}
	return "" // some language
}

// dialect is the database that the tool or its server is named after.
func (j *judge) dialect() string {
	name := strings.ToLower(j.call.Tool)
	for _, d := range [...]string{"postgres", "mysql", "mariadb", "sqlite", "mssql", "sqlserver", "oracle", "redis", "mongo", "psql", "duckdb"} {
		if strings.Contains(name, d) {
			return d
		}
	}
	return ""
}

// statements looks at texts for databases.
func (j *judge) statements() {
	for _, a := range j.args {
		switch {
		case a.role == roleQuery && deletingMutation(a.text):
			j.add(effect.RemoteDelete, j.subject(), j.bulk())
		case a.role == roleSQL, a.role == roleQuery && (j.nouns&nounDatabase != 0 || j.verbs&verbQuery != 0 || j.verbs&verbExec != 0) && j.verbs&verbWeb == 0, a.role == roleQuery && j.verbs&(verbWeb|verbSearch) == 0 && looksSQL(a.text):
			j.result.Effects = sqltext.Effects(j.result.Effects, j.dialect(), a.text, j.lim.SQL, j.payload)
		case a.role == roleDSN:
			j.url(a.text, false)
		}
	}
	if j.nouns&nounDatabase != 0 && j.verbs&verbDelete != 0 && !j.has(roleSQL) && !j.has(roleQuery) {
		for _, a := range j.args {
			if (a.role == roleOther || a.role == roleText) && (a.key == "filter" || a.key == "where" || a.key == "condition") {
				return
			}
		}
		j.add(effect.RemoteDelete, j.subject(), j.bulk())
	}
}

// deletingMutation reports whether a text is a change in GraphQL that deletes.
func deletingMutation(s string) bool {
	s = strings.ToLower(strings.TrimSpace(s))
	_, body, found := strings.Cut(s, "{")
	return found && strings.HasPrefix(s, "mutation") && (strings.Contains(body, "delete") || strings.Contains(body, "remove"))
}

// looksSQL reports whether a text begins like a statement.
func looksSQL(s string) bool {
	word, _, _ := strings.Cut(strings.ToLower(strings.TrimLeft(s, " \t\r\n(;/*-")), " ")
	switch word {
	case "drop", "delete", "truncate", "alter", "grant", "revoke", "update", "insert", "select", "with", "exec", "execute", "copy", "merge", "create", "attach":
		return strings.Contains(strings.TrimSpace(s), " ")
	}
	return false
}

// subject is what a call is about, for people: the first telling values.
func (j *judge) subject() string {
	var b strings.Builder
	for _, a := range j.args {
		switch a.role {
		case roleContent, roleText, roleCode, roleHeader, roleSecret, roleOld, roleNew, roleMethod:
			continue
		default:
		}
		if a.text == "" || len(a.text) > 200 || b.Len() > 200 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.text)
	}
	if b.Len() == 0 {
		return j.tool
	}
	return b.String()
}

// raw reports whether a value is JSON.
func raw(s string) bool {
	s = strings.TrimSpace(s)
	return len(s) > 1 && (s[0] == '{' && s[len(s)-1] == '}' || s[0] == '[' && s[len(s)-1] == ']') && json.Valid([]byte(s))
}
