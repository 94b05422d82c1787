package telegramtest

import (
	"strings"
	"unicode/utf16"

	"approver.example/channels/channeltest/phone"
)

// Screen is what the app on a phone shows of a message.
func (m Message) Screen() phone.Screen {
	s := phone.Screen{App: "Telegram · bot", Chat: "approver"}
	all := utf16.Encode([]rune(m.Text))
	at := 0
	var spans []phone.Span
	add := func(to int, style phone.Style) {
		if to > at {
			spans = append(spans, phone.Span{Text: string(utf16.Decode(all[at:to])), Style: style})
			at = to
		}
	}
	lines := func() {
		s.Lines, spans = append(s.Lines, phone.Lines(spans)...), nil
	}
	for _, e := range m.Entities {
		if e.Offset < at || e.Offset+e.Length > len(all) {
			continue
		}
		add(e.Offset, phone.Plain)
		text := string(utf16.Decode(all[e.Offset : e.Offset+e.Length]))
		switch language, isBlock := strings.CutPrefix(e.URL, "language-"); {
		case e.Type == "pre", isBlock:
			lines()
			s.Lines, at = append(s.Lines, phone.Block(text, language == "diff")...), e.Offset+e.Length
			if at < len(all) && all[at] == '\n' {
				at++
			}
		case e.Type == "code":
			add(e.Offset+e.Length, phone.Code)
		case e.Type == "bold":
			add(e.Offset+e.Length, phone.Bold)
		case e.Type == "date_time":
			spans, at = append(spans, phone.Span{Text: "in 2 minutes", Style: phone.Plain}), e.Offset+e.Length
		}
	}
	add(len(all), phone.Plain)
	lines()
	for _, row := range m.Buttons {
		var out []phone.Button
		for _, b := range row {
			out = append(out, phone.Button{Label: b.Text, Kind: kindOf(b.Text)})
		}
		s.Rows = append(s.Rows, out)
	}
	return s
}

// kindOf is how the app colors a button.
func kindOf(label string) string {
	switch {
	case strings.HasPrefix(label, "✅"):
		return "good"
	case strings.HasPrefix(label, "⛔"):
		return "bad"
	}
	return ""
}
