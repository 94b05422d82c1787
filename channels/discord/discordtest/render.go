package discordtest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// visible is all text of a message as a person reads it. The caller holds the
// server's mu.
func visible(m *message, s *Server) string {
	parts := []string{plainText(m.Content, s)}
	if m.Flags&flagSuppressEmbeds == 0 {
		for _, e := range m.Embeds {
			parts = append(parts, plainText(e.Title, s), plainText(e.Description, s))
			for _, f := range e.Fields {
				parts = append(parts, plainText(f.Name, s), plainText(f.Value, s))
			}
			if e.Footer != nil {
				parts = append(parts, e.Footer.Text)
			}
		}
	}
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "\n")
}

// A sign is one of the markup as Discord's client reads it. What it draws is not what was written:
// a text that is to be seen literally must have been escaped.
type sign struct {
	pattern *regexp.Regexp
	draw    func(m []string, s *Server) string // nil: the first group is drawn in its turn
}

// markup is compiled at its first use: the program that plays this service has other commands too.
var markup = sync.OnceValue(func() []sign {
	return []sign{
		{regexp.MustCompile(`^<t:(-?\d+)(?::[tTdDfFR])?>`), func(m []string, _ *Server) string { return stamp(m[1]) }},
		{regexp.MustCompile(`^<@!?(\d+)>`), func(m []string, s *Server) string {
			if u := s.users[m[1]]; u != nil {
				return "@" + u.GlobalName
			}
			return "@unknown-user"
		}},
		{regexp.MustCompile(`^<(?:@&|#)(\d+)>`), func([]string, *Server) string { return "#unknown" }},
		{regexp.MustCompile(`^<a?:\w+:\d+>`), func([]string, *Server) string { return "(emoji)" }},
		{regexp.MustCompile(`^</([-\w ]+):\d+>`), func(m []string, _ *Server) string { return "(command " + m[1] + ")" }},
		{regexp.MustCompile(`^<(https?://[^ >]+)>`), func(m []string, _ *Server) string { return "(link)" + m[1] }},
		{regexp.MustCompile(`^(?:https?|steam|discord)://[^\s<]+`),
			func(m []string, _ *Server) string { return "(link)" + m[0] }},
		{regexp.MustCompile(`^\[([^\]\n]+)\]\((?:https?://[^)\s]+)\)`), nil},
		{regexp.MustCompile(`^@(everyone|here)`), func(m []string, _ *Server) string { return "(ping)" + m[1] }},
		{regexp.MustCompile(`(?s)^\|\|(.+?)\|\|`), func([]string, *Server) string { return "(spoiler)" }},
		{regexp.MustCompile(`(?s)^\*\*((?:\\.|[^\\])+?)\*\*`), nil},
		{regexp.MustCompile(`(?s)^__(.+?)__`), nil},
		{regexp.MustCompile(`(?s)^~~(.+?)~~`), nil},
		{regexp.MustCompile(`^\*([^\s*][^*\n]*?)\*`), nil},
		{regexp.MustCompile(`^_([^_\n]+?)_\b`), nil},
	}
})

var (
	block     = regexp.MustCompile("(?s)^```(?:[a-zA-Z0-9_+.#-]+\n)?\n*([^\n].*?)\n*```")
	codeSpan  = regexp.MustCompile("(?s)^(`+)([^`].*?)`+")
	lineStart = regexp.MustCompile(`^(?:#{1,3} |-# |> |>>> |[-*] )`)
)

// Drawn is a text with Discord's markup as a person reads it.
func Drawn(text string) string { return plainText(text, &Server{}) }

// Read is Drawn, with the code blocks of the text.
func Read(text string) (drawn string, blocks []string) {
	drawn = draw(text, &Server{}, func(code string) { blocks = append(blocks, code) })
	return drawn, blocks
}

// plainText draws Discord's markup as plain text.
func plainText(text string, s *Server) string { return draw(text, s, func(string) {}) }

// starts are the characters that markup begins with.
const starts = "`\\<[@|*_~#->hsd"

// draw draws Discord's markup as plain text, and tells the code blocks.
func draw(text string, s *Server, tell func(code string)) string {
	var b strings.Builder
next:
	for i := 0; i < len(text); {
		rest := text[i:]
		if strings.IndexByte(starts, rest[0]) < 0 {
			b.WriteByte(rest[0])
			i++
			continue
		}
		if m := block.FindStringSubmatch(rest); m != nil {
			tell(m[1])
			b.WriteString(m[1])
			i += len(m[0])
			continue
		}
		if m := codeSpan.FindStringSubmatch(rest); m != nil {
			b.WriteString(m[2])
			i += len(m[0])
			continue
		}
		if rest[0] == '\\' && len(rest) > 1 && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", rest[1]) >= 0 {
			b.WriteByte(rest[1])
			i += 2
			continue
		}
		if i == 0 || text[i-1] == '\n' {
			if m := lineStart.FindString(rest); m != "" {
				i += len(m)
				continue
			}
		}
		for _, k := range markup() {
			if m := k.pattern.FindStringSubmatch(rest); m != nil {
				if k.draw != nil {
					b.WriteString(k.draw(m, s))
				} else {
					b.WriteString(plainText(m[1], s))
				}
				i += len(m[0])
				continue next
			}
		}
		b.WriteByte(rest[0])
		i++
	}
	return b.String()
}

// stamp draws a relative time.
func stamp(unix string) string {
	n, err := strconv.ParseInt(unix, 10, 64)
	if err != nil {
		return unix
	}
	left := time.Until(time.Unix(n, 0)).Round(time.Second)
	switch {
	case left < 0:
		return fmt.Sprintf("%d seconds ago", int(-left.Seconds()))
	case left < 2*time.Minute:
		return fmt.Sprintf("in %d seconds", int(left.Seconds()))
	}
	return fmt.Sprintf("in %d minutes", int(left.Minutes()))
}
