package daemon

import (
	"regexp"
	"slices"
	"strings"

	"approver.example/display"
	"approver.example/internal/section"
)

// This file says what is wrong with the store in as few words as do.

// fromPort is the port of our own end of a connection, which is another each time.
var fromPort = regexp.MustCompile(`:\d+->`)

// once says each cause once: eight lookups at a time fail for one reason.
func once(err error, at section.Storage) string {
	var lines, seen []string
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimSpace(line)
		plain := fromPort.ReplaceAllString(line, "->")
		// The first line may have what they were for in front.
		if line == "" || slices.ContainsFunc(seen, func(before string) bool { return strings.HasSuffix(before, cause(plain, at)) }) {
			continue
		}
		lines, seen = append(lines, line), append(seen, plain)
	}
	return strings.Join(lines, "; ")
}

// cause is an error of a store that daemons share without the one lookup that met it, such
// as "redis: get KEY: ".
func cause(text string, at section.Storage) string {
	if rest, is := strings.CutPrefix(text, strings.ToLower(at.Title)+": "); is && at.Shared {
		if _, after, cut := strings.Cut(rest, ": "); cut {
			return ": " + after
		}
	}
	return text
}

// incomplete says which records cannot be read, and how to be rid of them.
func incomplete(err error, at section.Storage) string {
	return display.OneLine(once(err, at)) + ` (approver grants revoke ID takes away what cannot be read; its call is then asked anew)`
}
