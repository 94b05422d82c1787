package qr

import (
	"image"
	"image/color"
	"strings"
	"testing"

	qrcode "github.com/piglig/go-qr"
)

// seen is what a camera sees of drawn lines: both colors are set on every line, so it is the same
// on a dark and on a light terminal. Around it is a dark terminal.
func seen(t *testing.T, lines []string) image.Image {
	t.Helper()
	const scale, around = 4, 20
	var rows [][]rune
	for _, line := range lines {
		inner, colored := strings.CutPrefix(line, "\x1b[38;5;16;48;5;231m")
		inner, ends := strings.CutSuffix(inner, "\x1b[0m")
		if !colored || !ends {
			t.Fatalf("a line leaves its colors to the terminal, or leaks them: %q", line)
		}
		rows = append(rows, []rune(inner))
	}
	img := image.NewGray(image.Rect(0, 0, len(rows[0])*scale+2*around, len(rows)*2*scale+2*around))
	for y, row := range rows {
		for x, r := range row {
			for half, dark := range []bool{r == '█' || r == '▀', r == '█' || r == '▄'} {
				if dark {
					continue
				}
				for dy := range scale {
					for dx := range scale {
						img.SetGray(around+x*scale+dx, around+(2*y+half)*scale+dy, color.Gray{Y: 255})
					}
				}
			}
		}
	}
	return img
}

// What is drawn is read back as the link. That of the longest bot name that Telegram gives fits into
// a terminal of 80 columns and 24 rows; none is drawn where a part of it would not be seen.
func TestADrawnLinkIsReadBack(t *testing.T) {
	for link, rows := range map[string]int{
		"https://t.me/approver_test_bot?start=CONFIRM-7KQ4MXABCDEF":               22,
		"https://t.me/" + strings.Repeat("b", 32) + "?start=CONFIRM-7KQ4MXABCDEF": 22,
		"https://discord.com/oauth2/authorize?client_id=1100000000000000001" +
			"&scope=bot+applications.commands&permissions=117760": 26,
		"https://slack.com/app_redirect?app=A0123456789&team=T0123456789": 22,
	} {
		lines, fits, err := Draw(link, 80, rows)
		if err != nil || !fits {
			t.Fatalf("%s: %v, %v", link, fits, err)
		}
		got, err := qrcode.Decode(seen(t, lines))
		if err != nil || got != link {
			t.Errorf("%q is read back as %q, %v", link, got, err)
		}
		// The quiet zone: four light modules on each side.
		for i, line := range lines {
			inner := strings.TrimSuffix(strings.TrimPrefix(line, "\x1b[38;5;16;48;5;231m"), "\x1b[0m")
			bare := i < 2 || i >= len(lines)-2
			if !strings.HasPrefix(inner, "    ") || !strings.HasSuffix(inner, "    ") || bare && strings.TrimSpace(inner) != "" {
				t.Errorf("line %d has no quiet zone: %q", i, inner)
			}
		}
		width := len([]rune(lines[0])) - len("\x1b[38;5;16;48;5;231m\x1b[0m")
		for _, small := range [][2]int{{width - 1, 100}, {200, len(lines)}, {0, 0}} {
			if lines, fits, err := Draw(link, small[0], small[1]); fits || err != nil || len(lines) > 0 {
				t.Errorf("%v: it is drawn where it does not fit: %v, %v", small, fits, err)
			}
		}
	}
}
