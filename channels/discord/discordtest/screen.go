package discordtest

import (
	"fmt"
	"regexp"
	"strings"

	"approver.example/channels/channeltest/phone"
)

// Screen is what the app on a phone shows of a message.
func (s *Server) Screen(message string) phone.Screen {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.messages[message]
	if m == nil {
		return phone.Screen{}
	}
	out := phone.Screen{App: "Discord · app", Chat: "#approvals", Lines: s.styled(m.Content)}
	for _, e := range m.Embeds {
		out.Edge = fmt.Sprintf("#%06x", e.Color)
		out.Lines = append(out.Lines, s.styled(e.Description)...)
	}
	kinds := map[int]string{1: "main", 3: "good", 4: "bad"}
	for _, row := range m.Components {
		var buttons []phone.Button
		for _, b := range row.Components {
			buttons = append(buttons, phone.Button{Label: b.Label, Kind: kinds[b.Style]})
		}
		out.Rows = append(out.Rows, buttons)
	}
	return out
}

// spanForm matches what the app shows in a style of its own.
var spanForm = regexp.MustCompile("(?s)```(\\w*)\n(.*?)\n```\n?|" +
	"\\*\\*((?:\\\\.|[^*\\\\])+)\\*\\*|`([^`\n]+)`|\\\\.|<t:[0-9]+:R>")

// styled reads the parts of Discord's markup that cards use. The caller holds mu.
func (s *Server) styled(text string) (lines []phone.Line) {
	var spans []phone.Span
	add := func(text string, style phone.Style) {
		spans = append(spans, phone.Span{Text: text, Style: style})
	}
	at := 0
	for _, m := range spanForm.FindAllStringSubmatchIndex(text, -1) {
		add(text[at:m[0]], phone.Plain)
		at = m[1]
		switch whole := text[m[0]:m[1]]; {
		case m[4] >= 0:
			lines, spans = append(lines, phone.Lines(spans)...), nil
			lines = append(lines, phone.Block(text[m[4]:m[5]], text[m[2]:m[3]] == "diff")...)
		case m[6] >= 0:
			add(plainText(text[m[6]:m[7]], s), phone.Bold)
		case m[8] >= 0:
			add(text[m[8]:m[9]], phone.Code)
		case strings.HasPrefix(whole, `\`):
			add(whole[1:], phone.Plain)
		default:
			add("in 2 minutes", phone.Plain)
		}
	}
	add(text[at:], phone.Plain)
	return append(lines, phone.Lines(spans)...)
}
