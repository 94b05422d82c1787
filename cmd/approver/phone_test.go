package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"unicode/utf8"
)

// phone draws a card as the app on a phone shows it: the message in a bubble, and its
// buttons below, two in a row.
func phone(card string, buttons []string) []byte {
	const width, margin, size, leading, columns = 380, 16, 14, 20, 44
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(card), "\n") {
		for utf8.RuneCountInString(line) > columns {
			runes := []rune(line)
			at := columns
			if space := strings.LastIndexByte(string(runes[:columns]), ' '); space > 0 {
				at = utf8.RuneCountInString(string(runes[:columns])[:space])
			}
			lines, line = append(lines, string(runes[:at])), strings.TrimLeft(string(runes[at:]), " ")
		}
		lines = append(lines, line)
	}
	const top, row = 74, 40
	bubble := len(lines)*leading + 2*margin - 6
	rows := (len(buttons) + 1) / 2
	height := top + bubble + rows*row + 40
	var b bytes.Buffer
	text := func(x, y int, more, s string) {
		fmt.Fprintf(&b, `<text x="%d" y="%d"%s>`, x, y, more)
		_ = xml.EscapeText(&b, []byte(s)) // a Buffer takes everything
		b.WriteString("</text>\n")
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">
<rect x="2" y="2" width="%d" height="%d" rx="34" fill="#0e1621" stroke="#566074" stroke-width="4"/>
<rect x="140" y="12" width="100" height="8" rx="4" fill="#566074"/>
<circle cx="40" cy="48" r="16" fill="#2b5278"/>
<g font-family="system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif" font-size="%d" fill="#e9eef4">
`, width, height, width-4, height-4, size)
	text(35, 53, ` font-weight="bold"`, "a")
	text(66, 46, ` font-weight="bold"`, "approver")
	text(66, 62, ` font-size="11" fill="#8ba0b5"`, "bot")
	fmt.Fprintf(&b, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"12\" fill=\"#182533\"/>\n", margin, top,
		width-2*margin, bubble)
	for i, line := range lines {
		more := ""
		if i == 0 {
			more = ` font-weight="bold"`
		}
		text(margin+12, top+margin+i*leading+10, more, line)
	}
	half := (width - 2*margin - 6) / 2
	for i, label := range buttons {
		x, y := margin+i%2*(half+6), top+bubble+6+i/2*row
		fmt.Fprintf(&b, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#2b5278\"/>\n", x, y, half, row-6)
		text(x+half/2, y+22, ` text-anchor="middle"`, label)
	}
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes()
}
