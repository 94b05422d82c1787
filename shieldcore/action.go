package shieldcore

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"approver.example"
	"approver.example/internal/lazyregexp"
)

// actions are the kinds of action that rules name under action_types. A call
// can be several at once.
var actions = []string{"exec", "read", "write", "delete", "move", "copy", "http", "email", "message", "memory_write",
	"mcp", "other"}

// actionAliases are names of the same kinds in other policy dialects.
var actionAliases = byWord(map[string]string{
	"exec":    "shell_exec execute_command run_command",
	"read":    "read_file list_directory search_files",
	"write":   "write_file edit_file create_directory",
	"delete":  "delete_file delete_directory",
	"move":    "move_file",
	"copy":    "copy_file",
	"http":    "http_request browser_navigate",
	"email":   "send_email",
	"message": "send_message",
	"mcp":     "mcp_call",
})

// toolActions are the actions of well-known tools.
var toolActions = byWord(map[string]string{
	"exec": "Bash PowerShell Monitor",
	"other": "KillBash KillShell Task Agent TodoWrite EnterPlanMode ExitPlanMode AskUserQuestion Skill " +
		"SlashCommand",
	"read":  "BashOutput Read NotebookRead Glob Grep LS",
	"write": "Write Edit MultiEdit NotebookEdit",
	"http":  "WebFetch WebSearch",
})

// verbActions are the actions that a word in the name of any other tool means.
var verbActions = byWord(map[string]string{
	"exec":         "exec execute run shell command bash terminal eval",
	"read":         "read get list search find view query",
	"write":        "write create edit update append insert save put patch",
	"delete":       "delete remove unlink destroy drop purge rm",
	"move":         "move rename mv",
	"copy":         "copy duplicate cp",
	"http":         "http fetch request url browse navigate download",
	"email":        "email mail",
	"message":      "message sms chat post notify",
	"memory_write": "memory remember",
})

// programActions are the actions of programs in a shell command, besides exec.
var programActions = byWord(map[string]string{
	"delete": "rm rmdir unlink shred",
	"move":   "mv",
	"copy":   "cp rsync scp install",
	"write":  "tee dd truncate touch",
	"http":   "curl wget http https",
	"email":  "mail mailx sendmail mutt",
})

// ActionType returns the kind of action that a word of a rule's action_types means. ok
// is false if it means none.
func ActionType(word string) (kind string, ok bool) {
	if alias, is := actionAliases[word]; is {
		word = alias
	}
	return word, slices.Contains(actions, word)
}

// byWord inverts a table of values and their words.
func byWord(table map[string]string) map[string]string {
	out := map[string]string{}
	for value, words := range table {
		for word := range strings.FieldsSeq(words) {
			out[word] = value
		}
	}
	return out
}

// ActionTypes derives a call's kinds of action from its tool and arguments, at least one, in
// the words of a rule's action_types. Too many kinds are safe: a rule that asks or denies
// matches any of them, a rule that allows must name all.
func ActionTypes(call approver.ToolCall) []string {
	var out []string
	add := func(a string) {
		if a != "" && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	name, known := toolActions[call.Tool]
	add(name)
	if strings.HasPrefix(call.Tool, "mcp__") {
		add("mcp")
	}
	if !known {
		before := len(out)
		for _, word := range wordsOf(call.Tool[strings.LastIndex(call.Tool, "__")+1:]) {
			add(verbActions[word])
		}
		if len(out) == before && len(call.Paths) > 0 { // an unknown tool may do anything with them
			for _, a := range []string{"read", "write", "delete", "move", "copy"} {
				add(a)
			}
		}
	}
	if call.Command != "" {
		add("exec")
		for _, program := range programsIn(call.Command) {
			add(programActions[program])
		}
		if strings.Contains(call.Command, ">") {
			add("write")
		}
	}
	if len(call.URLs) > 0 {
		add("http")
	}
	if len(out) == 0 {
		add("other")
	}
	return out
}

// wordsOf splits a name like read_file, readFile or read-file into its words.
func wordsOf(name string) []string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool { return !unicode.IsLetter(r) })
}

var (
	commandEnds = lazyregexp.New("[\n;&|(){}`]")
	assignment  = lazyregexp.New(`^\w+=`)
)

// wrappers run the program that is named after them.
var wrappers = []string{
	"sudo", "doas", "env", "nohup", "time", "timeout", "nice", "xargs", "exec", "command", "builtin", "then", "do", "else",
	"if", "while", "!",
}

// programsIn returns the name of the program of each simple command, by a rough reading.
func programsIn(command string) (programs []string) {
	for _, part := range commandEnds().Split(normalize(command), -1) {
		for word := range strings.FieldsSeq(part) {
			base := path.Base(word)
			if assignment().MatchString(word) || strings.HasPrefix(word, "-") || slices.Contains(wrappers, base) {
				continue
			}
			programs = append(programs, base)
			break
		}
	}
	return programs
}

// actionTypes checks the names under action_types. Nil is any.
func (c *compiler) actionTypes(at string, names []string) []string {
	var out []string
	for i, name := range names {
		name, known := ActionType(name)
		switch {
		case name == "*" && len(names) > 1:
			c.badItem(at, i, `"*" is any action: leave the others out`)
		case name == "*":
			return nil
		case !known:
			c.badItem(at, i, "%s", unknownWord("action type", name, actions))
		}
		out = append(out, name)
	}
	c.notEmpty(at, len(names), " for any action, or name some")
	return out
}
