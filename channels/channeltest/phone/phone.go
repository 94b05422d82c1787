// Package phone draws a card as the app on a phone shows it: for the pages of the documentation, and
// for people who judge a card by its looks. The width of letters is estimated, so lines break about
// where they do in an app.
package phone

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A Screen is what an app shows of one message.
type Screen struct {
	App  string // the name of the platform
	Chat string // the name of the chat
	// Edge is the color of the bar at the left of the message, such as "#e67e22"; empty for none.
	Edge  string
	Lines []Line
	Rows  [][]Button
}

// A Line is a line of a message. A block has a ground of its own, and its spans are not wrapped at
// words.
type Line struct {
	Spans []Span
	Block bool
}

// A Span is a part of a line.
type Span struct {
	Text  string
	Style Style
}

// A Style says how a span looks.
type Style uint8

// The styles.
const (
	Plain Style = iota
	Bold
	Code
	Muted
	Added
	Removed
)

var classes = [...]string{Plain: "t", Bold: "t b", Code: "t c", Muted: "m", Added: "c add", Removed: "c del"}

// A Button is a button below a message.
type Button struct {
	Label string
	Kind  string // good, bad, main, or empty
}

// Sizes in pixels.
const (
	width   = 390
	margin  = 12
	inset   = 12
	size    = 15.0
	mono    = 13.0
	leading = 21
	row     = 42
	top     = 64
	most    = 60 // lines of a message: its beginning and its end; a phone scrolls
)

// Block makes the lines of a preformatted text. In a diff, lines are colored by their first letter.
func Block(text string, diff bool) (lines []Line) {
	for line := range strings.SplitSeq(text, "\n") {
		style := Code
		switch {
		case diff && strings.HasPrefix(line, "+"):
			style = Added
		case diff && strings.HasPrefix(line, "-"):
			style = Removed
		}
		lines = append(lines, Line{Block: true, Spans: []Span{{line, style}}})
	}
	return lines
}

// Lines splits spans at their line breaks.
func Lines(spans []Span) (lines []Line) {
	var current []Span
	for _, s := range spans {
		parts := strings.Split(s.Text, "\n")
		for i, part := range parts {
			if i > 0 {
				lines, current = append(lines, Line{Spans: current}), nil
			}
			if part != "" {
				current = append(current, Span{part, s.Style})
			}
		}
	}
	if len(current) > 0 {
		lines = append(lines, Line{Spans: current})
	}
	return lines
}

// Replaced is the screen with other words in the place of some, such as a path of the machine that drew it.
func (s Screen) Replaced(words *strings.Replacer) Screen {
	lines := make([]Line, len(s.Lines))
	for i, l := range s.Lines {
		lines[i].Block = l.Block
		for _, span := range l.Spans {
			lines[i].Spans = append(lines[i].Spans, Span{words.Replace(span.Text), span.Style})
		}
	}
	s.Lines = lines
	return s
}

// SVG draws a screen, light or dark as whoever looks at it prefers.
func (s Screen) SVG() []byte {
	var lines []Line
	for _, l := range s.Lines {
		lines = append(lines, l.wrap(width-2*margin-2*inset)...)
	}
	if hidden := len(lines) - most + 1; hidden > 1 {
		note := Line{Spans: []Span{{fmt.Sprintf("… %d lines of the message are left out of this picture", hidden), Muted}}}
		lines = slices.Concat(lines[:most/2], []Line{note}, lines[most/2+hidden:])
	}
	bubble := len(lines)*leading + 2*inset - 4
	height := top + bubble + len(s.Rows)*row + 24
	p := &painter{}
	fmt.Fprintf(p, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">
<style>%s</style>
<rect class="bg" x="1.5" y="1.5" width="%d" height="%d" rx="26"/>
`, width, height, style, width-3, height-3)
	p.text(margin+8, 30, "t b", s.Chat)
	p.text(margin+8, 48, "m", s.App)
	fmt.Fprintf(p, "<rect class=\"msg\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"12\"/>\n", margin, top,
		width-2*margin, bubble)
	if s.Edge != "" {
		fmt.Fprintf(p, "<rect fill=\"%s\" x=\"%d\" y=\"%d\" width=\"4\" height=\"%d\" rx=\"2\"/>\n", s.Edge, margin, top,
			bubble)
	}
	for i, l := range lines {
		p.line(l, margin+inset, top+inset+i*leading)
	}
	for i, r := range s.Rows {
		p.row(r, top+bubble+6+i*row)
	}
	p.WriteString("</svg>\n")
	return p.Bytes()
}

// The colors are those of a light page, and of a dark one.
const style = `
text{font:15px system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','Noto Color Emoji',sans-serif;white-space:pre}
.b{font-weight:700}.c{font:13px ui-monospace,SFMono-Regular,Menlo,'DejaVu Sans Mono','Noto Color Emoji',monospace}
.m{font-size:12px}
.bg{fill:#e7ebf0;stroke:#9aa5b1;stroke-width:3}.msg{fill:#fff}.blk{fill:#eef1f5}.t,.c{fill:#0f1419}.m{fill:#65727f}
.add{fill:#176f2c}.del{fill:#b3261e}.btn{fill:#d5dce4}.good{fill:#2e7d46}.bad{fill:#b3403a}.main{fill:#2b6cb0}
.lbl{fill:#0f1419}.lbl.on{fill:#fff}
@media (prefers-color-scheme:dark){.bg{fill:#0e1621;stroke:#566074}.msg{fill:#182533}.blk{fill:#0f1a26}
.t,.c{fill:#e9eef4}.m{fill:#8ba0b5}.add{fill:#7ee0a0}.del{fill:#ff9d94}.btn{fill:#2b3f55}.lbl{fill:#e9eef4}}
`

// A painter writes the elements of a picture.
type painter struct{ bytes.Buffer }

func (p *painter) text(x, y int, class, text string) {
	fmt.Fprintf(p, `<text x="%d" y="%d" class="%s">`, x, y, class)
	_ = xml.EscapeText(p, []byte(text)) // a Buffer takes everything
	p.WriteString("</text>\n")
}

func (p *painter) line(l Line, x, y int) {
	if l.Block {
		fmt.Fprintf(p, "<rect class=\"blk\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", x-4, y-1,
			width-2*margin-2*inset+8, leading)
	}
	wide := 0.0
	for _, s := range l.Spans {
		wide += widthOf(s.Text, s.Style)
	}
	fmt.Fprintf(p, `<text x="%d" y="%d"%s>`, x, y+15, held(wide, width-2*margin-2*inset))
	for _, s := range l.Spans {
		fmt.Fprintf(p, `<tspan class="%s">`, classes[s.Style])
		_ = xml.EscapeText(p, []byte(s.Text))
		p.WriteString("</tspan>")
	}
	p.WriteString("</text>\n")
}

func (p *painter) row(buttons []Button, y int) {
	gap := 6
	each := (width - 2*margin - gap*(len(buttons)-1)) / max(len(buttons), 1)
	for i, b := range buttons {
		x, on := margin+i*(each+gap), ""
		class := b.Kind
		if class == "" {
			class = "btn"
		} else {
			on = " on"
		}
		fmt.Fprintf(p, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n", class, x, y,
			each, row-6)
		fmt.Fprintf(p, `<text x="%d" y="%d" class="lbl%s" text-anchor="middle"%s>`, x+each/2, y+23, on,
			held(widthOf(b.Label, Plain), float64(each-8)))
		_ = xml.EscapeText(p, []byte(b.Label))
		p.WriteString("</text>\n")
	}
}

// held keeps a text that nearly fills its room inside it, whatever font draws it.
func held(wide, room float64) string {
	if wide < 0.85*room {
		return ""
	}
	return fmt.Sprintf(` textLength="%.0f" lengthAdjust="spacingAndGlyphs"`, min(wide, room))
}

func widthOf(text string, s Style) (wide float64) {
	for _, r := range text {
		wide += advance(r, s)
	}
	return wide
}

// wrap breaks a line where it is wider than a message.
func (l Line) wrap(room float64) (out []Line) {
	var current []Span
	left := room
	end := func() { out, current, left = append(out, Line{Spans: current, Block: l.Block}), nil, room }
	for _, s := range l.Spans {
		for text := s.Text; text != ""; {
			n, took := fitting(text, s.Style, left, l.Block)
			if n == 0 {
				if len(current) > 0 {
					end()
					continue
				}
				n, took = fitting(text, s.Style, left, true) // a word that is wider than the message
				n = max(n, 1)
			}
			current, left = append(current, Span{text[:n], s.Style}), left-took
			if text = text[n:]; text != "" {
				end()
				if !l.Block {
					text = strings.TrimLeft(text, " ")
				}
			}
		}
	}
	if len(current) > 0 || len(out) == 0 {
		end()
	}
	return out
}

// fitting is how many bytes of a text fit, up to the end of a word unless anywhere is set.
func fitting(text string, s Style, room float64, anywhere bool) (n int, took float64) {
	sum, word, wordAt := 0.0, 0, 0.0
	for i, r := range text {
		if r == ' ' && i > 0 {
			word, wordAt = i, sum
		}
		if sum += advance(r, s); sum > room {
			if anywhere {
				return i, sum - advance(r, s)
			}
			return word, wordAt
		}
	}
	return len(text), sum
}

// advance estimates the width of a letter.
func advance(r rune, s Style) float64 {
	wide := r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r >= 0x1f000)
	switch {
	case r == 0xfe0f || r == 0x200d || unicode.Is(unicode.Mn, r):
		return 0
	case wide:
		return size * 1.2
	case s == Code || s == Added || s == Removed:
		return mono * 0.605
	}
	em := 0.53
	switch {
	case strings.ContainsRune("iljI.,:;'|!`", r):
		em = 0.26
	case strings.ContainsRune(" ftr()[]/-\"", r):
		em = 0.33
	case strings.ContainsRune("mwMW@%—", r):
		em = 0.86
	case r >= 'A' && r <= 'Z', r > 0x2000:
		em = 0.66
	}
	if s == Bold {
		em *= 1.06
	}
	return size * em * 1.07 // no narrower than the widest of the usual fonts
}
