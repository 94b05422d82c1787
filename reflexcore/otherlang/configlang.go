package otherlang

import (
	"strings"

	"approver.example/reflexcore/shell"
)

// Programs read files of their own that say which programs they run. A call that writes
// such a file and hands it on runs what stands in it.

// ConfigCommands hands on the commands in a file of that kind. It is false if there is no
// such kind.
func ConfigCommands(lang, src string, yield func(shell.Found) bool) bool {
	switch lang {
	case "ssh-config":
		sshConfig(src, yield)
	case "logrotate":
		rotated(src, yield)
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

// sshConfig hands on what ssh runs on this machine: the words of such a file are in any case.
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

// rotated hands on the scripts of logrotate: what stands between the word that says when
// one runs and its end, and the programs that it hands files to.
func rotated(src string, yield func(shell.Found) bool) {
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
