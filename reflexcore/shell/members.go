package shell

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"approver.example/internal/lazyregexp"
	"approver.example/reflexcore/agentcli"
	"approver.example/reflexcore/effect"
	"approver.example/reflexcore/wordset"
)

// This file finds out whether the words of a command say by themselves what it takes out of an archive.

// unpacking matches the letters of tar that say nothing but to take out, of which file and how it is packed.
var unpacking = lazyregexp.New(`^-?[xzjJvkpom]*f?$`)

// takesNamed reports whether tar or unzip takes nothing out of an archive but what its words name, and nothing that
// is hidden or an agent's: then no settings come out that nobody knows of.
func (l *commandLine) takesNamed() bool {
	zip := l.by == "unzip"
	if !zip && !wordset.Has("tar gtar bsdtar", l.by) ||
		slices.ContainsFunc(l.argv, func(w string) bool { return !effect.IsKnown(w) }) {
		return false
	}
	skip, out, members := 0, zip, []string(nil)
	for i := 1; i < len(l.argv); i++ {
		w := l.argv[i]
		number, strips := strings.CutPrefix(w, "--strip-components=")
		switch {
		case zip && wordset.Has("-o -q -qq -n -j -oq -qo -jo -oj", w), w == "--no-same-owner":
		case w == "-C", zip && w == "-d":
			i++
		case strips:
			n, err := strconv.Atoi(number)
			if skip = n; err != nil || n < 0 {
				return false
			}
		case !zip && (i == 1 || strings.HasPrefix(w, "-")) && unpacking().MatchString(w):
			out = out || strings.Contains(w, "x")
			if strings.HasSuffix(w, "f") {
				i++
			}
		case strings.HasPrefix(w, "-"):
			return false
		default:
			members = append(members, w)
		}
	}
	if zip && len(members) > 0 { // the archive
		members = members[1:]
	}
	return out && len(members) > 0 && !slices.ContainsFunc(members, func(m string) bool { return !isPlainMember(m, skip) })
}

// keeping are folders of a home in which macOS and Windows keep settings and what starts by itself.
const keeping = "Library library AppData appdata Documents documents PowerShell WindowsPowerShell"

// isPlainMember reports whether the name of a file in an archive, without as many folders before it, is neither a
// pattern, nor hidden, nor that of an agent.
func isPlainMember(name string, skip int) bool {
	parts := strings.Split(strings.TrimPrefix(path.Clean(name), "./"), "/")
	return len(parts) > skip && !strings.ContainsAny(name, `*?[\`) && !slices.ContainsFunc(parts, func(part string) bool {
		return part == "" || part[0] == '.' || part == ownName || part == ownName+"-hook" || wordset.Has(keeping, part) ||
			len(agentcli.Named(part)) > 0
	})
}
