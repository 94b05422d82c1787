package display

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Safe is a text with its secrets masked and its characters made visible.
func Safe(s string) string { return Visible(Mask(s)) }

// SafeLine is Safe for a text that must not begin a line of its own.
func SafeLine(s string) string { return OneLine(Mask(s)) }

// gaps finds white space so long that it could push what follows it out of sight.
var gaps = regexp.MustCompile(`(?:[ \t]*\n){5,}|[ \t]{41,}`)

// Squeeze says how long such a gap is in its place.
func Squeeze(s string) string {
	return gaps.ReplaceAllStringFunc(s, func(gap string) string {
		if lines := strings.Count(gap, "\n"); lines > 0 {
			return fmt.Sprintf("\n⟨%d blank lines⟩\n", lines-1)
		}
		return fmt.Sprintf(" ⟨%d spaces⟩ ", len(gap))
	})
}

// unescapeHTML undoes the escapes that JSON encoders put in for browsers, which
// a person need not read.
func unescapeHTML(s string) string {
	return strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(s)
}

// Platform is how people write the name of a channel.
func Platform(channel string) string {
	if channel == "" {
		return "an unknown channel"
	}
	return strings.ToUpper(channel[:1]) + channel[1:]
}

// ShortID is the part of an agent's session id that is enough to tell sessions
// apart on a card; the audit has the whole.
func ShortID(id string) string {
	if uuid.Validate(id) == nil {
		return id[:8]
	}
	return id
}

// Duration writes a time for people: "45 s", "1 min 30 s", "2 h 5 min".
func Duration(d time.Duration) string {
	d = max(d, 0).Truncate(time.Second)
	big, small := d/time.Hour, d%time.Hour/time.Minute
	units := [2]string{"h", "min"}
	if d < time.Hour {
		big, small, units = d/time.Minute, d%time.Minute/time.Second, [2]string{"min", "s"}
	}
	switch {
	case big == 0:
		return fmt.Sprintf("%d s", small)
	case small == 0:
		return fmt.Sprintf("%d %s", big, units[0])
	}
	return fmt.Sprintf("%d %s %d %s", big, units[0], small, units[1])
}
