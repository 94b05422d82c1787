package selfprotect

import (
	"regexp"
	"slices"
	"strings"

	"approver.example/internal/lazyregexp"
)

// settingsPaths are settings files of agents, as they are in a list of files.
var settingsPaths = strings.Fields(`.claude/settings.json .claude/settings.local.json .claude/hooks/a.sh
	.codex/config.toml .codex/hooks.json .gemini/settings.json .cursor/hooks.json .qwen/settings.json .opencode/a.json
	.approver/approver.yaml`)

// settingsFolder matches the agents whose folders a search names.
var settingsFolder = lazyregexp.New(`claude|codex|gemini|cursor|qwen|opencode|approver`)

// pipeline splits the pipeline at the beginning of a text into its commands. It ends at the end of
// the pipeline, or of the substitution that contains it. Quoted text is part of a command.
func pipeline(text string) []string {
	var out []string
	var quote byte
	from, depth, i := 0, 0, 0
	for ; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
			continue
		case c == '\\':
			i++
			continue
		case c == '\'' || c == '"':
			quote = c
			continue
		case c == '(':
			depth++
			continue
		case c == ')' && depth > 0:
			depth--
			continue
		case depth > 0:
			continue
		}
		if c == '|' && (i+1 == len(text) || text[i+1] != '|') {
			out, from = append(out, strings.TrimSpace(text[from:i])), i+1
		} else if strings.IndexByte(";&\n)`|", c) >= 0 {
			break
		}
	}
	return append(out, strings.TrimSpace(text[from:min(i, len(text))]))
}

// withoutSettings reports whether the filters of a pipeline remove all settings files that its
// first command finds, or whether that command is itself such a filter. Commands after the one that
// uses the list do not matter.
func withoutSettings(commands []string) bool {
	for len(commands) > 1 && commands[0] == "" { // the match begins with the pipe
		commands = commands[1:]
		if _, ok := inverted(commands[0]); ok {
			return true
		}
	}
	names := settingsFolder().FindAllString(commands[0], 16)
	left := slices.DeleteFunc(slices.Clone(settingsPaths), func(p string) bool {
		return len(names) > 0 && !strings.Contains(commands[0], "settings") &&
			!slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(p, "."+name+"/") })
	})
	for _, command := range commands[1:] {
		word, _, _ := strings.Cut(command, " ")
		switch word {
		case "grep", "egrep", "fgrep", "rg":
			if re, ok := inverted(command); ok && re != nil {
				left = slices.DeleteFunc(left, re.MatchString)
			}
		case "sort", "uniq", "head", "tail":
		default:
			return len(left) == 0
		}
	}
	return len(left) == 0
}

// basicPattern converts a basic pattern of grep to one of Go.
var basicPattern = strings.NewReplacer(`\\`, `\\`, `\|`, `|`, `\(`, `(`, `\)`, `)`, `\+`, `+`, `\?`, `?`, `\{`, `{`,
	`\}`, `}`,
	`|`, `\|`, `(`, `\(`, `)`, `\)`, `+`, `\+`, `?`, `\?`, `{`, `\{`, `}`, `\}`)

// inverted reports whether a command is a grep for lines that do not match, and returns the pattern
// that it removes; nil if that is not known.
func inverted(command string) (leaves *regexp.Regexp, ok bool) {
	words := wordsAt(command, 0)
	if len(words) < 2 || !strings.HasSuffix(words[0], "grep") && words[0] != "rg" {
		return nil, false
	}
	extended := words[0] == "rg" || words[0] == "egrep"
	var patterns []string
	fixed, odd, head, tail := words[0] == "fgrep", false, "", ""
	for i := 1; i < len(words); i++ {
		word := words[i]
		switch {
		case word == "--invert-match":
			ok = true
		case word == "--":
		case strings.HasPrefix(word, "--"):
			odd = true
		case len(word) > 1 && word[0] == '-':
			letters := word[1:]
			odd = odd || strings.Trim(letters, "vEFGPiwxe") != ""
			ok = ok || strings.Contains(letters, "v")
			extended = extended || strings.ContainsAny(letters, "EP")
			fixed = fixed || strings.Contains(letters, "F")
			if strings.Contains(letters, "i") {
				head = "(?i)" + head
			}
			if strings.Contains(letters, "w") {
				head, tail = head+`\b`, `\b`+tail
			}
			if strings.Contains(letters, "x") {
				head, tail = head+"^", "$"+tail
			}
			if strings.HasSuffix(letters, "e") && i+1 < len(words) {
				i++
				patterns = append(patterns, strings.Trim(words[i], `"'`))
			}
		case len(patterns) > 0: // a file
			odd = true
		default:
			patterns = append(patterns, strings.Trim(word, `"'`))
		}
	}
	if odd || !ok {
		return nil, ok
	}
	for i, p := range patterns {
		if fixed {
			p = regexp.QuoteMeta(p)
		} else if !extended {
			p = basicPattern.Replace(p)
		}
		patterns[i] = "(?:" + p + ")"
	}
	leaves, err := regexp.Compile(head + "(?:" + strings.Join(patterns, "|") + ")" + tail)
	if err != nil || len(patterns) == 0 {
		return nil, ok
	}
	return leaves, ok
}

// wordsAt returns the words of a command in a text, from an index to the end of the command or of
// what contains it. Quotes and substitutions stay as they are written.
func wordsAt(text string, from int) (words []string) {
	before := text[:from]
	if at := strings.LastIndex(before, "$("); at >= 0 {
		before = before[at:]
	}
	begin := -1
	end := func(i int) {
		if begin >= 0 {
			words = append(words, text[begin:i])
		}
		begin = -1
	}
	for i := from; i < len(text); i++ {
		c := text[i]
		switch {
		case c == ' ' || c == '\t':
			end(i)
			continue
		case strings.IndexByte(")|;&\n", c) >= 0:
			end(i)
			return words
		}
		stop := i
		switch c {
		case '\\':
			stop = min(i+1, len(text)-1)
		case '\'', '"', '`':
			inside := begin >= 0 && text[begin] != '-' && strings.IndexByte("=\"'`", text[i-1]) < 0
			if stop = closing(text, i, c); stop < 0 || inside || strings.Count(before, string(c))%2 == 1 {
				end(i)
				return words
			}
		case '$':
			if strings.HasPrefix(text[i:], "$(") {
				if stop = closing(text, i+1, ')'); stop < 0 {
					stop = len(text) - 1
				}
			}
		}
		if begin < 0 {
			begin = i
		}
		i = stop
	}
	end(len(text))
	return words
}

// closing returns the index where the quote or parenthesis at an index ends; it is negative if it
// does not end.
func closing(text string, at int, c byte) int {
	depth := 0
	for i := at + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && c != '\'':
			i++
		case c != '\'' && c != '`' && text[i] == '(':
			depth++
		case depth == 0 && text[i] == c:
			return i
		case depth > 0 && text[i] == ')':
			depth--
		}
	}
	return -1
}

// substituted returns the words of a substitution in a word, because it may print one of them.
func substituted(word string) []string {
	if !strings.Contains(word, "$(") && !strings.Contains(word, "`") {
		return nil
	}
	return strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune(" \t$()`\"'", r) })
}

// chosenInProc matches a grep in the kernel's files about a process that decides whether the
// process is stopped, and its pattern.
var chosenInProc = lazyregexp.New(`\bgrep\s+(?:-[qsFEiaw]+\s+)*['"]?([^'"\s-][^'"\s]*)['"]?\s+"?\$\{?\w+\}?` +
	`(?:/(?:cmdline|comm))?"?(?:\s*2>\s*/dev/null)?\s*(?:&&|;\s*then)\s*kill\b`)

// ownCommandLine is a command line of approver, as the kernel may show it.
const ownCommandLine = "/home/user/.local/bin/approver serve --config /home/user/.approver/approver.yaml"

// otherThanNames matches files of processes with more than their command lines.
var otherThanNames = lazyregexp.New(`/proc/\S*/(?:[a-bd-z]|cgroup|clear|core|cpuset|cwd|\*)`)

var killWord = lazyregexp.New(`\b(?:kill|xargs|pkill|killall)\b`)

// procChosen reports whether each process of /proc that the text stops is chosen by a grep that
// does not match approver's.
func procChosen(text string) bool {
	found := chosenInProc().FindAllStringSubmatch(text, 8)
	return len(found) > 0 && !otherThanNames().MatchString(text) && len(found) == len(killWord().FindAllString(text, 9)) &&
		!slices.ContainsFunc(found, func(m []string) bool {
			re, err := regexp.Compile("(?i)" + m[1])
			return err != nil || strings.ContainsAny(m[1], "$`\\") || findsAll(m[1]) || re.MatchString(ownCommandLine)
		})
}
