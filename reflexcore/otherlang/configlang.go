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
