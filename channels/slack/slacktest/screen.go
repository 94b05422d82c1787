package slacktest

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"approver.example/channels/channeltest/phone"
)

// Screen is what the app on a phone shows of a message.
func (m Message) Screen() phone.Screen {
	s := phone.Screen{App: "Slack · app", Chat: "#approvals"}
	var blocks []map[string]any
	if json.Unmarshal(m.Blocks, &blocks) != nil {
		return s
	}
	for _, b := range blocks {
		items, _ := b["elements"].([]any)
		switch b["type"] {
		case "section":
			o, _ := b["text"].(map[string]any)
			s.Lines = append(s.Lines, phone.Line{Spans: []phone.Span{{Text: str(o["text"]), Style: phone.Bold}}})
		case "context":
			for _, e := range items {
				o, _ := e.(map[string]any)
				text := unescape(dates.ReplaceAllStringFunc(str(o["text"]), clock))
				s.Lines = append(s.Lines, phone.Line{Spans: []phone.Span{{Text: text, Style: phone.Muted}}})
			}
		case "rich_text":
			for _, e := range items {
				s.Lines = append(s.Lines, richLines(e)...)
			}
		case "actions":
			s.Rows = append(s.Rows, buttonRow(items))
		}
	}
	return s
}

// clock is a date as Slack shows it to somebody in the time zone UTC, with a width that does not vary.
func clock(date string) string {
	at, format, _ := strings.Cut(strings.TrimPrefix(date, "<!date^"), "^")
	format, _, _ = strings.Cut(format, "|")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || format != "{time_secs}" {
		return dates.ReplaceAllString(date, "$1")
	}
	return time.Unix(seconds, 0).UTC().Format("03:04:05 PM")
}

// richLines are the lines of one element of rich text.
func richLines(v any) []phone.Line {
	o, _ := v.(map[string]any)
	parts, _ := o["elements"].([]any)
	var spans []phone.Span
	for _, p := range parts {
		e, _ := p.(map[string]any)
		style, _ := e["style"].(map[string]any)
		if o["type"] == "rich_text_preformatted" {
			text := str(e["text"])
			return phone.Block(text, strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+"))
		}
		look := phone.Plain
		if style["bold"] == true {
			look = phone.Bold
		} else if style["code"] == true {
			look = phone.Code
		}
		spans = append(spans, phone.Span{Text: str(e["text"]), Style: look})
	}
	return phone.Lines(spans)
}

func buttonRow(items []any) (row []phone.Button) {
	kinds := map[string]string{"primary": "good", "danger": "bad"}
	for _, e := range items {
		o, _ := e.(map[string]any)
		label, _ := o["text"].(map[string]any)
		row = append(row, phone.Button{Label: str(label["text"]), Kind: kinds[str(o["style"])]})
	}
	return row
}
