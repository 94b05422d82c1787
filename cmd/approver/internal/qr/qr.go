// Package qr draws a link as a QR code of half blocks, two modules to a character. It sets both
// colors, from the part of the palette that themes leave alone, so that dark and light terminals
// show the same: black on white, with the quiet zone that scanners need.
package qr

import (
	"fmt"
	"strings"

	qrcode "github.com/piglig/go-qr"
)

// quiet is the width of the border in modules, as the standard demands.
const quiet = 4

const blackOnWhite, reset = "\x1b[38;5;16;48;5;231m", "\x1b[0m"

// Draw returns the lines of the code for a terminal of so many columns and rows. fits is false, and
// there are no lines, if the terminal is too small to show all of it with one more row below.
func Draw(text string, columns, rows int) (lines []string, fits bool, err error) {
	code, err := qrcode.EncodeText(text, qrcode.Low) // a screen has no scratches, and little room
	if err != nil {
		return nil, false, fmt.Errorf("draw a QR code: %w", err)
	}
	size := code.Size() + 2*quiet
	if columns < size || rows < (size+1)/2+1 {
		return nil, false, nil
	}
	dark := func(x, y int) bool { return code.Module(x-quiet, y-quiet) } // false outside
	for y := 0; y < size; y += 2 {
		var line strings.Builder
		for x := range size {
			line.WriteString(halves[dark(x, y)][dark(x, y+1)])
		}
		lines = append(lines, blackOnWhite+line.String()+reset)
	}
	return lines, true, nil
}

// halves are the characters by whether the upper and the lower module are dark.
var halves = map[bool]map[bool]string{
	true:  {true: "█", false: "▀"},
	false: {true: "▄", false: " "},
}
