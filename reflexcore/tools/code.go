package tools

import (
	"strings"

	"approver.example/reflexcore/content"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/sqltext"
	"approver.example/reflexcore/wordset"
)

// commands yields what runs: the command of any tool, and the code of a tool that runs code.
func (j *judge) commands() {
	runs := j.is(verbExec)
	given := false
	if len(j.in.args) == 0 && j.call.Command != "" {
		j.payload(effect.Payload{Lang: effect.Shell, Text: j.call.Command, Why: "command of " + j.tool})
		given = true
	}
	for i := 0; i < len(j.in.args); i++ {
		a := j.in.args[i]
		switch {
		case a.role == roleCommand && !j.is(verbEditor):
			text := a.text
			// A list is one command, word by word. So is a program followed by a list of arguments.
			if a.item >= 0 {
				var words []string
				for ; i < len(j.in.args) && j.in.args[i].key == a.key && j.in.args[i].list == a.list; i++ {
					words = append(words, j.in.args[i].text)
				}
				i--
				if text = joinCommand(a.key, words); a.nested { // each of several commands, word by word
					text = quoteWords(words)
				}
			}
			if more := j.in.words("args", "arguments", "argv"); a.item < 0 && len(more) > 0 {
				text += " " + quoteWords(more)
			}
			if !j.is(nounPowerShell) && j.isRedis(a.key, text) {
				j.effects = sqltext.RedisText(j.effects, text, j.lim.SQL)
				continue
			}
			if text != j.call.Command { // which is read as the command of the call
				j.payload(effect.Payload{Lang: j.shell(), Text: text, Why: a.key + " of " + j.tool})
			}
			given = true
		case a.role == roleCode && (runs || !j.is(verbWrite)),
			runs && (a.role == roleText || a.role == roleContent) && j.is(nounShell|nounCode) &&
				(a.key == "input" || a.key == "text" || a.key == "content"):
			j.code(a)
			given = true
		}
	}
	j.twin()
	j.unseen()
	given = j.enters(runs) || given
	given = j.vectors() || given
	given = given || j.program(runs)
	// A shell that is stopped or looked at runs nothing more: KillShell, BashOutput.
	managed := j.is(verbKill|verbRead) && !j.is(verbRun) || j.is(verbDelete) && j.isOwn()
	if runs && !given && !managed && j.is(nounShell|nounCode) && !j.in.has(rolePath, roleSQL) {
		j.add(effect.Opaque, "", effect.Partial)
	}
}

// program yields the arguments of the program that the tool is named after, or that a list of words
// starts. It reports whether there are any.
func (j *judge) program(runs bool) bool {
	more := j.in.words("args", "arguments", "argv")
	if runs && len(more) == 0 {
		more = j.in.words("input")
	}
	line := strings.Join(j.in.values("args", "arguments"), " ")
	switch program := programOf(j.call.Tool); {
	case program != "" && len(more) == 0 && line != "":
		line = program + " " + line
	case len(more) == 0:
		return false
	case program != "":
		line = program + " " + quoteWords(more)
	case j.is(nounDatabase) && databaseOf(j.call.Tool) == "redis":
		j.effects = sqltext.RedisText(j.effects, quoteWords(more), j.lim.SQL)
		return false
	case runs && j.is(nounShell), isProgramName(more[0]):
		line = quoteWords(more)
	default:
		return false
	}
	j.payload(effect.Payload{Lang: effect.Shell, Text: line, Why: "arguments of " + j.tool})
	return true
}

// isProgramName reports whether the first of several words may be the name of a program.
func isProgramName(word string) bool {
	return word != "" && word[0] != '-' && !strings.ContainsAny(word, " \t\n'\"\\$`;&|<>()*?[]{}#!,=")
}

// programOf returns the command line program that a tool is named after, or "".
func programOf(tool string) string {
	name := strings.ToLower(tool)
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	for _, p := range [...]string{"kubectl", "docker", "podman", "helm", "terraform", "git", "gh", "aws", "gcloud",
		"az", "npm", "redis-cli", "psql"} {
		if name == p || name == "run_"+p || name == p+"_command" || name == "run_"+p+"_command" {
			return p
		}
	}
	return ""
}

// joinCommand makes a command of a list: the words of one command, or several commands.
func joinCommand(key string, words []string) string {
	if key == "commands" || key == "cmds" {
		return strings.Join(words, "\n")
	}
	return quoteWords(words)
}

// quoteWords joins words so that a shell splits them again.
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

// language returns the language of a piece of code.
func (j *judge) language(a arg) string {
	for _, l := range j.in.values("language", "lang", "runtime", "interpreter", "kernel") {
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
	case a.key == "python" || j.is(nounPython) || j.isNotebook():
		return effect.Python
	case wordset.Has("javascript js expression function pagefunction", a.key) || j.is(nounBrowser|nounScript):
		return effect.JavaScript
	case j.is(nounPowerShell):
		return effect.PowerShell
	case j.is(nounShell) || a.key == "bash":
		return effect.Shell
	}
	return "" // some language
}

// statements yields texts for databases.
func (j *judge) statements() {
	for _, a := range j.in.args {
		switch {
		case a.role == roleQuery && deletingMutation(a.text):
			j.add(effect.RemoteDelete, j.subject(), j.bulk())
		case j.holdsSQL(a):
			j.effects = sqltext.Effects(j.effects, databaseOf(j.call.Tool), a.text, j.lim.SQL, j.payload)
		case a.role == roleDSN:
			j.url(a.text, false)
		}
	}
	if j.is(nounDatabase) && j.is(verbDelete) && (j.whole() != "" || !j.in.has(roleSQL, roleQuery)) {
		for _, a := range j.in.args {
			if j.whole() == "" && (a.role == roleOther || a.role == roleText) &&
				(a.key == "filter" || a.key == "where" || a.key == "condition") {
				return
			}
		}
		j.drops()
	}
}

// drops adds what a tool deletes of a database that no statement names: a whole table is lost as it
// is by DROP TABLE.
func (j *judge) drops() {
	for _, whole := range [...]string{"database", "schema", "table", "collection"} {
		if j.toolHas(whole) {
			j.add(effect.RemoteDelete, whole+" "+j.subject(), j.bulk()|effect.Bulk)
			return
		}
	}
	j.addWhat(effect.RemoteDelete, j.thing(), j.subject())
}

// whole returns what a tool drops as a whole, by the end of its name; empty if it may be some rows only.
func (j *judge) whole() string {
	if len(j.words) == 0 {
		return ""
	}
	last := strings.TrimSuffix(j.words[len(j.words)-1], "s")
	if wordset.Has("database db schema table collection", last) {
		return last
	}
	return ""
}

// holdsSQL reports whether an argument is a statement: by its name, by the tool, or by its form.
func (j *judge) holdsSQL(a arg) bool {
	switch a.role {
	case roleSQL:
		return true
	case roleQuery:
		return !j.is(verbWeb) && (j.is(nounDatabase|verbQuery|verbExec) || !j.is(verbSearch) && looksSQL(a.text))
	case roleOther, roleText, roleContent, roleCommand, roleCode:
		if wordset.Has("description title comment explanation reason prompt", a.key) {
			return false // people read it
		}
		return (j.is(nounDatabase) || strings.Contains(a.key, "sql") || strings.Contains(a.key, "query") ||
			strings.Contains(a.key, "statement")) && looksSQL(a.text)
	default:
		return false
	}
}

// deletingMutation reports whether a text is a GraphQL mutation that deletes.
func deletingMutation(s string) bool {
	s = strings.ToLower(strings.TrimSpace(s))
	_, body, found := strings.Cut(s, "{")
	return found && strings.HasPrefix(s, "mutation") && (strings.Contains(body, "delete") ||
		strings.Contains(body, "remove"))
}

// looksSQL reports whether a text begins like an SQL statement. Comments before it do not count.
func looksSQL(s string) bool {
	for range maxComments {
		s = strings.TrimLeft(s, " \t\r\n(;")
		switch {
		case strings.HasPrefix(s, "--"):
			_, s, _ = strings.Cut(s, "\n")
		case strings.HasPrefix(s, "/*"):
			_, s, _ = strings.Cut(s, "*/")
		default:
			end := strings.IndexAny(s, " \t\r\n/")
			return end > 0 && sqlVerbs[strings.ToLower(s[:end])]
		}
	}
	return true // so many comments hide something
}

const maxComments = 64

var sqlVerbs = wordset.Of("drop delete truncate alter grant revoke update insert select with exec execute copy merge " +
	"create attach")
