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
	switch lang {
	case "ssh-config":
		sshConfig(src, yield)
	case "logrotate":
		logrotate(src, yield)
	case "gcc-options": // gcc @FILE
		yield(shell.Found{Shell: "gcc " + strings.Join(strings.Fields(src), " ")})
	case "gcc-specs":
		for line := range strings.Lines(src) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "*") {
				_, line, _ = strings.Cut(line, ":")
			}
			line = strings.TrimSpace(line)
			if line != "" && line[0] != '%' && line[0] != '#' && !yield(shell.Found{Shell: line}) {
				break
			}
		}
	case "screen":
		for line := range strings.Lines(src) {
			word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch word {
			case "screen", "exec", "stuff":
				if !yield(shell.Found{Shell: word + " " + rest}) {
					return true
				}
			case "shell", "backtick", "printcmd":
				if !yield(shell.Found{Shell: rest}) {
					return true
				}
			}
		}
	default:
		return false
	}
	return true
}

// sshConfig yields what ssh runs on this machine. Keywords are case-insensitive.
func sshConfig(src string, yield func(shell.Found) bool) {
	for line := range strings.Lines(src) {
		line = strings.TrimSpace(line)
		end := strings.IndexAny(line, " \t=\"")
		if end < 0 {
			continue
		}
		value := strings.Trim(line[end:], " \t=")
		switch strings.ToLower(line[:end]) {
		case "proxycommand", "localcommand", "knownhostscommand", "pkcs11provider", "securitykeyprovider", "xauthlocation":
			value = strings.Trim(value, `"`)
		case "match":
			_, command, found := strings.Cut(strings.ToLower(value), "exec")
			if !found {
				continue
			}
			value = strings.Trim(value[len(value)-len(command):], " \t=\"")
		default:
			continue
		}
		if !yield(shell.Found{Shell: value}) {
			return
		}
	}
}

// logrotate yields the scripts in a configuration of logrotate, which are between a keyword and its
// end, and the programs to which it passes files.
func logrotate(src string, yield func(shell.Found) bool) {
	var body strings.Builder
	inside := false
	for line := range strings.Lines(src) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "prerotate", "postrotate", "firstaction", "lastaction", "preremove":
			inside = true
		case "endscript":
			inside = false
		case "compresscmd", "uncompresscmd":
			if !yield(shell.Found{Shell: rest}) {
				return
			}
		default:
			if inside {
				body.WriteString(line)
			}
		}
	}
	if body.Len() > 0 {
		yield(shell.Found{Shell: body.String()})
	}
}
