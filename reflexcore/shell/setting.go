package shell

import (
	"path"
	"regexp"
	"strings"

	"approver.example/reflexcore/grammar"
)

// asksSetting reports whether a command looks into a file of settings without showing a
// secret of it: grep for a name that nobody gives to one, grep -q for any, wc. What it
// prints still counts as out of that file, wherever it goes.
func (l *commandLine) asksSetting(u *grammar.Use, list []field) bool {
	if u.Word < 0 {
		return false
	}
	switch l.by {
	case "grep", "egrep", "fgrep", "wc":
	default:
		return false
	}
	if name := path.Base(u.Text); name != ".env" && !strings.HasPrefix(name, ".env.") {
		return false
	}
	var words [2]string
	n, quiet := 0, false
	for i, w := range l.argv[1:] {
		switch {
		case list[i+1].glob || list[i+1].splits:
			return false
		case l.by == "wc":
			if strings.HasPrefix(w, "--") {
				return false
			}
		case len(w) > 1 && w[0] == '-':
			if strings.Trim(w[1:], "qcnosEFhHwx") != "" {
				return false
			}
			quiet = quiet || strings.ContainsAny(w, "qc")
		case n == len(words):
			return false
		default:
			words[n] = w
			n++
		}
	}
	if l.by == "wc" {
		return true
	}
	return n == 2 && words[1] == u.Text && (quiet && wholeName.MatchString(words[0]) || isHarmlessName(words[0]))
}

// wholeName is a pattern that finds a variable by its name alone: with a part of its value
// one could be guessed.
var wholeName = regexp.MustCompile(`^\^[A-Za-z_]\w*=$`)

// isHarmlessName reports whether a pattern finds only the line of a variable by whose name
// it is no secret: all of its name, or three words of it.
func isHarmlessName(pattern string) bool {
	name := strings.TrimSuffix(strings.TrimPrefix(pattern, "^"), "=")
	if !wholeName.MatchString(pattern) && strings.Count(name, "_") < 2 || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return false
	}
	for _, part := range [...]string{"KEY", "TOKEN", "SECRET", "PASS", "PWD", "CRED", "AUTH", "PRIVATE", "SALT", "DSN", "UR", "CERT", "SESSION", "COOKIE", "SIGN"} {
		if strings.Contains(name, part) {
			return false
		}
	}
	switch name[strings.LastIndexByte(name, '_')+1:] {
	case "REGION", "PORT", "HOST", "ENV", "ENVIRONMENT", "DEBUG", "LEVEL", "TIMEOUT", "TZ", "TIMEZONE", "LOCALE", "MODE", "VERSION", "ENABLED", "DISABLED":
		return true
	}
	return false
}
