package content

import (
	"strings"

	"approver.example/reflexcore/effect"
)

// gitCommands are settings whose whole value is run by a shell, as section and key.
var gitCommands = sets["git"]

// git yields what runs in a configuration file of git.
func (x *extractor) git(content string) {
	section, sub := "", ""
	lines(content, "", func(line string) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			end := strings.LastIndexByte(line, ']')
			if end < 0 {
				return
			}
			section, sub, _ = strings.Cut(strings.ToLower(line[1:end]), " ")
			if sub = strings.Trim(sub, `" `); sub == "" { // the old notation, [section.sub]
				section, sub, _ = strings.Cut(section, ".")
			}
			if line = strings.TrimSpace(line[end+1:]); line == "" { // [section] key = value
				return
			}
		}
		key, value, ok := strings.Cut(line, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		if !ok || key == "" || key[0] == '#' || key[0] == ';' {
			return
		}
		x.gitSetting(section, sub, key, gitValue(value))
	})
}

func (x *extractor) gitSetting(section, sub, key, value string) {
	name := section + "." + key
	switch {
	case section == "alias":
		if command, ok := strings.CutPrefix(value, "!"); ok {
			x.emit(effect.Shell, command, "an alias of git")
			return
		}
		x.emit(effect.Shell, "git "+value, "an alias of git")
	case section == "pager", gitCommands[name]:
		if command, ok := strings.CutPrefix(value, "!"); ok {
			value = command
		} else if name == "credential.helper" && !strings.HasPrefix(value, "/") {
			value = "git-credential-" + value
		} else if name == "submodule.update" {
			return
		}
		if value != "true" && value != "false" {
			x.emit(effect.Shell, value, name+" of git")
		}
	case name == "core.hookspath", name == "init.templatedir", section == "include", section == "includeif":
		// What is there runs, or is read as settings.
		x.yield(effect.Payload{Text: value, Why: strings.TrimSuffix(name+" "+sub, " ") + " of git", Path: x.path,
			Later: true})
	case key == "url", key == "insteadof", key == "pushurl":
		for _, url := range [2]string{value, sub} {
			if command, ok := strings.CutPrefix(url, "ext::"); ok {
				x.emit(effect.Shell, command, "a transport of git")
			}
		}
	}
}

// gitValue removes quotes, escapes and a comment.
func gitValue(s string) string {
	s = strings.TrimSpace(s)
	var b strings.Builder
	in := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			default:
				b.WriteByte(s[i])
			}
		case c == '"':
			in = !in
		case !in && (c == '#' || c == ';'):
			return strings.TrimSpace(b.String())
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(b.String())
}

// gitLink reads a file .git: git uses the settings and hooks of the folder in it.
func (x *extractor) gitLink(content string) {
	if to, ok := strings.CutPrefix(strings.TrimSpace(content), "gitdir:"); ok {
		x.yield(effect.Payload{Why: "a repository of git at " + strings.TrimSpace(to), Path: x.path, Later: true})
	}
}

// todo yields the commands in the todo list of a rebase.
func (x *extractor) todo(content string) {
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		end := strings.IndexAny(line, " \t")
		if end > 0 && (line[:end] == "exec" || line[:end] == "x") {
			x.emit(effect.Shell, strings.TrimSpace(line[end:]), "a line of a rebase")
		}
	}
}
