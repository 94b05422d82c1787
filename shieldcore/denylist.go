package shieldcore

import (
	"fmt"
	"slices"
	"strings"

	"approver.example"
	"approver.example/display"
	"approver.example/internal/lazyregexp"
)

// Built-in paths of the denylist. A policy can add to them, and remove none.
var (
	// builtinRestricted are approver's own files, and the files with the machine's
	// passwords and memory.
	builtinRestricted = []string{
		"~/.approver/**", "/etc/approver/**", "/var/lib/approver/**", "/run/approver/**",
		"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/proc/kcore", "/proc/*/mem", "/dev/mem", "/dev/kmem",
	}
	// builtinProtected are files that decide who may become root, what is loaded into
	// every program, and whether an agent asks approver at all.
	builtinProtected = []string{
		"/etc/sudoers", "/etc/sudoers.d/**", "/etc/pam.d/**", "/etc/ld.so.preload",
		"**/.claude/settings*.json", "**/.claude/hooks/**", "/etc/claude-code/**",
		"/Library/Application Support/ClaudeCode/**",
		"**/.codex/config.toml", "**/.codex/hooks.json", "**/.gemini/settings.json", "**/.qwen/settings.json",
		"**/.factory/settings.json",
		"**/.cursor/hooks.json", "**/.github/hooks/**",
	}
)

type denylistFile struct {
	Restricted []string `yaml:"restricted"`
	Protected  []string `yaml:"protected"`
}

// A denylist holds the paths that no rule can allow.
type denylist struct {
	restricted, protected []pathGlob
}

func (c *compiler) denylist(file denylistFile) denylist {
	return denylist{
		restricted: append(mustGlobs(builtinRestricted), c.pathGlobs("denylist.restricted", file.Restricted)...),
		protected:  append(mustGlobs(builtinProtected), c.pathGlobs("denylist.protected", file.Protected)...),
	}
}

// mustGlobs compiles the built-in patterns; a test loads them.
func mustGlobs(patterns []string) []pathGlob {
	var out []pathGlob
	for _, text := range patterns {
		g, err := newPathGlob(text)
		if err != nil {
			panic("shieldcore: built-in path " + text + " " + err.Error())
		}
		out = append(out, g)
	}
	return out
}

// judge returns the finding of the denylist, if it has one. It searches a command's
// words for restricted paths too.
func (d denylist) judge(s *subject) (approver.Verdict, bool) {
	for i, l := range s.places() {
		if matchesAny(d.restricted, l) {
			return blockedPath(RuleRestricted, s.call.Paths[i], "no agent may read or write it"), true
		}
		if matchesAny(d.protected, l) && !s.onlyReads() {
			return blockedPath(RuleProtected, s.call.Paths[i], "agents may read it, and not change it"), true
		}
	}
	for _, word := range pathWords(withoutText(s.call.Command)) {
		if matchesAny(d.restricted, s.locate(word)) {
			return blockedPath(RuleRestricted, word, "no agent may read or write it"), true
		}
	}
	return approver.Verdict{}, false
}

func blockedPath(rule, p, why string) approver.Verdict {
	v := finding(approver.Deny, rule, fmt.Sprintf("%s is on the path denylist: %s, whatever the rules say", p, why))
	text := "the policy lets no agent read or write %s"
	if rule == RuleProtected {
		text = "the policy lets no agent change %s"
	}
	v.Says.Why = display.Phrase{Text: text, Args: []string{display.OneLine(p)}}
	return v
}

// onlyReads reports whether a call is known to read and to do nothing else.
func (s *subject) onlyReads() bool {
	reads := false
	for _, a := range s.actions() {
		if a != "read" && a != "mcp" {
			return false
		}
		reads = reads || a == "read"
	}
	return reads
}

// writesText matches a command that does nothing but write a here document into a
// file: cat or tee, without operators that could pass the lines to another program.
var writesText = lazyregexp.New(`\A[ \t]*(?:cat|tee)([^|;&()\x60$\n<\\]*)<<(-?)[ \t]*(?:'(\w+)'|"(\w+)"` +
	`|(\w+))([^|;&()\x60$\n<\\]*)\n`)

// withoutText returns a command without the lines of a here document that it only
// writes into a file: a path in them is not read. Lines with substitutions are kept,
// because those are executed.
func withoutText(command string) string {
	if !strings.Contains(command, "<<") {
		return command
	}
	m := writesText().FindStringSubmatch(command)
	if m == nil {
		return command
	}
	name, body := m[3]+m[4]+m[5], command[len(m[0]):]
	if m[5] != "" && strings.ContainsAny(body, "$`\\") {
		return command
	}
	for len(body) > 0 {
		var line string
		line, body, _ = strings.Cut(body, "\n")
		if m[2] != "" {
			line = strings.TrimLeft(line, "\t")
		}
		if line == name {
			return "cat " + m[1] + " " + m[6] + "\n" + body
		}
	}
	return command
}

// maxPathWords bounds the words of a command whose links are followed.
const maxPathWords = 64

// pathWords returns the words of a command that are a path and nothing else, after
// the shell has removed the quotes. A path inside a commit message is part of a
// longer word, so it is not one of them.
func pathWords(command string) (words []string) {
	if !strings.ContainsAny(command, "/~") {
		return nil
	}
	for _, word := range shellWords(command) {
		if name, value, ok := strings.Cut(word, "="); ok && !strings.Contains(name, "/") {
			word = value // --file=/etc/shadow, of=/dev/mem
		}
		word = strings.TrimLeft(word, "@") // curl -d @/etc/shadow
		if strings.ContainsAny(word, "/~") && !strings.Contains(word, "://") && !strings.ContainsAny(word, " \n") &&
			len(word) <= 4096 && !slices.Contains(words, word) {
			if words = append(words, word); len(words) == maxPathWords {
				break
			}
		}
	}
	return words
}

// shellWords splits a command at white space and operators outside quotes, and
// removes quotes and backslashes.
func shellWords(command string) (words []string) {
	var b strings.Builder
	var quote rune
	escaped := false
	end := func() {
		if b.Len() > 0 {
			words = append(words, b.String())
			b.Reset()
		}
	}
	for _, r := range command {
		switch {
		case escaped:
			escaped = false
			if r != '\n' {
				b.WriteRune(r)
			}
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(r)
		case r == '\'' || r == '"':
			quote = r
		case strings.ContainsRune(" \t\r\n;&|<>()`", r):
			end()
		default:
			b.WriteRune(r)
		}
	}
	end()
	return words
}
