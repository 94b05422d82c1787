package shell

import (
	"strings"

	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/grammar"
	"approver.example/reflexcore/wordset"
)

// contained returns Contained if a use starts a container with a command, and publishes no port of it but
// to this machine itself: what listens there is reached by nobody else. Words that are not known may publish
// one, and so may whoever started a container in which a command only runs.
func (a *applied) contained(u *grammar.Use) effect.Bits {
	name, verb := a.line.programAndVerb()
	if !wordset.Has(boxPrograms+" docker.io finch docker-compose podman-compose kubectl oc", name) ||
		!wordset.Has("run create", verb) || u.Word < 1 || u.Word > len(a.line.argv) {
		return 0
	}
	words := a.line.argv[1:u.Word]
	for i, w := range words {
		value := ""
		if i+1 < len(words) {
			value = words[i+1]
		}
		if !effect.IsKnown(w) || publishesPort(w, value) || w == "--expose" && wordset.Has("kubectl oc", name) {
			return 0
		}
	}
	return effect.Contained
}

// publishesPort reports whether an option of a container opens a port of it, or gives it another network
// than its own. Short options may stand together, as in -itp 80:80.
func publishesPort(word, next string) bool {
	flag, value, joined := strings.Cut(word, "=")
	if !joined {
		value = next
	}
	switch flag {
	case "--publish-all", "--service-ports", "--overrides", "--hostport":
		return true
	case "--publish":
		return !effect.IsLoopbackPort(value)
	case "--network", "--net", "--pod":
		return value == "host" || flag == "--pod" || strings.HasPrefix(value, "container:") || strings.HasPrefix(value, "ns:")
	}
	if strings.HasPrefix(word, "--") || !strings.HasPrefix(word, "-") {
		return false
	}
	if i := strings.IndexByte(word, 'p'); i > 0 && strings.Trim(word[1:i], "dit") == "" {
		if rest := strings.TrimPrefix(word[i+1:], "="); rest != "" {
			next = rest
		}
		return !effect.IsLoopbackPort(next)
	}
	return strings.IndexByte(word, 'P') >= 0
}
