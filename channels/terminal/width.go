package terminal

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// harmless replaces every character that a terminal would obey instead of showing: control
// characters other than newline and tab, direction marks and other format characters, and
// invalid bytes. The core has already made them visible; this is the last line of defense.
func harmless(s string) string {
	if !strings.ContainsFunc(s, obeyed) && utf8.ValidString(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if obeyed(r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

func obeyed(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Cs)
}

// oneLine makes a text harmless and puts it on one line.
func oneLine(s string) string {
	return harmless(strings.NewReplacer("\r\n", " ⏎ ", "\n", " ⏎ ", "\t", " ").Replace(s))
}

// tabStop is the distance of a terminal's tab stops in columns.
const tabStop = 8

// advance is the column after r if r is drawn at column col.
func advance(col int, r rune) int {
	switch {
	case r == '\t':
		return col + tabStop - col%tabStop
	case unicode.In(r, unicode.Mn, unicode.Me):
		return col
	case wide(r):
		return col + 2
	}
	return col + 1
}

// wideRanges are the characters that terminals draw two columns wide: East
// Asian wide and full-width ones, and emoji.
var wideRanges = [...][2]rune{
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x2329, 0x232a}, {0x23e9, 0x23ec}, {0x23f0, 0x23f0}, {0x23f3, 0x23f3},
	{0x25fd, 0x25fe}, {0x2614, 0x2615}, {0x2648, 0x2653}, {0x267f, 0x267f}, {0x2693, 0x2693}, {0x26a1, 0x26a1},
	{0x26aa, 0x26ab}, {0x26bd, 0x26be}, {0x26c4, 0x26c5}, {0x26ce, 0x26ce}, {0x26d4, 0x26d4}, {0x26ea, 0x26ea},
	{0x26f2, 0x26f3}, {0x26f5, 0x26f5}, {0x26fa, 0x26fa}, {0x26fd, 0x26fd}, {0x2705, 0x2705}, {0x270a, 0x270b},
	{0x2728, 0x2728}, {0x274c, 0x274c}, {0x274e, 0x274e}, {0x2753, 0x2755}, {0x2757, 0x2757}, {0x2795, 0x2797},
	{0x27b0, 0x27b0}, {0x27bf, 0x27bf}, {0x2b1b, 0x2b1c}, {0x2b50, 0x2b50}, {0x2b55, 0x2b55}, {0x2e80, 0x303e},
	{0x3041, 0xa4cf}, {0xa960, 0xa97f}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe10, 0xfe19}, {0xfe30, 0xfe6f},
	{0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x16fe0, 0x18aff}, {0x1b000, 0x1b2ff}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf},
	{0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f335}, {0x1f337, 0x1f37c},
	{0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca}, {0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4},
	{0x1f3f8, 0x1f43e}, {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f567},
	{0x1f57a, 0x1f57a}, {0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4}, {0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6ff},
	{0x1f7e0, 0x1f7eb}, {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
}

func wide(r rune) bool {
	i, found := slices.BinarySearchFunc(wideRanges[:], r, func(of [2]rune, r rune) int { return cmp.Compare(of[1], r) })
	return found || i < len(wideRanges) && wideRanges[i][0] <= r
}

// wrap breaks one line into pieces that end at or before column width when they
// are drawn from column indent. Joined, the pieces are the line. A piece has at
// least one character; width 0 never breaks.
func wrap(line string, indent, width int) []string {
	return wrapAt(line, func(line string) int { return fitting(line, indent, width) })
}

// wrapWords is wrap for prose: where it can, it breaks after a space.
func wrapWords(line string, indent, width int) []string {
	return wrapAt(line, func(line string) int {
		end := fitting(line, indent, width)
		if end < len(line) && line[end] != ' ' {
			if i := strings.LastIndexByte(line[:end], ' '); i > 0 {
				return i + 1
			}
		}
		return end
	})
}

// wrapAt breaks a line into pieces; first returns the length in bytes of the next piece.
func wrapAt(line string, first func(line string) int) []string {
	var pieces []string
	for {
		end := first(line)
		pieces, line = append(pieces, line[:end]), line[end:]
		if line == "" {
			return pieces
		}
	}
}

// fitting is how many bytes of a line fit between two columns, at least one character.
func fitting(line string, indent, width int) int {
	if width <= 0 {
		return len(line)
	}
	col := indent
	for i, r := range line {
		next := advance(col, r)
		if next > width && i > 0 && next > col {
			return i
		}
		col = next
	}
	return len(line)
}
