package strictyaml

import (
	"fmt"
	"strings"

	"approver.example"
	"approver.example/display"
	"approver.example/internal/lazyregexp"
)

// A Problem is one thing that is wrong in a file.
type Problem struct {
	Pos  approver.Position
	Text string // what is wrong and what to do
	Line string // the line, made safe to print; empty when there is none to show

	caret int // column in Line, from zero
}

// String returns "file:line:col: text", and below it the line and a caret.
func (p Problem) String() string {
	s := p.Pos.String() + ": " + p.Text
	if p.Pos.File == "" {
		s = p.Text
	}
	if p.Line == "" {
		return s
	}
	return fmt.Sprintf("%s\n    %s\n    %s^", s, p.Line, strings.Repeat(" ", p.caret))
}

// A FileError is all that is wrong in a file.
type FileError struct {
	Problems []Problem // in the file's order, at most 500, never empty
}

// shownProblems bounds the length of an error text; nobody reads more at once.
const shownProblems = 50

// Error lists the problems, the first 50 of them.
func (e *FileError) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i == shownProblems {
			fmt.Fprintf(&b, "\nand %d more", len(e.Problems)-i)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.String())
	}
	return b.String()
}

// secretKey matches a key whose value must not be shown.
var secretKey = lazyregexp.New(`(?i)^(.*?(?:token|secret|password|passwd|passphrase|credential` +
	`|api_?key)[\w-]*["']?\s*[:=]\s*)(\S.*)$`)

const (
	maxExcerpt = 110 // characters of a line that are shown
	beforeMark = 60  // of which at most so many before the caret
)

// excerpt makes a line safe to print, and returns it with the caret's column.
func excerpt(line string, col int) (text string, caret int) {
	runes := []rune(mask(strings.TrimRight(line, "\r\n")))
	at := min(max(col-1, 0), len(runes))
	// Known forms of secrets are hidden everywhere, which may move the caret.
	at = len([]rune(display.Mask(string(runes[:at]))))
	runes = []rune(display.Mask(string(runes)))
	at = min(at, len(runes))
	head, tail := "", ""
	if len(runes) > maxExcerpt {
		from := max(at-beforeMark, 0)
		to := min(from+maxExcerpt, len(runes))
		if from > 0 {
			head = "…"
		}
		if to < len(runes) {
			tail = "…"
		}
		runes, at = runes[from:to], at-from
	}
	before := head + display.OneLine(string(runes[:at]))
	return before + display.OneLine(string(runes[at:])) + tail, len([]rune(before))
}

// mask hides the value of a key that names a secret. A key that ends in _file names a file, which may
// be shown.
func mask(line string) string {
	m := secretKey().FindStringSubmatchIndex(line)
	if m == nil {
		return line
	}
	key := strings.ToLower(strings.TrimRight(line[:m[3]], " \t:=\"'"))
	if strings.HasSuffix(key, "_file") && !strings.ContainsAny(line[m[4]:], "{},") {
		return line
	}
	return line[:m[3]] + "<secret>"
}
