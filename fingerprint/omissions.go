package fingerprint

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"approver.example/reflexcore/effect"
)

// This file has the names of what is not bound.

// omissions are names for people of what is not bound.
type omissions struct{ unbound []string }

// name notes what is not bound. Names are for people; most are the agent's own words.
func (o *omissions) name(format string, args ...any) {
	// Cards take … for an odd character.
	what := cut(strings.NewReplacer("…", "...", effect.Unknown, "...").Replace(fmt.Sprintf(format, args...)))
	switch {
	case len(o.unbound) < maxNames:
		o.unbound = append(o.unbound, what)
	case len(o.unbound) == maxNames:
		o.unbound = append(o.unbound, "more that is not listed")
	}
}

// cut shortens a name that would fill a card.
func cut(text string) string {
	const most = 120
	if len(text) <= most {
		return text
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "..."
}
