package terminal

import (
	"bytes"
	"io"
	"strings"
)

// A Folder writes lines of prose to a terminal, and breaks each line that is wider than the
// terminal at spaces. The part after a break is indented as Hang says. A word that is wider
// than the terminal stays whole, and only the spaces at a break are dropped. A line without its
// newline is kept until the newline or [Folder.Flush].
type Folder struct {
	W io.Writer
	// Width is in columns; 0 never breaks, for a file or a program.
	Width int
	// Hang is the column where broken lines continue. 0 means the column after the first gap of
	// two spaces, such as after a label, or else two more than the line's own indent.
	Hang int

	rest []byte
}

// Write implements [io.Writer]. It returns the count of bytes taken from p, however many it
// wrote.
func (f *Folder) Write(p []byte) (int, error) {
	if f.Width <= 0 {
		return f.W.Write(p)
	}
	f.rest = append(f.rest, p...)
	end := bytes.LastIndexByte(f.rest, '\n') + 1
	text := string(f.rest[:end])
	f.rest = append(f.rest[:0], f.rest[end:]...)
	if _, err := io.WriteString(f.W, f.fold(text)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes the last line if it has no newline yet.
func (f *Folder) Flush() error {
	text := string(f.rest)
	f.rest = nil
	_, err := io.WriteString(f.W, f.fold(text))
	return err
}

// Verbatim writes a text that people may copy: it breaks none of its lines.
func (f *Folder) Verbatim(text string) error {
	if err := f.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(f.W, text)
	return err
}

// fold breaks each line, except one that has a caret below it.
func (f *Folder) fold(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if i+1 < len(lines) && strings.TrimLeft(lines[i+1], " ") == "^" {
			continue
		}
		lines[i] = foldLine(line, f.Hang, f.Width)
	}
	return strings.Join(lines, "\n")
}

// foldLine breaks one line.
func foldLine(line string, hang, width int) string {
	if fitting(line, 0, width) == len(line) {
		return line
	}
	own := len(line) - len(strings.TrimLeft(line, " "))
	if hang == 0 {
		hang = own + 2
		if gap := strings.Index(line[own:], "  "); gap > 0 {
			label := line[:own+gap]
			under := columns(label) + len(line[len(label):]) - len(strings.TrimLeft(line[len(label):], " "))
			if under <= width/3 {
				hang = under
			}
		}
	}
	hang = max(hang, own)
	if hang > width/2 {
		hang = min(own, width/4) + 2
	}
	var b strings.Builder
	for from := hang; ; from = 0 {
		end := breakAt(line, from, width)
		b.WriteString(line[:end])
		if line = strings.TrimLeft(line[end:], " "); line == "" {
			return b.String()
		}
		b.WriteString("\n")
		line = strings.Repeat(" ", hang) + line
	}
}

// breakAt is the byte before which a line is broken: the last space that fits in width columns,
// or else the first one after them. A line is never broken within its own indent, or before
// column from.
func breakAt(line string, from, width int) int {
	own := len(line) - len(strings.TrimLeft(line, " "))
	best, col := 0, 0
	for i, r := range line {
		if r == ' ' && i > own && col > from && line[i-1] != ' ' {
			if col > width {
				if best == 0 {
					best = i
				}
				return best
			}
			best = i
		}
		col = advance(col, r)
	}
	if col <= width || best == 0 {
		return len(line)
	}
	return best
}

// columns is the width of a text in columns.
func columns(text string) (col int) {
	for _, r := range text {
		col = advance(col, r)
	}
	return col
}
