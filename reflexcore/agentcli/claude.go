package agentcli

import (
	_ "embed"
	"path"
	"slices"
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file is about the words and variables with which Claude Code is started. Some of its flags
// run code, add hooks, servers or settings, write files or remove rules, and not all of them are in
// its help. So the harmless flags are listed, and a start with any other is a question.

// A Taker says which of the words after a flag are its values.
type Taker uint8

// The values that a flag may have.
const (
	TakesOne   Taker = iota // a word, whatever it begins with
	TakesNone               // nothing
	TakesMaybe              // a word that is no flag
	TakesMany               // all words up to the next flag
)

// claudeText has the words and variables, in the sets of the variables below.
//
//go:embed claude.txt
var claudeText string

var claudeSets = wordset.Sets(claudeText)

// claudeFlags are the harmless flags of Claude Code with their values. The folders, plugins,
// subagents and files that some of them name are judged elsewhere.
var claudeFlags = claudeTakers("plain")

// claudeOthers are other flags that are known to have no value, or many.
var claudeOthers = claudeTakers("other")

func claudeTakers(kind string) map[string]Taker {
	m := map[string]Taker{}
	for takes, name := range []string{"one", "none", "maybe", "many"} {
		for flag := range claudeSets[kind+" "+name] {
			m[flag] = Taker(takes)
		}
	}
	return m
}

// ClaudeTakes returns the values of a flag of Claude Code. An unknown flag may have one.
func ClaudeTakes(flag string) Taker {
	if takes, ok := claudeFlags[flag]; ok {
		return takes
	}
	return claudeOthers[flag]
}

// PlainClaudeFlag reports whether a word is a harmless flag of Claude Code, or no flag.
func PlainClaudeFlag(word string) bool {
	name, value, _ := strings.Cut(word, "=")
	return !isFlag(name) || plainFlag(name, value)
}

// claudeQuiet are the commands of Claude Code that only print, fetch or stop something, or that are
// judged by what they add. A word after a colon means that only the command with that word is.
var claudeQuiet = claudeSets["quiet"]

// claudeCommands are its other known commands. After a flag only these count as commands, because a
// single word may be a prompt.
var claudeCommands = claudeSets["command"]

// claudeWords reports whether the words after Claude Code's name contain a flag or a command that
// is not harmless.
func claudeWords(args []string) bool {
	prompt, open, takes := false, false, TakesNone
	for i, f := range args {
		name, value, joined := strings.Cut(f, "=")
		switch {
		case f == "--":
			takes = TakesNone
		case isFlag(name): // also where it is a value: some flags are looked for in all words
			if !joined && i+1 < len(args) {
				value = args[i+1]
			}
			if !plainFlag(name, value) {
				return true
			}
			if takes == TakesOne {
				takes = TakesNone // it was the value
			} else if takes = claudeFlags[name]; joined || !strings.HasPrefix(name, "--") && len(name) > 2 {
				takes = TakesNone // the value is in the same word
			}
		case takes == TakesOne, takes == TakesMaybe && !claudeCommands[f]:
			takes = TakesNone
		case takes == TakesMany:
		case !prompt:
			prompt, open = true, strings.HasPrefix(f, effect.Unknown)
			if isCommand(args, i) {
				return !plainCommand(args[i:])
			}
		case open, strings.HasPrefix(f, effect.Unknown):
			return true // it may be a flag, or the prompt a command
		}
	}
	return false
}

// isFlag reports whether a word may be a flag, and not a text that begins with a dash.
func isFlag(name string) bool {
	return len(name) > 1 && name[0] == '-' && !strings.ContainsAny(name, " \t\n") && strings.Trim(name, "-") != ""
}

// plainFlag reports whether a flag is harmless with a value.
func plainFlag(name, value string) bool {
	if _, ok := claudeFlags[name]; !ok && !strings.HasPrefix(name, "--") {
		return plainLetters(name[1:])
	} else if !ok {
		return false
	}
	switch name {
	case "--permission-mode": // the others do not ask
		// a rule asks about the last two
		return wordset.Has("default manual plan dontAsk auto bypassPermissions acceptEdits", value)
	case "--input-format": // a stream may bring servers and settings
		return value == "text"
	case "-r", "--resume":
		return plainSession(value)
	case "--debug-file": // a log is no file that anybody runs or loads
		return effect.IsKnown(value) && wordset.Has(".log .txt", path.Ext(value))
	}
	return true
}

// plainLetters reports whether short flags in one word are harmless.
func plainLetters(letters string) bool {
	for i := range len(letters) {
		switch letters[i] {
		case 'p', 'c', 'h', 'v':
		case 'd', 'n':
			return true
		case 'r':
			return plainSession(letters[i+1:])
		default:
			return false
		}
	}
	return true
}

// plainSession reports whether a session to continue is Claude Code's own, and not a file that
// anybody may have written.
func plainSession(value string) bool {
	return !strings.Contains(value, "/") && path.Ext(value) != ".jsonl"
}

// isCommand reports whether the word at an index is a command of Claude Code, and not a prompt.
func isCommand(args []string, at int) bool {
	word := args[at]
	if claudeCommands[word] || claudeQuiet[word] {
		return true
	}
	for _, f := range args {
		if f == "--" || f == "-p" || f == "--print" {
			return false
		}
	}
	return at == 0 && len(args) > 1 && len(word) > 1 && isBare(strings.ReplaceAll(word, "-", ""))
}

// plainCommand reports whether a command of Claude Code is harmless.
func plainCommand(args []string) bool {
	name, rest := args[0], args[1:]
	if len(rest) == 1 && wordset.Has("-h --help", rest[0]) {
		return true
	}
	if name == "plugins" {
		name = "plugin"
	}
	if name == "mcp" || name == "plugin" || name == "config" { // its rules know the words behind
		return claudeQuiet[name+":"+second(rest)]
	}
	if !claudeQuiet[name] && !claudeQuiet[name+":"+second(rest)] {
		return false
	}
	for _, f := range rest {
		if flag, _, _ := strings.Cut(f, "="); isFlag(flag) && !claudeInfoFlags[flag] && !PlainClaudeFlag(f) {
			return false
		}
	}
	return true
}

// PrintsPrompt reports whether the first word of a command that is not a flag is a prompt of Claude
// Code, even if it is unknown.
func PrintsPrompt(argv []string) bool {
	return ClaudeProgram(argv[0]) && slices.ContainsFunc(argv, func(w string) bool { return w == "-p" || w == "--print" })
}

// ClaudeProgram reports whether a path is that of Claude Code: by the name, the folder of its
// versions or the script of its package.
func ClaudeProgram(file string) bool {
	return wordset.Has("claude claude-code", ProgramName(file)) || ClaudeInstalled(file)
}

// ClaudeInstalled reports whether a path is that of Claude Code, by the folder in which it is
// installed.
func ClaudeInstalled(file string) bool {
	dir, base := path.Split(file)
	return VersionOf(file) == "claude" || path.Base(dir) == "claude-code" && strings.HasPrefix(base, "cli.")
}

// claudeInfoFlags are flags with which its harmless commands print or fetch something.
var claudeInfoFlags = claudeSets["says"]

// second returns the first word that is not a flag.
func second(args []string) string {
	for _, f := range args {
		if f != "" && f[0] != '-' {
			return f
		}
	}
	return ""
}

// claudeVariables are the harmless variables of Claude Code: they add no code, settings or files. A
// start with another variable with the same prefix is a question.
var claudeVariables = claudeSets["variable"]

// ClaudeVariable reports whether a variable may make Claude Code run or load something. SHELL can
// choose the shell that it runs.
func ClaudeVariable(name, value string) bool {
	if code, ok := strings.CutPrefix(name, "CLAUDE_CODE_"); ok {
		return !claudeVariables[code]
	}
	switch name {
	case "SHELL":
		dir, base := path.Split(value)
		return !wordset.Has("/bin/ /usr/bin/ /usr/local/bin/ /opt/homebrew/bin/", dir) ||
			!wordset.Has("sh bash zsh dash ksh fish", base)
	case "NODE_OPTIONS": // what only bounds the memory is everyday
		return strings.Trim(strings.TrimPrefix(value, "--max-old-space-size="), "0123456789") != "" &&
			!wordset.Has("--no-warnings --no-deprecation --use-system-ca", value)
	case "CLAUDE_ENV_FILE", "CLAUDE_CONFIG_DIR", "CLAUDE_PROJECT_DIR", "CLAUDE_CC_BUN_OPTIONS", "CLAUDE_TMPDIR",
		"NODE_PATH":
		return true
	}
	return strings.HasPrefix(name, "BUN_") || strings.HasPrefix(name, "CLAUDE_BG_") ||
		strings.HasPrefix(name, "CLAUDE_BRIDGE_") ||
		strings.HasPrefix(name, "CLAUDE_PLUGIN_")
}

// SetsClaude is [ClaudeVariable] for a word that sets a variable, as in env NAME=VALUE and tmux -e
// NAME=VALUE.
func SetsClaude(word string) bool {
	name, value, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.ToUpper(name) == name && ClaudeVariable(name, value)
}
