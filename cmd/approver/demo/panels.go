package demo

import (
	"fmt"
	"strings"
)

// Limits of the width of a panel's text, in columns. With minPanel, two panels fit on a screen of
// 80 columns.
const (
	minPanel, maxPanel = 33, 38
	panelFrame         = 6 // width of a panel without its text
)

// fit returns how many panels fit side by side on a screen, and how wide their text is.
func fit(screen, n int) (beside, text int) {
	beside = max(1, min(n, screen/(minPanel+panelFrame)))
	return beside, max(minPanel, min(maxPanel, screen/beside-panelFrame))
}

// panels draws messages as the apps show them, as many side by side as fit.
func panels(titles, texts []string, screen int) string {
	beside, wide := fit(screen, len(texts))
	var out strings.Builder
	for from := 0; from < len(texts); from += beside {
		to := min(from+beside, len(texts))
		drawRow(&out, titles[from:to], texts[from:to], wide)
	}
	return out.String()
}

// drawRow draws messages side by side.
func drawRow(out *strings.Builder, titles, texts []string, wide int) {
	columns, height := make([][]string, len(texts)), 0
	for i, text := range texts {
		for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
			columns[i] = append(columns[i], wrap(line, wide)...)
		}
		height = max(height, len(columns[i]))
	}
	row := func(left, right string, cell func(int) string) {
		for i := range columns {
			fmt.Fprint(out, "  ", left, cell(i), right)
		}
		fmt.Fprintln(out)
	}
	row("┌─", "─┐", func(i int) string {
		return " " + titles[i] + " " + strings.Repeat("─", max(0, wide-2-width(titles[i])))
	})
	for n := range height {
		row("│ ", " │", func(i int) string {
			line := ""
			if n < len(columns[i]) {
				line = columns[i][n]
			}
			return line + strings.Repeat(" ", max(0, wide-width(line)))
		})
	}
	row("└─", "─┘", func(int) string { return strings.Repeat("─", wide) })
}

// buttonRows draws labeled buttons, as many in a row as fit.
func buttonRows(labels []string, wide int) string {
	rows, row := "", ""
	for _, label := range labels {
		button := "[ " + label + " ]"
		switch {
		case row == "":
			row = button
		case width(row)+1+width(button) <= wide:
			row += " " + button
		default:
			rows, row = rows+row+"\n", button
		}
	}
	return rows + row
}

// wrap breaks a line into lines of at most limit columns, at spaces where possible.
func wrap(line string, limit int) []string {
	var out []string
	for width(line) > limit {
		cut, at, n := 0, 0, 0
		for i, r := range line {
			if n += runeWidth(r); n > limit {
				break
			}
			cut = i + len(string(r))
			if r == ' ' && i > 0 {
				at = i
			}
		}
		if at > 0 {
			out, line = append(out, line[:at]), line[at+1:]
		} else {
			out, line = append(out, line[:cut]), line[cut:]
		}
	}
	return append(out, line)
}

func width(s string) (n int) {
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	switch {
	case r == 0xfe0f || r == 0x200b || r == 0x200d:
		return 0
	case r >= 0x1f300 && r <= 0x1faff, r == '✅', r == '✋', r == '⛔', r == '⌛', r == '⏳', r == '❌':
		return 2
	}
	return 1
}
