package code

import "strings"

// magics are the beginnings of lines that IPython hands to a shell; behind %% it is the
// whole cell.
var magics = [...]string{"!!", "!", "%sx ", "%system ", "%%bash", "%%sh", "%%script bash"}

// notebook finds what IPython hands to a shell: !command, %sx, %system, x = !command.
// Python itself has no such lines, which may hide from it what stands behind them, as one
// quote does. So the rest of the code is scanned without them here, besides the scan of
// all of it: a text of several lines may have such lines as well.
func (m *machine) notebook(src string) {
	if !strings.ContainsAny(src, "!%") {
		return
	}
	var rest strings.Builder
	for line := range strings.Lines(src) {
		bare := strings.TrimSpace(line)
		_, bang, assigned := strings.Cut(bare, "=")
		bang = strings.TrimSpace(bang)
		switch start := magicOf(bare); {
		case strings.HasPrefix(start, "%%"):
			_, cell, _ := strings.Cut(src, bare)
			m.shell(text(cell, 0), start)
		case start != "":
			m.shell(text(bare[len(start):], 0), start)
		case assigned && magicOf(bang) != "":
			m.shell(text(bang[len(magicOf(bang)):], 0), magicOf(bang))
		default:
			rest.WriteString(line)
			continue
		}
		rest.WriteString("\n")
	}
	if rest.Len() == len(src) {
		return
	}
	m.source(rest.String())
	m.vars = nil
	m.variables()
}

// magicOf is the beginning of a line that makes it one for a shell.
func magicOf(line string) string {
	for _, start := range magics {
		if rest, ok := strings.CutPrefix(line, start); ok && !strings.HasPrefix(rest, "=") {
			return start
		}
	}
	return ""
}
