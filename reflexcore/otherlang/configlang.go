package otherlang

import (
	"strings"

	"approver.example/reflexcore/shell"
)

// Some programs read configuration files that name programs to run. A call that writes such a file
// and passes it on runs what it says.

// ConfigCommands yields the commands in such a file. It returns false if the language is not one of
// them.
func ConfigCommands(lang, src string, yield func(shell.Found) bool) bool {
	f := &finder{src: src, yield: yield}
	switch lang {
	case "ssh-config":
		f.sshConfig()
	case "logrotate":
		f.logrotate()
	case "ansible":
		f.tasks()
	case "cmake":
		f.cmake()
		return false // and what its own commands delete
	case "apt-conf": // DPkg::Pre-Invoke {"COMMAND";};
		for line := range f.lines() {
			if strings.Contains(strings.ToLower(line), "invoke") {
				for _, text := range quoted(line) {
					f.shell(text)
				}
			}
		}
	case "gcc-options": // gcc @FILE
		f.shell("gcc " + strings.Join(strings.Fields(src), " "))
	case "gcc-specs":
		for line := range f.lines() {
			if strings.HasPrefix(line, "*") {
				_, line, _ = strings.Cut(line, ":")
				line = strings.TrimSpace(line)
			}
			if line != "" && line[0] != '%' && line[0] != '#' {
				f.shell(line)
			}
		}
	case "screen":
		for line := range f.lines() {
			word, rest, _ := strings.Cut(line, " ")
			switch word {
			case "screen", "exec", "stuff":
				f.shell(word + " " + rest)
			case "shell", "backtick", "printcmd":
				f.shell(rest)
			}
		}
	default:
		return false
	}
	return true
}

// sshConfig finds what ssh runs on this machine. Keywords are case-insensitive.
func (f *finder) sshConfig() {
	for line := range f.lines() {
		end := strings.IndexAny(line, " \t=\"")
		if end < 0 {
			continue
		}
		value := strings.Trim(line[end:], " \t=")
		switch strings.ToLower(line[:end]) {
		case "proxycommand", "localcommand", "knownhostscommand", "pkcs11provider", "securitykeyprovider", "xauthlocation":
			f.shell(strings.Trim(value, `"`))
		case "match":
			if _, command, found := strings.Cut(strings.ToLower(value), "exec"); found {
				f.shell(strings.Trim(value[len(value)-len(command):], " \t=\""))
			}
		}
	}
}

// logrotate finds the scripts in a configuration of logrotate, which are between a keyword and its
// end, and the programs to which it passes files.
func (f *finder) logrotate() {
	var body strings.Builder
	inside := false
	for line := range strings.Lines(f.src) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "prerotate", "postrotate", "firstaction", "lastaction", "preremove":
			inside = true
		case "endscript":
			inside = false
		case "compresscmd", "uncompresscmd":
			f.shell(rest)
		default:
			if inside {
				body.WriteString(line)
			}
		}
	}
	if body.Len() > 0 {
		f.shell(body.String())
	}
}

// taskKeys are the modules of Ansible that run a command line.
var taskKeys = strings.Fields("shell: command: raw: cmd: script: free_form:")

// tasks finds the command lines of a playbook, on one line or in a block below their key.
func (f *finder) tasks() {
	lines := strings.Split(f.src, "\n")
	for i, line := range lines {
		for _, key := range taskKeys {
			before, text, found := strings.Cut(line, key)
			if !found || before != "" && isWord(before[len(before)-1]) {
				continue
			}
			if text = strings.TrimSpace(text); text != "" && strings.Trim(text, "|>-+") == "" {
				text = indented(lines[i+1:], len(line)-len(strings.TrimLeft(line, " -")))
			}
			f.shell(strings.Trim(strings.TrimRight(text, " ]}"), `"'`))
		}
	}
}

// indented returns the lines that are indented by more than a number of spaces, up to the first that is
// not.
func indented(lines []string, least int) string {
	var out []string
	for _, line := range lines {
		if trimmed := strings.TrimLeft(line, " "); trimmed != "" && len(line)-len(trimmed) <= least {
			break
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// cmake finds what execute_process(COMMAND …) starts.
func (f *finder) cmake() {
	for after := range afterEach(f.src, "execute_process(") {
		call, _, _ := strings.Cut(after, ")")
		for words := range afterEach(call, "COMMAND ") {
			words, _, _ = strings.Cut(words, "COMMAND ")
			f.shell(strings.Join(strings.Fields(words), " "))
		}
	}
}
